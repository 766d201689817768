"""What MLflow is told of results."""

import json

import pytest

from raybench import benchmarks
from raybench.tracking.mlflow import described


@pytest.mark.parametrize(
    ("origin", "kind", "source"),
    [
        ("hub: cais/hle@5a81a4c7", "hf", {"path": "cais/hle", "revision": "5a81a4c7"}),
        ("samples", "raybench", {"origin": "samples"}),
        ("hub: a/b@5a81a4c7, c/d@5a81a4c7", "raybench", None),
    ],
)
def test_questions_of_the_hub_are_linked(
    origin: str, kind: str, source: dict[str, str] | None
) -> None:
    data = {"hle": {"origin": origin, "digest": "0" * 64, "questions": 3}}
    (found,) = described.inputs({"run": {"data": data}}, {})
    assert found["source_type"] == kind
    assert json.loads(found["source"]) == (source or {"origin": origin})


@pytest.mark.parametrize("name", benchmarks.names())
def test_the_home_of_every_benchmark_is_one_that_is_linked(name: str) -> None:
    of = benchmarks.load(name)
    for source in map(of.source.of, of.languages):
        assert described._HUB.fullmatch(f"hub: {source.repo}@{source.revision}")

"""What sets a model apart in a part: nothing that most of the others share."""

from pathlib import Path
from typing import Any

import pytest
from statements import code, values

from raybench.experiments.suite.facts import facts
from raybench.experiments.suite.parts import Found
from raybench.stats.joint import Joint


def part(low: dict[str, float], n: dict[str, int]) -> Found:
    """Return an index whose models have intervals that begin there, from so many questions."""
    models: dict[str, Any] = {}
    for name, begin in low.items():
        ends = {"value": begin + 0.05, "stderr": 0.02, "ci95": [begin, begin + 0.1], "method": ""}
        models[name] = {key: {**ends, "n": n[name]} for key in ("gpqa/accuracy", "score")}
    results = {
        "run": {"data": {"gpqa": {"chance": 0.25}}},
        "counts": {},
        "models": models,
        "fleet": {"this_session": {"models": {}}},
    }
    return Found("index", results, "score", Joint.read([]), Path())


GUESSES = "facts.guessing", {"benchmarks": "gpqa"}
FEW = "facts.few", {"n": 20, "items": "questions"}


@pytest.mark.parametrize(
    ("guessing", "few", "told"),
    [
        ("abcd", "abcd", []),
        ("ab", "ab", [GUESSES, FEW]),
        ("a", "abcd", [GUESSES]),
        ("bcd", "bcd", []),
    ],
)
def test_only_what_fewer_than_half_of_the_others_share(
    guessing: str, few: str, told: list[tuple[str, dict[str, Any]]]
) -> None:
    low = {name: 0.2 if name in guessing else 0.7 for name in "abcd"}
    found = part(low, {name: 20 if name in few else 300 for name in "abcd"})
    assert [(code(it), values(it)) for it in facts(found, "a")] == told

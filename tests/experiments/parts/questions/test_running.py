"""What a run must have in common with one that it continues."""

from pathlib import Path

import pytest

from raybench.config import Config, IndexConf
from raybench.experiments.parts.questions import running
from raybench.pipeline import store
from raybench.pipeline.datasets import Dataset, Prepared


def inputs(checker: str | None = None) -> dict[str, str]:
    names = ("mmlu_pro", "math_500", "multilingual_mmlu", "mgsm")
    parts = tuple(Dataset(name, "samples", (), (), 1, f"{name}'s", {}, {}) for name in names)
    config = Config(experiment="index", index=IndexConf(checker=checker))
    return running.inputs(config, Prepared(parts, {}, ()))


def test_the_version_of_a_grading_is_among_them_once_it_is_not_the_first() -> None:
    digests = {it: f"{it}'s" for it in ("mmlu_pro", "math_500", "multilingual_mmlu", "mgsm")}
    assert inputs() == digests | {"mmlu_pro.grading": "2"}
    assert inputs("j") == digests | {"mmlu_pro.grading": "2", "math_500.grading": "2"}


@pytest.mark.parametrize(("began", "resumed"), [("2", True), (None, False)])
def test_replies_that_were_graded_otherwise_are_not_mixed_with_these(
    tmp_path: Path, began: str | None, resumed: bool
) -> None:
    earlier = {"mmlu_pro": "its"} | ({"mmlu_pro.grading": began} if began else {})
    with store.open_run(tmp_path, "index", {}, inputs=earlier) as run:
        run.journal("units").append({"n": 1})
    now = {"mmlu_pro": "its", "mmlu_pro.grading": "2"}
    with store.open_run(tmp_path, "index", {}, inputs=now) as run:
        assert (run.resumed, len(run.passed)) == (resumed, 0 if resumed else 1)

"""Who is asked, by what earlier runs have: no engine comes up for nothing."""

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from raybench import benchmarks
from raybench.config import DataConf
from raybench.pipeline import datasets, wanted
from raybench.pipeline.checker import Verdicts
from raybench.pipeline.datasets import Selection
from raybench.pipeline.graph import Work
from raybench.pipeline.responses import Responses
from raybench.pipeline.stages import Asking, Grade, put, response
from raybench.pipeline.units import Questions, jobs, unit_id
from raybench.types import Completion, ModelSpec

MODEL, JUDGE = (ModelSpec(name, "simulated", "") for name in ("model", "judge"))


@pytest.fixture
def work(tmp_path: Path) -> Work:
    cache = Responses(tmp_path / "responses.db", {"model": "m", "judge": "j"})
    cache.prepare()
    (data,) = datasets.prepare(
        [benchmarks.load("math_500")], DataConf(source="samples"), Selection(limit=3), tmp_path
    )
    questions = Questions("math_500", [(str(shard), 3) for shard in data.shards], 1)
    asking = Asking({"model": MODEL}, 0, cache)
    return Work(jobs(["model"], [questions]), asking, Verdicts(JUDGE, 0, cache))


def replied(work: Work, text: str) -> list[dict[str, Any]]:
    """Have an earlier run that was replied this to everything; return its units, graded."""
    assert work.asking.responses
    units = put(work.jobs[0], work.asking, [])
    for unit in units:
        reply = dataclasses.asdict(Completion(text, "stop"))
        unit |= {"response": text, **{name: reply.get(name) for name in reply if name != "text"}}
        work.asking.responses.put({unit["address"]: response(unit)})
    return list(Grade(work.asking).graded(units))


def test_what_nobody_was_asked_before_is_asked(work: Work) -> None:
    assert wanted.models(work) == {"model", "judge"}
    assert wanted.models(dataclasses.replace(work, checker=None)) == {"model"}


def test_what_is_done_is_nobodys(work: Work) -> None:
    done = [unit_id(unit) for unit in put(work.jobs[0], work.asking, [])]
    assert wanted.models(dataclasses.replace(work, done=done)) == set()


def test_the_checker_alone_is_asked_where_only_its_verdicts_are_new(work: Work) -> None:
    units = replied(work, "It is \\boxed{-1/17}.")
    assert wanted.models(work) == {"judge"}
    assert work.checker
    asked = work.checker.requests(units)
    work.checker.referee.remember(asked, {pair: Completion("No", "stop") for pair in asked})
    assert wanted.models(work) == set()


def test_replies_without_an_answer_leave_the_checker_nothing(work: Work) -> None:
    replied(work, "\n$$\n")
    assert wanted.models(work) == set()

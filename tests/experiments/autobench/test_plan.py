"""What a run would do, told beforehand."""

import itertools
from pathlib import Path

import pytest
from statements import the, values

from perf.swaps_peers import replies
from raybench import cli
from raybench.autobench.course import Course
from raybench.autobench.standing import Standing
from raybench.config import Config
from raybench.experiments import autobench
from raybench.experiments.autobench import setup

SIMULATED = ("+experiment=autobench", "roster=simulated", "autobench.iterations=30")


def config(*settings: str) -> Config:
    return cli.check(cli.compose(cli.own_roster(cli.at_home([*SIMULATED, *settings]))))


@pytest.mark.parametrize(
    ("settings", "least", "most"),
    [
        ((), 1 + 12 + 12 + 144, 9 * 13 + 12 + 144),
        (("autobench.judges=[sim-judge]",), 1 + 1 + 12 + 12, 9 * 2 + 12 + 12),
        # Eleven rate each task, and each answer, of one that judges.
        (("autobench.self_judgement=false",), 1 + 11 + 12 + 132, 9 * 12 + 12 + 132),
        # Nobody judges itself, but two of the contestants may not rate their own.
        (
            ("autobench.judges=[sim-01,sim-02,sim-judge]", "autobench.self_judgement=false"),
            1 + 2 + 12 + 34,
            9 * 4 + 12 + 34,
        ),
        (("autobench.attempts=1", "autobench.restarts=0"), 169, 169),
    ],
)
def test_calls_of_an_iteration(settings: tuple[str, ...], least: int, most: int) -> None:
    assert setup.calls(config(*settings)) == (least, most)


def test_given_tasks_are_neither_posed_nor_rated(tmp_path: Path) -> None:
    tasks = tmp_path / "tasks.jsonl"
    tasks.write_text('{"task": "Why is the sky blue?", "topic": "science", "difficulty": "easy"}\n')
    planned = autobench.plan(config(f"autobench.tasks={tasks}"))
    assert values(planned.calls) == {"least": 30 * 156, "most": 30 * 156}
    told = the("plan.tasks", planned.notes)
    assert (told["tasks"], told["file"]) == (1, str(tasks)) and told["again"]
    planned = autobench.plan(config(f"autobench.tasks={tasks}", "autobench.iterations=1"))
    assert not the("plan.tasks", planned.notes)["again"]


def test_the_plan_says_how_many_iterations_run_at_the_same_time() -> None:
    planned = autobench.plan(config("autobench.at_once=1"))
    assert the("plan.iterations_at_once", planned.notes) == {"iterations": 1}


@pytest.mark.parametrize("own", ["true", "false"])
@pytest.mark.parametrize(("at_once", "seed"), itertools.product((1, 30), (0, 1)))
def test_what_a_run_asks_lies_between(own: str, at_once: int, seed: int) -> None:
    settings = (
        f"autobench.self_judgement={own}",
        f"autobench.at_once={at_once}",
        "autobench.mean_threshold=3",
        f"seed={seed}",
    )
    conf = config(*settings)
    protocol = setup.settings(conf)
    course = Course(
        protocol, Standing.start(protocol), 30, at_once=at_once, budget=setup.budget(conf)
    )
    due, calls = course.begin(), 0
    while due:
        turn = course.take(due[0], replies(due[0], protocol, seed))
        due = [*due[1:], *turn.steps]
        calls += sum(finished.calls for finished in turn.finished)
    assert course.is_over
    assert setup.least_calls(conf) < calls <= setup.most_calls(conf)

"""The guard against getting slow: ratios of what is measured in one go, with wide margins.

No test knows a time: each holds one piece of work to another one that is done beside it, so that a
slow or a busy machine makes both longer. `make perf` has the figures themselves.
"""

import asyncio
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers import ROOT

from perf import autobench_order, data, games_pool, grading_math, math_pairs, sandbox
from perf.ratings import pairs
from raybench import benchmarks
from raybench.sandbox import interpreters
from raybench.stats import bradley_terry

SHORT = "tests/perf/test_ratios.py::"
"""Where the short forms stand: what is measured does what it is measured for. Ratios of processor
time are long, for they need a machine that does nothing else."""


def cpu(work: Callable[[], object], times: int = 3) -> float:
    """Return the processor seconds that a piece of work takes at best."""
    taken = []
    for _ in range(times):
        begun = time.process_time()
        work()
        taken.append(time.process_time() - begun)
    return min(taken)


@pytest.mark.sandbox
def test_programs_are_measured() -> None:
    python = interpreters.chosen().path
    for name in ("raybench", "process"):
        assert len(sandbox.timed([*sandbox.command_of(name, python), "2"]).each_s) == 2


@pytest.mark.sandbox
@pytest.mark.long(short=f"{SHORT}test_programs_are_measured")
def test_a_program_in_the_sandbox_takes_no_more_than_a_few_plain_processes() -> None:
    python = interpreters.chosen().path
    ours, plain = (
        statistics.median(sandbox.timed([*sandbox.command_of(name, python), "20"]).each_s)
        for name in ("raybench", "process")
    )
    assert ours < 4 * plain  # measured: 0.6 to 1.1


@pytest.mark.process
@pytest.mark.long(
    short="tests/perf/test_grading_math.py::test_who_is_stopped_by_an_answer_goes_on_with_the_next"
)
@pytest.mark.skipif(not data.DATASETS.is_dir(), reason="the datasets are not beside this")
def test_answers_are_graded_faster_than_by_math_verify() -> None:
    some = math_pairs.chosen(data.DATASETS, "held-out", 200)
    ours, theirs = (
        sum(grading_math.decided(grading_math.command_of(name, None), some).seconds)
        for name in ("raybench", "math-verify")
    )
    assert theirs > 10 * ours  # measured: 56


# A process of its own: whoever measures a command ends all that it has started.
_RUN = """
import json, sys
from perf import orchestration
rows = [json.loads(line) for line in sys.stdin]
print(orchestration.run("raybench", rows, int(sys.argv[1])).cpu_s)
"""
_IMPORT = """
import sys, tempfile
from pathlib import Path
from perf.measured import took
with tempfile.TemporaryDirectory() as folder:
    print(took([sys.executable, "-c", "import ray.data, ray.serve"], cwd=Path(folder)).cpu_s)
"""


def measured(script: str, *arguments: str) -> float:
    """Run a script that measures a command, which finds the samples of MMLU-Pro as its rows."""
    samples = Path(benchmarks.__file__).parent / "samples" / "mmlu_pro.jsonl"
    rows = map(json.loads, samples.read_bytes().splitlines())
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        input="\n".join(json.dumps({**row, "subject": row["category"]}) for row in rows),
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return float(done.stdout)


@pytest.mark.ray
@pytest.mark.usefixtures("on_lasting_ray")
def test_a_run_of_some_rows_grades_them_all() -> None:
    assert measured(_RUN, "100") > 0  # else there is no measurement (perf/peers/graded.py)


@pytest.mark.ray
@pytest.mark.long(short=f"{SHORT}test_a_run_of_some_rows_grades_them_all")
def test_a_run_of_many_rows_costs_no_more_than_some_imports_of_ray(own_ray: None) -> None:
    # measured: 26, of which the start is 15
    assert measured(_RUN, "20000") < 80 * measured(_IMPORT)


def test_iterations_side_by_side_swap_a_fraction_of_what_the_papers_order_does() -> None:
    """Simulated: neither the swaps nor the seconds depend on this machine."""
    found = dict(autobench_order.simulations(20, 8))
    paper_swaps, paper_s = found["the paper, swapped by raybench"]
    swaps, seconds = found["raybench, all at once"]
    assert paper_swaps > 5 * swaps
    assert paper_s > 2 * seconds


def test_ratings_have_an_error_for_each_model() -> None:
    games = pairs(10, 200)
    assert len(bradley_terry.fit(games, bootstrap=20).table) == 10


@pytest.mark.slow
@pytest.mark.long(short=f"{SHORT}test_ratings_have_an_error_for_each_model")
def test_a_bootstrap_does_not_fit_each_of_its_draws_from_the_beginning() -> None:
    games = pairs(10, 2_000)
    one = cpu(lambda: bradley_terry.fit(games, bootstrap=0))
    assert cpu(lambda: bradley_terry.fit(games, bootstrap=400)) < 40 * one  # measured: 3 to 4


@pytest.mark.slow
@pytest.mark.long(short=f"{SHORT}test_ratings_have_an_error_for_each_model")
def test_ratings_take_longer_as_matches_do_and_no_more() -> None:
    few, many = pairs(50, 10_000), pairs(50, 100_000)
    tenth = cpu(lambda: bradley_terry.fit(few, bootstrap=0))
    assert cpu(lambda: bradley_terry.fit(many, bootstrap=0)) < 10 * tenth  # measured: 2


def played(seconds: float) -> int:
    """Return how many moves matches of a pool have that is played for so long."""
    _, moves = asyncio.run(games_pool.played("liars_dice", 32, seconds, room=games_pool.Instant))
    return moves


@pytest.mark.slow
def test_matches_of_a_pool_are_played() -> None:
    assert played(0.5) > 0


@pytest.mark.slow
@pytest.mark.long(short=f"{SHORT}test_matches_of_a_pool_are_played")
def test_a_move_costs_what_writing_down_some_turns_does() -> None:
    turn = {"seen": "what a player sees of the table " * 30, "reply": "Move: bid 3 4", "tries": []}

    def written() -> None:
        for _ in range(2_000):
            json.loads(json.dumps(turn))

    moves = 0

    def play() -> None:
        nonlocal moves
        moves = played(1.0)

    a_move = cpu(play, times=1) / moves
    assert a_move < 40 * cpu(written) / 2_000  # measured: 10

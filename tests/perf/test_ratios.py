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

pytestmark = pytest.mark.slow


def cpu(work: Callable[[], object], times: int = 3) -> float:
    """Return the processor seconds that a piece of work takes at best."""
    taken = []
    for _ in range(times):
        begun = time.process_time()
        work()
        taken.append(time.process_time() - begun)
    return min(taken)


def test_a_program_in_the_sandbox_takes_no_more_than_a_few_plain_processes() -> None:
    python = interpreters.chosen().path
    ours, plain = (
        statistics.median(sandbox.timed([*sandbox.command_of(name, python), "20"]).each_s)
        for name in ("raybench", "process")
    )
    assert ours < 4 * plain  # measured: 0.6 to 1.1


@pytest.mark.skipif(not data.DATASETS.is_dir(), reason="the datasets are not beside this")
def test_answers_are_graded_faster_than_by_math_verify() -> None:
    some = math_pairs.chosen(data.DATASETS, "held-out", 200)
    ours, theirs = (
        sum(grading_math.decided(grading_math.command_of(name, None), some).seconds)
        for name in ("raybench", "math-verify")
    )
    assert theirs > 10 * ours  # measured: 56


# A process of its own: whoever measures a command ends all that it has started.
_RUN_AND_IMPORT = """
import json, sys, tempfile
from pathlib import Path
from perf import orchestration
from perf.measured import took
whole = orchestration.run("raybench", [json.loads(line) for line in sys.stdin], 20_000).cpu_s
with tempfile.TemporaryDirectory() as folder:
    of_ray = took([sys.executable, "-c", "import ray.data, ray.serve"], cwd=Path(folder)).cpu_s
print(json.dumps([whole, of_ray]))
"""


def test_a_run_of_many_rows_costs_no_more_than_some_imports_of_ray() -> None:
    samples = Path(benchmarks.__file__).parent / "samples" / "mmlu_pro.jsonl"
    rows = map(json.loads, samples.read_bytes().splitlines())
    common = [json.dumps({**row, "subject": row["category"]}) for row in rows]
    done = subprocess.run(
        [sys.executable, "-c", _RUN_AND_IMPORT],
        input="\n".join(common), cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    whole, import_ray = json.loads(done.stdout)
    assert whole < 80 * import_ray  # measured: 26, of which the start is 15


def test_iterations_side_by_side_swap_a_fraction_of_what_the_papers_order_does() -> None:
    found = dict(autobench_order.simulations(20, 8))
    paper_swaps, paper_s = found["the paper, swapped as ours"]
    swaps, seconds = found["raybench, all at once"]
    assert paper_swaps > 5 * swaps
    assert paper_s > 2 * seconds


def test_a_bootstrap_does_not_fit_each_of_its_draws_from_the_beginning() -> None:
    games = pairs(10, 2_000)
    one = cpu(lambda: bradley_terry.fit(games, bootstrap=0))
    assert cpu(lambda: bradley_terry.fit(games, bootstrap=400)) < 40 * one  # measured: 3 to 4


def test_ratings_take_longer_as_matches_do_and_no_more() -> None:
    few, many = pairs(50, 10_000), pairs(50, 100_000)
    tenth = cpu(lambda: bradley_terry.fit(few, bootstrap=0))
    assert cpu(lambda: bradley_terry.fit(many, bootstrap=0)) < 10 * tenth  # measured: 2


def test_a_move_costs_what_writing_down_some_turns_does() -> None:
    turn = {"seen": "what a player sees of the table " * 30, "reply": "Move: bid 3 4", "tries": []}

    def written() -> None:
        for _ in range(2_000):
            json.loads(json.dumps(turn))

    moves = 0

    def play() -> None:
        nonlocal moves
        _, moves = asyncio.run(games_pool.played("liars_dice", 32, 1.0, room=games_pool.Instant))

    a_move = cpu(play, times=1) / moves
    assert a_move < 40 * cpu(written) / 2_000  # measured: 10

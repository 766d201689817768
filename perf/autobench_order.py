"""AutoBench: all iterations side by side, beside the order of the paper.

    python -m perf.autobench_order [--iterations 50 100 200] [--played 10 20 40]

*On one slot, simulated* (`perf/swaps.py` lists the assumptions): the paper's twelve models, of
which one is awake at a time. In the paper's order each step of each iteration asks one model after
the other, and loads it. Three kinder counts: only another model than before is loaded; it only has
to wake up, as if the host had room for all of them asleep (128 GiB for 168); models are swapped by
raybench's scheduler. raybench is that scheduler with one iteration at a time and with all of them.
An engine answers 128 requests, or 8, as soon as one; others wait for it.

*Played*: `python -m raybench +experiment=autobench`, six stand-ins that take half a second for any
reply and are all awake, one iteration at a time and all at once. Whole commands; the time of one
iteration more is the slope.
"""

import itertools
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from perf import arguments
from perf.measured import Took, in_turn, say, took
from perf.results import Found, Table, growth, growth_of, spread
from perf.swaps import PAPER, new_scheduler, peers, play, rules_of
from perf.swaps_peers import play_in_order
from perf.swaps_simulation import LEAVE_S, LEVEL_1_S, LOAD_S
from raybench.autobench.settings import Settings

_BATCHES = (128, 8)
"""How many requests an engine answers at once, each as soon as if it were alone; others wait. No
engine is that good with 128: what of the gain is the order's shows where it is 8."""
_LATENCY_S, _MODELS = 0.5, 6
_SIMULATED = ("iterations", "", "swaps", "whole, hours", "times ours")
_PLAYED = ("", "iterations", "whole s", "CPU s", "an iteration more, s")
_ALL, _ONE = "all at once", "one at a time"


def main() -> None:
    """Simulate, play and tell."""
    parser = arguments.parser(__doc__)
    parser.add_argument(
        "--iterations", type=arguments.count, nargs="+", default=[50, 100, 200], help="simulated"
    )
    parser.add_argument(
        "--played", type=arguments.count, nargs="+", default=[10, 20, 40], help="iterations"
    )
    parser.add_argument("--rounds", type=arguments.count, default=3, help="of those played")
    asked = parser.parse_args()
    simulated = {
        batch: {count: dict(simulations(count, batch)) for count in asked.iterations}
        for batch in _BATCHES
    }
    found: dict[str, dict[int, list[Took]]] = {
        how: {count: [] for count in asked.played} for how in (_ONE, _ALL)
    }
    for number, (how, count) in in_turn(asked.rounds, [*itertools.product(found, asked.played)]):
        found[how][count].append(_assessed(count, how))
        say(f"round {number}, {how}, {count}: {found[how][count][-1].seconds:.1f} s")
    Found(
        "autobench_order",
        "AutoBench: the order of iterations",
        [
            *(
                Table(
                    _SIMULATED,
                    [row for count, of in counts.items() for row in _simulated_rows(count, of)],
                    f"Twelve models on one slot, simulated, {batch} requests at once at no cost",
                )
                for batch, counts in simulated.items()
            ),
            Table(
                _PLAYED,
                [row for how, of in found.items() for row in _played_rows(how, of)],
                f"{_MODELS} stand-ins that take {_LATENCY_S:g} s, played",
            ),
            *([_growth_simulated(simulated)] if len(asked.iterations) > 1 else []),
            *([growth_of(found, _GROWING, "played iterations")] if len(asked.played) > 1 else []),
        ],
        measured=found,
    ).tell(keep=asked.keep)


def simulations(iterations: int, batch: int) -> Iterator[tuple[str, tuple[int, float]]]:
    """Yield ways to play this number of iterations, with the swaps and seconds that they take."""
    paper = play_in_order(Settings(tuple(PAPER)), iterations)
    asks, whole = len(paper.requests), LOAD_S + LEAVE_S
    yield "the paper, loading at every step", (asks, paper.seconds + asks * whole)
    changes = paper.changes
    yield "the paper, loading another model", (changes, paper.seconds + changes * whole)
    woken = paper.seconds + changes * (LEVEL_1_S + LEAVE_S)
    yield "the paper, waking another model", (changes, woken)
    side_by_side = peers(iterations)
    for name, trace in (
        ("the paper, swapped by raybench", replace(side_by_side, begin=paper.work)),
        (f"raybench, {_ONE}", peers(iterations, 1)),
        (f"raybench, {_ALL}", side_by_side),
    ):
        outcome = play(trace, new_scheduler(trace, rules_of()), batch)
        yield name, (outcome.swaps, outcome.seconds)


def _simulated_rows(
    iterations: int, found: Mapping[str, tuple[int, float]]
) -> Iterator[Sequence[str]]:
    best = found[f"raybench, {_ALL}"][1]
    for name, (swaps, seconds) in found.items():
        yield f"{iterations}", name, f"{swaps:,}", f"{seconds / 3600:.2f}", f"{seconds / best:.1f}"


def _growth_simulated(found: Mapping[int, Mapping[int, Mapping[str, tuple[int, float]]]]) -> Table:
    costs = {
        f"{name}, {batch} requests": {
            "swaps": {count: float(of[name][0]) for count, of in counts.items()},
            "whole, hours": {count: of[name][1] for count, of in counts.items()},
        }
        for batch, counts in found.items()
        for name in next(iter(counts.values()))
    }
    return growth(costs, "simulated iterations")


_GROWING: Mapping[str, Callable[[Took], float]] = {
    "whole s": lambda it: it.seconds,
    "CPU s": lambda it: it.cpu_s,
    "peak MiB": lambda it: it.peak_mib,
}


def _assessed(iterations: int, how: str) -> Took:
    models = ", ".join(
        f"{{name: sim-{number}, engine: simulated, "
        f"options: {{ability: 0.{number}, latency_s: {_LATENCY_S}}}}}"
        for number in range(1, _MODELS + 1)
    )
    with tempfile.TemporaryDirectory() as folder:
        command = [
            sys.executable, "-m", "raybench", "+experiment=autobench", "roster=simulated",
            f"roster.models=[{models}]", f"autobench.iterations={iterations}",
            f"autobench.at_once={1 if how == _ONE else 'null'}", f"runs_dir={folder}/runs",
        ]  # fmt: skip
        return took(command, cwd=Path(folder))


def _played_rows(how: str, found: Mapping[int, Sequence[Took]]) -> Iterator[Sequence[str]]:
    sizes = [*found]
    middle = [statistics.median(it.seconds for it in found[count]) for count in sizes]
    more = f"{statistics.linear_regression(sizes, middle).slope:.2f}" if len(sizes) > 1 else ""
    for count, rounds in found.items():
        yield (
            how, str(count),
            spread([it.seconds for it in rounds], ".1f"),
            spread([it.cpu_s for it in rounds], ".1f"),
            more if count == sizes[-1] else "",
        )  # fmt: skip


if __name__ == "__main__":
    main()

"""Our sandbox beside a plain process, Inspect's local sandbox and LiveCodeBench's harness.

    python -m perf.sandbox [--runs 100 400] [--scientific-runs 30] [--rounds 3] [--no-attacks]

*How fast*: an empty program, one after the other and with as many side by side as there are cores.
Each way is a process of its own, in turn, of what its environment has (`perf/peers/programs.py`);
the first run is told apart, as ours starts its server of interpreters in it. The harness is the
file that EvalScope has of LiveCodeBench's, without the comparison of many outputs.

*What it contains*: those of the attacks in tests/sandbox/attacks that do no harm where nothing
stops them, with real bait around them; how many got at it, and of which kinds.

*Scientific programs*: what the profile that has its libraries imported takes, beside a fresh
process that imports them.
"""

import itertools
import json
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from perf import arguments
from perf.measured import in_turn, say, users
from perf.peers.commands import versions
from perf.peers.environments import made
from perf.results import Found, Table, growth, spread
from raybench import sandbox
from raybench.sandbox import environments, interpreters

_ROOT = Path(__file__).parents[1]
_WORKER = _ROOT / "perf" / "peers" / "programs.py"
_ATTACKS = _ROOT / "tests" / "sandbox" / "containment.py"
_PLAIN, _OURS = "process", "raybench"
_NAMES = {
    _PLAIN: "plain process", _OURS: "raybench", "inspect": "Inspect, local",
    "livecodebench": "LiveCodeBench's harness",
}  # fmt: skip
_SPEED = (
    "", "runs", "one alone, ms", "of plain", "p95 ms", "the first, ms", "runs/s", "of plain's",
)  # fmt: skip
_KINDS = {
    "env": "environment", "files": "files", "net": "network", "proc": "other processes",
    "persist": "the next run", "fd": "descriptors", "left": "left running",
    "fake": "its own report",
}  # fmt: skip
"""Of attacks, by how their names begin."""
_USE = (
    "import numpy, scipy.linalg, scipy.integrate, sympy, h5py\n"
    "numpy.linalg.inv(numpy.eye(3)); sympy.Symbol('x') + 1"
)


@dataclass(frozen=True)
class Took:
    """What a way took for some runs."""

    first_s: float
    each_s: Sequence[float]
    a_second: float

    @property
    def median_s(self) -> float:
        """Return what a run takes alone."""
        return statistics.median(self.each_s)


def main() -> None:
    """Measure, attack and tell."""
    parser = arguments.parser(__doc__)
    parser.add_argument("--runs", type=arguments.count, nargs="+", default=[100, 400])
    parser.add_argument("--scientific-runs", type=arguments.count, default=30)
    parser.add_argument("--rounds", type=arguments.count, default=3)
    parser.add_argument("--no-attacks", action="store_true")
    asked = parser.parse_args()
    base = interpreters.chosen()
    commands = {name: command_of(name, base.path) for name in _NAMES}
    found: dict[int, dict[str, list[Took]]] = {
        runs: {name: [] for name in commands} for runs in asked.runs
    }
    for number, (runs, name) in in_turn(asked.rounds, [*itertools.product(asked.runs, commands)]):
        found[runs][name].append(timed([*commands[name], str(runs)]))
        say(f"round {number}, {runs}, {name}: {found[runs][name][-1].a_second:.0f} a second")
    tables = [
        Table(_SPEED, [row for runs, of in found.items() for row in _speeds(runs, of)], "How fast"),
        *([_growth(found)] if len(found) > 1 else []),
    ]
    if not asked.no_attacks:
        got = {name: _attacked(name, command) for name, command in commands.items()}
        tables.append(_contained(got))
    tables.append(_scientific(base, asked.scientific_runs))
    Found(
        "sandbox",
        "Sandbox: programs that nobody vouches for",
        tables,
        versions={"interpreter": base.version, **versions(["inspect", "livecodebench"])},
        measured={
            str(runs): {
                name: [(it.first_s, it.median_s, it.a_second) for it in rounds]
                for name, rounds in of.items()
            }
            for runs, of in found.items()
        },
    ).tell(keep=asked.keep)


def command_of(name: str, interpreter: str) -> list[str]:
    """Return the command of a way's worker, but for what it is to run."""
    python = sys.executable if name in (_PLAIN, _OURS) else str(made(name) / "bin" / "python")
    return [python, str(_WORKER), name, interpreter]


def timed(command: Sequence[str]) -> Took:
    """Have a worker run what its command says last, and return what that took."""
    done = subprocess.run(
        command, capture_output=True, text=True, check=False,
        env={**users(), "PYTHONPATH": str(_ROOT)},
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr[-3000:]}")
    told = json.loads(done.stdout)
    return Took(told["first"], told["each"], told["a_second"])


def _speeds(runs: int, found: Mapping[str, Sequence[Took]]) -> Iterator[Sequence[str]]:
    """Yield a line for each way; ratios are of rounds, each to the same round's plain process."""
    plain = found[_PLAIN]
    for name, rounds in found.items():
        every = sorted(it for one in rounds for it in one.each_s)
        alone = [it.median_s / base.median_s for it, base in zip(rounds, plain, strict=True)]
        beside = [it.a_second / base.a_second for it, base in zip(rounds, plain, strict=True)]
        yield (
            _NAMES[name], str(runs),
            spread([1000 * it.median_s for it in rounds], ".1f"),
            "" if rounds is plain else spread(alone, ".2f"),
            f"{1000 * every[int(0.95 * (len(every) - 1))]:.1f}",
            f"{1000 * statistics.median(it.first_s for it in rounds):,.0f}",
            spread([it.a_second for it in rounds], ".0f"),
            "" if rounds is plain else spread(beside, ".2f"),
        )  # fmt: skip


def _growth(found: Mapping[int, Mapping[str, Sequence[Took]]]) -> Table:
    def by_size(name: str, figure: Callable[[int, Took], float]) -> dict[int, float]:
        return {
            runs: statistics.median(figure(runs, it) for it in of[name])
            for runs, of in found.items()
        }

    costs = {
        _NAMES[name]: {
            "one after the other, s": by_size(name, lambda runs, it: sum(it.each_s)),
            "side by side, s": by_size(name, lambda runs, it: runs / it.a_second),
        }
        for name in _NAMES
    }
    return growth(costs, "runs")


# -------------------------------------------------------------------------------------- attacks


def _attacked(name: str, command: Sequence[str]) -> dict[str, bool]:
    """Return of each harmless attack whether it got at something."""
    say(f"attacks, {name}: a minute or two")
    walls = [] if name == _OURS else ["--unconfined", *([] if name == _PLAIN else command)]
    done = subprocess.run(
        [sys.executable, str(_ATTACKS), *walls], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{name}'s attacks failed:\n{done.stderr[-3000:]}")
    told: dict[str, dict[str, Any]] = json.loads(done.stdout)
    return {attack: bool(it["breaches"]) for attack, it in told.items()}


def _contained(got: Mapping[str, Mapping[str, bool]]) -> Table:
    harmless = got[_PLAIN].keys()

    def kind(attack: str) -> str:
        prefix = attack.partition("_")[0]
        return prefix if prefix in _KINDS else ""

    every = Counter(map(kind, harmless))
    kinds = [it for it in (*_KINDS, "") if every[it]]
    rows = [
        [
            _NAMES[name],
            f"{sum(of[it] for it in harmless)} of {len(harmless)}",
            *(
                f"{sum(of[it] for it in harmless if kind(it) == of_kind)} of {every[of_kind]}"
                for of_kind in kinds
            ),
        ]
        for name, of in got.items()
    ]
    heads = ("", "got through", *(_KINDS.get(it, "all else") for it in kinds))
    return Table(heads, rows, "What it contains: attacks that got at what they were after")


# --------------------------------------------------------------------------- scientific programs


def _scientific(base: interpreters.Interpreter, runs: int) -> Table:
    say("scientific programs")
    python = environments.scientific(base).python
    imports = f"import {', '.join(environments.MODULES)}"
    _sandboxed()
    cold, warm = _in_turn(
        lambda: subprocess.run(
            [python, "-I", "-c", f"{imports}\n{_USE}"], check=True, env={}, stdin=subprocess.DEVNULL
        ),
        _sandboxed,
        runs,
    )
    ratios = [one / other for one, other in zip(cold, warm, strict=True)]
    rows = [
        (name, *(f"{1000 * it:.1f}" for it in statistics.quantiles(taken, n=20)[9::9]), times)
        for name, taken, times in (
            ("a process that imports them", cold, ""),
            ("raybench", warm, f"{statistics.median(ratios):.1f}"),
        )
    ]
    return Table(("", "median ms", "p95 ms", "times faster"), rows, "Scientific programs")


def _in_turn(
    one: Callable[[], object], other: Callable[[], object], runs: int
) -> tuple[list[float], list[float]]:
    """Time two pieces of work alternately, so that the machine's moods meet both."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(runs):
        for work, taken in zip((one, other), times, strict=True):
            begun = time.perf_counter()
            work()
            taken.append(time.perf_counter() - begun)
    return times


def _sandboxed() -> None:
    outcome = sandbox.run(_USE, profile="scientific")
    if not outcome.ok:
        raise SystemExit(f"the program did not run: {outcome.reason}\n{outcome.stderr}")


if __name__ == "__main__":
    main()

"""Mathematics: our grader beside the PRM800K script and math-verify.

    python -m perf.grading_math [--script CHECKOUT] [--pairs 2000 10000] [--hostile 60] [--show]

The same pairs for all (`perf/math_pairs.py`, the half held out), each grader a process of its own
in turn, on one core, imports not counted. Equal decisions are those that are the script's. It takes
a quarter of an hour; 500 pairs in one round two minutes, most of them the hostile answers. CHECKOUT
is a copy of github.com/openai/prm800k, which is on no package index ($RAYBENCH_PRM800K names it
too); without it the script is left out, and math-verify is compared with us.

Of hostile answers, made to take time or memory, each grader gets some, with 20 s for one;
whoever takes longer is killed and goes on with the next. Only ours gets all of them.
"""

import hashlib
import json
import os
import selectors
import statistics
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from perf import arguments, data
from perf.math_pairs import Pair, chosen, hostile
from perf.measured import in_turn, say, users
from perf.peers.commands import versions
from perf.peers.environments import made
from perf.results import Found, Table, growth, slope, spread

PATIENCE_S = 20.0
"""Longer than math-verify's own limits together."""
_ROOT = Path(__file__).parents[1]
_WORKER = _ROOT / "perf" / "peers" / "grading.py"
_OURS, _SCRIPT, _VERIFY = "raybench", "prm800k", "math-verify"
_SPEED = (
    "", "pairs", "pairs/s", "of ours, where all decide alike", "p99 ms", "slowest ms",
)  # fmt: skip
_HOSTILE = ("", "answers", "slowest s", f"not done in {PATIENCE_S:g} s")


@dataclass
class Decided:
    """What a grader made of some pairs, in their order."""

    right: list[bool | None] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    late: int = 0
    """Those that took too long, or took the worker with them."""


def main() -> None:
    """Have all decide, and tell."""
    parser = arguments.parser(__doc__)
    parser.add_argument("--script", default=os.environ.get("RAYBENCH_PRM800K"), metavar="CHECKOUT")
    data.add_folder(parser)
    parser.add_argument("--half", choices=("development", "held-out"), default="held-out")
    parser.add_argument("--pairs", type=arguments.count, nargs="+", default=[2_000, 10_000])
    parser.add_argument("--hostile", type=arguments.count, default=60, help="for all but ours")
    parser.add_argument("--rounds", type=arguments.count, default=3)
    parser.add_argument("--show", action="store_true", help="pairs that we decide otherwise")
    asked = parser.parse_args()
    if asked.script and not _grader(asked.script).is_file():
        parser.error(f"--script {asked.script}: there is no {_grader('')} in it")
    names = [_OURS, *([_SCRIPT] if asked.script else []), _VERIFY]
    commands = {name: command_of(name, asked.script) for name in names}
    found: dict[int, dict[str, list[Decided]]] = {}
    for size in asked.pairs:
        these = chosen(asked.data, asked.half, size)
        found[len(these)] = of = {name: list[Decided]() for name in names}
        for number, name in in_turn(asked.rounds, names):
            of[name].append(decided(commands[name], these))
            seconds = sum(of[name][-1].seconds)
            say(f"round {number}, {len(these)}, {name}: {seconds:.1f} s")
        if asked.show and asked.script:
            _show(these, of)
    every = [*hostile()]
    some = every[:: max(1, len(every) // asked.hostile)][: asked.hostile]
    stopped: dict[tuple[str, int], Decided] = {}
    for name, answers in (*((it, some) for it in names), (_OURS, every)):
        say(f"{len(answers)} hostile answers, {name}")
        stopped[name, len(answers)] = decided(commands[name], answers)
    as_whom = _SCRIPT if asked.script else _OURS
    said_of_script = (
        f"The script is the copy that --script or $RAYBENCH_PRM800K named, {_digest(asked.script)}."
        if asked.script
        else "Without the PRM800K script ($RAYBENCH_PRM800K names no copy of it)."
    )
    Found(
        "grading_math",
        "Grading mathematics",
        [
            Table(
                (*_SPEED, f"decided as {as_whom}"),
                [row for of in found.values() for row in _speeds(of, as_whom)],
                "Honest pairs",
            ),
            Table(_HOSTILE, [*_hostile_rows(stopped)], "Hostile answers"),
            *([_growth(found)] if len(found) > 1 else []),
        ],
        [*([_more(found)] if len(found) > 1 else []), said_of_script],
        versions(names),
        {
            str(size): {name: [sum(it.seconds) for it in rounds] for name, rounds in of.items()}
            for size, of in found.items()
        },
    ).tell(keep=asked.keep)


def decided(command: Sequence[str], these: Sequence[Pair]) -> Decided:
    """Have a worker decide them; what takes too long is killed, and the next begins anew."""
    found = Decided()
    while len(found.seconds) < len(these):
        left = these[len(found.seconds) :]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env={**users(), "PYTHONPATH": str(_ROOT)},
        ) as worker, selectors.DefaultSelector() as ready:  # fmt: skip
            assert worker.stdin is not None and worker.stdout is not None
            if worker.stdout.readline() != b"\n":
                raise SystemExit(f"{' '.join(command)} did not start")
            ready.register(worker.stdout, selectors.EVENT_READ)
            for pair in left:
                worker.stdin.write(f"{json.dumps(pair)}\n".encode())
                worker.stdin.flush()
                line = worker.stdout.readline() if ready.select(PATIENCE_S) else b""
                if line:
                    right, seconds = json.loads(line)
                    found.right.append(right)
                    found.seconds.append(seconds)
                    continue
                found.late += 1
                found.right.append(None)
                found.seconds.append(PATIENCE_S)
                worker.kill()
                break
    return found


def command_of(name: str, checkout: str | None) -> list[str]:
    """Return the command of a grader's worker."""
    if name == _OURS:
        return [sys.executable, str(_WORKER), name]
    return [str(made(name) / "bin" / "python"), str(_WORKER), name, checkout or ""]


def _speeds(found: Mapping[str, Sequence[Decided]], as_whom: str) -> Iterator[Sequence[str]]:
    """Yield a line for each grader; ratios are of rounds, each to ours of the same round.

    And of those pairs which all decide alike.
    """
    ours = found[_OURS]
    base = found[as_whom][0].right
    decisions = zip(*([bool(it) for it in of[0].right] for of in found.values()), strict=True)
    alike = [place for place, of in enumerate(decisions) if len({*of}) == 1]
    for name, rounds in found.items():
        each = sorted(rounds[0].seconds)
        count = len(each)
        ratios = [
            sum(our.seconds[it] for it in alike) / sum(one.seconds[it] for it in alike)
            for one, our in zip(rounds, ours, strict=True)
        ]
        same = sum(
            bool(one) == bool(other) for one, other in zip(rounds[0].right, base, strict=True)
        )
        yield (
            name, f"{count:,}",
            spread([count / sum(it.seconds) for it in rounds], ",.0f"),
            "" if rounds is ours else spread(ratios, ".4f"),
            f"{1000 * each[int(0.99 * (count - 1))]:.2f}",
            f"{1000 * each[-1]:,.0f}",
            "" if name == as_whom else f"{same:,} of {count:,}",
        )  # fmt: skip


def _hostile_rows(found: Mapping[tuple[str, int], Decided]) -> Iterator[Sequence[str]]:
    for (name, count), it in found.items():
        slowest = f"more than {PATIENCE_S:g}" if it.late else f"{max(it.seconds):.2f}"
        yield name, f"{count:,}", slowest, str(it.late)


def _grader(checkout: str) -> Path:
    return Path(checkout) / "prm800k" / "grading" / "grader.py"


def _digest(checkout: str) -> str:
    """Return which version of the script it is: it has none, and may lie there without history."""
    code = _grader(checkout).read_bytes()
    return f"sha256 of its grader.py {hashlib.sha256(code).hexdigest()[:12]}"


def _wholes(found: Mapping[int, Mapping[str, Sequence[Decided]]]) -> dict[str, dict[int, float]]:
    """Return each grader's seconds by size."""
    return {
        name: {
            size: statistics.median(sum(it.seconds) for it in of[name])
            for size, of in found.items()
        }
        for name in next(iter(found.values()))
    }


def _growth(found: Mapping[int, Mapping[str, Sequence[Decided]]]) -> Table:
    return growth({name: {"s": of} for name, of in _wholes(found).items()}, "pairs")


def _more(found: Mapping[int, Mapping[str, Sequence[Decided]]]) -> str:
    each = (f"{1000 * slope(of):.3f} ms ({name})" for name, of in _wholes(found).items())
    return f"A pair more takes {', '.join(each)}."


def _show(these: Sequence[Pair], found: Mapping[str, Sequence[Decided]]) -> None:
    theirs, ours = found[_SCRIPT][0].right, found[_OURS][0].right
    for (given, truth), their, our in zip(these, theirs, ours, strict=True):
        if bool(their) != bool(our):
            print(f"  script {their!s:5}  ours {our!s:5}  given {given!r}  truth {truth!r}")


if __name__ == "__main__":
    main()

"""What is left of a benchmark when models cost nothing: raybench, and two peers' own stand-ins.

    python -m perf.orchestration [--rows 12000 110000] [--rounds 1] [--only raybench lm-eval]

Questions of MMLU-Pro, under other keys where there are not so many, with the same prompts for all:

    raybench   +experiment=index, with a simulated model that takes no time
    lm-eval    lm_eval run --model dummy, a task with exact_match
    inspect    inspect eval with mockllm/model, and the scorer `match`

Each is a command of its own, in turn, and measured from outside: the whole time, processor seconds
and the most memory of all its processes. Samples a second are of the whole time; "a row more" is
what the larger size costs beyond the smaller, a row. Every sample has a grade and is kept in all.
What raybench has to grade is a reply with an answer in it, and a wrong one mostly; theirs is one
that they compare with the right letter.
"""

import argparse
import itertools
import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from perf.measured import Took, took
from perf.peers.commands import Asked, apart, inspect_mocked, lm_eval, versions
from perf.peers.environments import made
from perf.peers.graded import confirm
from perf.results import Found, Table, exponent, median_of, spread
from raybench import benchmarks

HERE = Path(__file__).parents[1]
_DATA = HERE.parent / "shared" / "datasets" / "mmlu_pro_test.jsonl"
_OURS = "raybench"
_LONG_S = 600.0
"""What takes longer has one round."""
_HEADS = (
    "", "rows", "samples/s", "of raybench's", "whole s", "CPU ms a sample", "times raybench's",
    "peak MiB",
)  # fmt: skip


def main() -> None:
    """Give each its turns and tell what came of them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[12_000, 110_000])
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--only", nargs="+", choices=_ARMS, default=[*_ARMS])
    told = parser.parse_args()
    found: dict[str, dict[int, list[Took]]] = {
        name: {count: [] for count in told.rows} for name in told.only
    }
    turns = [
        (number, count, name)
        for number, count in itertools.product(range(told.rounds), told.rows)
        # Every other round the other way round: machines get slower, and quicker again.
        for name in told.only[:: -1 if number % 2 else 1]
    ]
    for number, count, name in turns:
        if any(it.seconds > _LONG_S for it in found[name][count]):
            continue
        with tempfile.TemporaryDirectory() as folder:
            command = _ARMS[name](_asked(Path(folder), count))
            one = took(command, cwd=Path(folder), environment=apart(Path(folder)))
            confirm(name, Path(folder), count, command)
        found[name][count].append(one)
        print(f"round {number + 1}, {count}, {name}: {one}", file=sys.stderr, flush=True)
    Found(
        "orchestration",
        "Orchestration alone: models that take no time",
        [
            Table(
                _HEADS,
                [row for name, of in found.items() for row in _rows(name, of, found.get(_OURS))],
            )
        ],
        [_growth(name, of) for name, of in found.items() if len(of) > 1],
        versions(told.only),
    ).tell()


def rows(count: int) -> Iterator[dict[str, Any]]:
    """Yield that many questions: real ones, again and again under other keys."""
    there = [json.loads(line) for line in _DATA.read_bytes().splitlines()]
    for number, row in enumerate(itertools.islice(itertools.cycle(there), count)):
        yield {**row, "id": number}


def _asked(folder: Path, count: int) -> Asked:
    benchmark = benchmarks.load("mmlu_pro")
    (folder / "data").mkdir()
    with (folder / "data" / "mmlu_pro.jsonl").open("w") as data:
        data.writelines(json.dumps(row) + "\n" for row in rows(count))
    return Asked.written(
        folder, ((benchmark.prompt(row)[0].content, row["answer"]) for row in rows(count)), 64
    )


def _rows(
    name: str,
    found: Mapping[int, Sequence[Took]],
    ours: Mapping[int, Sequence[Took]] | None,
) -> Iterator[Sequence[str]]:
    """Yield a line for each size; ratios are of rounds, each to ours of the same round."""
    for count, rounds in found.items():
        rate, cpu = "", ""
        if ours and name != _OURS:
            pairs = [*zip(rounds, ours[count], strict=False)]  # of long ones there is but the first
            rate = spread([our.seconds / it.seconds for it, our in pairs], ".3f")
            cpu = spread([it.cpu_s / our.cpu_s for it, our in pairs], ".2f")
        yield (
            name,
            f"{count:,}",
            spread([count / it.seconds for it in rounds], ",.0f"),
            rate,
            spread([it.seconds for it in rounds], ".1f"),
            spread([1000 * it.cpu_s / count for it in rounds], ".2f"),
            cpu,
            f"{median_of(rounds, lambda it: it.peak_mib):,.0f}",
        )


def _growth(name: str, found: Mapping[int, Sequence[Took]]) -> str:
    """Return how it grows from the smallest size to the largest."""
    few, many = min(found), max(found)

    def more(figure: Callable[[Took], float]) -> float:
        return (median_of(found[many], figure) - median_of(found[few], figure)) / (many - few)

    power = exponent({size: median_of(it, lambda it: it.cpu_s) for size, it in found.items()})
    return (
        f"{name}: a row more takes {1000 * more(lambda it: it.seconds):.2f} ms, "
        f"{1000 * more(lambda it: it.cpu_s):.2f} ms of a processor and "
        f"{1024 * more(lambda it: it.peak_mib):.1f} KiB; processor time grows as rows to the "
        f"{power:.2f}."
    )


def _raybench(asked: Asked) -> list[str]:
    return [
        sys.executable, "-m", "raybench", "+experiment=index", "roster=simulated",
        "roster.models=[{name: stand-in, engine: simulated, options: {ability: 0.5}}]",
        "roster.judges=[]", "index.benchmarks=[mmlu_pro]", "index.repeats=1", "index.partial=true",
        f"data.dir={asked.folder / 'data'}", f"runs_dir={asked.folder / 'runs'}",
    ]  # fmt: skip


_ARMS: Mapping[str, Callable[[Asked], list[str]]] = {
    _OURS: _raybench,
    "lm-eval": lambda asked: lm_eval(made("lm-eval", on_ours=True), asked, "dummy"),
    "inspect": lambda asked: inspect_mocked(made("inspect"), asked),
}

if __name__ == "__main__":
    main()

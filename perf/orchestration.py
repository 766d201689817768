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

import itertools
import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from perf import arguments, data
from perf.measured import Took, in_turn, say, took
from perf.peers.commands import Asked, apart, inspect_mocked, lm_eval, versions
from perf.peers.environments import made
from perf.peers.graded import confirm
from perf.results import Found, Table, growth_of, median_of, spread
from raybench import benchmarks

_OURS = "raybench"
_LONG_S = 600.0
"""What takes longer has one round."""
_HEADS = (
    "", "rows", "samples/s", "of raybench's", "whole s", "CPU ms a sample", "times raybench's",
    "peak MiB",
)  # fmt: skip


Rounds = Mapping[int, Sequence[Took]]
"""Of each size, in turn."""


def main() -> None:
    """Give each its turns and tell what came of them."""
    parser = arguments.parser(__doc__)
    parser.add_argument("--rows", type=arguments.count, nargs="+", default=[12_000, 110_000])
    parser.add_argument("--rounds", type=arguments.count, default=1)
    parser.add_argument("--only", nargs="+", choices=_ARMS, default=[*_ARMS])
    data.add_folder(parser)
    told = parser.parse_args()
    there = data.read(told.data, "mmlu_pro_test")
    found: dict[str, dict[int, list[Took]]] = {
        name: {count: [] for count in told.rows} for name in told.only
    }
    for number, (count, name) in in_turn(told.rounds, [*itertools.product(told.rows, told.only)]):
        if any(it.seconds > _LONG_S for it in found[name][count]):
            continue
        found[name][count].append(one := run(name, there, count))
        say(f"round {number}, {count}, {name}: {one}")
    result(found).tell(keep=told.keep)


def run(name: str, there: Sequence[dict[str, Any]], count: int) -> Took:
    """Have one of them ask so many questions, and say what it took."""
    with tempfile.TemporaryDirectory() as folder:
        command = _ARMS[name](_asked(Path(folder), rows(there, count)))
        it = took(command, cwd=Path(folder), environment=apart(Path(folder)))
        confirm(name, Path(folder), count, command)
    return it


def result(found: Mapping[str, Rounds]) -> Found:
    """Return what came of it."""
    lines = [row for name, of in found.items() for row in _rows(name, of, found.get(_OURS))]
    more = [name for name, of in found.items() if len(of) > 1]
    return Found(
        "orchestration",
        "Orchestration alone: models that take no time",
        [Table(_HEADS, lines), *([growth_of(found, _GROWING, "rows")] if more else [])],
        [_more(name, found[name]) for name in more],
        versions([*found]),
        found,
    )


def rows(there: Sequence[dict[str, Any]], count: int) -> list[dict[str, Any]]:
    """Return that many questions: real ones, again and again under other keys."""
    repeated = itertools.islice(itertools.cycle(there), count)
    return [{**row, "id": number} for number, row in enumerate(repeated)]


def _asked(folder: Path, asked: Sequence[Mapping[str, Any]]) -> Asked:
    benchmark = benchmarks.load("mmlu_pro")
    (folder / "data").mkdir()
    with (folder / "data" / "mmlu_pro.jsonl").open("w") as file:
        file.writelines(json.dumps(row) + "\n" for row in asked)
    prompts = ((benchmark.prompt(row)[0].content, row["answer"]) for row in asked)
    return Asked.written(folder, prompts, 64)


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
            spread([it.peak_mib for it in rounds], ",.0f"),
        )


_GROWING: Mapping[str, Callable[[Took], float]] = {
    "whole s": lambda it: it.seconds,
    "CPU s": lambda it: it.cpu_s,
    "peak MiB": lambda it: it.peak_mib,
}


def _more(name: str, found: Rounds) -> str:
    """Return what a row more costs, from the smallest size to the largest."""
    few, many = min(found), max(found)
    seconds, cpu_s, mib = (
        (median_of(found[many], it) - median_of(found[few], it)) / (many - few)
        for it in _GROWING.values()
    )
    return (
        f"{name}: a row more takes {1000 * seconds:.2f} ms, {1000 * cpu_s:.2f} ms of a processor "
        f"and {1024 * mib:.1f} KiB."
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

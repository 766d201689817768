"""The same questions to the same model: vLLM itself, two peers, and raybench.

    python -m perf.static [--questions 500 ...] [--tokens 64] [--rounds 3] [--only raw raybench]

A round of 500 questions takes some ten minutes.

The embedded model answers questions of MATH greedily, with at most so many tokens each. All arms
have the same prompts, the same sampling, and the same arguments and libraries of the engine: what
raybench gives it. Each arm of each round is a command of its own, in turn, as a user would give it:

    raw        vllm.LLM.chat, in one call; replies go to a file
    raw-core   the same with what else raybench does for engines on CPUs (`fleet/on_cpu/core.py`): a
               process fewer, and a kernel for norms; what is between this and raybench is Ray's
    lm-eval    lm_eval run --model vllm, with a task of its kind
    inspect    inspect eval --model vllm/…, which starts `vllm serve`, 256 requests at once
    raybench   python -m raybench +experiment=index, with its report and MLflow

Whatever is measured is measured from outside, the same for all: the time of the whole command; the
time from the engine's first token to its last (the steady state; `perf/engine_clock` has the engine
itself write down when it made how many); processor seconds and memory of all processes. Ratios are
to the same round of `raw` and of `raw-core`; every other round has the arms the other way round.
"""

import itertools
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from perf import arguments, data
from perf.measured import Took, in_turn, last_words, say, took
from perf.peers import environments
from perf.peers.commands import Asked, apart, inspect, lm_eval, versions
from perf.peers.graded import confirm
from perf.results import Found, Table, growth_of, median_of, slope, spread
from raybench import benchmarks
from raybench.fleet import embedded
from raybench.fleet.on_cpu.core import preload, take_cores

HERE = Path(__file__).parents[1]
_AT_ONCE = 256
"""Requests of a client that sends each by itself: four times what the engine batches. With no more
than it batches, it would wait for the client between one wave and the next."""
_SPEED = (
    "", "tokens/s", "of raw", "of raw-core", "whole s", "more than raw, ms a question",
)  # fmt: skip
_TOOK = (
    "", "first token after s", "steady s", "after the last s", "CPU s", "peak MiB", "tokens",
)  # fmt: skip
Rounds = Mapping[str, Sequence[Took]]
"""Of each arm, in turn."""


def main() -> None:
    """Give each arm its turns and tell what came of them."""
    parser = arguments.parser(__doc__)
    parser.add_argument("--questions", type=arguments.count, nargs="+", default=[500])
    parser.add_argument("--tokens", type=arguments.count, default=64, help="of a reply, at most")
    parser.add_argument("--rounds", type=arguments.count, default=3)
    parser.add_argument("--only", nargs="+", choices=_ARMS, default=[*_ARMS])
    data.add_folder(parser)
    told = parser.parse_args()
    sizes = {count: questions(told.data, count) for count in told.questions}
    found: dict[int, dict[str, list[Took]]] = {
        count: {name: [] for name in told.only} for count in sizes
    }
    for number, (count, name) in in_turn(told.rounds, [*itertools.product(sizes, told.only)]):
        with tempfile.TemporaryDirectory() as folder:
            asked = _asked(Path(folder), sizes[count], told.tokens)
            vllm = environments.known_as_vllm(asked.folder / "vllm")
            environment = _environment(asked.folder, vllm)
            command = _ARMS[name](asked)
            one = took(command, cwd=asked.folder, environment=environment)
            confirm(name, asked.folder, count, command)
            if not one.tokens:
                raise SystemExit(last_words(command, asked.folder, "made no token"))
        found[count][name].append(one)
        say(f"round {number}, {count}, {name}: {one}")
    result(found, told.tokens).tell(keep=told.keep)


def result(found: Mapping[int, Rounds], tokens: int) -> Found:
    """Return what came of it."""
    arms = [*next(iter(found.values()))]
    tables = [
        table
        for count, of in found.items()
        for table in (
            Table(_SPEED, [*_speeds(of, count)], f"{count:,} questions"),
            Table(_TOOK, [*_taken(of)], f"What {count:,} questions took"),
        )
    ]
    more = len(found) > 1
    return Found(
        "static",
        f"Static benchmarks: questions of MATH, at most {tokens} tokens each",
        [*tables, *([_growth(found)] if more else [])],
        [_more(found)] if more else [],
        versions(arms),
        {str(count): of for count, of in found.items()},
    )


def questions(folder: Path, count: int) -> list[dict[str, Any]]:
    """Return that many real questions, as the hub has them."""
    lines = data.read(folder, "math_test_5000")
    if count > len(lines):
        raise SystemExit(f"--questions {count}: there are {len(lines):,}")
    return [
        {
            "problem": it["question"], "solution": it.get("solution", ""), "answer": it["answer"],
            "subject": it["subject"], "level": it.get("level", 1), "unique_id": str(it["id"]),
        }
        for it in lines[:: len(lines) // count][:count]
    ]  # fmt: skip


def _speeds(found: Rounds, count: int) -> Iterator[Sequence[str]]:
    """Yield how fast each is; ratios are of rounds, each to the same round of another arm."""

    def of(name: str, base: str, figure: Callable[[Took, Took], float], form: str) -> str:
        if name == base or base not in found:
            return ""
        pairs = zip(found[name], found[base], strict=True)
        return spread([figure(one, other) for one, other in pairs], form)

    def rates(one: Took, other: Took) -> float:
        return one.rate / other.rate

    def more(one: Took, other: Took) -> float:
        return 1000 * (one.seconds - other.seconds) / count

    for name, rounds in found.items():
        yield (
            name,
            spread([it.rate for it in rounds], ".0f"),
            of(name, "raw", rates, ".3f"),
            "" if name == "raw" else of(name, "raw-core", rates, ".3f"),
            spread([it.seconds for it in rounds], ".1f"),
            of(name, "raw", more, ".1f"),
        )


def _taken(found: Rounds) -> Iterator[Sequence[str]]:
    for name, rounds in found.items():
        yield (
            name,
            spread([it.first_s for it in rounds], ".1f"),
            spread([it.steady_s for it in rounds], ".1f"),
            spread([it.seconds - it.last_s for it in rounds], ".1f"),
            spread([it.cpu_s for it in rounds], ".0f"),
            spread([it.peak_mib for it in rounds], ",.0f"),
            spread([it.tokens for it in rounds], ",.0f"),
        )


_GROWING: Mapping[str, Callable[[Took], float]] = {
    "whole s": lambda it: it.seconds,
    "steady s": lambda it: it.steady_s,
    "CPU s": lambda it: it.cpu_s,
    "peak MiB": lambda it: it.peak_mib,
}


def _growth(found: Mapping[int, Rounds]) -> Table:
    by_arm = {
        arm: {count: of[arm] for count, of in found.items()} for arm in next(iter(found.values()))
    }
    return growth_of(by_arm, _GROWING, "questions")


def _more(found: Mapping[int, Rounds]) -> str:
    told = ", ".join(
        f"{1000 * slope({count: median_of(of[arm], seconds) for count, of in found.items()}):.0f} "
        f"ms ({arm})"
        for arm in next(iter(found.values()))
        for seconds in [_GROWING["whole s"]]
    )
    return f"A question more takes {told}."


def _asked(folder: Path, rows: Sequence[dict[str, Any]], tokens: int) -> Asked:
    benchmark = benchmarks.load("math_500")
    (folder / "data").mkdir()
    with (folder / "data" / "math_500.jsonl").open("w") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    prompts = ((benchmark.prompt(row)[0].content, row["answer"]) for row in rows)
    return Asked.written(folder, prompts, tokens)


def _weights() -> str:
    return str(embedded.prepare())


def _engine() -> dict[str, Any]:
    """Return the arguments of the engine that raybench would start."""
    from raybench.config import FleetConf
    from raybench.fleet.engines import group_engines
    from raybench.fleet.llm_config import llm_config
    from raybench.types import ModelSpec

    (spec,) = group_engines([ModelSpec("embedded", "vllm", embedded.NAME)])
    told: dict[str, Any] = llm_config(spec, FleetConf(), gpu=False)["engine_kwargs"]
    return {name: it for name, it in told.items() if name != "structured_outputs_config"}


def _environment(folder: Path, vllm: Path) -> dict[str, str]:
    """Return what all arms are started with: the libraries and cores that our engines get."""
    told = {
        **apart(folder),
        "VLLM_NO_USAGE_STATS": "1",
        "PYTHONPATH": f"{HERE}:{vllm}",
    }
    preload(told)
    take_cores(told)
    return told


# ------------------------------------------------------------------------------------ the arms


def _raw(asked: Asked) -> list[str]:
    told = {"model": _weights(), "engine": _engine(), "tokens": asked.tokens}
    (asked.folder / "raw.json").write_text(json.dumps(told))
    return [sys.executable, "-m", "perf.peers.raw", str(asked.folder)]


def _raw_core(asked: Asked) -> list[str]:
    return [*_raw(asked), "--core"]


def _lm_eval(asked: Asked) -> list[str]:
    engine = ",".join(f"{name}={it}" for name, it in _engine().items())
    return lm_eval(
        environments.made("lm-eval", on_ours=True), asked, "vllm",
        "--model_args", f"pretrained={_weights()},{engine}",
        "--apply_chat_template", "--batch_size", "auto",
    )  # fmt: skip


def _inspect(asked: Asked) -> list[str]:
    engine = [
        f"-Mno_{name}=" if it is False else f"-M{name}={json.dumps(it)}"
        for name, it in _engine().items()
    ]
    command = inspect(
        environments.made("inspect", on_ours=True), asked, f"vllm/{_weights()}",
        "--max-connections", str(_AT_ONCE), *engine,
    )  # fmt: skip
    # It starts the `vllm` that it finds, which is ours: its own environment has other versions.
    return ["env", f"PATH={Path(sys.executable).parent}:{os.environ['PATH']}", *command]


def _raybench(asked: Asked) -> list[str]:
    model = (
        "{name: embedded, weights: embedded, images: false, "
        f"sampling: {{temperature: 0.0, max_tokens: {asked.tokens}}}}}"
    )
    return [
        "env", f"XDG_CACHE_HOME={_forgetful(asked.folder / 'cache')}",
        sys.executable, "-m", "raybench", "+experiment=index", f"roster.models=[{model}]",
        "roster.judges=[]", "index.benchmarks=[math_500]", f"index.max_tokens={asked.tokens}",
        "index.repeats=1", "index.partial=true", f"data.dir={asked.folder / 'data'}",
        f"runs_dir={asked.folder / 'runs'}",
    ]  # fmt: skip


def _forgetful(folder: Path) -> Path:
    """Return a cache that has all of the user's but the responses: a second round asks again."""
    users = embedded.prepare().parent
    (folder / users.name).mkdir(parents=True)
    for there in (*users.parent.iterdir(), *users.iterdir()):
        if there != users and not there.name.startswith("responses"):
            (folder / there.relative_to(users.parent)).symlink_to(there)
    return folder


_ARMS: Mapping[str, Callable[[Asked], list[str]]] = {
    "raw": _raw, "raw-core": _raw_core, "lm-eval": _lm_eval, "inspect": _inspect,
    "raybench": _raybench,
}  # fmt: skip

if __name__ == "__main__":
    main()

"""The same questions to the same model: vLLM itself, two peers, and raybench.

    python -m perf.static [--questions 500 ...] [--tokens 64] [--rounds 3] [--only raw raybench]

The embedded model answers questions of MATH greedily, with at most so many tokens each. All arms
have the same prompts, the same sampling, and the same arguments and libraries of the engine: what
raybench gives it. Each arm of each round is a command of its own, in turn, as a user would give it:

    raw        vllm.LLM.chat, in one call; replies go to a file
    raw-core   the same with what else raybench does for engines on CPUs (`fleet/cpu_core.py`): a
               process fewer, and a kernel for norms; what is between this and raybench is Ray's
    lm-eval    lm_eval run --model vllm, with a task of its kind
    inspect    inspect eval --model vllm/…, which starts `vllm serve`, 256 requests at once
    raybench   python -m raybench +experiment=index, with its report and MLflow

Whatever is measured is measured from outside, the same for all: the time of the whole command; the
time from the engine's first token to its last (the steady state; `perf/engine_clock` has the engine
itself write down when it made how many); processor seconds and memory of all processes. Ratios are
to the same round of `raw` and of `raw-core`; every other round has the arms the other way round.
"""

import argparse
import itertools
import json
import os
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from perf.measured import Took, last_words, took
from perf.peers import environments
from perf.peers.commands import Asked, apart, inspect, lm_eval, versions
from perf.peers.graded import confirm
from perf.results import Found, Table, exponent, median_of, slope, spread
from raybench import benchmarks
from raybench.fleet import embedded
from raybench.fleet.on_cpu import preload, take_cores

HERE = Path(__file__).parents[1]
_DATA = HERE.parent / "shared" / "datasets" / "math_test_5000.jsonl"
_AT_ONCE = 256
"""Requests of a client that sends each by itself: four times what the engine batches. With no more
than it batches, it would wait for the client between one wave and the next."""
_HEADS = (
    "", "tokens/s", "of raw", "of raw-core", "whole s", "more than raw, ms a question",
    "first token after s",
    "steady s", "after the last s", "CPU s", "peak MiB", "tokens",
)  # fmt: skip


def main() -> None:
    """Give each arm its turns and tell what came of them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--questions", type=int, nargs="+", default=[500])
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="+", choices=_ARMS, default=[*_ARMS])
    told = parser.parse_args()
    sizes = {count: questions(count) for count in told.questions}
    found: dict[int, dict[str, list[Took]]] = {
        count: {name: [] for name in told.only} for count in sizes
    }
    for number in range(told.rounds):
        # Every other round the other way round: machines get slower, and quicker again.
        names = told.only[:: -1 if number % 2 else 1]
        for (count, rows), name in itertools.product(sizes.items(), names):
            with tempfile.TemporaryDirectory() as folder:
                asked = _asked(Path(folder), rows, told.tokens)
                vllm = environments.known_as_vllm(asked.folder / "vllm")
                environment = _environment(asked.folder, vllm)
                command = _ARMS[name](asked)
                one = took(command, cwd=asked.folder, environment=environment)
                confirm(name, asked.folder, count, command)
                if not one.tokens:
                    raise SystemExit(last_words(command, asked.folder, "made no token"))
            found[count][name].append(one)
            print(f"round {number + 1}, {count}, {name}: {one}", file=sys.stderr, flush=True)
    Found(
        "static",
        f"Static benchmarks: questions of MATH, at most {told.tokens} tokens each",
        [_table(of, count) for count, of in found.items()],
        [_growth(found)] if len(found) > 1 else [],
        versions(told.only),
    ).tell()


def questions(count: int) -> list[dict[str, Any]]:
    """Return that many real questions, as the hub has them."""
    lines = [json.loads(line) for line in _DATA.read_bytes().splitlines()]
    return [
        {
            "problem": it["question"], "solution": it.get("solution", ""), "answer": it["answer"],
            "subject": it["subject"], "level": it.get("level", 1), "unique_id": str(it["id"]),
        }
        for it in lines[:: len(lines) // count][:count]
    ]  # fmt: skip


def _table(found: Mapping[str, Sequence[Took]], count: int) -> Table:
    """Return the rows of a size; ratios are of rounds, each to the same round of another arm."""

    def of(name: str, base: str, figure: Callable[[Took, Took], float], form: str) -> str:
        if name == base or base not in found:
            return ""
        pairs = zip(found[name], found[base], strict=True)
        return spread([figure(one, other) for one, other in pairs], form)

    def rates(one: Took, other: Took) -> float:
        return one.rate / other.rate

    def more(one: Took, other: Took) -> float:
        return 1000 * (one.seconds - other.seconds) / count

    rows = []
    for name, rounds in found.items():
        rows.append(
            [
                name,
                spread([it.rate for it in rounds], ".0f"),
                of(name, "raw", rates, ".3f"),
                "" if name == "raw" else of(name, "raw-core", rates, ".3f"),
                spread([it.seconds for it in rounds], ".1f"),
                of(name, "raw", more, ".1f"),
                *(
                    f"{median_of(rounds, figure):.0f}"
                    for figure in (
                        lambda it: it.first_s, lambda it: it.steady_s,
                        lambda it: it.seconds - it.last_s, lambda it: it.cpu_s,
                        lambda it: it.peak_mib, lambda it: it.tokens,
                    )
                ),
            ]
        )  # fmt: skip
    return Table(_HEADS, rows, f"{count:,} questions")


def _growth(found: Mapping[int, Mapping[str, Sequence[Took]]]) -> str:
    """Return what a question more costs each arm, and how its processor time grows."""
    told = []
    for name in next(iter(found.values())):
        whole, cpu = (
            {count: median_of(of[name], figure) for count, of in found.items()}
            for figure in (lambda it: it.seconds, lambda it: it.cpu_s)
        )
        told.append(f"{1000 * slope(whole):.0f} ms and to the {exponent(cpu):.2f} ({name})")
    return (
        "A question more takes so long, and processor time, with its start, grows as questions: "
        f"{', '.join(told)}."
    )


def _asked(folder: Path, rows: Sequence[dict[str, Any]], tokens: int) -> Asked:
    benchmark = benchmarks.load("math_500")
    (folder / "data").mkdir()
    with (folder / "data" / "math_500.jsonl").open("w") as data:
        data.writelines(json.dumps(row) + "\n" for row in rows)
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

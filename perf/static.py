"""The same questions to the same model: vLLM itself, two peers, and raybench.

    python -m perf.static [--questions 500 ...] [--tokens 64] [--rounds 3] [--only raw raybench]

The embedded model answers questions of MATH greedily, with at most so many tokens each. All arms
have the same prompts, the same sampling, and the same arguments and libraries of the engine: what
raybench gives it. Each arm of each round is a command of its own, in turn A B C D, A B C D, as a
user would give it:

    raw        vllm.LLM.chat, in one call; replies go to a file
    lm-eval    lm_eval run --model vllm, with a task of its kind
    inspect    inspect eval --model vllm/…, which starts `vllm serve`, 64 connections at once
    raybench   python -m raybench +experiment=index

Whatever is measured is measured from outside, the same for all: the time of the whole command; the
time from the engine's first token to its last (the steady state; `perf/engine_clock` has the engine
itself write down when it made how many); processor seconds and memory of all processes. Ratios are
to the same round of `raw`.
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

from perf.measured import Took, took
from perf.peers import environments
from perf.results import Found, Table, exponent, median_of, spread
from raybench import benchmarks
from raybench.fleet import embedded
from raybench.fleet.on_cpu import preload, take_cores

HERE = Path(__file__).parents[1]
_DATA = HERE.parent / "shared" / "datasets" / "math_test_5000.jsonl"
_AT_ONCE = 64
"""What the engine batches."""
_PEERS = {"lm-eval": "lm-eval==", "inspect": "inspect-ai=="}
_HEADS = (
    "", "tokens/s", "of raw", "whole s", "more than raw, ms a question", "first token after s",
    "steady s", "after the last s", "CPU s", "peak MiB", "tokens",
)  # fmt: skip
Arm = Callable[["Asked"], list[str]]


class Asked:
    """What all arms are to do, as files in a folder of theirs."""

    def __init__(self, folder: Path, rows: Sequence[dict[str, Any]], tokens: int) -> None:
        self.folder = folder
        self.tokens = tokens
        self.engine = _engine()
        self.weights = str(embedded.prepare())
        benchmark = benchmarks.load("math_500")
        (folder / "data").mkdir()
        with (folder / "data" / "math_500.jsonl").open("w") as data:
            data.writelines(json.dumps(row) + "\n" for row in rows)
        with (folder / "prompts.jsonl").open("w") as prompts:
            for row in rows:
                (message,) = benchmark.prompt(row)
                told = {"prompt": message.content, "answer": row["answer"]}
                prompts.write(json.dumps(told) + "\n")


def main() -> None:
    """Give each arm its turns and tell what came of them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--questions", type=int, nargs="+", default=[500])
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="+", choices=_ARMS, default=[*_ARMS])
    parser.add_argument("--raw", type=Path, help=argparse.SUPPRESS)
    told = parser.parse_args()
    if told.raw:
        _ask_raw(told.raw)
        return
    sizes = {count: questions(count) for count in told.questions}
    found: dict[int, dict[str, list[Took]]] = {
        count: {name: [] for name in told.only} for count in sizes
    }
    for number in range(told.rounds):
        for (count, rows), name in itertools.product(sizes.items(), told.only):
            with tempfile.TemporaryDirectory() as folder:
                asked = Asked(Path(folder), rows, told.tokens)
                environment = _environment(environments.known_as_vllm(asked.folder / "vllm"))
                one = took(_ARMS[name](asked), cwd=asked.folder, environment=environment)
            found[count][name].append(one)
            print(f"round {number + 1}, {count}, {name}: {one}", file=sys.stderr, flush=True)
    Found(
        "static",
        f"Static benchmarks: questions of MATH, at most {told.tokens} tokens each",
        [_table(of, count) for count, of in found.items()],
        [f"CPU seconds grow as questions to the {it}." for it in _growth(found)],
        {name: _version_of(name) for name in told.only if name in _PEERS},
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
    """Return the rows of a size; ratios are of rounds, each to the same round of `raw`."""
    base = found.get("raw")
    rows = []
    for name, rounds in found.items():
        of_raw, more = "", ""
        if base and name != "raw":
            pairs = [*zip(rounds, base, strict=True)]
            of_raw = spread([one.rate / other.rate for one, other in pairs], ".3f")
            more = spread(
                [1000 * (one.seconds - other.seconds) / count for one, other in pairs], ".1f"
            )
        rows.append(
            [
                name,
                spread([it.rate for it in rounds], ".0f"),
                of_raw,
                spread([it.seconds for it in rounds], ".1f"),
                more,
                *(
                    f"{median_of(rounds, of):.0f}"
                    for of in (
                        lambda it: it.first_s, lambda it: it.steady_s,
                        lambda it: it.seconds - it.last_s, lambda it: it.cpu_s,
                        lambda it: it.peak_mib, lambda it: it.tokens,
                    )
                ),
            ]
        )  # fmt: skip
    return Table(_HEADS, rows, f"{count} questions")


def _growth(found: Mapping[int, Mapping[str, Sequence[Took]]]) -> list[str]:
    """Return how each arm's processor time grows, where there is more than one size."""
    if len(found) < 2:
        return []
    names = next(iter(found.values()))
    powers = {
        name: exponent(
            {count: median_of(of[name], lambda it: it.cpu_s) for count, of in found.items()}
        )
        for name in names
    }
    return [", ".join(f"{power:.2f} ({name})" for name, power in powers.items())]


def _version_of(peer: str) -> str:
    lines = (HERE / "requirements" / f"{peer}.txt").read_text().splitlines()
    return next(it.partition("==")[2].split()[0] for it in lines if it.startswith(_PEERS[peer]))


def _engine() -> dict[str, Any]:
    """Return the arguments of the engine that raybench would start."""
    from raybench.config import FleetConf
    from raybench.fleet.engines import group_engines
    from raybench.fleet.llm_config import llm_config
    from raybench.types import ModelSpec

    (spec,) = group_engines([ModelSpec("embedded", "vllm", embedded.NAME)])
    told: dict[str, Any] = llm_config(spec, FleetConf(), gpu=False)["engine_kwargs"]
    return {name: it for name, it in told.items() if name != "structured_outputs_config"}


def _environment(vllm: Path) -> dict[str, str]:
    """Return what all arms are started with: the libraries and cores that our engines get."""
    told = {
        **os.environ,
        "VLLM_NO_USAGE_STATS": "1",
        "HF_HUB_OFFLINE": "1",
        "PYTHONPATH": f"{HERE}:{vllm}",
    }
    preload(told)
    take_cores(told)
    return told


# ------------------------------------------------------------------------------------ the arms


def _raw(asked: Asked) -> list[str]:
    told = {"model": asked.weights, "engine": asked.engine, "tokens": asked.tokens}
    (asked.folder / "raw.json").write_text(json.dumps(told))
    return [sys.executable, "-m", "perf.static", "--raw", str(asked.folder)]


def _ask_raw(folder: Path) -> None:
    from vllm import LLM, SamplingParams

    told = json.loads((folder / "raw.json").read_text())
    prompts = [json.loads(it)["prompt"] for it in (folder / "prompts.jsonl").open()]
    llm = LLM(told["model"], **told["engine"])
    messages: Any = [[{"role": "user", "content": it}] for it in prompts]
    sampling = SamplingParams(temperature=0.0, max_tokens=told["tokens"])
    replies = llm.chat(messages, sampling, use_tqdm=False)
    with (folder / "replies.jsonl").open("w") as file:
        file.writelines(json.dumps(it.outputs[0].text) + "\n" for it in replies)


_TASK = """\
task: asked
dataset_path: json
dataset_kwargs:
  data_files: {test: FOLDER/prompts.jsonl}
test_split: test
output_type: generate_until
doc_to_text: "{{prompt}}"
doc_to_target: "{{answer}}"
generation_kwargs: {until: [], do_sample: false, temperature: 0.0, max_gen_toks: TOKENS}
metric_list:
  - {metric: exact_match, aggregation: mean, higher_is_better: true}
metadata: {version: 1}
"""


def _lm_eval(asked: Asked) -> list[str]:
    made = environments.made("lm-eval", HERE / "requirements" / "lm-eval.txt", on_ours=True)
    tasks = asked.folder / "tasks"
    tasks.mkdir()
    told = _TASK.replace("FOLDER", str(asked.folder)).replace("TOKENS", str(asked.tokens))
    (tasks / "asked.yaml").write_text(told)
    engine = ",".join(f"{name}={it}" for name, it in asked.engine.items())
    return [
        str(made / "bin" / "lm_eval"), "run", "--model", "vllm",
        "--model_args", f"pretrained={asked.weights},{engine}",
        "--tasks", "asked", "--include_path", str(tasks), "--apply_chat_template",
        "--batch_size", "auto", "--output_path", "out", "--log_samples",
    ]  # fmt: skip


_INSPECT = """\
from inspect_ai import Task, task
from inspect_ai.dataset import FieldSpec, json_dataset
from inspect_ai.scorer import match
from inspect_ai.solver import generate


@task
def asked():
    fields = FieldSpec(input="prompt", target="answer")
    return Task(json_dataset("prompts.jsonl", fields), solver=generate(), scorer=match())
"""


def _inspect(asked: Asked) -> list[str]:
    made = environments.made("inspect-vllm", HERE / "requirements" / "inspect.txt", on_ours=True)
    (asked.folder / "asked.py").write_text(_INSPECT)
    # It starts the `vllm` that it finds, which is ours: its own environment has other versions.
    arguments = [
        f"-M{name}={json.dumps(it)}" for name, it in asked.engine.items() if it is not False
    ]
    off = [f"-Mno_{name}=" for name, it in asked.engine.items() if it is False]
    return [
        "env", f"PATH={Path(sys.executable).parent}:{os.environ['PATH']}",
        str(made / "bin" / "inspect"), "eval", "asked.py", "--model", f"vllm/{asked.weights}",
        *arguments, *off, "--temperature", "0", "--max-tokens", str(asked.tokens),
        "--max-connections", str(_AT_ONCE), "--display", "plain",
    ]  # fmt: skip


def _raybench(asked: Asked) -> list[str]:
    model = (
        "{name: embedded, weights: embedded, images: false, "
        f"sampling: {{temperature: 0.0, max_tokens: {asked.tokens}}}}}"
    )
    return [
        sys.executable, "-m", "raybench", "+experiment=index", f"roster.models=[{model}]",
        "roster.judges=[]", "index.benchmarks=[math_500]", f"index.max_tokens={asked.tokens}",
        "index.repeats=1", "index.partial=true", f"data.dir={asked.folder / 'data'}",
        f"runs_dir={asked.folder / 'runs'}", "tracking.send=later",
    ]  # fmt: skip


_ARMS: Mapping[str, Arm] = {
    "raw": _raw, "lm-eval": _lm_eval, "inspect": _inspect, "raybench": _raybench,
}  # fmt: skip

if __name__ == "__main__":
    main()

"""The same questions to the same model: vLLM itself, two peers, and raybench.

    python -m perf.static [--questions 500] [--tokens 64] [--rounds 3] [--only raw raybench]

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
of medians to those of `raw`.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from perf.measured import Took, took
from perf.peers import environments
from raybench import benchmarks
from raybench.fleet import embedded
from raybench.fleet.on_cpu import preload, take_cores

HERE = Path(__file__).parents[1]
_DATA = HERE.parent / "shared" / "datasets" / "math_test_5000.jsonl"
_AT_ONCE = 64
"""What the engine batches."""
_ROW = "{:>10} {:>8} {:>8} {:>9} {:>9} {:>9} {:>8} {:>8} {:>8} {:>9}"
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
    """Give each arm its turns and print what came of them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--questions", type=int, default=500)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="+", choices=_ARMS, default=[*_ARMS])
    parser.add_argument("--raw", type=Path, help=argparse.SUPPRESS)
    told = parser.parse_args()
    if told.raw:
        _ask_raw(told.raw)
        return
    rows = questions(told.questions)
    found: dict[str, list[Took]] = {name: [] for name in told.only}
    for number in range(told.rounds):
        for name in told.only:
            with tempfile.TemporaryDirectory() as folder:
                asked = Asked(Path(folder), rows, told.tokens)
                environment = _environment(environments.known_as_vllm(asked.folder / "vllm"))
                one = took(_ARMS[name](asked), cwd=asked.folder, environment=environment)
            found[name].append(one)
            print(f"round {number + 1}, {name}: {one}", file=sys.stderr, flush=True)
    print(_table(found, len(rows)))


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


def _table(found: Mapping[str, Sequence[Took]], count: int) -> str:
    heads = ("", "whole s", "first s", "steady s", "tokens/s", "of raw", "after s", "CPU s", "MiB",
             "ms/sample")  # fmt: skip
    lines = [_ROW.format(*heads)]
    base = found.get("raw")
    for name, rounds in found.items():

        def median(of: Callable[[Took], float], rounds: Sequence[Took] = rounds) -> float:
            return statistics.median(map(of, rounds))

        def rate(one: Took) -> float:
            return one.tokens / one.steady_s

        against = median(rate) / statistics.median(map(rate, base)) if base else float("nan")
        more = 0.0
        if base:
            more = median(lambda it: it.seconds) - statistics.median(it.seconds for it in base)
        lines.append(
            _ROW.format(
                name,
                f"{median(lambda it: it.seconds):.1f}",
                f"{median(lambda it: it.first_s):.1f}",
                f"{median(lambda it: it.steady_s):.1f}",
                f"{median(rate):.0f}",
                f"{against:.3f}",
                f"{median(lambda it: it.seconds - it.last_s):.1f}",
                f"{median(lambda it: it.cpu_s):.0f}",
                f"{median(lambda it: it.peak_mib):.0f}",
                f"{1000 * more / count:.1f}",
            )
        )
    return "\n".join(lines)


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

"""How a user of a peer has it ask some prompts."""

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from perf.peers.environments import PACKAGES

_LM_EVAL = """\
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
_INSPECT = """\
from inspect_ai import Task, task
from inspect_ai.dataset import FieldSpec, json_dataset
from inspect_ai.scorer import match
from inspect_ai.solver import generate


@task
def asked():
    data = json_dataset("prompts.jsonl", FieldSpec(input="prompt", target="answer"))
    return Task(data, solver=generate(), scorer=match(), model=MODEL)
"""
_MOCKED = """\
from inspect_ai.model import ModelOutput, ModelUsage, get_model


def replied(*asked):
    reply = ModelOutput.from_content("mockllm/model", "A")
    reply.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return reply


MODEL = get_model("mockllm/model", custom_outputs=replied)
"""
"""It counts tokens by what it fetches from the network, unless it is told how many they are."""


def apart(folder: Path) -> dict[str, str]:
    """Return the environment of a command that fetches nothing and leaves nothing elsewhere.

    Who would ask a hub all the same may wait for it for minutes.
    """
    offline = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"}
    return {**os.environ, **offline, "HF_DATASETS_CACHE": str(folder / "datasets")}


@dataclass(frozen=True)
class Asked:
    """What is to be asked, in a folder of its own."""

    folder: Path
    tokens: int
    """The most of a reply."""

    @classmethod
    def written(cls, folder: Path, prompts: Iterable[tuple[str, str]], tokens: int) -> "Asked":
        """Write prompts with their right answers down, where peers read them."""
        with (folder / "prompts.jsonl").open("w") as file:
            for prompt, answer in prompts:
                file.write(json.dumps({"prompt": prompt, "answer": answer}) + "\n")
        return cls(folder, tokens)

    def prompts(self) -> list[str]:
        """Return the prompts."""
        with (self.folder / "prompts.jsonl").open() as file:
            return [json.loads(line)["prompt"] for line in file]


def lm_eval(environment: Path, asked: Asked, model: str, *more: str) -> list[str]:
    """Return the command that has lm-evaluation-harness ask a model of some kind."""
    tasks = asked.folder / "tasks"
    tasks.mkdir()
    told = _LM_EVAL.replace("FOLDER", str(asked.folder)).replace("TOKENS", str(asked.tokens))
    (tasks / "asked.yaml").write_text(told)
    return [
        str(environment / "bin" / "lm_eval"), "run", "--model", model, "--tasks", "asked",
        "--include_path", str(tasks), "--output_path", "out", "--log_samples", *more,
    ]  # fmt: skip


def inspect(environment: Path, asked: Asked, model: str, *more: str) -> list[str]:
    """Return the command that has Inspect ask a model."""
    return _inspect(environment, asked, "MODEL = None\n", "--model", model, *more)


def inspect_mocked(environment: Path, asked: Asked) -> list[str]:
    """Return the command that has Inspect ask its own stand-in."""
    return _inspect(environment, asked, _MOCKED)


def _inspect(environment: Path, asked: Asked, model: str, *more: str) -> list[str]:
    (asked.folder / "asked.py").write_text(f"{model}{_INSPECT}")
    return [
        str(environment / "bin" / "inspect"), "eval", "asked.py",
        "--temperature", "0", "--max-tokens", str(asked.tokens), "--display", "plain", *more,
    ]  # fmt: skip


def versions(peers: Sequence[str]) -> dict[str, str]:
    """Return the versions that their lists have of the packages they are in.

    Others than peers are left out.
    """
    return {
        package.name if name in package.name else f"{package.name} (for {name})": line.partition(
            "=="
        )[2].split()[0]
        for name, package in PACKAGES.items()
        if name in peers
        for line in package.list.read_text().splitlines()
        if line.startswith(f"{package.name}==")
    }

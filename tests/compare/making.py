"""Run folders as runs leave them, made of what a test wants to be in them."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from raybench.compare import judging, questions
from raybench.compare.finding import Named
from raybench.compare.found import Compared, Concluded, Pair, Score, Side
from raybench.compare.runs import Stored

RUN = "20260101-000000-000000-{:010x}"


def unit(model: str, key: str, correct: bool, **more: Any) -> dict[str, Any]:
    """Return a record of journal/units.jsonl."""
    return {
        "model": model,
        "benchmark": "mmlu_pro",
        "key": key,
        "language": "en",
        "subject": "math",
        "cluster": None,
        "repeat": 0,
        "reused": False,
        "response": f"Answer: {'A' if correct else 'B'}",
        "reasoning": "",
        "finish": "stop",
        "error": None,
        "prompt_tokens": 10,
        "output_tokens": 3,
        "correct": correct,
        "answer": "A" if correct else "B",
        "reason": "right" if correct else "wrong",
        "by": "script",
        "judge_error": None,
        "truth": "A",
        **more,
    }


def units(model: str, marks: Iterable[bool], **more: Any) -> list[dict[str, Any]]:
    """Return records of questions 0, 1, 2 …, right where the marks say so."""
    return [unit(model, str(key), bool(correct), **more) for key, correct in enumerate(marks)]


def run(
    folder: Path,
    records: Sequence[Mapping[str, Any]],
    *,
    models: Sequence[str] = ("m",),
    experiment: str = "index",
    journal: str = "units",
    data: Mapping[str, Mapping[str, Any]] | None = None,
    results: Mapping[str, Any] | None = None,
    config: Mapping[str, Any] | None = None,
) -> Stored:
    """Write a run's folder and return it; it is finished unless results are {}."""
    (folder / "journal").mkdir(parents=True)
    roster = [{"name": name, "engine": "vllm", "weights": f"org/{name}"} for name in models]
    told = {
        "experiment": experiment,
        "roster": {"name": "r", "models": roster, "judges": []},
        "seed": 0,
        "data": {"source": "samples", "dir": None},
        experiment: {"limit": None, "subset": []},
        **(config or {}),
    }
    # JSON is YAML.
    (folder / "config.yaml").write_text(f"# raybench 0.1.0\n{json.dumps(told)}")
    text = "".join(json.dumps(it, ensure_ascii=False) + "\n" for it in records)
    (folder / "journal" / f"{journal}.jsonl").write_text(text)
    about = data or {
        name: {"origin": "samples", "digest": "d" * 64}
        for name in {str(it.get("benchmark")) for it in records}
    }
    if results is None:
        results = {"run": {"id": folder.name, "data": about}, "models": {}, "counts": {}}
    if results:
        (folder / "results.json").write_text(json.dumps(results))
    return Stored.at(folder)


def pair(one: Stored, other: Stored) -> Pair:
    """Return the only models of two runs as a pair."""
    return Pair(Side(one, next(iter(one.models))), Side(other, next(iter(other.models))))


def compared(one: Stored, other: Stored, *, most: int = 50) -> Compared:
    """Return what is found of two runs of one model each."""
    (found,), _ = questions.compare([pair(one, other)], only=(), most=most)
    return found


def concluded(one: Stored, other: Stored) -> Concluded:
    """Return the verdicts on two runs of one model each."""
    (found,) = judging.concluded([compared(one, other)])
    return found


def score(one: Stored, other: Stored, metric: str = "mmlu_pro/accuracy") -> Score:
    """Return one score of two runs of one model each."""
    return next(it for it in compared(one, other).scores if it.metric == metric)


def named(run: Stored, model: str | None = None) -> Named:
    """Return a run as if the command line had named it."""
    return Named(str(run.folder), run, model)


__all__ = ["compared", "concluded", "named", "pair", "run", "score", "unit", "units"]

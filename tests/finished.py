"""Folders as runs of fixed benchmarks leave them, without a run: nobody is asked anything."""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from omegaconf import OmegaConf

from raybench import __version__, benchmarks
from raybench.benchmarks import Benchmark
from raybench.benchmarks.parts import summary
from raybench.benchmarks.parts.scores import Rules
from raybench.cli import at_home, check, compose
from raybench.config import Config
from raybench.experiments.parts import recording
from raybench.experiments.parts.questions.ledger import Ledger
from raybench.experiments.parts.questions.setup import prepared, repeats_of
from raybench.pipeline.run_identity import fingerprint
from raybench.pipeline.terms import asking_of
from raybench.pipeline.units import unit_id

Reply = Callable[[Benchmark, Any, Mapping[str, Any]], dict[str, Any]]
"""What a record has beside what names it, of a benchmark's row."""

_PLAIN = {
    "reused": False,
    "address": None,
    "reasoning": "",
    "finish": "stop",
    "error": None,
    "prompt_tokens": 10,
    "output_tokens": 3,
    "cached_tokens": None,
    "seconds": 0.25,
    "by": "script",
    "judge_error": None,
}


def gold(benchmark: Benchmark, row: Any, record: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a right reply comes to, or for one unit in three a wrong one."""
    right = unit_id(record) % 3 > 0
    truth = benchmark.truth(row)
    return {
        "response": benchmark.gold(row) if right else "Answer: ?",
        "answer": truth if right else "?",
        "truth": truth,
        "correct": right,
        "reason": "right" if right else "wrong",
    }


def folder(
    place: Path, *settings: str, reply: Reply = gold, done: bool = True, experiment: str = "index"
) -> Path:
    """Return the folder of a run with these settings; unfinished where it is not `done`."""
    composed = compose(at_home([f"+experiment={experiment}", "roster=simulated", *settings]))
    config = check(composed)
    resolved = cast(dict[str, Any], OmegaConf.to_container(composed, resolve=True))
    run = place / experiment / f"20260102-030405-000006-{fingerprint(resolved)}"
    (run / "journal").mkdir(parents=True)
    (run / "config.yaml").write_text(recording.config_text(resolved, {"raybench": __version__}))
    config.dry_run = True  # it tells nobody of its notes
    data = prepared(config, place / "questions")
    (run / "inputs.json").write_text(json.dumps({it.benchmark: it.digest for it in data}))
    ledger = Ledger(len(config.roster.models))
    with (run / "journal" / "units.jsonl").open("wb") as journal:
        for record in _records(config, data, reply):
            text = json.dumps(record, ensure_ascii=False)
            journal.write(f"{text}\n".encode("utf-8", "surrogatepass"))
            ledger.enter(record)
    if done:
        names = [model.name for model in config.roster.models]
        metrics = summary.metrics(ledger.tally, names, Rules({}))
        results = {
            "run": {"id": run.name, "finished": "2026-01-02T04:05:06+00:00"},
            "models": {
                model: {name: estimate.to_json() for name, estimate in of.items()}
                for model, of in metrics.items()
            },
        }
        (run / "results.json").write_text(json.dumps(results))
    return run


def _records(config: Config, data: Any, reply: Reply) -> Iterator[dict[str, Any]]:
    asking = asking_of(config)
    for part in data:
        benchmark = benchmarks.load(part.benchmark)
        for row in part.rows():
            for model in asking.models:
                for repeat in range(repeats_of(config, part.benchmark)):
                    record = {
                        "model": model,
                        "benchmark": part.benchmark,
                        "key": benchmark.key(row),
                        "language": benchmark.language(row),
                        "subject": benchmark.subject(row),
                        "cluster": benchmark.cluster(row),
                        "repeat": repeat,
                        **_PLAIN,
                    }
                    yield record | reply(benchmark, row, record)

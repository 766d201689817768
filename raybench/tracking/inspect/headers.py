"""The head of a log in Inspect's format: which model was asked what, and what came of it."""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from raybench import benchmarks
from raybench.tracking.inspect import VERSION, known_as
from raybench.tracking.inspect.samples import Record, broken, scored, verdicts
from raybench.types import ModelSpec

_METRICS = (
    {"name": "inspect_ai/accuracy"},
    {"name": "inspect_ai/stderr", "options": {"cluster": "cluster"}},
)
"""What Inspect computes anew from the samples, if it is asked to."""


_VERSION = 16
"""So much of the digest of its questions is a benchmark's version: other questions, another one."""


@dataclass(frozen=True, slots=True)
class About:
    """A run, as far as its folder tells."""

    run: str
    experiment: str
    roster: str
    seed: int
    began: str
    """In ISO's form, as all times."""
    finished: str
    """'' where it is not."""
    simulated: bool
    versions: Mapping[str, str]
    judges: Sequence[str] = ()
    failed: Mapping[str, str] = field(default_factory=dict)
    """Why models could not be had, by their names."""
    rich: bool = False
    """What models wrote may be shown as more than plain text."""


@dataclass(frozen=True, slots=True)
class Task:
    """A benchmark's questions, as they were asked."""

    benchmark: str
    origin: str
    digest: str
    questions: int
    languages: Mapping[str, int]
    repeats: int
    withheld: bool

    @property
    def units(self) -> int:
        """How many samples a whole log has."""
        return self.questions * self.repeats


@dataclass
class Passed:
    """What is added up of a log's units as they pass by."""

    units: int = 0
    sound: int = 0
    """Without an error."""
    scored: Counter[str] = field(default_factory=Counter)
    """By whose verdict it is."""
    usage: Counter[str] = field(default_factory=Counter)

    def add(self, record: Record, usage: Mapping[str, int]) -> None:
        """Count a unit."""
        self.units += 1
        self.sound += broken(record) is None
        if scored(record):
            self.scored.update([record["benchmark"], *verdicts(record)])
        self.usage.update(usage)


def start(about: About, task: Task, model: ModelSpec) -> dict[str, Any]:
    """Return what a log says before there is a sample."""
    return {"version": VERSION, "eval": _spec(about, task, model), "plan": _plan(about, model)}


def header(
    about: About,
    task: Task,
    model: ModelSpec,
    metrics: Mapping[str, Mapping[str, Any]] | None,
    passed: Passed,
) -> dict[str, Any]:
    """Return the head of a log; `metrics` are the model's, None of a run that has no results."""
    failed = about.failed.get(model.name)
    status = "started" if metrics is None else "error" if failed else "success"
    return {
        **start(about, task, model),
        "status": status,
        **({} if metrics is None else {"results": _results(about, task, metrics, passed)}),
        "stats": {
            "started_at": about.began,
            "completed_at": about.finished,
            "model_usage": {known_as(model.name): dict(passed.usage)} if passed.usage else {},
        },
        **(
            {"error": {"message": failed, "traceback": "", "traceback_ansi": ""}}
            if status == "error"
            else {}
        ),
    }


def file_name(about: About, task: Task, model: ModelSpec) -> str:
    """Return the name of a log's file, in the form by which Inspect knows what is in it."""
    began = about.began.replace(":", "-").replace("+", "-")
    names = (_plain(task.benchmark), _plain(model.name), _identity(about, task, model))
    return f"{began}_{'_'.join(names)}.eval"


def _spec(about: About, task: Task, model: ModelSpec) -> dict[str, Any]:
    benchmark = benchmarks.load(task.benchmark)
    identity = _identity(about, task, model)
    scorers = [task.benchmark, *benchmark.verdicts]
    if benchmark.judged:
        scorers += about.judges[1:]
    return {
        "eval_id": identity,
        "run_id": about.run,
        "created": about.began,
        "task": task.benchmark,
        "task_id": identity,
        "task_version": task.digest[:_VERSION],
        "task_display_name": benchmark.title,
        "tags": ["raybench", about.experiment, *(["simulated"] if about.simulated else [])],
        "dataset": {
            "name": task.benchmark,
            "location": task.origin,  # with the revision, where it is the hub's
            "samples": task.questions,
            "shuffled": False,
        },
        "model": known_as(model.name),
        "model_args": {
            name: value
            for name, value in {
                "engine": model.engine,
                "weights": model.weights,
                "revision": model.revision,
                "reasoning": model.reasoning,
            }.items()
            if value not in (None, "")
        },
        "model_generate_config": _drawn(about, model),
        "viewer": {"trust_content": about.rich},
        "config": {"epochs": task.repeats, "epochs_reducer": ["mean"]},
        "packages": {
            name: version
            for name, version in about.versions.items()
            if name not in ("git", "python")
        },
        "metadata": {
            "experiment": about.experiment,
            "run": about.run,
            "roster": about.roster,
            "seed": about.seed,
            "simulated": about.simulated,
            "withheld": task.withheld,
            "dataset_digest": task.digest,
            "languages": dict(task.languages),
            "repeats": task.repeats,
            "judges": list(about.judges) if benchmark.judged else [],
            **{name: about.versions[name] for name in ("git", "python") if name in about.versions},
        },
        "scorers": [{"name": name, "metrics": [*_METRICS]} for name in scorers],
    }


def _plan(about: About, model: ModelSpec) -> dict[str, Any]:
    return {
        "name": "plan",
        "steps": [{"solver": "generate", "params": {}}],
        "config": _drawn(about, model),
    }


def _drawn(about: About, model: ModelSpec) -> dict[str, Any]:
    # Without a seed: every request has one of its own, drawn from the run's.
    drawn = {**model.drawn_with, "system_message": model.system_prompt}
    return {name: value for name, value in drawn.items() if value is not None}


def _results(
    about: About, task: Task, metrics: Mapping[str, Mapping[str, Any]], passed: Passed
) -> dict[str, Any]:
    key = f"{task.benchmark}/accuracy"
    named = {task.benchmark: key}
    benchmark = benchmarks.load(task.benchmark)
    named |= {name: f"{key}_{name}" for name in benchmark.verdicts}
    if benchmark.judged:
        named |= dict.fromkeys(about.judges[1:2], f"{key}_second_judge")
    return {
        "total_samples": task.units,
        "completed_samples": passed.sound,
        "scores": [
            _score(name, metrics[metric], task, passed)
            for name, metric in named.items()
            if metric in metrics
        ],
        "metadata": {
            name.removeprefix(f"{task.benchmark}/"): estimate
            for name, estimate in metrics.items()
            if name.startswith(f"{task.benchmark}/")
        },
    }


def _score(name: str, found: Mapping[str, Any], task: Task, passed: Passed) -> dict[str, Any]:
    interval = {it: found[it] for it in ("ci95", "n", "method")}
    values = {"accuracy": found["value"], "stderr": found["stderr"]}
    return {
        "name": name,
        "scorer": name,
        "reducer": "mean",
        "scored_samples": passed.scored[name],
        "unscored_samples": passed.units - passed.scored[name],
        # A score that is refused is none; why, the metadata says.
        "metrics": {
            metric: {"name": metric, "value": value, "metadata": interval}
            for metric, value in values.items()
            if value is not None
        },
        "metadata": interval,
    }


def _identity(about: About, task: Task, model: ModelSpec) -> str:
    """Return the same name whenever the same is exported."""
    named = "\x1f".join((about.run, task.benchmark, model.name))
    return hashlib.sha256(named.encode("utf-8", "replace")).hexdigest()[:22]


def _plain(name: str) -> str:
    """Return a name as a part of a file's, which underscores divide."""
    kept = (it if it.isascii() and (it.isalnum() or it in ".-") else "-" for it in name)
    return "".join(kept)[:60]

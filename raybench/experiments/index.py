"""+experiment=index: fixed benchmarks, graded exactly, and the four indices over them."""

import asyncio
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, aclosing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

from raybench import benchmarks
from raybench.benchmarks.parts import indices, summary
from raybench.benchmarks.parts.contract import INDEX_LANGUAGES
from raybench.benchmarks.parts.scores import Rules
from raybench.benchmarks.parts.tally import Tally, Unit
from raybench.config import Config, IndexConf, judges
from raybench.errors import ConfigurationError, RunFailed
from raybench.experiments.index_graders import FILE, Differences, differing, titled
from raybench.experiments.index_report import columns, sections
from raybench.experiments.session import Outcome, Session, open_session
from raybench.fleet import group_engines
from raybench.fleet.link import Link
from raybench.fleet.places import slots
from raybench.pipeline import datasets, graph, responses
from raybench.pipeline.datasets import Dataset, Selection
from raybench.pipeline.stages import Asking, response
from raybench.pipeline.units import Questions, jobs, unit_id
from raybench.tracking.plan import turns
from raybench.tracking.report import Section
from raybench.types import Completion, Grader, ModelSpec, Plan


def plan(config: Config) -> Plan:
    """Say what the run would do; the questions are read for that, and fetched where need be."""
    with TemporaryDirectory(prefix="raybench-") as folder:
        return _plan(config, _prepared(config, Path(folder)))


async def run(config: Config, resolved: Mapping[str, Any]) -> None:
    """Ask what is still missing, grade it, and conclude."""
    with TemporaryDirectory(prefix="raybench-") as folder:
        data = await asyncio.to_thread(_prepared, config, Path(folder))
        if config.index.validate:
            _validate(data, _grader(config))
            return
        ledger = Ledger(_grader(config))
        session = open_session(
            config, resolved, _plan(config, data), journal="units", keep=ledger.enter
        )
        async with session as opened:
            if len(ledger.done) < _units(config, data):
                await _ask(config, data, ledger, opened)
            opened.conclude(_outcome(config, data, ledger, opened.journal.path))


class Ledger:
    """What stays in memory of the journal: who is done, what it adds up to, what needs an eye."""

    def __init__(self, grader: Grader = "parity") -> None:
        self.tally = Tally()
        self.differences = Differences() if grader == "improved" else None
        self.done: list[int] = []
        self.failures: list[dict[str, Any]] = []
        self.reused = 0
        self._samples: dict[tuple[str, str, bool], dict[str, Any]] = {}

    def samples(self) -> list[dict[str, Any]]:
        """Return a right and a wrong reply to every benchmark of every model, where there are."""
        return [self._samples[kind] for kind in sorted(self._samples)]

    def enter(self, record: dict[str, Any]) -> None:
        """Count a record of the journal."""
        try:
            self.done.append(unit_id(record))
            unit = Unit(
                **{name: record[name] for name in _NAMED},
                parsed=record["answer"] is not None,
                judge_error=record["judge_error"] is not None,
            )
            self.tally.add(unit)
            if self.differences:
                self.differences.enter(unit, record)
        except (LookupError, TypeError) as error:
            raise RunFailed(
                f"the journal holds a record that is none of a unit ({error!r}): mend it, or start "
                "anew with resume=false"
            ) from error
        self.reused += record["reused"]
        kind = (record["benchmark"], record["model"], record["correct"])
        self._samples.setdefault(kind, record)
        if record["finish"] == "error" or record["judge_error"] is not None:
            names = ("model", "benchmark", "key", "language", "repeat")
            why = record["error"] or record["judge_error"]
            self.failures.append({name: record[name] for name in names} | {"why": why})


_SHOWN_WRONG = 5
_KEPT = ("stop", "length", "thinking", "empty")
"""How replies ended that a later run may take: of themselves, or at a limit that is known."""
_NAMED = (
    "model",
    "benchmark",
    "key",
    "language",
    "subject",
    "repeat",
    "correct",
    "finish",
    "by",
    "prompt_tokens",
    "output_tokens",
)


# --------------------------------------------------------------------------------- what is asked


def _prepared(config: Config, folder: Path) -> list[Dataset]:
    conf = config.index
    chosen = [benchmarks.load(name) for name in conf.benchmarks]
    if twice := {each.name for each in chosen if chosen.count(each) > 1}:
        raise ConfigurationError(
            f"index.benchmarks names {', '.join(sorted(twice))} more than once: once is enough"
        )
    selection = Selection(
        limit=conf.limit,
        subjects=tuple(conf.subset),
        languages=None if conf.languages is None else tuple(conf.languages),
        seed=config.seed,
    )
    if found := list(datasets.problems(chosen, config.data, selection)):
        raise ConfigurationError("\n".join(found))
    return [datasets.prepare(each, config.data, selection, folder) for each in chosen]


def _repeats(conf: IndexConf, benchmark: str) -> int:
    return conf.repeats or benchmarks.load(benchmark).repeats


def _grader(config: Config) -> Grader:
    return cast(Grader, config.index.grader)  # `config.problems` has checked it


def _units(config: Config, data: Sequence[Dataset]) -> int:
    asked = sum(part.questions * _repeats(config.index, part.benchmark) for part in data)
    return asked * len(config.roster.models)


def _plan(config: Config, data: Sequence[Dataset]) -> Plan:
    models = tuple(model.spec() for model in config.roster.models)
    engines = group_engines((*models, *_judges(config)))
    awake = slots(engines, config.fleet)
    units = _units(config, data)
    checked = [part.benchmark for part in data if benchmarks.load(part.benchmark).checked]
    notes = [
        f"{part.benchmark}: {part.questions:,} questions × {_repeats(config.index, part.benchmark)}"
        f" from {part.origin}"
        for part in data
    ]
    if checked and config.index.checker is None:
        notes.append(f"no checker: in {', '.join(checked)} the script alone decides")
    if config.index.grader != "parity":
        notes.append(f"grader {config.index.grader}: scores compare with no published ones")
    return Plan(
        experiment="index",
        models=models,
        engines=tuple(engine.label for engine in engines),
        slots=awake,
        units=units,
        unit="unit",
        calls=f"{units:,}" + (" and those to the checker" if config.index.checker else ""),
        notes=(*notes, *turns(len(engines), awake)),
    )


def _judges(config: Config) -> list[ModelSpec]:
    return [judge.spec() for judge in judges(config)]


# ---------------------------------------------------------------------------------------- asking


async def _ask(config: Config, data: Sequence[Dataset], ledger: Ledger, session: Session) -> None:
    conf = config.index
    models = [model.spec() for model in config.roster.models]
    cache = await asyncio.to_thread(_cache) if conf.cache else None
    context = config.fleet.max_model_len
    known = {model.name: responses.identity(model, context) for model in models} if cache else {}
    asking = Asking(
        models={model.name: model for model in models},
        seed=config.seed,
        max_tokens=conf.max_tokens,
        temperature=conf.temperature,
        identities={name: identity for name, identity in known.items() if identity},
        responses=cache,
    )
    async with session.fleet(*_judges(config), ray=True) as fleet:
        session.phase("asking")
        every = [*models, *_judges(config)]
        stream = graph.stream(
            _jobs(config, data, models),
            link=Link.to(fleet, every, config.fleet),
            asking=asking,
            checker=config.index.checker,
            done=ledger.done,
            grader=_grader(config),
        )
        with ExitStack() as stack:
            count = {m.name: stack.enter_context(fleet.account.call(m.name)) for m in every}
            async with aclosing(stream):
                async for units in stream:
                    await asyncio.to_thread(_remember, cache, units)
                    for unit in units:
                        if not unit["reused"]:
                            count[unit["model"]](_completion(unit))
                        for call in unit.pop("checks", ()):
                            count[config.index.checker or ""](_check(call))
                    _keep(session, units)


def _jobs(config: Config, data: Sequence[Dataset], models: Sequence[ModelSpec]) -> list[Any]:
    engines = group_engines(models)
    awake = slots(engines, config.fleet) or len(engines)
    questions = [
        Questions(
            part.benchmark,
            [(str(shard), _lines(shard)) for shard in part.shards],
            _repeats(config.index, part.benchmark),
        )
        for part in data
    ]
    return jobs([[model.name for model in engine.models] for engine in engines], awake, questions)


def _lines(shard: Path) -> int:
    with shard.open("rb") as lines:
        return sum(1 for _ in lines)


def _cache() -> Path:
    path = responses.default_path()
    responses.Responses(path).prepare()
    return path


def _remember(cache: Path | None, units: Sequence[Mapping[str, Any]]) -> None:
    if cache is None:
        return
    new = {
        unit["address"]: response(unit)
        for unit in units
        if unit.get("address") and not unit["reused"] and unit["finish"] in _KEPT
    }
    if new:
        responses.Responses(cache).put(new)


def _completion(unit: Mapping[str, Any]) -> Completion:
    return Completion(
        text="",
        finish=unit["finish"],
        prompt_tokens=unit["prompt_tokens"],
        output_tokens=unit["output_tokens"],
        cached_tokens=unit["cached_tokens"],
    )


def _check(call: Sequence[Any]) -> Completion:
    prompt_tokens, output_tokens, finish = call
    return Completion("", finish, prompt_tokens=prompt_tokens, output_tokens=output_tokens)


def _keep(session: Session, units: Sequence[Mapping[str, Any]]) -> None:
    fresh = [unit for unit in units if not unit["reused"]]
    session.keep(
        *units,
        prompt_tokens=sum(unit["prompt_tokens"] for unit in fresh),
        output_tokens=sum(unit["output_tokens"] for unit in fresh),
        errors=sum(unit["finish"] == "error" for unit in units),
    )


# -------------------------------------------------------------------------------- what came out


def _outcome(config: Config, data: Sequence[Dataset], ledger: Ledger, journal: Path) -> Outcome:
    models = [model.name for model in config.roster.models]
    rules = Rules(
        weights={name: indices.constituents(name) for name in indices.INDICES},
        languages=_ruled_languages(data),
        accepted=config.index.accept_failures,
        partial=config.index.partial,
    )
    metrics = summary.metrics(ledger.tally, models, rules)
    shown = columns(metrics, [part.benchmark for part in data], rules.weights)
    beside: list[Section] = []
    files: dict[str, Iterable[Any]] = {}
    if ledger.differences:
        metrics, shown = ledger.differences.marked(metrics, rules), titled(shown)
        beside = [ledger.differences.section(metrics)]
        files = {FILE: differing(journal)}
    return Outcome(
        metrics=metrics,
        counts={model: ledger.tally.counts(model) for model in models},
        failures=ledger.failures,
        columns=shown,
        sections=list(sections(ledger.tally, metrics, rules, shown, ledger.samples(), beside)),
        files=files,
        about={
            "reused": ledger.reused,
            **({"grader": config.index.grader} if ledger.differences else {}),
            "data": {part.benchmark: _about(config, part) for part in data},
        },
    )


def _ruled_languages(data: Sequence[Dataset]) -> dict[str, Sequence[str]]:
    """Return the languages that an index averages over, whichever were asked for."""
    several = (part for part in data if len(benchmarks.load(part.benchmark).languages) > 1)
    return {part.benchmark: INDEX_LANGUAGES for part in several}


def _about(config: Config, part: Dataset) -> dict[str, Any]:
    return {
        "origin": part.origin,
        "files": list(part.files),
        "digest": part.digest,
        "questions": part.questions,
        "languages": dict(part.by_language),
        "repeats": _repeats(config.index, part.benchmark),
    }


def _validate(data: Sequence[Dataset], grader: Grader) -> None:
    """Grade the gold answers of all that was read; raise RunFailed where one is not right."""
    wrong: list[str] = []
    for part in data:
        benchmark, right = benchmarks.load(part.benchmark), 0
        for row in _rows(part):
            of = benchmark.improved if grader == "improved" else benchmark.grade
            grade = of(row, benchmark.gold(row))
            right += grade.correct
            if not grade.correct:
                wrong.append(
                    f"{part.benchmark} {benchmark.key(row)} ({benchmark.language(row)}): gold "
                    f"{benchmark.truth(row)!r} is graded '{grade.reason}'"
                )
        print(
            f"{part.benchmark}: {right:,} of {part.questions:,} gold answers are graded right "
            f"by grader={grader} ({part.origin}, sha256 {part.digest[:12]})"
        )
    if wrong:
        shown = "\n".join(f"  - {each}" for each in wrong[:_SHOWN_WRONG])
        more = f"\n  and {len(wrong) - _SHOWN_WRONG} more" if len(wrong) > _SHOWN_WRONG else ""
        raise RunFailed(f"{len(wrong)} gold answers are not graded right:\n{shown}{more}")


def _rows(part: Dataset) -> Iterator[Any]:
    for shard in part.shards:
        with shard.open("rb") as lines:
            yield from map(json.loads, lines)

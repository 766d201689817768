"""+experiment=index: fixed benchmarks, graded exactly, and the four indices over them."""

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack, aclosing
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from raybench import benchmarks
from raybench.benchmarks.parts import indices, summary
from raybench.benchmarks.parts.contract import INDEX_LANGUAGES
from raybench.benchmarks.parts.guessing import Guessing
from raybench.benchmarks.parts.scores import Rules, Scores
from raybench.benchmarks.parts.tally import Tally, Unit
from raybench.config import Config, IndexConf, judges
from raybench.errors import ConfigurationError, RunFailed
from raybench.experiments.index_parts import conditions, graders, reading
from raybench.experiments.index_parts.graders import Differences
from raybench.experiments.index_parts.reading import Place, Samples
from raybench.experiments.index_parts.view import View
from raybench.experiments.index_report import columns, sections
from raybench.experiments.session import Outcome, Session, open_session
from raybench.fleet import EngineSpec, group_engines
from raybench.fleet.link import Link
from raybench.fleet.places import slots
from raybench.pipeline import datasets, graph, shards
from raybench.pipeline.datasets import Dataset, Prepared, Selection
from raybench.pipeline.responses import Responses, lasting
from raybench.pipeline.stages import Asking, response, unanswered
from raybench.pipeline.units import Job, Questions, jobs, unit_id
from raybench.tracking import console
from raybench.tracking.plan import turns
from raybench.tracking.report import Section
from raybench.types import Completion, Grader, ModelSpec, Plan


def plan(config: Config) -> Plan:
    """Say what the run would do; the questions are read for that, and fetched where need be."""
    with shards.scratch() as folder:
        return _plan(config, _prepared(config, folder))


async def run(config: Config, resolved: Mapping[str, Any]) -> None:
    """Ask what is still missing, grade it, and conclude."""
    with shards.scratch() as folder:
        data = await asyncio.to_thread(_prepared, config, folder)
        if config.index.validate:
            _validate(data, _grader(config))
            return
        ledger = Ledger(len(config.roster.models), _grader(config))
        session = open_session(
            config,
            resolved,
            _plan(config, data),
            journal="units",
            keep=ledger.enter,
            inputs={part.benchmark: part.digest for part in data},
            conclusions=("index.accept_failures", "index.partial"),
        )
        async with session as opened:
            if len(ledger.done) < _units(config, data):
                await _ask(config, data, ledger, opened)
            journal = opened.journal.path
            opened.conclude(await asyncio.to_thread(_outcome, config, data, ledger, journal))


class Ledger:
    """What stays in memory of the journal: who is done, what it adds up to, what needs an eye."""

    def __init__(self, models: int, grader: Grader) -> None:
        self.tally = Tally()
        self.samples = Samples(models)
        self.differences = Differences() if grader == "improved" else None
        self.done: list[int] = []
        self.failures: list[dict[str, Any]] = []
        self.reused = 0

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
        self.samples.enter(record)
        if record["finish"] == "error" or record["judge_error"] is not None:
            names = ("model", "benchmark", "key", "language", "repeat")
            why = record["error"] or record["judge_error"]
            self.failures.append({name: record[name] for name in names} | {"why": why})


_SHOWN_WRONG = 5
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


def _prepared(config: Config, folder: Path) -> Prepared:
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
    data = datasets.prepare(chosen, config.data, selection, folder)
    if not config.dry_run:  # a plan shows them itself
        for note in data.notes:
            console.say(f"Note: {note}")
    return data


def _repeats(conf: IndexConf, benchmark: str) -> int:
    return conf.repeats or benchmarks.load(benchmark).repeats


def _grader(config: Config) -> Grader:
    return cast(Grader, config.index.grader)  # `config.problems` has checked it


def _units(config: Config, data: Prepared) -> int:
    asked = sum(part.questions * _repeats(config.index, part.benchmark) for part in data)
    return asked * len(config.roster.models)


def _plan(config: Config, data: Prepared) -> Plan:
    models = tuple(_models(config))
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
        notes=(*notes, *data.notes, *turns(len(engines), awake)),
    )


def _models(config: Config) -> list[ModelSpec]:
    """Return the roster's models with the sampling that they are asked with."""
    return [_sampled(model.spec(), config.index) for model in config.roster.models]


def _sampled(model: ModelSpec, conf: IndexConf) -> ModelSpec:
    own = model.sampling
    bounds = [own.max_tokens, None if model.reasoning else conf.max_tokens]
    sampling = replace(
        own,
        temperature=own.temperature if conf.temperature is None else conf.temperature,
        # A model that reasons has its own maximum.
        max_tokens=min((bound for bound in bounds if bound is not None), default=None),
    )
    return replace(model, sampling=sampling)


def _judges(config: Config) -> list[ModelSpec]:
    return [judge.spec() for judge in judges(config)]


# ---------------------------------------------------------------------------------------- asking


async def _ask(config: Config, data: Prepared, ledger: Ledger, session: Session) -> None:
    conf = config.index
    models, others = _models(config), _judges(config)
    cache = Responses.of((*models, *others), config.fleet.max_model_len) if conf.cache else None
    if cache:
        await asyncio.to_thread(cache.prepare)
    asking = replace(_asking(config), responses=cache)
    engines = group_engines(models)
    awake = slots(engines, config.fleet) or len(engines)
    work = _jobs(config, data, engines, awake)
    # Engines whose models have nothing left to say need not come up.
    session.phase("looking up earlier replies")
    wanted = await asyncio.to_thread(unanswered, work, asking, ledger.done) | {conf.checker}
    asked = [model for model in (*models, *others) if model.name in wanted]
    async with session.fleet(asked, ray=True) as fleet:
        session.phase("asking")
        stream = graph.stream(
            work,
            link=Link.to(fleet, asked, config.fleet),
            asking=asking,
            checker=conf.checker,
            done=ledger.done,
            awake=awake,
            grader=_grader(config),
            say=session.phase,
        )
        with ExitStack() as stack:
            count = {m.name: stack.enter_context(fleet.account.call(m.name)) for m in asked}
            async with aclosing(stream):
                async for units in stream:
                    session.phase("asking")
                    await asyncio.to_thread(_remember, cache, units)
                    for unit in units:
                        if not unit["reused"]:
                            count[unit["model"]](_completion(unit))
                        for call in unit.pop("checks", ()):
                            count[conf.checker or ""](_check(call))
                    _keep(session, units)


def _asking(config: Config) -> Asking:
    return Asking({model.name: model for model in _models(config)}, config.seed)


def _jobs(config: Config, data: Prepared, engines: Sequence[EngineSpec], awake: int) -> list[Job]:
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


def _remember(cache: Responses | None, units: Sequence[Mapping[str, Any]]) -> None:
    if cache is None:
        return
    new = {
        unit["address"]: response(unit)
        for unit in units
        if unit.get("address") and not unit["reused"] and lasting(unit["finish"])
    }
    if new:
        cache.put(new)


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


def _outcome(config: Config, data: Prepared, ledger: Ledger, journal: Path) -> Outcome:
    models = [model.name for model in config.roster.models]
    rules = Rules(
        weights={name: indices.constituents(name) for name in indices.INDICES},
        languages=_ruled_languages(data),
        subjects=tuple(config.index.subset),
        accepted=config.index.accept_failures,
        partial=config.index.partial,
    )
    metrics = summary.metrics(ledger.tally, models, rules)
    samples = ledger.samples.chosen([part.benchmark for part in data])
    guessing, rows = _looked_up(data, {reading.place_of(record) for record in samples})
    spoken = Scores(ledger.tally, rules).languages
    beside: list[Section] = []
    files: dict[str, Iterable[Any]] = {}
    if ledger.differences:
        metrics = ledger.differences.marked(metrics, rules)
        beside = [ledger.differences.section(metrics)]
        files = {graders.FILE: graders.differing(journal)}
    view = View(
        ledger.tally,
        metrics,
        rules,
        asked=[part.benchmark for part in data],
        chances={it.benchmark: guessing.score(it.benchmark, spoken(it.benchmark)) for it in data},
    )
    about = {
        part.benchmark: conditions.about(
            part, _repeats(config.index, part.benchmark), view.chances[part.benchmark]
        )
        for part in data
    }
    shown = columns(view)
    if ledger.differences:
        shown = graders.titled(shown)
    how = [
        *beside,
        conditions.questions(about),
        conditions.models(_models(config)),
        reading.section(samples, rows, _asking(config), _withheld(data)),
    ]
    units = len(ledger.done)
    return Outcome(
        metrics=metrics,
        counts={model: ledger.tally.counts(model) for model in models},
        failures=ledger.failures,
        columns=shown,
        sections=list(sections(view.ranked_by(shown[0].key), shown[0], how)),
        files=files,
        about={
            "reused": ledger.reused,
            **({"grader": config.index.grader} if ledger.differences else {}),
            "data": about,
            **({"left_out": dict(data.left_out)} if data.left_out else {}),
        },
        settings=conditions.settings(config),
        notes={"From cache": conditions.reused(config, ledger.reused, units)},
    )


def _looked_up(data: Prepared, wanted: Collection[Place]) -> tuple[Guessing, dict[Place, Any]]:
    """Read the questions once more: what guessing would score, and the rows of those wanted."""
    guessing, rows = Guessing(), {}
    for part in data:
        benchmark = benchmarks.load(part.benchmark)
        for row in part.rows():
            guessing.add(benchmark, row)
            place = (part.benchmark, benchmark.language(row), benchmark.key(row))
            if place in wanted:
                rows[place] = row
    return guessing, rows


def _withheld(data: Iterable[Dataset]) -> list[str]:
    """Return the benchmarks whose questions are not to be published; samples are our own."""
    return [
        part.benchmark
        for part in data
        if benchmarks.load(part.benchmark).source.gated and part.origin != "samples"
    ]


def _ruled_languages(data: Prepared) -> dict[str, Sequence[str]]:
    """Return the languages that an index averages over, whichever were asked for."""
    several = (part for part in data if len(benchmarks.load(part.benchmark).languages) > 1)
    return {part.benchmark: INDEX_LANGUAGES for part in several}


def _validate(data: Prepared, grader: Grader) -> None:
    """Grade the gold answers of all that was read; raise RunFailed where one is not right."""
    wrong: list[str] = []
    for part in data:
        benchmark, right = benchmarks.load(part.benchmark), 0
        of = benchmark.improved if grader == "improved" else benchmark.grade
        for row in part.rows():
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

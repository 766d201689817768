"""What is asked: the questions, of whom and with what sampling, and the plan of it."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from raybench import benchmarks
from raybench.benchmarks import Benchmark
from raybench.config import Config, DataConf
from raybench.errors import ConfigurationError, Problem
from raybench.experiments.parts.questions import conditions, referees, token_limits
from raybench.experiments.parts.questions.deviations import sandbox_of
from raybench.experiments.parts.questions.exam_remarks import remarks
from raybench.fleet import group_engines
from raybench.fleet.needs import awake_at_once
from raybench.pipeline import datasets
from raybench.pipeline.datasets import Dataset, Prepared, Selection
from raybench.pipeline.programs import Slots
from raybench.pipeline.terms import Terms, models_of, with_own_prompts
from raybench.sandbox import places
from raybench.statements import Statement
from raybench.tracking import console
from raybench.tracking.plan import engine_lines, turns
from raybench.types import ModelSpec, Plan


def prepared(
    config: Config, folder: Path, read: Path | None = None, *, plan: bool = False
) -> Prepared:
    """Read, check and choose the questions, and say what the person should know of the choice.

    They are read from the folder `read` where one is given, else from where the configuration says.
    A `plan` does without gated questions that only a token would fetch, and names it.
    """
    terms = Terms.of(config)
    chosen = [benchmarks.load(name) for name in terms.benchmarks]
    if twice := {each.name for each in chosen if chosen.count(each) > 1}:
        raise ConfigurationError(
            Problem(
                "setting.duplicate",
                f"{terms.section}.benchmarks names {', '.join(sorted(twice))} more than once",
                setting=f"{terms.section}.benchmarks",
                given=", ".join(sorted(twice)),
                fix="once is enough",
            )
        )
    unjudged = _unjudged(terms, chosen)
    selection = Selection(
        limit=terms.conf.limit,
        subjects=tuple(terms.conf.subset),
        languages=terms.languages,
        seed=config.seed,
        images=terms.images,
    )
    asked = [benchmark for benchmark in chosen if benchmark.name not in unjudged]
    conf = config.data if read is None else DataConf(dir=str(read))
    gated = datasets.closed(asked, conf, selection) if plan else []
    asked = [benchmark for benchmark in asked if benchmark.name not in gated]
    if gated and not asked:
        return Prepared((), {}, (_gated(gated),), closed=tuple(gated))
    data = datasets.prepare(
        asked, conf, selection, folder, counted=read is None, runs_dir=Path(config.runs_dir)
    )
    data = data.without(unjudged)
    if gated:
        data = replace(data, notes=(_gated(gated), *data.notes), closed=tuple(gated))
    if not config.dry_run:  # a plan shows them itself
        for note in data.notes:
            console.say(f"Note: {note}")
    return data


def _gated(names: Sequence[str]) -> Statement:
    return Statement(
        "plan.gated_questions",
        "the run needs an environment variable that is not set: HF_TOKEN (for the gated questions "
        "of {benchmarks}, whose terms have to be accepted on the hub). This plan does not count "
        "them",
        benchmarks=" and ".join(names),
        names=list(names),
    )


def _unjudged(terms: Terms, chosen: Sequence[Benchmark]) -> dict[str, str]:
    """Return why some of the benchmarks cannot be asked; nobody would say what replies are worth.

    Raises ConfigurationError where no other is there.
    """
    if terms.conf.judges or terms.conf.validate:
        return {}
    names = [benchmark.name for benchmark in chosen if benchmark.judged]
    indices = sorted({index for name in names for index in benchmarks.load(name).weights})
    why = Statement(
        "left_out.unjudged",
        "its replies need a judge and none is named, so there is no {indices} "
        "({section}.judges=[NAME] names one of roster.judges or roster.models)",
        indices=" and no ".join(f"{index.capitalize()} Index" for index in indices),
        section=terms.section,
    )
    if len(names) == len(chosen):
        raise ConfigurationError(
            Problem(
                "setting.conflict",
                f"{', '.join(names)} cannot be run: {why}",
                setting=f"{terms.section}.judges",
            )
        )
    return dict.fromkeys(names, why)


def repeats_of(config: Config, benchmark: str) -> int:
    """Return how often each question of a benchmark is asked."""
    return Terms.of(config).conf.repeats or benchmarks.load(benchmark).repeats


def grading_of(config: Config, benchmark: str) -> int:
    """Return the version of a benchmark's grading."""
    found = benchmarks.load(benchmark)
    # The versions of mathematics differ only in what the checker is asked.
    return 1 if found.checked and Terms.of(config).checker is None else found.grading


def slots_of(config: Config) -> Slots:
    """Return where replies that are programs run."""
    asked = [benchmarks.load(name) for name in Terms.of(config).benchmarks]
    needed = {profile for it in asked if it.sandboxed for profile in it.profiles}
    conf = config.sandbox
    return Slots(sandbox_of(config), conf.slots, tuple(sorted(needed)), dict(conf.nodes))


def units_of(config: Config, data: Prepared) -> int:
    """Return how many units the run has."""
    asked = sum(part.questions * repeats_of(config, part.benchmark) for part in data)
    return asked * len(config.roster.models)


def planned(config: Config, data: Prepared) -> Plan:
    """Say what is asked, of whom, and from where."""
    terms = Terms.of(config)
    if terms.conf.validate:
        return _self_check(config, data)
    if not data.datasets and not data.closed:
        return _without_questions(config, data)
    models = tuple(models_of(config))
    others = referees.others_of(config, data)
    checker = it.name if (it := referees.checker_of(config, data)) else None
    engines = group_engines((*models, *others))
    awake = awake_at_once(engines, config.fleet)
    units = units_of(config, data)
    notes: list[str] = [
        Statement(
            "plan.asked",
            "{benchmark}: {questions:,} question{s}{kinds} × {repeats} from {origin}",
            benchmark=part.benchmark,
            questions=part.questions,
            s="s" * (part.questions != 1),
            kinds=_kinds(part),
            repeats=repeats_of(config, part.benchmark),
            origin=part.origin,
        )
        for part in data
    ]
    notes += sandboxed(config, data)
    notes += referees.plan_notes(config, data)
    notes += filter(None, [conditions.thinking_note(config, data)])
    notes += referees.remarks(config, data).values()
    notes += conditions.planned_deviations(config, data)
    notes += conditions.lacking(config, data).values()
    notes += remarks(config, data).values()
    if (prompted := with_own_prompts(config)) and not terms.conf.own_system_prompts:
        notes.append(
            Statement(
                "plan.own_prompt",
                "the roster's system prompts of {models} are not used "
                "({section}.own_system_prompts=true uses them)",
                models=", ".join(prompted),
                section=terms.section,
            )
        )
    return Plan(
        experiment=terms.section,
        models=models,
        engines=engine_lines(engines, others, checker),
        slots=awake,
        ray=True,
        units=units,
        unit="unit",
        calls=_calls(units, terms, data),
        notes=(*notes, *data.notes, *token_limits.planned(models), *turns(len(engines), awake)),
        referees=tuple(others),
        checker=checker,
        each=units // len(models),
    )


def _kinds(part: Dataset) -> str:
    """Return what more questions than were chosen belong to: problems of steps, languages."""
    benchmark = benchmarks.load(part.benchmark)
    found = []
    if benchmark.chained:
        problems = len({benchmark.cluster(row) for row in part.rows()})
        found.append(f"the steps of {problems:,} problem{'s' * (problems != 1)}")
    if len(part.by_language) > 1:
        found.append(f"in {len(part.by_language)} languages")
    return f" ({', '.join(found)})" if found else ""


def _calls(units: int, terms: Terms, data: Prepared) -> str:
    if not data.datasets:
        return Statement("plan.unknown_calls", "unknown, as the questions are not at hand")
    others = ["the checker"] if terms.checker and referees.checked_benchmarks(data) else []
    if referees.is_judged(data):
        others.append("the judges" if len(terms.conf.judges) > 1 else "the judge")
    return Statement(
        "plan.calls",
        "{counted} to models{more}",
        counted=console.counted(units, "request"),
        calls=units,
        more=f", plus those to {' and '.join(others)}" if others else "",
        others=others,
    )


def sandboxed(config: Config, data: Prepared) -> list[str]:
    """Say where replies that are programs will run, if there are any."""
    names = [part.benchmark for part in data if benchmarks.load(part.benchmark).sandboxed]
    if not names:
        return []
    walls = {
        "auto": "in the strictest sandbox that each node allows",
        "unsafe": "UNCONFINED: they can read and change whatever you can",
    }.get(config.sandbox.backend, f"in the sandbox '{config.sandbox.backend}'")
    return [
        Statement(
            "plan.programs",
            "{benchmarks}: replies are programs, which run {walls}, in {pythons}",
            benchmarks=", ".join(names),
            walls=walls,
            pythons=_pythons(slots_of(config)),
        )
    ]


def _pythons(slots: Slots) -> str:
    """Name the Pythons that programs will run in; both are tried before anything is started."""
    plain = places.python_of(slots.settings)
    told = f"Python {plain.version}"
    for profile in slots.profiles:
        if (other := places.python_of(slots.settings, profile)) != plain:
            told += f", {profile} ones in Python {other.version} (sandbox.scientific_python)"
    return told


def _without_questions(config: Config, data: Prepared) -> Plan:
    """Return the plan of a run that puts no question: it needs no model, engine or cluster."""
    return Plan(
        experiment=Terms.of(config).section,
        models=(),
        engines=(),
        slots=0,
        units=0,
        unit="unit",
        calls=Statement("plan.no_calls", "0: there is no question to ask"),
        notes=data.notes,
    )


def _self_check(config: Config, data: Prepared) -> Plan:
    return Plan(
        experiment=Terms.of(config).section,
        models=(),
        engines=(),
        slots=0,
        units=sum(part.questions for part in data),
        unit="gold answer",
        calls=Statement(
            "plan.gold",
            "0: only the known right answers are graded, with grader={grader}",
            grader=Terms.of(config).grader,
        ),
        notes=(
            *(f"{it.benchmark}: {it.questions:,} from {it.origin}" for it in data),
            *sandboxed(config, data),
            *data.notes,
        ),
    )


def shown_of(config: Config, data: Prepared) -> list[ModelSpec]:
    """Return whose settings the numbers depend on: the models', and those of who judges them."""
    judges = referees.judges_of(config).values() if referees.is_judged(data) else ()
    return [*models_of(config), *judges]

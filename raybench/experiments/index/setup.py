"""What is asked: the questions, of whom and with what sampling, and the plan of it."""

from dataclasses import replace
from pathlib import Path
from typing import cast

from raybench import benchmarks
from raybench.config import Config, IndexConf, judges
from raybench.errors import ConfigurationError
from raybench.fleet import group_engines
from raybench.fleet.places import slots
from raybench.pipeline import datasets
from raybench.pipeline.datasets import Prepared, Selection
from raybench.pipeline.programs import Slots
from raybench.pipeline.stages import Asking
from raybench.sandbox import Settings, places
from raybench.tracking import console
from raybench.tracking.plan import turns
from raybench.types import Grader, ModelSpec, Plan


def prepared(config: Config, folder: Path) -> Prepared:
    """Read, check and choose the questions, and say what the person should know of the choice."""
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


def repeats_of(conf: IndexConf, benchmark: str) -> int:
    """Return how often each question of a benchmark is asked."""
    return conf.repeats or benchmarks.load(benchmark).repeats


def grader_of(config: Config) -> Grader:
    """Return by whose rules replies are graded."""
    return cast(Grader, config.index.grader)  # `config.problems` has checked it


def slots_of(config: Config) -> Slots:
    """Return where replies that are programs run."""
    conf = config.sandbox
    settings = Settings(conf.backend, conf.python, conf.scientific_python, pinned=True)
    asked = [benchmarks.load(name) for name in config.index.benchmarks]
    needed = {profile for it in asked if it.sandboxed for profile in it.profiles}
    return Slots(settings, conf.slots, tuple(sorted(needed)))


def units_of(config: Config, data: Prepared) -> int:
    """Return how many units the run has."""
    asked = sum(part.questions * repeats_of(config.index, part.benchmark) for part in data)
    return asked * len(config.roster.models)


def planned(config: Config, data: Prepared) -> Plan:
    """Say what is asked, of whom, and from where."""
    if config.index.validate:
        return _self_check(config, data)
    models = tuple(models_of(config))
    engines = group_engines((*models, *judges_of(config)))
    awake = slots(engines, config.fleet)
    units = units_of(config, data)
    checked = [part.benchmark for part in data if benchmarks.load(part.benchmark).checked]
    notes = [
        f"{part.benchmark}: {part.questions:,} questions × "
        f"{repeats_of(config.index, part.benchmark)} from {part.origin}"
        for part in data
    ]
    if checked and config.index.checker is None:
        notes.append(f"no checker: in {', '.join(checked)} the script alone decides")
    notes += sandboxed(config, data)
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


def sandboxed(config: Config, data: Prepared) -> list[str]:
    """Say where replies that are programs will run, if there are any."""
    names = [part.benchmark for part in data if benchmarks.load(part.benchmark).sandboxed]
    if not names:
        return []
    walls = {
        "auto": "behind the best walls that each node allows",
        "unsafe": "WITHOUT WALLS: a reply can read and change whatever you can",
    }.get(config.sandbox.backend, f"behind {config.sandbox.backend}")
    return [
        f"{', '.join(names)}: replies are programs and run {walls}, in {_pythons(slots_of(config))}"
    ]


def _pythons(slots: Slots) -> str:
    """Name the Pythons that programs will run in; both are tried before anything is started."""
    plain = places.python_of(slots.settings)
    told = f"Python {plain.version}"
    for profile in slots.profiles:
        if (other := places.python_of(slots.settings, profile)) != plain:
            told += f", {profile} ones in Python {other.version} (sandbox.scientific_python)"
    return told


def _self_check(config: Config, data: Prepared) -> Plan:
    return Plan(
        experiment="index",
        models=(),
        engines=(),
        slots=0,
        units=sum(part.questions for part in data),
        unit="gold answer",
        calls=f"0: the gold answers are graded, by grader={grader_of(config)}",
        notes=(
            *(f"{it.benchmark}: {it.questions:,} from {it.origin}" for it in data),
            *sandboxed(config, data),
            *data.notes,
        ),
    )


def models_of(config: Config) -> list[ModelSpec]:
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


def judges_of(config: Config) -> list[ModelSpec]:
    """Return the models that are asked and not ranked."""
    return [judge.spec() for judge in judges(config)]


def asking_of(config: Config) -> Asking:
    """Return how questions are put, by which anybody can put them again."""
    return Asking({model.name: model for model in models_of(config)}, config.seed)

"""What a suite would do: what its parts would, and all of it together."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from raybench.config import Config, parts
from raybench.experiments.suite.parts import room
from raybench.fleet import group_engines
from raybench.fleet.needs import awake_at_once
from raybench.tracking.plan import engine_lines
from raybench.types import ModelSpec, Plan


def plan(config: Config) -> Plan:
    """Say what the run would do. Raises ConfigurationError where one of its parts would."""
    return whole(config, plans(config))


def plans(config: Config) -> list[Plan]:
    """Return the plans of the parts: nothing is said, as each part says it when it begins."""
    return [room(str(part.experiment)).plan(replace(part, dry_run=True)) for part in parts(config)]


def whole(config: Config, each: Sequence[Plan]) -> Plan:
    """Return the plan of all parts together."""
    engines = group_engines(asked(each))
    models = tuple(model.spec() for model in config.roster.models)
    ranked = {model.name for model in models}
    referees = tuple(it for it in asked(each) if it.name not in ranked)
    checker = next((it.checker for it in each if it.checker), None)
    return Plan(
        experiment="suite",
        models=models,
        engines=engine_lines(engines, referees, checker),
        slots=awake_at_once(engines, config.fleet),
        ray=any(it.ray for it in each),
        units=len(each),
        unit="part",
        calls=f"see the parts below: {', '.join(it.counted for it in each)}",
        notes=("engines start once, for all parts",),
        referees=referees,
        checker=checker,
        parts=tuple(each),
    )


def asked(each: Iterable[Plan]) -> list[ModelSpec]:
    """Return everybody who is asked by any part: by whatever name, in whatever way."""
    found = {it.name: it for plan in each for it in (*plan.models, *plan.referees)}
    return list(found.values())

"""The plan of a run, in words: what would be started and how much would be asked of it."""

import re
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any

from raybench.fleet import EngineSpec
from raybench.statements import Statement
from raybench.types import JUDGING, ModelSpec, Plan

_DRAWS = ("temperature", "top_p")
_WIDTH, _LABEL = 120, 12
_ROLES = ("ranked", "judge", "checker")


def describe(plan: Plan) -> str:
    """Return the plan as text, a fact or more lines of it each; long lines are wrapped."""
    lines = [line for label, text in _facts(plan) for line in _wrapped(label, text)]
    return "\n\n".join(["\n".join(lines), *(describe(part) for part in plan.parts)])


def _facts(plan: Plan) -> Iterator[tuple[str, str]]:
    """Yield the plan's facts and their labels; without a label a fact belongs to the one above."""
    yield "Experiment", plan.experiment
    yield "Models", str(len(plan.models))
    yield from (("", _model(model)) for model in plan.models)
    yield "Engines", str(len(plan.engines))
    yield from (("", engine) for engine in plan.engines)
    yield "Slots", awake(plan)
    yield from (("" if number else "Cluster", it) for number, it in enumerate(plan.cluster))
    if plan.storage:
        yield "Storage", plan.storage
    if plan.units:
        yield "Units", _units(plan)
    yield "Calls", plan.calls
    yield from (("Note", note) for note in plan.notes)


def _units(plan: Plan) -> str:
    if plan.unit != "unit":
        return f"{plan.units:,} {plan.several}"
    return Statement(
        "plan.units", "{units} (one is a model's reply to a question)", units=plan.counted
    )


def _wrapped(label: str, text: str) -> list[str]:
    """Return a fact as lines; names of settings, addresses and paths stay whole."""
    indent = " " * (_LABEL + 2)
    return textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=f"{label:{_LABEL}}" if label else indent,
        subsequent_indent=indent if label else f"{indent}  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def to_json(plan: Plan) -> dict[str, Any]:
    """Return the plan as data."""
    return asdict(plan) | {"several": plan.several, "simulated": plan.simulated}


def turns(engines: int, slots: int | None) -> list[str]:
    """Return a plan's note on engines that do not fit side by side, where that is so."""
    if slots is None or slots >= engines:
        return []
    return [
        Statement(
            "plan.turns",
            "{engines} engines take turns, about {slots} loaded at once: requests wait for their "
            "engine, and each swap takes time",
            engines=engines,
            slots=slots,
        )
    ]


def engine_lines(
    engines: Iterable[EngineSpec],
    referees: Iterable[ModelSpec] = (),
    checker: str | None = None,
) -> tuple[str, ...]:
    """Return a line for each engine: what it is, and its models, each once with all its roles.

    A referee is a judge unless it is named as the checker; a model may be both, and ranked as well.
    """
    unranked = {model.name for model in referees}
    found = []
    for engine in engines:
        roles: dict[str, set[str]] = {}
        for model in engine.models:
            own = roles.setdefault(model.name.removesuffix(JUDGING), set())
            if model.name == checker:
                own.add("checker")
            if model.name not in unranked:
                own.add("ranked")
            elif model.name != checker:
                own.add("judge")
        what = (
            "simulated models" if engine.kind == "simulated" else f"{engine.kind} {engine.weights}"
        )
        served = (_with_roles(name, own) for name, own in roles.items())
        found.append(f"{what}: {', '.join(served)}")
    return tuple(found)


def _with_roles(name: str, roles: set[str]) -> str:
    """Return a model's name with its roles, unless it is ranked and nothing else."""
    told = ", ".join(sorted(roles, key=_ROLES.index))
    return name if told == "ranked" else f"{name} ({told})"


def awake(plan: Plan) -> str:
    """Return how many engines are awake at once, and what that means."""
    if not plan.engines:
        return Statement("plan.no_engine", "0 (no model is asked)")
    if plan.slots is None:
        return Statement(
            "plan.slots_unknown",
            "known only once the engines' memory is measured; those that do not fit take turns",
        )
    if plan.slots >= len(plan.engines):
        return Statement("plan.all_awake", "{slots} (all engines stay loaded)", slots=plan.slots)
    return Statement("plan.some_awake", "{slots} (engines take turns)", slots=plan.slots)


def _model(model: ModelSpec) -> str:
    drawn = model.drawn_with
    settings = [f"{name} {value}" for name, value in model.options.items()]
    if model.engine != "simulated":  # stand-ins do not sample
        bounds = [f"{name} {drawn[name]:g}" for name in _DRAWS if drawn[name] is not None]
        most = drawn["max_tokens"]
        bounds += [] if most is None else [f"at most {most:,} tokens"]
        settings = [*bounds, *settings]
    weights = f" {model.weights}" if model.weights else ""
    if model.revision:
        weights += f"@{_short(model.revision)}"
    return f"{model.name}: {', '.join([model.engine + weights, *settings])}"


def _short(revision: str) -> str:
    # A commit is known by its beginning; a branch or a tag is not.
    return revision[:8] if re.fullmatch("[0-9a-f]{40}", revision) else revision

"""The plan of a run, in words: what would be started and how much would be asked of it."""

import re
from dataclasses import asdict
from typing import Any

from raybench.statements import Statement
from raybench.types import ModelSpec, Plan

_DRAWS = ("temperature", "top_p")


def describe(plan: Plan) -> str:
    """Return the plan as text, one fact a line."""
    lines = [
        f"Experiment  {plan.experiment}",
        f"Models      {len(plan.models)}",
        *(f"              {_model(model)}" for model in plan.models),
        f"Engines     {len(plan.engines)}",
        *(f"              {engine}" for engine in plan.engines),
        f"Slots       {awake(plan)}",
        *(f"{'' if n else 'Cluster':12}{'  ' * (n > 0)}{it}" for n, it in enumerate(plan.cluster)),
        *([f"Storage     {plan.storage}"] if plan.storage else []),
        *([f"Units       {plan.units:,} {plan.several}"] if plan.units else []),
        f"Calls       {plan.calls}",
        *(f"Note        {note}" for note in plan.notes),
    ]
    return "\n\n".join(["\n".join(lines), *(describe(part) for part in plan.parts)])


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
            "{engines} engines take turns, about {slots} awake at once: work gathers while they "
            "wait, and swaps cost time",
            engines=engines,
            slots=slots,
        )
    ]


def awake(plan: Plan) -> str:
    """Return how many engines are awake at once, and what that means."""
    if not plan.engines:
        return Statement("plan.no_engine", "0 (no model is asked)")
    if plan.slots is None:
        return Statement(
            "plan.slots_unknown",
            "not known before the engines are weighed: those that do not fit take turns",
        )
    if plan.slots >= len(plan.engines):
        return Statement("plan.all_awake", "{slots} (every engine stays awake)", slots=plan.slots)
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

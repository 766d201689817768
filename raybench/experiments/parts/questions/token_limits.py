"""Replies that could have fewer tokens than they were to have, and prompts that do not fit."""

from collections.abc import Mapping
from typing import Any

from raybench.benchmarks.parts.tally import Tally
from raybench.config import Config
from raybench.pipeline.terms import models_of
from raybench.statements import Statement
from raybench.tracking import console
from raybench.types import ModelSpec


def planned(models: tuple[ModelSpec, ...]) -> list[str]:
    """Return a plan's note on models whose limit may turn out lower, where there are any."""
    names = [it.name for it in models if it.engine == "openai" and it.drawn_with["max_tokens"]]
    if not names:
        return []
    return [
        Statement(
            "plan.token_limits",
            "{models}: the limit of tokens per reply is lowered where the endpoint allows fewer, "
            "or a prompt leaves less room in the context",
            models=", ".join(names),
        )
    ]


def about(config: Config, tally: Tally) -> dict[str, Any]:
    """Return what results.json says of lowered limits, and of prompts that do not fit."""
    lowered, overflowed = {}, {}
    for model in models_of(config):
        if limits := _limits(tally, model.name):
            lowered[model.name] = {
                "asked": model.drawn_with["max_tokens"],
                "lowest": min(limits),
                "highest": max(limits),
                "units": len(limits),
            }
        sheets = {name: tally.sheet(model.name, name) for name in tally.benchmarks()}
        if none := {name: it for name, of in sheets.items() if (it := of.all_overflowed)}:
            overflowed[model.name] = none
    told = {"token_limits": lowered, "overflowed": overflowed}
    return {name: of for name, of in told.items() if of}


def _limits(tally: Tally, model: str) -> list[int]:
    return [it for name in tally.benchmarks() for it in tally.sheet(model, name).token_limits]


def in_words(told: Mapping[str, Any]) -> dict[str, str]:
    """Return how far each model's limit was lowered, from what results.json says."""
    return {model: _range(of) for model, of in told.get("token_limits", {}).items()}


def _range(of: Mapping[str, int]) -> str:
    lowest, highest = of["lowest"], of["highest"]
    return Statement(
        "token_limits.lowered",
        "{limits} ({counted})",
        limits=f"{lowest:,}" if lowest == highest else f"{lowest:,} to {highest:,}",
        counted=console.counted(of["units"], "unit"),
        units=of["units"],
    )


def notes(told: Mapping[str, Any]) -> dict[str, str]:
    """Return what leaderboard, report and terminal say of lowered limits, by a short name."""
    if not (lowered := in_words(told)):
        return {}
    text = Statement(
        "token_limits.note",
        "the endpoint allowed replies of fewer tokens than were asked for: {models}",
        models="; ".join(f"{model} {words}" for model, words in lowered.items()),
    )
    return {"Shorter replies": text}

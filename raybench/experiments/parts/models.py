"""The models of a run: what each is, and how it drew its tokens, for whoever does it again."""

import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from raybench.experiments.parts.reproducing import cleaned, publishable
from raybench.tracking.report import Section, Table
from raybench.tracking.text import one_line
from raybench.types import ModelSpec

TITLE = "The models"
_NO_LIMIT = "the model's context"
_MOST = 300
"""Characters of options that are shown: a template may be among them."""


def section(
    specs: Sequence[ModelSpec], text: str = "", lowered: Mapping[str, str] = MappingProxyType({})
) -> Section:
    """Return the section that says who was asked, and how each drew its tokens.

    `lowered` says of models how far endpoints have lowered the most tokens of their replies.
    """
    rows = [
        (
            spec.name,
            spec.engine,
            publishable(spec.weights) or None,
            spec.revision,
            *(_drawn(spec, name) for name in ("temperature", "top_p")),
            _most(spec) + (f", lowered: {lowered[spec.name]}" if spec.name in lowered else ""),
            "yes" if spec.reasoning else "no",
            spec.system_prompt,
            _options(spec),
        )
        for spec in specs
    ]
    heads = (
        "model",
        "engine",
        "weights",
        "commit",
        "temperature",
        "top p",
        "most tokens",
        "reasons",
        "system prompt",
        "engine's options",
    )
    kept = [place for place in range(len(heads)) if any(row[place] is not None for row in rows)]
    return Section(
        TITLE,
        text,
        table=Table(
            [heads[place] for place in kept], [[row[place] for place in kept] for row in rows]
        ),
    )


def _most(spec: ModelSpec) -> str:
    return f"{most:,}" if (most := spec.drawn_with["max_tokens"]) else _NO_LIMIT


def _drawn(spec: ModelSpec, name: str) -> str:
    value = spec.drawn_with[name]
    return "the endpoint's" if value is None else f"{value:g}"


def _options(spec: ModelSpec) -> str | None:
    """Return the engine's own options, without secrets and where somebody's engine is."""
    if not spec.options:
        return None
    return one_line(json.dumps(cleaned(spec.options), default=str, ensure_ascii=False), _MOST)

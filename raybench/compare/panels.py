"""Who judged in a run of the peer protocol."""

from collections.abc import Mapping
from typing import Any

from raybench.compare.runs import Stored

JOURNAL = "iterations"
VARIANT = "variant"
"""The field by which ablations tell their protocols apart."""
EVERY = "every model"
"""What an empty list of judges means."""


def panel(run: Stored, variant: str = "") -> list[str]:
    """Return the names of a run's judges, or of those under one variant of an ablation.

    The results say it. Older and unfinished runs have it from the settings; a variant has its own
    judges, which the journal names.
    """
    about: Any = run.results.get("run", {})
    if variant:
        about = _of(_of(about, "ablations"), variant)
    told = _of(about, "judges")
    if not told and variant:
        ratings = (
            record.get("judgments")
            for _, _, record in run.lines(JOURNAL)
            if record.get(VARIANT) == variant
        )
        told = [name for of in ratings if isinstance(of, Mapping) for name in of]
    return list(dict.fromkeys(_names(told))) or given(run) or list(run.models)


def given(run: Stored) -> list[str]:
    """Return the judges that the settings name; none where every model judges."""
    return _names(_of(run.config.get("autobench"), "judges"))


def _names(told: Any) -> list[str]:
    return [str(it) for it in told] if isinstance(told, list) else []


def _of(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else None

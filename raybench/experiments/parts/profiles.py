"""What models are good at, drawn: which of many models and parts, and what is said beside them."""

from collections.abc import Callable, Mapping, Sequence

from raybench.statements import Statement
from raybench.tracking import plots
from raybench.tracking.plots.profiles import MOST_MODELS, MOST_PARTS
from raybench.types import Estimate

_LINE = (
    "One panel for each model, all on one scale: points with 95 % intervals; the line is the "
    "model's overall number."
)


def drawn(
    models: Sequence[str],
    parts: Mapping[str, int],
    of: Callable[[str, str], Estimate | None],
    overall: Callable[[str], float | None],
    xlabel: str,
    *,
    kinds: str,
    counted: str,
) -> tuple[str | None, str]:
    """Return the figure, None where nothing has a number, and what to read it by.

    `models` come best first. `parts` have how much each rests on, of what is `counted`.
    """
    shown = models[:MOST_MODELS]
    parts = {part: many for part, many in parts.items() if any(_told(of(it, part)) for it in shown)}
    largest = sorted(parts, key=lambda part: -parts[part])[:MOST_PARTS]
    rows = [part for part in parts if part in largest]
    found = {
        model: {
            f"{part} ({parts[part]:,})": estimate.to_json()
            for part in rows
            if (estimate := of(model, part)) is not None
        }
        for model in shown
    }
    if not parts:
        return None, Statement(
            "profiles.nothing",
            "None of these {kinds} has a number to draw.",
            kinds=kinds,
        )
    figure = plots.profiles(
        found,
        [f"{part} ({parts[part]:,})" for part in rows],
        {model: overall(model) for model in shown},
        xlabel,
    )
    return figure, " ".join(
        [_LINE, f"In parentheses: {counted}.", *_left_out(models, parts, kinds)]
    )


def _told(estimate: Estimate | None) -> bool:
    """Tell whether there is anything to draw of an estimate."""
    return estimate is not None and (estimate.value is not None or estimate.ci95 is not None)


def _left_out(models: Sequence[str], parts: Mapping[str, int], kinds: str) -> list[str]:
    found = []
    if len(models) > MOST_MODELS:
        found.append(f"The figure has the first {MOST_MODELS} of {len(models)} models")
    if len(parts) > MOST_PARTS:
        found.append(f"the {MOST_PARTS} of {len(parts)} {kinds} that rest on most")
    if not found:
        return []
    text = ", and ".join(found)
    return [f"{text[0].upper()}{text[1:]}; the table has all."]

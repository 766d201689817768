"""What a run supports: how far its indices would move, and how many repeats would settle them."""

import math
from collections.abc import Iterator, Mapping, Sequence

from raybench import benchmarks
from raybench.benchmarks.parts import summary
from raybench.experiments.parts.questions.view import LONG, View
from raybench.statements import Statement
from raybench.stats.repeats import Spread
from raybench.tracking.report import Section, Table, Value
from raybench.types import reason_of

_CLAIMED = "intelligence"
"""The index of which the methodology claims ±1 %."""
_FINE, _COARSE = 2, 10
"""From these percentages on a half-width has one digit after the point, and none."""


def section(view: View) -> Section:
    """Return the section that answers the methodology's claim, and does so for every index."""
    found = {model: summary.precision(view.tally, model, view.rules) for model in view.ranked}
    spreads = {
        index: {model: of[index] for model, of in found.items() if index in of}
        for index in view.rules.weights
    }
    rows = list(_rows(view, spreads))
    answer = claim(view, spreads[_CLAIMED]) if _CLAIMED in spreads else ""
    if not rows:
        return Section("What this run supports", answer)
    every = [spread for of in spreads.values() for spread in of.values()]
    return Section(
        "What this run supports",
        answer,
        table=Table(
            (
                "index",
                "model",
                "± if asked again",
                f"repeats for {_percent(summary.TARGET)}",
                "± over other questions",
                "± with any repeats",
            ),
            rows,
            caption=_explained(every),
        ),
        folded=f"All {len(rows)} indices of {len(view.ranked)} models" * (len(rows) > LONG),
    )


def claim(view: View, spreads: Mapping[str, Spread]) -> str:
    """Return, in a sentence, whether the run bears the precision that the methodology claims."""
    target, title = _percent(summary.TARGET), view.title(f"index/{_CLAIMED}")
    if not spreads:
        refusals = [reason_of(it.method) for it in view.of(f"index/{_CLAIMED}") if it]
        clauses = [refusal.split("; ") for refusal in refusals]
        shared = [each for each in clauses[0] if all(each in of for of in clauses)]
        return Statement(
            "precision.refused",
            "Whether the {index} is within {target}, as the methodology claims, is unknown: it "
            "was not computed for any model{why}.",
            index=title,
            target=target,
            why=f" ({'; '.join(shared)})" if shared else ", for different reasons",
            shared=shared,
        )
    most = "at most " if any(spread.bounded for spread in spreads.values()) else ""
    widths = sorted(spread.half_width() for spread in spreads.values())
    repeats = sorted(spread.repeats_for(summary.TARGET) or 1 for spread in spreads.values())
    moved = _range([_percent(width) for width in widths])
    times = f"{most}{_range([f'{n:,}' for n in repeats])} repeat{'s' * (repeats[-1] != 1)}"
    refused = len(view.ranked) - len(spreads)
    moves = (
        f"Asking the same questions again would change the {title} by {most}{moved} (95 %)"
        f"{', depending on the model' if len(spreads) > 1 else ''}"
    )
    if widths[-1] <= summary.TARGET:
        moves += f", within the {target} that the methodology claims"
        reached = f"{times} of every question suffice{'s' * (repeats[-1] == 1)}"
    else:
        reached = f"the {target} that the methodology claims needs {times} of every question"
    ends = [
        f"it was not computed for {refused} of {len(view.ranked)} models" if refused else "",
        "a partial index says nothing about the whole one" if view.partial(_CLAIMED) else "",
    ]
    return Statement(
        "precision.claim",
        "{parts}.",
        parts="; ".join(part for part in (moves, reached, *ends) if part),
        index=title,
        widths=(widths[0], widths[-1]),
        repeats=(repeats[0], repeats[-1]),
        bounded=bool(most),
        within=widths[-1] <= summary.TARGET,
        refused=refused,
        partial=view.partial(_CLAIMED),
    )


def _rows(view: View, spreads: Mapping[str, Mapping[str, Spread]]) -> Iterator[Sequence[Value]]:
    for index, of in spreads.items():
        for model, spread in of.items():
            most, least = ("≤ ", "≥ ") if spread.bounded else ("", "")
            yield (
                view.title(f"index/{index}"),
                model,
                most + _percent(spread.half_width()),
                f"{most}{spread.repeats_for(summary.TARGET):,}",
                _percent(spread.half_width(over="questions")),
                least + _percent(spread.half_width(math.inf, over="questions")),
            )


def _explained(spreads: Sequence[Spread]) -> str:
    text = (
        "Estimated from this run, at 95 %. If asked again: how far asking the same questions as "
        "often again would change the index. Repeats: of every question, until that is within "
        f"{_percent(summary.TARGET)}. Over other questions: how far other questions of the same "
        "kind would change it; with any repeats: what is left of that however often each is asked "
        "(0.00 %: nothing beyond the noise of the replies)."
    )
    if once := sorted({name for spread in spreads for name in spread.bounded}):
        titles = ", ".join(benchmarks.load(name).title for name in once)
        text += (
            f" ≤ and ≥: the noise of {titles} is bounded, not measured, where questions were asked "
            "once or always answered alike."
        )
    return text


def _range(ordered: Sequence[str]) -> str:
    first, last = ordered[0], ordered[-1]
    return first if first == last else f"{first} to {last}"


def _percent(half_width: float) -> str:
    """Return ±1 % for the target, else two digits or more that mean something."""
    percent = 100 * half_width
    if half_width == summary.TARGET:
        digits = 0
    else:
        digits = 2 if percent < _FINE else 1 if percent < _COARSE else 0
    return f"±{percent:.{digits}f} %"

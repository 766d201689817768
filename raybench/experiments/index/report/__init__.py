"""What the index's report shows: which columns lead, and the sections below the leaderboard."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from raybench.experiments.index.report import precision
from raybench.experiments.parts.questions import scores
from raybench.experiments.parts.questions.supported import orders
from raybench.experiments.parts.questions.view import View
from raybench.statements import Statement
from raybench.tracking import plots
from raybench.tracking.leaderboard import Column
from raybench.tracking.report import Section


def columns(view: View) -> list[Column]:
    """Return the leaderboard's columns: indices, then benchmarks; what is refused to all, last."""
    every = [Column(key, view.title(key)) for key in (f"index/{it}" for it in view.rules.weights)]
    for name in view.asked:
        title = view.title(name)
        every.append(Column(f"{name}/accuracy", title, chance=view.chances.get(name)))
        every += [Column(key, f"{title} {other}") for key, other in view.others(name)]
    return sorted(every, key=lambda column: not _there(view, column.key))


def _there(view: View, key: str) -> bool:
    return any(estimate and estimate.value is not None for estimate in view.of(key))


def headline(view: View, key: str, unjudged: Sequence[str], unasked: Sequence[str]) -> str:
    """Say which score leads and how to get the Intelligence Index, where no judge was there.

    `unjudged` are the benchmarks that were left out for that ('' without any), `unasked` the others
    that the index includes and nobody was asked.
    """
    if not unjudged:
        return ""
    return Statement(
        "index.no_judge",
        "Models are ranked by {shown}. The Intelligence Index also needs {lacking}: set "
        "index.judges=[NAME], a model of roster.judges or roster.models{others}.",
        shown=f"the {view.title(key)}" if key.startswith("index/") else view.title(key),
        lacking=", ".join(view.title(name) for name in (*unjudged, *unasked)),
        others=f", and add {', '.join(unasked)} to index.benchmarks" if unasked else "",
        key=key,
    )


def sections(view: View, head: Column, how: Sequence[Section]) -> Iterator[Section]:
    """Yield the report's sections; `how` has those that say how it was asked, and its replies."""
    support = precision.section(view)
    words = f"By {head.title}: {orders(view, head.key)}" if _there(view, head.key) else ""
    yield replace(support, text="\n\n".join(filter(None, (words, support.text))))
    yield from _indices(view, head)
    yield from _benchmarks(view)
    for name in view.there():
        yield scores.benchmark(view, name)
    yield from scores.differences(view)
    for name in view.there():
        yield from scores.broken_out(view, name)
    yield from how


def _indices(view: View, head: Column) -> Iterator[Section]:
    keys = [f"index/{name}" for name in view.rules.weights]
    there = [key for key in keys if _there(view, key)]
    if not there:
        return
    missing = [view.title(key) for key in keys if key not in there]
    yield Section(
        "Indices",
        f"With 95 % intervals, in the order of the leaderboard (by {head.title}). The "
        "paired differences below compare models better than these intervals do, since every model "
        "had the same questions."
        + (f" Not computed: {', '.join(missing)}." if missing else "")
        + " Hollow bars are partial indices, over some of their benchmarks."
        * any(view.partial(key.partition("/")[2]) for key in there),
        figure=plots.bars({view.title(key): _drawn(view, key) for key in there}, "weighted mean"),
    )


def _benchmarks(view: View) -> Iterator[Section]:
    keys = {view.title(name): f"{name}/accuracy" for name in view.there()}
    there = {title: key for title, key in keys.items() if _there(view, key)}
    if not there:
        return
    missing = [title for title in keys if title not in there]
    chances = {view.title(name): view.chances.get(name) for name in view.there()}
    yield Section(
        "Benchmarks",
        "Accuracy with 95 % intervals: about one in twenty misses the true value."
        + " Dashed line: what guessing among the listed options scores." * any(chances.values())
        + (f" Not computed: {', '.join(missing)}." if missing else ""),
        figure=plots.bars(
            {title: _drawn(view, key) for title, key in there.items()},
            "accuracy",
            chances={title: chances[title] for title in there},
        ),
    )


def _drawn(view: View, key: str) -> dict[str, dict[str, Any]]:
    return {
        model: estimate.to_json()
        for model in view.ranked
        if (estimate := view.metrics[model].get(key)) is not None
    }

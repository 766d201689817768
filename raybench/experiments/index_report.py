"""What the index's report shows: which columns lead, and the sections below the leaderboard."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from raybench import benchmarks
from raybench.benchmarks.parts import summary
from raybench.benchmarks.parts.scores import Rules
from raybench.benchmarks.parts.tally import Tally, safe
from raybench.tracking import plots
from raybench.tracking.leaderboard import Column
from raybench.tracking.report import Item, Section, Table
from raybench.types import Estimate

Metrics = Mapping[str, Mapping[str, Estimate]]
_MOST_COMPARED = 6
"""Models of which every pair is shown; of more, only neighbours in rank."""


def columns(metrics: Metrics, asked: Sequence[str], weights: Mapping[str, Any]) -> list[Column]:
    """Return the leaderboard's columns: indices, then benchmarks; what is refused to all, last."""
    every = [Column(f"index/{name}", f"{name.capitalize()} Index") for name in weights]
    every = [
        replace(column, title=f"{column.title} (partial)")
        if _partial(metrics, column.key)
        else column
        for column in every
    ]
    every += [Column(f"{name}/accuracy", benchmarks.load(name).title) for name in asked]
    return sorted(every, key=lambda column: not _there(metrics, column.key))


def _partial(metrics: Metrics, key: str) -> bool:
    return any(of[key].method.startswith("partial") for of in metrics.values() if key in of)


def _there(metrics: Metrics, key: str) -> bool:
    return any(key in of and of[key].value is not None for of in metrics.values())


def sections(
    tally: Tally,
    metrics: Metrics,
    rules: Rules,
    shown: Sequence[Column],
    samples: Sequence[Mapping[str, Any]],
    beside: Sequence[Section] = (),
) -> Iterator[Section]:
    """Yield the report's sections."""
    head = shown[0]
    ranked = sorted(metrics, key=lambda model: -(metrics[model][head.key].value or 0))
    yield Section(
        head.title,
        "With 95 % intervals. Intervals that overlap a lot do not tell models apart; the paired "
        "differences below do so better, since every model had the same questions.",
        figure=plots.forest(
            {model: metrics[model][head.key].to_json() for model in ranked}, xlabel=head.title
        ),
    )
    yield from _precision(tally, ranked, rules)
    for name in tally.benchmarks():
        yield _benchmark(tally, ranked, name, metrics)
    for name in tally.benchmarks():
        yield from _broken_out(tally, ranked, name, metrics)
    yield from _differences(tally, ranked, rules)
    yield from beside
    yield Section(
        "Read them",
        "A right and a wrong reply of each model and benchmark; the journal has them all.",
        items=[_item(sample) for sample in samples],
    )


def _precision(tally: Tally, models: Sequence[str], rules: Rules) -> Iterator[Section]:
    items = {
        f"{index}, {model}": summary.in_words(spread)
        for model in models
        for index, spread in summary.precision(tally, model, rules).items()
    }
    if items:
        yield Section(
            "What this run supports",
            "The methodology estimates its Intelligence Index to ±1 %. What this run's indices are "
            "good for, by its own numbers.",
            table=Table(("index, model", "what it supports"), list(items.items())),
        )


def _benchmark(tally: Tally, models: Sequence[str], name: str, metrics: Metrics) -> Section:
    rows = []
    for model in models:
        counts, of = tally.counts(model, [name]), metrics[model]
        rows.append(
            (
                model,
                *_cells(of.get(f"{name}/accuracy")),
                _value(of, f"{name}/rerun_noise"),
                counts.ok,
                counts.truncated,
                counts.unparsed,
                counts.infra_error,
                counts.judge_error,
                _whole(of, f"{name}/output_tokens"),
                _whole(of, f"{name}/output_tokens/p50"),
                _whole(of, f"{name}/output_tokens/p99"),
                _value(of, f"{name}/checker_share"),
                _value(of, f"{name}/checker_agreement"),
            )
        )
    heads = (
        "model",
        "accuracy",
        "95 % interval",
        "stderr",
        "re-run noise",
        "ok",
        "truncated",
        "unparsed",
        "infra",
        "judge",
        "tokens",
        "p50",
        "p99",
        "checker decided",
        "and agreed",
    )
    wanted = [place for place in range(len(heads)) if any(row[place] is not None for row in rows)]
    return Section(
        benchmarks.load(name).title,
        "",
        table=Table(
            [heads[place] for place in wanted], [[row[place] for place in wanted] for row in rows]
        ),
    )


def _broken_out(
    tally: Tally, models: Sequence[str], name: str, metrics: Metrics
) -> Iterator[Section]:
    """Yield the accuracies of a benchmark's languages and subjects, where it has several."""
    title = benchmarks.load(name).title
    languages = [safe(language) for language in tally.languages(name)]
    for kind, parts in (("language", languages), ("subject", tally.subjects(name))):
        if len(parts) > 1:
            table = [
                (part, *(_value(metrics[model], f"{name}/accuracy/{part}") for model in models))
                for part in parts
            ]
            yield Section(f"{title} by {kind}", "", table=Table((kind, *models), table))


def _differences(tally: Tally, ranked: Sequence[str], rules: Rules) -> Iterator[Section]:
    near = set(pairwise(ranked))
    rows = [
        (
            found.metric,
            f"{found.first} − {found.second}",
            *_cells(found.found.difference),
            found.p_holm,
            found.found.detectable,
        )
        for found in summary.differences(tally, ranked, rules)
        if found.found.difference.value is not None
        and (len(ranked) <= _MOST_COMPARED or (found.first, found.second) in near)
    ]
    if rows:
        heads = (
            "metric",
            "models",
            "difference",
            "95 % interval",
            "stderr",
            "p",
            "detectable",
        )
        yield Section(
            "Differences",
            "Paired over the same questions; p is raised for the number of benchmarks (Holm); "
            "detectable is the smallest difference that four in five such runs would find.",
            table=Table(heads, rows),
        )


def _cells(estimate: Estimate | None) -> tuple[float | None, str | None, float | None]:
    if estimate is None or estimate.value is None:
        return None, None if estimate is None else estimate.method, None
    low, high = estimate.ci95 or (None, None)
    interval = None if low is None or high is None else f"[{low:.3f}, {high:.3f}]"
    return estimate.value, interval, estimate.stderr


def _value(metrics: Mapping[str, Estimate], key: str) -> float | None:
    return metrics[key].value if key in metrics else None


def _whole(metrics: Mapping[str, Estimate], key: str) -> int | None:
    value = _value(metrics, key)
    return None if value is None else round(value)


def _item(unit: Mapping[str, Any]) -> Item:
    asked = f"{unit['benchmark']} {unit['key']} ({unit['language']}), repeat {unit['repeat']}"
    found = "nothing could be read" if unit["answer"] is None else f"answer '{unit['answer']}'"
    return Item(
        f"{asked}, {unit['model']}: {found}, {unit['reason']}",
        ({"right": unit["truth"]} if "truth" in unit else {})
        | {f"reply ({unit['finish']})": unit["response"]}
        | ({"thinking": unit["reasoning"]} if unit["reasoning"] else {}),
    )

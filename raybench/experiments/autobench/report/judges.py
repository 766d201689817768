"""The judges: whom they rate how, how severe they are, and whether they prefer themselves."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from raybench.autobench import summary
from raybench.autobench.judges import RATINGS, Judge
from raybench.autobench.preference import Preference
from raybench.autobench.protocol import Record
from raybench.autobench.settings import Settings
from raybench.autobench.sources import Sources
from raybench.experiments.autobench.report.texts import LONG
from raybench.tracking import plots
from raybench.tracking.report import Section, Table, Value
from raybench.types import Estimate


def sections(
    records: Sequence[Record],
    protocol: Settings,
    found: Mapping[str, Judge],
    models: Sequence[str],
) -> Iterator[Section]:
    """Yield the judges' statistics, who rates whom, and what each gives itself."""
    panel = [*(model for model in models if model in protocol.panel)]
    panel += [judge for judge in protocol.panel if judge not in panel]
    by = Sources.of(records, protocol).by
    yield _statistics(found, panel, summary.parse_rates(records, protocol), by)
    yield _scale(found, panel)
    yield _whom(records, panel, models)
    yield from _themselves(found, [judge for judge in panel if judge in models])


def _statistics(
    found: Mapping[str, Judge], panel: Sequence[str], parsed: Mapping[str, Estimate], by: str
) -> Section:
    rows: list[Sequence[Value]] = []
    for name in panel:
        judge = found[name]
        rows.append(
            (name, judge.severity, judge.agreement, judge.same, judge.within_one, parsed[name])
        )
    return Section(
        "Judges",
        "Each judge is compared with the others on the same answers. Severity: by how much the "
        "others rate these answers higher; it is negative for a lenient judge. Agreement: the "
        "correlation of its ratings with the weighted consensus of the others, within iterations. "
        "Same: the share of its ratings that equal the rounded consensus; within one: the share at "
        "most 1 away from it. Agreement does not mean that the judges are right.",
        table=Table(
            ("judge", "severity", "agreement", "same", "within one", "ratings read"),
            rows,
            caption=f"With 95 % intervals, clustered by {by}. "
            "Severity leaves out ratings of a judge's own answers.",
        ),
    )


def _whom(records: Sequence[Record], panel: Sequence[str], models: Sequence[str]) -> Section:
    judged = summary.mean_judgments(records, models, panel)
    return Section(
        "Who rates whom",
        "Mean rating that each judge (row) gave each contestant (column). The diagonal has the "
        "ratings of a judge's own answers; the section on self-preference tests for a bias.",
        figure=plots.heatmap(
            [[judged[judge][model] for model in models] for judge in panel],
            rows=list(panel),
            columns=list(models),
            label="mean rating",
        ),
    )


def _scale(found: Mapping[str, Judge], panel: Sequence[str]) -> Section:
    rows: list[Sequence[Value]] = []
    for name in panel:
        used = found[name].used
        total = sum(used.values())
        shares = (f"{100 * count / total:.0f} %" if total else None for count in used.values())
        rows.append((name, total, *shares))
    return Section(
        "How judges use the scale",
        "How often each judge gave each rating to an answer. A judge that uses only two or three "
        "ratings separates models less well.",
        table=Table(("judge", "ratings", *map(str, RATINGS)), rows),
        folded=f"Ratings of {len(rows)} judges" * (len(rows) > LONG),
    )


def _themselves(found: Mapping[str, Judge], panel: Sequence[str]) -> Iterator[Section]:
    rated = [name for name in panel if found[name].own.value is not None]
    if not rated:
        return
    yield Section(
        "Self-preference",
        "By how much a judge rates its own answers above other answers that its peers rate the "
        "same, in points of the scale: near the ends of the scale no preference can show. A judge "
        "may also favour any other model by chance. The table says that a judge prefers itself "
        "only if the preference would show over other tasks too, and if it exceeds the judge's "
        "preferences for other models. One or two in a hundred unbiased judges are still named.",
        figure=plots.forest(
            {name: _whole(found[name].self_preference) for name in rated},
            xlabel="self-preference, in ratings",
        ),
        table=Table(
            (
                "judge",
                "own answers, by itself",
                "by the others",
                "self-preference, over tasks",
                "among its leanings",
                "prefers itself",
            ),
            [
                (
                    name,
                    it.own,
                    it.own_by_others,
                    it.self_preference.over_tasks,
                    it.self_preference.among_leanings,
                    _said(it.self_preference.told),
                )
                for name in rated
                for it in (found[name],)
            ],
            caption="The difference of the first two columns is not a preference: a judge may be "
            "lenient to all, or hardly separate good from bad. Self-preference is measured from "
            "the line that fits the judge's ratings of others' answers to its peers' ratings of "
            "them, and allows for the peers' uncertainty. It has two 95 % intervals: over "
            "iterations, and among the judge's preferences for all models. The first is too narrow "
            "for the best models, whose ratings end at the top of the scale. A judge prefers "
            "itself if both intervals lie above 0; the figure shows the wider reach of the two.",
        ),
        folded=f"Ratings that {len(rated)} judges' own answers got" * (len(rated) > LONG),
    )


def _whole(preference: Preference) -> Mapping[str, Any]:
    """Return what a plot needs: the number, and an interval that holds 0 where one of both does."""
    both = [it.ci95 for it in (preference.over_tasks, preference.among_leanings) if it.ci95]
    whole = [min(low for low, _ in both), max(high for _, high in both)] if len(both) == 2 else None
    return preference.over_tasks.to_json() | {"ci95": whole}


def _said(told: bool | None) -> str | None:
    return None if told is None else "yes" if told else "no"

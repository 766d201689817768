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
        "Each against the others on the same answers. Severity: by how much the others rate these "
        "answers higher; a lenient judge's is negative. Agreement: the correlation of its ratings "
        "with the weighted consensus of the others, within iterations. Same: the share of its "
        "ratings that are this consensus, rounded; within one: those at most 1 away from it. That "
        "judges agree does not make them right.",
        table=Table(
            ("judge", "severity", "agreement", "same", "within one", "ratings read"),
            rows,
            caption=f"With 95 % intervals, clustered by {by}. "
            "Severity leaves out everybody's ratings of their own answers.",
        ),
    )


def _whom(records: Sequence[Record], panel: Sequence[str], models: Sequence[str]) -> Section:
    judged = summary.mean_judgments(records, models, panel)
    return Section(
        "Who rates whom",
        "Mean rating that each judge (row) gave each contestant (column). The diagonal has what "
        "judges gave their own answers; whether they prefer those stands below.",
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
        "How often each judge gave each rating to an answer. Judges that keep to two or three "
        "ratings tell less apart.",
        table=Table(("judge", "ratings", *map(str, RATINGS)), rows),
        folded=f"Ratings of {len(rows)} judges" * (len(rows) > LONG),
    )


def _themselves(found: Mapping[str, Judge], panel: Sequence[str]) -> Iterator[Section]:
    rated = [name for name in panel if found[name].own.value is not None]
    if not rated:
        return
    yield Section(
        "Self-preference",
        "By how much judges rate their own answers above others' answers of which their peers "
        "think the same, as judged by these models, in points that show within the scale: near its "
        "ends there is no room for a preference. A judge may lean to any model, for what its peers "
        "do not see, and its own may be one by chance: it is said to prefer itself only where "
        "other tasks would show it, too, and where this stands out from its leanings to the "
        "others. Of a hundred judges that do not, that is still said of one or two.",
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
            caption="The difference of the first two is not yet a preference: a judge may be "
            "lenient to all, or hardly tell good from bad. Self-preference is what is left beyond "
            "the line through what it gave others' answers, over what its peers gave these, whose "
            "own uncertainty is taken into account. It stands there twice, with two 95 % "
            "intervals: over iterations, and as one among its leanings to the other models, each "
            "measured by the same line. The first is too narrow for the best models, whose ratings "
            "the scale's end cuts off. A judge prefers itself where both lie above 0; the figure's "
            "whiskers reach as far as the further of the two.",
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

"""A comparison as one self-contained page: no network, no script, what models wrote escaped."""

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from raybench.compare.found import Concluded, Flip, Flips, Pair, Reply, Setting, Side
from raybench.compare.shown import plot, summary
from raybench.compare.shown.links import href
from raybench.compare.shown.once import Own, Shared, once
from raybench.compare.shown.rows import Row
from raybench.compare.shown.told import simulated
from raybench.compare.shown.words import P_HOLM, WOULD_SHOW, P, about_flips, explained, held_apart
from raybench.tracking.leaderboard import COUNT_MEANINGS, SIMULATED
from raybench.tracking.text import printable

_TEXTS = {
    "response": "reply",
    "reasoning": "thinking",
    "reason": "grade",
    "outcome": "how it ended",
    "ratings": "ratings",
}
_COUNTS = ("truncated", "unparsed", "infra_error", "judge_error")


def render(found: Sequence[Concluded], notes: Sequence[str], page: Path | None = None) -> str:
    """Return the page's HTML; links lead from where the page is written."""
    from jinja2 import Environment, StrictUndefined

    source = files("raybench.compare.shown").joinpath("page.html.j2").read_text(encoding="utf-8")
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["printable"] = printable
    said = once(found)
    pairs = [
        _pair(number, it, own, page)
        for number, (it, own) in enumerate(zip(found, said.own, strict=True), start=1)
    ]
    drawn = [it for it in pairs if it["figure"]]
    for pair in pairs:
        pair["legend"] = pair in drawn[:1]
    return environment.from_string(source).render(
        comparisons=pairs,
        headline=summary.headline(found) if sum(bool(it.scores) for it in found) > 1 else "",
        summary=summary.rows(found) if len(found) > 1 else [],
        summary_about=summary.ABOUT,
        notes=[*notes, *(it.told for it in said.notes)],
        explained=explained(found),
        columns={"p": P, "p_holm": P_HOLM, "would_show": WOULD_SHOW.capitalize()},
        everywhere=_apart([it for it in said.settings if it.everywhere]),
        several=_apart([it for it in said.settings if not it.everywhere]),
        alarm=SIMULATED if simulated(found) else "",
        meanings={name.replace("_", " "): COUNT_MEANINGS[name] for name in _COUNTS},
    )


def _apart(shared: Sequence[Shared[Setting]]) -> dict[str, Any]:
    """Return the settings that differ between the sides of several pairs, and what they mean."""
    return {
        "settings": [_setting(it) for it in shared],
        "told": held_apart([it.what for it in shared]) if shared else "",
    }


def _setting(shared: Shared[Setting]) -> dict[str, str]:
    it = shared.what
    return {
        "kind": it.kind,
        "name": f"{it.name} ({shared.of})",
        "baseline": it.baseline,
        "candidate": it.candidate,
    }


def _pair(number: int, found: Concluded, own: Own, page: Path | None) -> dict[str, Any]:
    compared = found.compared
    baseline, candidate = compared.pair.titles
    return {
        "address": f"pair-{number}",
        "title": f"{candidate} against {baseline}",
        "baseline": baseline,
        "candidate": candidate,
        "verdict": found.verdict,
        "headline": found.headline,
        "sentence": found.sentence,
        "figure": plot.differences(found.scores, f"Differences of {candidate} against {baseline}"),
        "rows": [Row.of(it) for it in found.scores],
        "counted": found.scores[0].score.of.capitalize() if found.scores else "",
        "many": any(it.needed or it.needed_for_two_points for it in found.scores),
        "tables": compared.tables,
        "notes": own.notes,
        "settings": own.settings,
        "apart": held_apart(own.settings) if own.settings else "",
        "sides": [
            _side("baseline", compared.pair.baseline, page),
            _side("candidate", compared.pair.candidate, page),
        ],
        "flips": [_flips(it, compared.pair, page) for it in compared.flips if it.gained or it.lost],
        "flipped": compared.flips[0].of if compared.flips else "",
        "flipped_about": about_flips(compared.flips) if compared.flips else "",
    }


def _side(name: str, side: Side, page: Path | None) -> dict[str, Any]:
    return {
        "name": name,
        "told": ", ".join(it for it in (side.model, f"{side.run.experiment} {side.run.id}") if it),
        "report": href(report, page) if (report := side.report) else "",
    }


def _flips(flips: Flips, pair: Pair, page: Path | None) -> dict[str, Any]:
    return {
        "title": flips.title,
        "withheld": flips.withheld,
        "groups": [
            {
                "title": f"{word}: {len(those):,} of {total:,} shown",
                "items": [_item(it, pair, page) for it in those],
            }
            for word, total, those in flips.groups
        ],
    }


def _item(flip: Flip, pair: Pair, page: Path | None) -> dict[str, Any]:
    truths = dict.fromkeys(
        str(it.record.get("truth", "")) for it in (flip.baseline, flip.candidate)
    )
    return {
        "title": flip.title,
        "change": f"{flip.baseline.said} → {flip.candidate.said}",
        "question": flip.question,
        "truth": " / ".join(it for it in truths if it),
        "sides": [
            _reply("baseline", pair.baseline, flip.baseline, page),
            _reply("candidate", pair.candidate, flip.candidate, page),
        ],
    }


def _opened(side: Side, reply: Reply, page: Path | None) -> str:
    """Return the link by which the run's report opens it; '' where it cannot."""
    report = side.report
    return href(report, page, f"unit={reply.unit}") if report and reply.unit else ""


def _reply(name: str, side: Side, reply: Reply, page: Path | None) -> dict[str, Any]:
    record = reply.record
    texts = {label: str(record[key]) for key, label in _TEXTS.items() if record.get(key)}
    return {
        "name": f"{name}: {side.model or side.run.id}",
        "answer": record.get("answer"),
        "given": "answer" in record,
        "texts": texts,
        "report": _opened(side, reply, page),
        "journal": href(reply.journal, page),
        "file": "journal" if reply.journal.parent.name == "journal" else reply.journal.name,
        "line": f"{reply.line:,}",
    }

"""Settings by which a run deviates from its source, named in plan, report and results.json."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from raybench.statements import Statement
from raybench.tracking.report import Section, Table

DEVIATIONS = "Deviations"
"""The short name of the footnote that names them, and the title of the report's section."""
JUDGED = "Judged by"
"""The short name of the footnote on who judges."""
METHODOLOGY, HLE_PAPER = "the methodology", "HLE's paper"
AUTOBENCH_PAPER, GAMES_PAPER = "AutoBench's paper", "ZeroSumEval's paper"
SAMPLED = "data"
"""The setting by which samples are asked instead of the source's questions."""
_MOST_SENTENCES = 3
"""More deviations than these are named by their settings alone where there is little room."""
IN_REPORT = f" (explained in report.html, section {DEVIATIONS})"
"""Where bare names are explained; the report itself has a link instead."""


class Deviation(NamedTuple):
    """One setting by which a run does something that its source does not."""

    setting: str
    given: Any
    """Its value in this run."""
    source: str
    """What the source has."""
    text: str
    """What the run does instead."""

    @property
    def named(self) -> str:
        """Return the deviation as a line of a plan."""
        return Statement(
            "deviation.named",
            "deviation: {text}; the source: {source} ({setting})",
            setting=self.setting,
            given=self.given,
            source=self.source,
            text=self.text,
        )

    def to_json(self) -> dict[str, Any]:
        """Return the deviation as results.json has it."""
        return {**self._asdict(), "text": str(self.text)}


def planned(found: Sequence[Deviation], source: str, scope: Sequence[str] = ()) -> Iterator[str]:
    """Yield the lines of a plan: one for each deviation, or that there is none."""
    if not found:
        yield note(found, source, scope)
    yield from (it.named for it in found)


def note(found: Sequence[Deviation], source: str, scope: Sequence[str] = ()) -> str:
    """Return the line that terminal, leaderboard.md and report show.

    `scope` has the settings by which only some of the source's questions are asked, or others.
    """
    settings = ", ".join(it.setting for it in found)
    if not found:
        return Statement(
            "deviation.none",
            "no setting deviates from {source}{scope}",
            source=source,
            scope=_narrowed(scope),
        )
    if len(found) <= _MOST_SENTENCES:
        return Statement(
            "deviation.few",
            "{sentences}",
            sentences="; ".join(
                f"{it.text}, where {source} has: {it.source} ({it.setting})" for it in found
            ),
            settings=settings,
        )
    return Statement(
        "deviation.some",
        "{count} deviate{s} from {source}: {settings}{where}",
        count=counted(found),
        settings=settings,
        source=source,
        s="s" * (len(found) == 1),
        where=IN_REPORT,
    )


def _narrowed(scope: Sequence[str]) -> str:
    """Return how the questions that are asked differ from the source's, if they do."""
    some = [it for it in scope if it != SAMPLED]
    told, whose = "", "its questions"
    if SAMPLED in scope:
        told, whose = f"; questions are samples that come with raybench ({SAMPLED})", "them"
    return f"{told}; not all of {whose} are asked ({', '.join(some)})" if some else told


def section(found: Sequence[Deviation], source: str, text: str = "") -> Section:
    """Return the section of a report that names them all; `text` is what else is to be known."""
    told = Statement(
        "deviation.section",
        "{count} deviate{s} from {source}.{more}",
        source=source,
        count=counted(found).capitalize(),
        s="s" * (len(found) <= 1),
        more=f" {text}" if text else "",
    )
    return Section(DEVIATIONS, told, table=_table(found))


def _table(found: Sequence[Deviation]) -> Table | None:
    """Return what a report shows of them; None where there are none."""
    if not found:
        return None
    rows = [(it.setting, it.text, it.source) for it in found]
    return Table(("setting", "in this run", "the source"), rows)


def counted(found: Sequence[Deviation]) -> str:
    """Return in how many settings a run deviates: 'no setting', '1 setting', '4 settings'."""
    return f"{len(found) or 'no'} setting{'s' * (len(found) > 1)}"

"""Settings by which a run deviates from its source, named in plan, report and results.json."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from raybench.statements import Statement
from raybench.tracking.report import Section, Table

DEVIATIONS = "Deviations"
"""The short name of the footnote that names them."""


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


def note(found: Sequence[Deviation]) -> str:
    """Return the line that terminal, leaderboard.md and report show."""
    if not found:
        return Statement(
            "deviation.none", "none, all settings that the source names are as in the source"
        )
    return Statement(
        "deviation.some",
        "{count} deviate{s} from the source: {settings} (see Deviations in the report)",
        count=counted(found),
        settings=", ".join(it.setting for it in found),
        s="s" * (len(found) == 1),
    )


def section(found: Sequence[Deviation], title: str, text: str = "") -> Section:
    """Return the section of a report that names them all."""
    return Section(title, text, table=_table(found))


def _table(found: Sequence[Deviation]) -> Table | None:
    """Return what a report shows of them; None where there are none."""
    if not found:
        return None
    rows = [(it.setting, it.text, it.source) for it in found]
    return Table(("setting", "in this run", "the source"), rows)


def counted(found: Sequence[Deviation]) -> str:
    """Return in how many settings a run deviates: 'no setting', '1 setting', '4 settings'."""
    return f"{len(found) or 'no'} setting{'s' * (len(found) > 1)}"

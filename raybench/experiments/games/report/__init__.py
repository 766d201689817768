"""What the report of a tournament shows."""

from collections.abc import Iterator

from raybench.experiments.games.deviations import section
from raybench.experiments.games.report import endings, meetings, reading, reliable, roles, standing
from raybench.experiments.games.report.shown import Shown
from raybench.tracking.report import Section

__all__ = ["Shown", "sections"]


def sections(shown: Shown) -> Iterator[Section]:
    """Yield the sections: who is how good, against whom, in which role, how reliably; matches."""
    yield from standing.sections(shown)
    yield section(shown.deviations)
    yield from meetings.sections(shown)
    yield from roles.sections(shown)
    yield from reliable.sections(shown)
    yield from endings.sections(shown)
    yield from reading.sections(shown)

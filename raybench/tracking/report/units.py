"""What can be read of a run, unit by unit: samples, iterations, matches."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

Of = str | float | Sequence[str] | None
"""What a unit has of a facet; several where it has several models."""


@dataclass(frozen=True, slots=True)
class Facet:
    """Something that tells units apart: readers filter and sort by it."""

    name: str
    number: bool = False
    """It is sorted by and not chosen from."""
    shown: bool = True
    """It is a column of the list."""
    folds: bool = False
    """Values that differ in their capitals alone are one, as of benchmarks that write them so."""


@dataclass(frozen=True, slots=True)
class Text:
    """A text of a unit, shown as it is."""

    label: str
    text: str
    heading: str = ""
    """What begins here, as a turn of a match."""
    folded: bool = False
    reply: bool = False
    """It is what a model replied: that of others to the same stands beside it."""


@dataclass(frozen=True, slots=True)
class Ply:
    """A position of a match on a board of 64 squares."""

    fen: str
    """The pieces alone, as FEN has them."""
    said: str
    """The move that led here."""
    by: str = ""
    """Who made it."""
    squares: tuple[str, ...] = ()
    """From where to where."""
    turn: int | None = None
    """Which of the unit's headings tells of it, counted from 0."""


@dataclass(frozen=True, slots=True)
class Body:
    """All that there is to read of a unit."""

    texts: Sequence[Text]
    plies: Sequence[Ply] = ()
    ending: str = ""
    """How it ended, as it stands below a board."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit as the list has it, and what makes its body, where there is room for that."""

    key: str
    """Its address in the page: report.html#unit=KEY, of `raybench.tracking.addresses`."""
    summary: str
    """One line. Control characters and line ends are for its maker to leave out."""
    facets: Mapping[str, Of]
    body: Callable[[], Body]
    line: int
    """Where it stands in the journal, counted from 1."""
    group: str = ""
    """Those of one group answer the same question: they stay in the page together, or none."""
    stratum: str = ""
    """Of each of these some bodies stay in the page, where there is no room for all.

    A group is of that of its first unit.
    """
    kept: bool = False
    """It is shown for something: it stays in any case, and its group with it."""


@dataclass(frozen=True)
class Units:
    """The units of a run, made one after the other when the page is written.

    Those of one group have to follow one another.
    """

    name: str
    """What one is called."""
    journal: str
    """Where their texts stand, below the run's folder."""
    facets: Sequence[Facet]
    each: Callable[[], Iterator[Unit]]
    group: str = "question"
    """What those of one group share."""
    notes: Sequence[str] = field(default=())
    """What is to be known of what is not shown."""

"""Matches as journals tell them: who met whom, what came of it, and which were dealt alike."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from raybench.compare.flips import Done, between, numbered, reply
from raybench.compare.found import Flip, Flips, Pair, Reply, Side
from raybench.compare.runs import Stored
from raybench.tracking import addresses

JOURNAL = "matches"
EACH_OTHER = "each other"
"""The opponent of either of two models of one run, where they meet."""
_WORDING = "cell"
"""The field by which tournaments in several wordings tell theirs apart."""
_RUNS = 8
"""So many runs' matches stay in memory: every pair of them asks."""
Cell = tuple[str, str, str, str]
"""A game, an opponent, the seat, and in which tournament, where a run has several."""
Deal = tuple[str, str, int]
"""What a match was drawn with, the seed and its table, and which one of these it is."""
Key = tuple[Cell, Deal]


@dataclass(frozen=True, slots=True)
class Match:
    """What stays in memory of a match between two."""

    line: int
    offset: int
    game: str
    seed: str
    table: str
    cell: str
    seats: tuple[tuple[str, str], tuple[str, str]]
    """Both roles, and whose they are."""
    points: tuple[float, float]
    went: bytes
    """Of what all moves of both were."""


@dataclass
class Met:
    """What a side took from one opponent in one seat of a game."""

    points: list[tuple[float, str]] = field(default_factory=list)
    """Of each match, and from which table."""
    played: list[tuple[str, float, bytes]] = field(default_factory=list)
    """How each match went: what it began with, the points, and all moves."""
    deals: dict[Deal, Done] = field(default_factory=dict)


def met(side: Side, opponents: Mapping[str, str], stage: str = "") -> dict[Cell, Met]:
    """Return what a side took from opponents, by whom they are to be called.

    Of tournaments in several wordings those of one `stage`.
    """
    found: dict[Cell, Met] = {}
    for it in _matches(side.run):
        if not it.cell.startswith(stage):
            continue
        for place, (role, model) in enumerate(it.seats):
            rival = it.seats[1 - place][1]
            called = opponents.get(rival) if model == side.model != rival else None
            if called is None or (called == EACH_OTHER and place):
                continue  # of two who meet, one seat tells it all: the other one is its mirror
            of = found.setdefault((it.game, called, role, it.cell), Met())
            nth = 0
            while (deal := (it.seed, it.table, nth)) in of.deals:
                nth += 1
            of.deals[deal] = Done(it.points[place], it.line, it.offset)
            of.points.append((it.points[place], it.table))
            of.played.append((it.seed, it.points[place], it.went))
    return found


def dealt(found: Mapping[Cell, Met], game: str) -> dict[Key, Done]:
    """Return all matches of a game by how they were dealt."""
    return {
        (cell, deal): done
        for cell, of in found.items()
        if cell[0] == game
        for deal, done in of.deals.items()
    }


def flips(
    pair: Pair, title: str, of: str, sides: tuple[Mapping[Key, Done], Mapping[Key, Done]], most: int
) -> Flips:
    """Return the deals of a game that the sides, in the same seat, won, drew or lost otherwise."""

    def flip(key: Key, one: Done, other: Done) -> Flip:
        (_, rival, seat, wording), (seed, _, _) = key
        where = f", {wording}" if wording else ""

        def told(side: Side, done: Done) -> Reply:
            record = side.run.at_offset(JOURNAL, done.line, done.offset)
            number = record["match"]
            return reply(
                side, JOURNAL, done,
                addresses.match(number, addresses.tournament(wording)), _SAID[done.value],
                {"match": number, "seed": record["seed"], "seat": seat, "opponent": rival},
                {"outcome": record.get("outcome", "")},
            )  # fmt: skip

        replies = told(pair.baseline, one), told(pair.candidate, other)
        numbers = replies[0].facts["match"], replies[1].facts["match"]
        return Flip(
            f"{seed}/{rival}/{seat}" + (f"/{wording}" if wording else ""),
            f"{numbered('match', 'matches', numbers)} as {seat} against {rival}{where}",
            other.value - one.value,
            *replies,
        )

    return between(Flips(of, title, of="matches"), sides, flip, most)


_SAID = {0.0: "lost", 0.5: "drawn", 1.0: "won"}


@lru_cache(maxsize=_RUNS)
def _matches(run: Stored) -> list[Match]:
    """Return the matches between two that count, in the order of the journal."""
    found = []
    for number, offset, record in run.lines(JOURNAL):
        try:
            if record["void"] is None and len(record["seats"]) == 2:
                found.append(_match(number, offset, record))
        except (LookupError, TypeError, AttributeError) as error:
            raise run.unlike(JOURNAL, number, error) from error
    return found


def _match(line: int, offset: int, record: Mapping[str, Any]) -> Match:
    (first, one), (second, other) = record["seats"].items()
    mine, theirs = record["scores"][first], record["scores"][second]
    won = (mine > theirs) + 0.5 * (mine == theirs)
    seed, moves = str(record["seed"]), (f"{it['role']}: {it['move']}" for it in record["turns"])
    went = hashlib.blake2b("\x1f".join(moves).encode(errors="replace"), digest_size=16)
    return Match(
        line, offset, record["game"], seed, record.get("table") or seed,
        record.get(_WORDING, ""), ((first, one), (second, other)), (won, 1 - won),
        went.digest(),
    )  # fmt: skip

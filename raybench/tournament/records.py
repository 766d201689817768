"""What journals keep of matches, and how it is read back."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from raybench.games import MANAGER
from raybench.tournament.fixtures import Fixture, Result
from raybench.tournament.turns import Ending, Forfeit, Turn


def begun(number: int, fixture: Fixture) -> dict[str, Any]:
    """Return the line that tells which match it is, before any turn of it."""
    return {
        "match": number,
        "game": fixture.game,
        "seed": fixture.seed,
        "seats": list(fixture.seats),
    }


def turned(number: int, attempt: int, turn: Turn) -> dict[str, Any]:
    """Return the line of a turn; what the role saw follows from the turns before it."""
    told = turn.to_json()
    del told["observation"]
    return {"match": number, "attempt": attempt, **told}


@dataclass
class Unfinished:
    """A match that was begun."""

    fixture: Fixture
    attempt: int = 0
    turns: list[Turn] = field(default_factory=list)


def enter(found: dict[int, Unfinished], line: Mapping[str, Any]) -> None:
    """Enter a line among the matches that were begun, with the turns of their last attempt."""
    if "seats" in line:
        fixture = Fixture(line["game"], tuple(line["seats"]), line["seed"])
        found.setdefault(line["match"], Unfinished(fixture))
        return
    match = found[line["match"]]
    if line["attempt"] != match.attempt:
        match.attempt, match.turns = line["attempt"], []
    match.turns.append(Turn.from_json({**line, "observation": ""}))


def finished(
    number: int,
    attempt: int,
    fixture: Fixture,
    roles: Sequence[str],
    turns: Sequence[Turn],
    ending: Ending,
) -> dict[str, Any]:
    """Return the record of a match that ended."""
    return {
        "match": number,
        "game": fixture.game,
        "seed": fixture.seed,
        "seats": dict(zip(roles, fixture.seats, strict=True)),
        "turns": [turn.to_json() for turn in turns],
        **ending.to_json(),
        "attempt": attempt,
    }


@dataclass(frozen=True, slots=True)
class Effort:
    """What one role of a match took."""

    turns: int = 0
    """Valid moves."""
    invalid: int = 0
    """Replies that held none."""
    truncated: int = 0
    calls: int = 0
    seconds: float = 0.0
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Match:
    """What stays in memory of a match: all but its texts."""

    number: int
    fixture: Fixture
    roles: tuple[str, ...]
    scores: Mapping[str, float]
    outcome: str
    forfeits: tuple[Forfeit, ...]
    void: str | None
    missing: str | None
    sides: Mapping[str, str]
    efforts: Mapping[str, Effort]
    """By role."""
    errors: tuple[tuple[str, str], ...]
    """The role and the reason of each reply that held no valid move."""
    attempt: int = 0
    """How often it was begun anew."""
    votes: int = 0
    """Of jurors, that were counted."""
    votes_missing: int = 0

    @property
    def result(self) -> Result | None:
        """Return what it came to; None where it is void."""
        if self.void is not None:
            return None
        return Result(
            self.fixture,
            tuple(self.scores[role] for role in self.roles),
            tuple(self.sides[role] for role in self.roles) if self.sides else (),
        )

    @property
    def seats(self) -> dict[str, str]:
        """Return the model of each role."""
        return dict(zip(self.roles, self.fixture.seats, strict=True))


def kept(record: Mapping[str, Any]) -> Match:
    """Return what stays in memory of a record."""
    seats = record["seats"]
    void = record["void"]
    if void is None and set(record["scores"]) != set(seats):
        raise ValueError(f"match {record['match']}: scores are not those of its seats")
    return Match(
        number=record["match"],
        fixture=Fixture(record["game"], tuple(seats.values()), record["seed"]),
        roles=tuple(seats),
        scores=dict(record["scores"]),
        outcome=record["outcome"],
        forfeits=tuple(Forfeit(**each) for each in record["forfeits"]),
        void=void,
        missing=record["missing"],
        sides=dict(record["sides"]),
        efforts=_efforts(seats, record["turns"]),
        errors=tuple((it["role"], it["error"]) for it in record["turns"] if it["error"]),
        attempt=record["attempt"],
        votes=record["ballots"][0],
        votes_missing=record["ballots"][1],
    )


def _efforts(roles: Mapping[str, str], turns: Sequence[Mapping[str, Any]]) -> dict[str, Effort]:
    sums: dict[str, Counter[str]] = {role: Counter() for role in roles}
    for turn in turns:
        if turn["role"] == MANAGER:
            continue
        of = sums[turn["role"]]
        of["turns" if turn["error"] is None else "invalid"] += 1
        of["truncated"] += turn["truncated"]
        of["calls"] += turn["calls"]
        of["seconds"] += turn["seconds"]
        of["tokens"] += turn["tokens"]
    return {role: Effort(**of) for role, of in sums.items()}

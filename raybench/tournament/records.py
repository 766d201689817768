"""What journals keep of matches, and how it is read back."""

import sys
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from raybench.games import MANAGER
from raybench.tournament import votes
from raybench.tournament.fixtures import Fixture, Result, drawn_with
from raybench.tournament.turns import Ending, Forfeit, Turn

_REASONS = 2
"""Of the reasons that a role was given in a match, so many are known without the journal."""
_MOST = 160
"""Characters of a reason: the rest is in the journal."""
_NONE: dict[str, Any] = {}
"""What most matches have none of: one for all of them."""


def begun(number: int, fixture: Fixture) -> dict[str, Any]:
    """Return the line that tells which match it is, before any turn of it."""
    return {
        "match": number,
        "game": fixture.game,
        "seed": fixture.seed,
        "seats": list(fixture.seats),
    }


def turned(number: int, attempt: int, turn: Turn, place: int) -> dict[str, Any]:
    """Return the line of a turn; what the role saw follows from the turns before it.

    `place` is the turn's number in the attempt, counted from 1.
    """
    told = turn.to_json()
    del told["observation"]
    return {"match": number, "attempt": attempt, "turn": place, **told}


def unanswered(number: int, attempt: int, failed: Mapping[str, int]) -> dict[str, Any]:
    """Return the line of requests that got no reply: how many, by the model."""
    return {"match": number, "attempt": attempt, "failed": dict(failed)}


@dataclass(frozen=True, slots=True)
class GivenUp:
    """An attempt at a match that came to nothing."""

    attempt: int
    void: str
    """Why."""
    missing: str | None = None
    """Who could not be reached, where that is why."""


def given_up(number: int, lost: GivenUp, *, attempt: int, replays: int) -> dict[str, Any]:
    """Return the line of an attempt that came to nothing, before any turn of the next one.

    The match goes on as that `attempt`, which is the same one where who is missing is waited for,
    and may then be begun anew so often.
    """
    return {
        "match": number,
        "attempt": lost.attempt,
        "void": lost.void,
        "missing": lost.missing,
        "next": attempt,
        "replays": replays,
    }


@dataclass
class Unfinished:
    """A match that was begun."""

    fixture: Fixture
    attempt: int = 0
    turns: list[Turn] = field(default_factory=list)
    replays: int | None = None
    """How often it may still be begun anew; None: as often as any."""
    failed: Counter[str] = field(default_factory=Counter)
    """Requests that got no reply, by model, of all attempts."""
    given_up: list[GivenUp] = field(default_factory=list)
    """The attempts that came to nothing."""

    def go_on(self, attempt: int) -> None:
        """Go on as this attempt: turns of another one are no more part of the match."""
        if attempt != self.attempt:
            self.attempt, self.turns = attempt, []

    def take(self, turn: Turn, attempt: int, place: int | None) -> None:
        """Take a turn, unless it is there already.

        Older journals do not number turns. Raises ValueError for a turn that is there with other
        content, and for one that does not follow the last.
        """
        if place is not None and attempt < self.attempt:
            return  # the attempt was given up, and this line of it came twice
        self.go_on(attempt)  # older journals do not say before that it was begun anew
        if place is None or place == len(self.turns) + 1:
            self.turns.append(turn)
        elif not 1 <= place <= len(self.turns):
            raise ValueError(f"turn {place} comes after turn {len(self.turns)} of its match")
        elif turn != self.turns[place - 1]:
            raise ValueError(f"turn {place} of its match is there already, and is another one")


def enter(found: dict[int, Unfinished], line: Mapping[str, Any]) -> None:
    """Enter a line among the matches that were begun, with the turns of their last attempt."""
    if "seats" in line:
        fixture = Fixture(line["game"], tuple(line["seats"]), line["seed"])
        found.setdefault(line["match"], Unfinished(fixture))
        return
    match = found[line["match"]]
    if "failed" in line:
        match.failed.update(line["failed"])
    elif "void" in line:
        match.replays = line["replays"]
        if line["next"] != line["attempt"]:
            match.given_up.append(GivenUp(line["attempt"], line["void"], line["missing"]))
        match.go_on(line["next"])
    else:
        turn = Turn.from_json({**line, "observation": ""})
        match.take(turn, line["attempt"], line.get("turn"))


def finished(
    number: int,
    attempt: int,
    fixture: Fixture,
    roles: Sequence[str],
    turns: Sequence[Turn],
    ending: Ending,
    failed: Mapping[str, int] = {},
    given_up: Sequence[GivenUp] = (),
) -> dict[str, Any]:
    """Return the record of a match that ended: `failed` is of all its attempts."""
    return {
        "match": number,
        "game": fixture.game,
        "seed": fixture.seed,
        "seats": dict(zip(roles, fixture.seats, strict=True)),
        "turns": [turn.to_json() for turn in turns],
        **ending.to_json(),
        "attempt": attempt,
        "failed": dict(failed),
        "given_up": [asdict(each) for each in given_up],
    }


def result(
    fixture: Fixture,
    roles: Sequence[str],
    scores: Mapping[str, float],
    sides: Mapping[str, str],
    table: str = "",
) -> Result:
    """Return what a match came to that counts; `scores` and `sides` are those of the roles."""
    return Result(
        fixture,
        tuple(scores[role] for role in roles),
        tuple(sides[role] for role in roles) if sides else (),
        table,
    )


@dataclass(frozen=True, slots=True)
class Effort:
    """What one role of a match took."""

    turns: int = 0
    """Valid moves."""
    invalid: int = 0
    """Replies that held none."""
    truncated: int = 0
    """Replies that were cut, whatever can be read in them."""
    calls: int = 0
    seconds: float = 0.0
    tokens: int = 0
    unparsed: int = 0
    """Whole replies in which no move can be found, be it an illegal one."""


@dataclass(frozen=True, slots=True)
class Match:
    """What stays in memory of a match: all but its texts, of which there are a few short ones."""

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
    errors: tuple[tuple[str, str, int], ...]
    """What was wrong with replies without a valid move: the role, its commonest reasons, and how
    often it was given each."""
    last: Mapping[str, str] = field(default_factory=dict)
    """The last reason of each role that forfeited by invalid moves."""
    attempt: int = 0
    """How often it was begun anew."""
    failed: Mapping[str, int] = field(default_factory=dict)
    """Requests that got no reply, by model, of all attempts."""
    given_up: tuple[GivenUp, ...] = ()
    """The attempts that came to nothing."""
    votes: int = 0
    """Of jurors, that were counted."""
    votes_missing: int = 0
    table: str = ""
    """What it was drawn with, where its seed does not say it."""
    votes_lost: tuple[tuple[str, str], ...] = ()
    """The jurors whose votes those are, and why."""
    ended_ms: int = 0

    @property
    def drawn_with(self) -> str:
        """The name of what the match was drawn with: those that share it are not independent."""
        return drawn_with(self.fixture, self.table)

    @property
    def result(self) -> Result | None:
        """Return what it came to; None where it is void."""
        if self.void is not None:
            return None
        return result(self.fixture, self.roles, self.scores, self.sides, self.table)

    @property
    def seats(self) -> dict[str, str]:
        """Return the model of each role."""
        return dict(zip(self.roles, self.fixture.seats, strict=True))


def kept(record: Mapping[str, Any]) -> Match:
    """Return what stays in memory of a record."""
    # Millions of names are a few hundred: each stands in memory once.
    seats = {sys.intern(role): sys.intern(model) for role, model in record["seats"].items()}
    void = record["void"]
    forfeits = tuple(Forfeit(**each) for each in record["forfeits"])
    if void is None and set(record["scores"]) != set(seats):
        raise ValueError(f"match {record['match']}: scores are not those of its seats")
    lost = votes.lost(record)
    return Match(
        number=record["match"],
        fixture=Fixture(sys.intern(record["game"]), tuple(seats.values()), record["seed"]),
        roles=tuple(seats),
        scores={sys.intern(role): score for role, score in record["scores"].items()},
        outcome=record["outcome"],
        forfeits=forfeits,
        void=void,
        missing=record["missing"],
        sides=dict(record["sides"]) or _NONE,
        efforts=_efforts(seats, record["turns"]),
        errors=_commonest(record["turns"]),
        last=_last(record["turns"], {it.role for it in forfeits if it.reason != "time"}) or _NONE,
        attempt=record["attempt"],
        # Older records have neither: of a void match it is known that one request failed.
        failed=record.get("failed", {record["missing"]: 1} if record["missing"] else {}) or _NONE,
        given_up=tuple(
            GivenUp(it["attempt"], _short(it["void"]), it["missing"])
            for it in record.get("given_up", ())
        ),
        votes=record["ballots"][0],
        votes_missing=record["ballots"][1] or len(lost),  # the former is of matches that count
        table=record.get("table", ""),
        votes_lost=lost,
        ended_ms=record.get("ended_ms", 0),
    )


def _efforts(roles: Mapping[str, str], turns: Sequence[Mapping[str, Any]]) -> dict[str, Effort]:
    sums: dict[str, Counter[str]] = {role: Counter() for role in roles}
    for turn in turns:
        if turn["role"] == MANAGER:
            continue
        of = sums[turn["role"]]
        of["turns" if turn["error"] is None else "invalid"] += 1
        of["truncated"] += turn["truncated"]
        of["unparsed"] += turn["move"] is None and not turn["truncated"]
        of["calls"] += turn["calls"]
        of["seconds"] += turn["seconds"]
        of["tokens"] += turn["tokens"]
    return {role: Effort(**of) for role, of in sums.items()}


def _commonest(turns: Sequence[Mapping[str, Any]]) -> tuple[tuple[str, str, int], ...]:
    """Return what stays in memory of what was wrong; the same words stand there once."""
    by_role: dict[str, Counter[str]] = {}
    for turn in turns:
        if turn["error"]:
            by_role.setdefault(turn["role"], Counter())[_short(turn["error"])] += 1
    return tuple(
        (role, why, count)
        for role, reasons in by_role.items()
        for why, count in reasons.most_common(_REASONS)
    )


def _last(turns: Sequence[Mapping[str, Any]], roles: Collection[str]) -> dict[str, str]:
    return {it["role"]: _short(it["error"]) for it in turns if it["error"] and it["role"] in roles}


def _short(why: str) -> str:
    return sys.intern(why if len(why) <= _MOST else f"{why[: _MOST - 1]}…")

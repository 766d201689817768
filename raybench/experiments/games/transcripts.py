"""Matches as people write them down: one file per game, in the order of their numbers."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

from raybench import games
from raybench.experiments.games.recorded import Recorded
from raybench.games import InvalidMove, Unjudged, Written
from raybench.games.parts import transcript
from raybench.tournament import votes
from raybench.tournament.records import Match


def texts(
    recorded: Recorded,
    matches: Sequence[Match],
    rules: Mapping[str, Mapping[str, Any]],
    played: Sequence[str],
) -> dict[str, Any]:
    """Return the files, and what writes each of them.

    Void matches stand there only where a jury was heard and decided nothing.
    """
    by_game: dict[str, list[Match]] = {name: [] for name in played}
    for match in sorted(matches, key=lambda it: it.number):
        if match.void is None or match.votes_lost:
            by_game[match.fixture.game].append(match)
    return {
        f"transcripts/{name}.{games.load(name).extension}": partial(
            _of, recorded, some, rules.get(name, {})
        )
        for name, some in by_game.items()
    }


def _of(recorded: Recorded, matches: Sequence[Match], rules: Mapping[str, Any]) -> Iterator[str]:
    """Yield matches of a game, one at a time."""
    for match in matches:
        yield written(recorded.of(match), rules) + "\n\n"


def written(record: Mapping[str, Any], rules: Mapping[str, Any]) -> str:
    """Return a match as people of its game write it down, or that its rules have changed."""
    game, unjudged = games.load(record["game"]), votes.unjudged(record)
    moves, left = list[tuple[str, str]](), dict[int, list[str]]()
    forfeits = {it["turn"]: it["role"] for it in record["forfeits"]}
    for number, turn in enumerate(record["turns"], start=1):
        if number in forfeits:
            left.setdefault(len(moves), []).append(forfeits[number])
        elif turn["error"] is None:
            moves.append((turn["role"], turn["move"]))
    match = Written(
        first=game.new(record["seed"], **rules),
        moves=tuple(moves[:-1] if unjudged else moves),  # the last one cannot be played
        players=record["seats"],
        scores=record["scores"],
        outcome=f"void: {record['void']}" if record["void"] else record["outcome"],
        round=str(record["match"]),
        date=_day(record.get("ended_ms")),
        forfeits=tuple(forfeits.values()),
        left={after: tuple(roles) for after, roles in left.items()},
    )
    try:
        text = (game.written or partial(transcript.plain, game))(match)
        return text + (f"\nThe jury:\n\n{votes.written(moves[-1][1])}\n" if unjudged else "")
    except (InvalidMove, Unjudged):  # an older version took moves that this one does not
        return f"match {match.round} cannot be replayed by these rules; the journal has it"


def _day(ended_ms: int | None) -> str:
    return "" if ended_ms is None else f"{datetime.fromtimestamp(ended_ms / 1000, UTC):%Y.%m.%d}"

"""Matches as people write them down: one file per game, in the order of their numbers."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from raybench import games
from raybench.games import Written
from raybench.games.parts import transcript

_BEGINS = re.compile(rb'\{"match": (?P<match>\d+), "game": "(?P<game>\w+)"')
"""How a record begins: where the texts in it need not be read."""


def texts(
    journal: Path, rules: Mapping[str, Mapping[str, Any]], played: Sequence[str]
) -> dict[str, Any]:
    """Return the files, and what writes each of them."""
    return {
        f"transcripts/{name}.{games.load(name).extension}": partial(_of, name, journal, rules)
        for name in played
    }


def _of(name: str, journal: Path, rules: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield the matches of a game in the order of their numbers, one at a time."""
    with journal.open("rb") as lines:
        places = {}
        for place, line in _with_places(lines):
            if (found := _BEGINS.match(line)) and found["game"].decode() == name:
                places[int(found["match"])] = place
        for _, place in sorted(places.items()):
            lines.seek(place)
            record = json.loads(lines.readline())
            if record["void"] is None:
                yield written(record, rules.get(name, {})) + "\n\n"


def _with_places(lines: BinaryIO) -> Iterator[tuple[int, bytes]]:
    place = 0
    for line in lines:
        yield place, line
        place += len(line)


def read(journal: Path) -> Iterator[dict[str, Any]]:
    """Yield the records of a journal, one at a time: all of them are too much for the memory."""
    with journal.open("rb") as lines:
        for line in lines:
            yield json.loads(line)


def written(record: Mapping[str, Any], rules: Mapping[str, Any]) -> str:
    """Return a match as people of its game write it down."""
    game = games.load(record["game"])
    moves, left = list[tuple[str, str]](), dict[int, list[str]]()
    forfeits = {it["turn"]: it["role"] for it in record["forfeits"]}
    for number, turn in enumerate(record["turns"], start=1):
        if number in forfeits:
            left.setdefault(len(moves), []).append(forfeits[number])
        elif turn["error"] is None:
            moves.append((turn["role"], turn["move"]))
    match = Written(
        first=game.new(record["seed"], **rules),
        moves=tuple(moves),
        players=record["seats"],
        scores=record["scores"],
        outcome=record["outcome"],
        round=str(record["match"]),
        forfeits=tuple(forfeits.values()),
        left={after: tuple(roles) for after, roles in left.items()},
    )
    return (game.written or partial(transcript.plain, game))(match)

"""All matches of a run, for the report's reader: turn by turn, chess on a board."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from raybench import games
from raybench.experiments.games import boards
from raybench.experiments.games.recorded import Recorded
from raybench.games import MANAGER
from raybench.tournament import votes
from raybench.tournament.records import Match
from raybench.tracking import addresses
from raybench.tracking.report import Body, Facet, Ply, Text, Unit, Units
from raybench.tracking.report.units import Of
from raybench.tracking.text import one_line

INVALID = "no valid move"
"""What the mistake of a turn is called."""
_LINE = 200
"""Characters of a unit's line in the list."""
_FACETS = (
    Facet("game"),
    Facet("models"),
    Facet("won by"),
    Facet("ended"),
    Facet("forfeited by", shown=False),
    Facet("shown for", shown=False),
    Facet("turns", number=True),
    Facet("mistakes", number=True),
    Facet("seconds", number=True, shown=False),
)


@dataclass(frozen=True)
class Part:
    """One of the tournaments of a run that has several."""

    name: str
    """Addresses of its matches begin with it."""
    of: Mapping[str, Of]
    """What tells it apart from the others, by the facets that say so."""
    recorded: Recorded
    matches: Sequence[Match]
    rules: Mapping[str, Mapping[str, Any]]
    chosen: Mapping[int, str] = field(default_factory=dict)
    """For what some of its matches are shown."""


def units(
    recorded: Recorded,
    matches: Sequence[Match],
    rules: Mapping[str, Mapping[str, Any]],
    chosen: Mapping[int, str],
) -> Units:
    """Return the matches; `chosen` has for what some of them are shown."""
    return of_several([Part("", {}, recorded, matches, rules, chosen)], [])


def of_several(parts: Sequence[Part], facets: Sequence[str]) -> Units:
    """Return the matches of several tournaments, told apart by facets of these names."""
    return Units(
        "match",
        "journal/matches.jsonl",
        (*map(Facet, facets), *_FACETS),
        lambda: _each(parts),
        group="deal",
    )


def _each(parts: Sequence[Part]) -> Iterator[Unit]:
    """Yield the matches by game, those of one deal together."""
    first: dict[tuple[str, str], int] = {}
    for match in (match for part in parts for match in part.matches):
        deal = match.fixture.game, match.drawn_with
        first[deal] = min(first.get(deal, match.number), match.number)

    def place(it: tuple[int, Match]) -> tuple[str, int, str, int, int]:
        which, match = it
        game, deal = match.fixture.game, match.drawn_with
        return game, first[game, deal], deal, match.number, which

    every = [(which, match) for which, part in enumerate(parts) for match in part.matches]
    for which, match in sorted(every, key=place):
        yield _unit(parts[which], match)


def _unit(part: Part, match: Match) -> Unit:
    game, seats, efforts = match.fixture.game, match.seats, match.efforts.values()
    ended = match.outcome if match.void is None else f"void: {match.void}"
    return Unit(
        key=addresses.match(match.number, part.name),
        summary=one_line(f"Match {match.number}: {ended}", _LINE),
        facets={
            **part.of,
            "game": games.load(game).title,
            "models": list(dict.fromkeys(seats.values())),
            "won by": _winners(match),
            "ended": "void"
            if match.void is not None
            else "by forfeit"
            if match.forfeits
            else "played",
            "forfeited by": list(dict.fromkeys(seats[it.role] for it in match.forfeits)) or None,
            "shown for": part.chosen.get(match.number),
            "turns": sum(it.turns for it in efforts),
            "mistakes": sum(it.invalid for it in efforts),
            "seconds": round(sum(it.seconds for it in efforts), 1),
        },
        body=lambda: _body(part.recorded.of(match), match, part.rules.get(game, {})),
        line=part.recorded.line(match),
        group=f"{game}/{match.drawn_with}",
        stratum=game,
        kept=match.number in part.chosen,
    )


def _winners(match: Match) -> Sequence[str]:
    """Return who scored most, where not all scored alike."""
    if match.void is not None:
        return ["nobody: void"]
    best = max(match.scores.values(), default=0)
    if all(score == best for score in match.scores.values()):
        return ["nobody: a draw"]
    seats = match.seats
    return list(dict.fromkeys(seats[role] for role, it in match.scores.items() if it == best))


def _body(record: Mapping[str, Any], match: Match, rules: Mapping[str, Any]) -> Body:
    plies: Sequence[Ply] = boards.plies(record, rules) if record["game"] == "chess" else ()
    ending = _ending(record, match)
    texts = [Text("who sat where", _seats(record)), Text("how it ended", ending)]
    for number, turn in enumerate(record["turns"], start=1):
        texts += _turn(number, turn, record)
    for each in record.get("given_up", ()):
        texts.append(Text(f"attempt {each['attempt'] + 1}, given up", each["void"]))
    return Body(texts, plies, ending if plies else "")


def _seats(record: Mapping[str, Any]) -> str:
    """Return who played which role, by which strategy, on which side, and what that was worth."""
    lines = []
    for role, model in record["seats"].items():
        side = record["sides"].get(role)
        way = record.get("strategies", {}).get(role)
        score = record["scores"].get(role)
        told = [f"{role}: {model}", side and f"side {side}", way and f"strategy {way}"]
        lines.append(", ".join(filter(None, [*told, "" if score is None else f"score {score:g}"])))
    return "\n".join(lines)


def _ending(record: Mapping[str, Any], match: Match) -> str:
    """Return how it ended, and who forfeited after which turn and why."""
    told = [record["outcome"] if match.void is None else f"void: {match.void}"]
    for it in match.forfeits:
        why = f"; its last reply: {match.last[it.role]}" if it.role in match.last else ""
        told.append(
            f"{it.role} ({record['seats'][it.role]}) forfeited at turn {it.turn}: {it.why}{why}"
        )
    return "\n".join(filter(None, told))


def _turn(number: int, turn: Mapping[str, Any], record: Mapping[str, Any]) -> Iterator[Text]:
    """Yield what a role saw, what its model replied, and what was read in that."""
    if turn["role"] == MANAGER:
        yield Text("what came of it", _managed(turn["move"], record), f"Turn {number}: the manager")
        return
    heading = f"Turn {number}: {turn['role']} ({turn['model']}), {turn['action'].replace('_', ' ')}"
    yield Text("what it saw", turn["observation"], heading, folded=True)
    cut = ", cut off" if turn["truncated"] else ""
    yield Text(f"reply ({turn['tokens']:,} tokens{cut})", turn["reply"])
    if turn["error"]:
        yield Text(INVALID, turn["error"])
    elif turn["move"] != turn["reply"]:
        yield Text("move", turn["move"])


def _managed(move: str, record: Mapping[str, Any]) -> str:
    """Return what the manager found out: a jury's votes in words, else as it is written."""
    if games.load(record["game"]).jury:
        try:
            return votes.written(move)
        except (ValueError, LookupError, TypeError):
            return move
    try:
        told = json.loads(move)
    except ValueError:
        return move
    return (
        "\n".join(f"{name}: {it}" for name, it in told.items()) if isinstance(told, dict) else move
    )

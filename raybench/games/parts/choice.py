"""Which games are played by which rules, as somebody asked for them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from raybench import games
from raybench.errors import ConfigurationError, Problem, plain
from raybench.games.parts.contract import Game


def chosen(names: Sequence[str]) -> list[Game[Any]]:
    """Return the games of these names; all where none is named."""
    return [games.load(name) for name in names or games.names()]


def problems(
    names: Sequence[str],
    rules: Mapping[str, Any],
    weights: Mapping[str, float],
    roster_rules: Mapping[str, Any],
) -> Iterator[Problem]:
    """Yield what is wrong with a choice of games, of their rules and of their weights."""
    seen = set()
    for name in names:
        try:
            game = games.load(name)
        except ConfigurationError as error:
            yield from error.within("games.names")
            continue
        if game.name in seen:
            yield Problem(
                "setting.duplicate",
                f"games.names names '{game.name}' twice",
                setting="games.names",
                given=game.name,
                fix="once is enough",
            )
        seen.add(game.name)
    yield from _ruled("games.rules", rules)
    yield from _ruled("games.roster_rules", roster_rules)
    yield from twice("games.weights", weights)
    for name in weights:
        try:
            games.load(name)
        except ConfigurationError as error:
            yield from error.within(f"games.weights.{name}")


def anchor_problems(anchors: Sequence[str], names: Sequence[str]) -> Iterator[Problem]:
    """Yield which of these scripts some game that is played does not have."""
    known = [games.load(name) for name in names if plain(name) in map(plain, games.names())]
    for game in known or (chosen(()) if not names else ()):
        for anchor in anchors:
            try:
                game.script(anchor)
            except ConfigurationError as error:
                yield from error.within("games.anchors")


def merged(*tables: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return rules by the games' own names; of tables that say the same, the later one counts."""
    found: dict[str, dict[str, Any]] = {}
    for table in tables:
        for name, of in table.items():
            found.setdefault(games.load(name).name, {}).update(of)
    return found


def _ruled(table: str, rules: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield what is wrong with a table of rules."""
    yield from twice(table, rules)
    for name, settings in rules.items():
        given = f"{table}.{name}"
        if not isinstance(settings, Mapping):
            yield Problem(
                "setting.type",
                f"{given} is {settings!r}",
                setting=given,
                given=settings,
                fix=f"give rules, as in {given}.NAME=VALUE",
            )
            continue
        try:
            games.load(name).ruled(settings)
        except ConfigurationError as error:
            yield from error.within(given)


def twice(table: str, given: Iterable[str]) -> Iterator[Problem]:
    """Yield which games are named in several spellings: one of them would be of no effect."""
    spellings: dict[str, list[str]] = {}
    for name in given:
        with suppress(ConfigurationError):  # which is told for each name
            spellings.setdefault(games.load(name).name, []).append(name)
    for names in spellings.values():
        if len(names) > 1:
            listed = " and ".join(f"'{name}'" for name in names)
            yield Problem(
                "setting.duplicate",
                f"{table} has {listed}, which are one game",
                setting=table,
                fix="keep one of them",
            )


def seats(game: Game[Any], rules: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the roles of a game that is played by these rules."""
    return game.seats(game.ruled(rules))

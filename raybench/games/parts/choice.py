"""Which games are played by which rules, as somebody asked for them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from raybench import games
from raybench.errors import ConfigurationError
from raybench.games.parts.contract import Game


def chosen(names: Sequence[str]) -> list[Game[Any]]:
    """Return the games of these names; all where none is named."""
    return [games.load(name) for name in names or games.names()]


def problems(
    names: Sequence[str], rules: Mapping[str, Any], weights: Mapping[str, float]
) -> Iterator[str]:
    """Yield what is wrong with a choice of games, of their rules and of their weights."""
    seen = set()
    for name in names:
        try:
            game = games.load(name)
        except ConfigurationError as error:
            yield f"games.names: {error}"
            continue
        if game.name in seen:
            yield f"games.names names '{game.name}' twice: once is enough"
        seen.add(game.name)
    for name, settings in rules.items():
        try:
            game = games.load(name)
            if isinstance(settings, Mapping):
                game.new(0, **settings)
        except ConfigurationError as error:
            yield f"games.rules.{name}: {error}"
    for name in weights:
        try:
            games.load(name)
        except ConfigurationError as error:
            yield f"games.weights.{name}: {error}"


def seats(game: Game[Any], rules: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the roles of a game that is played by these rules."""
    return game.seats(game.ruled(rules))

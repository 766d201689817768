"""Who comes to a move how: a strategy for each model, game and role, as somebody chose them.

A choice is a strategy, by name ("best_of_n") or with options ({use: best_of_n, n: 9}), or a table
of choices by game, each of which may be a table by role ({chess: reasoned, gandalf: {sentinel:
refine}}; 'player' is all of player_1, player_2 …). 'optimised' is what was compiled for the model.
What a table does not say is left to what is said of all models, and in the end to `direct`.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from raybench import games, players
from raybench.errors import ConfigurationError, Problem, closest, did_you_mean
from raybench.games.parts import choice
from raybench.players import Player

DEFAULT = "direct"
OPTIMISED = "optimised"
"""Stands for the program that was compiled for a model and a game, which somebody has to find."""
_USE = "use"
_NUMBER = re.compile(r"_\d+$")


@dataclass(frozen=True)
class Strategies:
    """The strategies of a tournament."""

    every: Any = DEFAULT
    """The choice for all models."""
    single: Mapping[str, Any] = field(default_factory=dict)
    """The choices for single models, by their names."""
    compiled: Mapping[tuple[str, str], Any] = field(default_factory=dict)
    """What those stand for that are optimised, by model and game."""
    _known: dict[tuple[str, str, str], Player] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    _names: dict[tuple[str, str, str], str] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def of(self, model: str, game: str, role: str) -> Player:
        """Return the strategy of a model in a role; the game bears its own name."""
        if (player := self._known.get((model, game, role))) is None:
            player = self._known[model, game, role] = _loaded(self._chosen(model, game, role))
        return player

    def varies(self, model: str, game: str, role: str) -> bool:
        """Whether moves differ from one time to the next, whatever the model's temperature."""
        return bool(getattr(self.of(model, game, role), "varies", False))

    def called(self, model: str, game: str, role: str) -> str:
        """Return what it is called, with the options that are not its own."""
        if (name := self._names.get((model, game, role))) is None:
            chosen = self._chosen(model, game, role)
            path, options = _parts(chosen)
            name = players.called(self.of(model, game, role))
            if ":" in path:  # its own name and options are not known
                name = " ".join((path, *(f"{key}={value}" for key, value in options.items())))
            self._names[model, game, role] = name
        return name

    def is_optimised(self, model: str, game: str, role: str) -> bool:
        """Tell whether a model is to play a role by what was compiled for it."""
        return _is_optimised(self._choice(model, game, role))

    def _chosen(self, model: str, game: str, role: str) -> Any:
        if self.is_optimised(model, game, role):
            return self.compiled[model, game]
        return self._choice(model, game, role) or DEFAULT

    def _choice(self, model: str, game: str, role: str) -> Any:
        chosen = _chosen(self.single.get(model), game, role)
        return _chosen(self.every, game, role) if chosen is None else chosen


def _of_game(chosen: Any, game: str) -> Any:
    """Return what a choice has for a game: a strategy, or a table of some by role."""
    if not _is_table(chosen):
        return chosen
    return next((of for name, of in chosen.items() if games.load(name).name == game), None)


def carried(chosen: Any) -> Any:
    """Return a choice with what is in the files that it names: other nodes have none of these."""
    if _is_table(chosen):
        return {name: carried(of) for name, of in chosen.items()}
    if _is_optimised(chosen):
        return chosen
    name, options = _parts(chosen)
    return {_USE: name, **players.carried(name, options)} if options else chosen


def problems(
    every: Any,
    single: Mapping[str, Any],
    models: Sequence[str],
    rules: Mapping[str, Mapping[str, Any]],
) -> Iterator[Problem]:
    """Yield what is wrong with choices of strategies; rules are by the games' own names."""
    yield from _problems("games.strategy", every, rules)
    for model, chosen in single.items():
        where = f"games.strategies.{model}"
        if model not in models:
            yield Problem(
                "setting.choice",
                f"{where}: no such model plays",
                setting=where,
                given=model,
                fix=did_you_mean(model, models),
            )
        yield from _problems(where, chosen, rules)


def _problems(where: str, chosen: Any, rules: Mapping[str, Mapping[str, Any]]) -> Iterator[Problem]:
    if not _is_table(chosen):
        yield from _wrong(where, chosen)
        return
    yield from choice.twice(where, chosen)
    for name, of in chosen.items():
        there = f"{where}.{name}"
        try:
            game = games.load(name)
        except ConfigurationError as error:
            # A strategy's option without the strategy's name is a likely slip.
            options = f" A strategy with options is {{{_USE}: NAME, OPTION: VALUE}}."
            yield from (problem.extended(options) for problem in error.within(there))
            continue
        if not _is_table(of):
            yield from _wrong(there, of)
            continue
        roles = choice.seats(game, rules.get(game.name, {}))
        known = {*roles, *(_NUMBER.sub("", role) for role in roles)}
        for role, chosen_for in of.items():
            if role not in known:
                yield Problem(
                    "setting.choice",
                    f"{there}.{role}: {game.name} has no such role",
                    setting=f"{there}.{role}",
                    given=role,
                    fix=did_you_mean(role, known),
                )
            yield from _wrong(f"{there}.{role}", chosen_for)


def _wrong(where: str, chosen: Any) -> Iterator[Problem]:
    """Yield what is wrong with a single strategy."""
    try:
        _loaded(chosen)
    except ConfigurationError as error:
        yield from error.within(where)


def resolved(chosen: Any) -> Any:
    """Return a choice with every game and strategy by its own name, however it was spelled."""
    if _is_table(chosen):
        return {games.load(name).name: _by_role(of) for name, of in chosen.items()}
    if _is_optimised(chosen):
        return OPTIMISED
    name, options = _parts(chosen)
    own = name if ":" in name else players.named(name)
    return {_USE: own, **options} if options else own


def _by_role(of: Any) -> Any:
    return {role: resolved(it) for role, it in of.items()} if _is_table(of) else resolved(of)


def _loaded(chosen: Any) -> Player:
    if _is_optimised(chosen):
        return players.load("program")
    name, options = _parts(chosen)
    if name == OPTIMISED:
        raise ConfigurationError(
            Problem(
                "setting.unknown",
                f"{OPTIMISED} has no option '{next(iter(options))}': what was compiled how, the "
                "settings of optimise_players say",
                setting=next(iter(options)),
            )
        )
    try:
        return players.load(name, options)
    except ConfigurationError as error:
        if ":" in name or not closest(name, [OPTIMISED]):
            raise
        *others, last = error.problems
        hint = f" Did you mean '{OPTIMISED}'?"
        raise ConfigurationError([*others, last.extended(hint)]) from error


def _is_optimised(chosen: Any) -> bool:
    return bool(chosen == OPTIMISED or chosen == {_USE: OPTIMISED})


def _parts(chosen: Any) -> tuple[str, dict[str, Any]]:
    """Return the name and the options of a strategy."""
    if isinstance(chosen, str):
        return chosen, {}
    if isinstance(chosen, Mapping) and isinstance(chosen.get(_USE), str):
        return chosen[_USE], {key: it for key, it in chosen.items() if key != _USE}
    raise ConfigurationError(
        Problem(
            "setting.format",
            f"{chosen!r} is no strategy",
            given=chosen,
            fix=f"give a name, or {{{_USE}: NAME, OPTION: VALUE}}",
        )
    )


def _is_table(chosen: Any) -> bool:
    return isinstance(chosen, Mapping) and _USE not in chosen


def _chosen(chosen: Any, game: str, role: str) -> Any:
    """Return the strategy that a choice has for a role; None where it says nothing of it."""
    of = _of_game(chosen, game)
    if of is None or not _is_table(of):
        return of
    return of.get(role, of.get(_NUMBER.sub("", role)))

"""In which words the players of a run are told things, as somebody chose them.

A choice is the number of a phrasing (`phrasing.py`), where 0 is the game's own words; or a function
of one's own, MODULE:NAME, from an observation to the same one in other words; or a table of either
by game: {chess: 2, poker: 'mine:shouted'}. What a table does not name keeps the game's own words.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from raybench import games
from raybench.errors import ConfigurationError, Problem, RaybenchError, RunFailed
from raybench.games.parts import choice
from raybench.games.parts.contract import MANAGER, Game
from raybench.games.parts.phrasing import phrased
from raybench.games.parts.phrasings.sentences import MANNERS
from raybench.imported import named
from raybench.types import Observation

Words = Callable[[Observation], Observation]
"""Says what a role sees in other words."""
OWN = 0
"""The phrasing of the game itself."""


def as_it_is(seen: Observation) -> Observation:
    """Return what is seen in the words of the game."""
    return seen


@dataclass(frozen=True)
class Wording:
    """In which words games are told; it travels, one's own functions by their import path."""

    chosen: Any = OWN

    def of(self, game: str) -> Words:
        """Return what says the observations of a game in these words.

        Raises ConfigurationError where there are none such.
        """
        words = self.number(game)
        if words == OWN:
            return as_it_is
        if isinstance(words, int):
            phrased(game, words, _EMPTY)

            def numbered(seen: Observation) -> Observation:
                return phrased(game, words, seen)

            return numbered
        return _own(words)

    def number(self, game: str) -> int | str:
        """Return the phrasing of a game: its number, or the path of one's own."""
        chosen = self.chosen
        if isinstance(chosen, Mapping):
            by_name = {games.load(name).name: of for name, of in chosen.items()}
            chosen = by_name.get(games.load(game).name, OWN)
        if isinstance(chosen, bool) or not isinstance(chosen, int | str):
            raise ConfigurationError(
                Problem(
                    "setting.format",
                    f"{chosen!r} is no phrasing",
                    given=chosen,
                    fix="give a number, or a function of your own: MODULE:NAME",
                )
            )
        if isinstance(chosen, str) and ":" not in chosen:
            raise ConfigurationError(
                Problem(
                    "setting.format",
                    f"'{chosen}' is no phrasing",
                    given=chosen,
                    fix="give a number, or a function of your own: MODULE:NAME",
                )
            )
        return chosen


_EMPTY = Observation("", "", "")


def _own(path: str) -> Words:
    """Return a function of somebody's own, which may change words and nothing else."""
    function = named(path, "phrasing")
    if not callable(function):
        raise ConfigurationError(
            Problem(
                "extension.invalid",
                f"the phrasing '{path}' is no function of an observation",
                given=path,
            )
        )

    def said(seen: Observation) -> Observation:
        try:
            found = function(seen)
        except RaybenchError:
            raise
        except Exception as error:
            raise RunFailed(
                Problem(
                    "extension.failed",
                    f"the phrasing '{path}' failed at '{seen.action}' of {seen.role} "
                    f"({type(error).__name__}: {error})",
                    setting="games.phrasing",
                    given=path,
                    fix="mend the function",
                )
            ) from error
        kept = ("role", "action", "form")
        if not isinstance(found, Observation) or any(
            getattr(found, name) != getattr(seen, name) for name in kept
        ):
            raise RunFailed(
                Problem(
                    "extension.failed",
                    f"the phrasing '{path}' returned {type(found).__name__}",
                    setting="games.phrasing",
                    given=path,
                    fix="it returns the observation that it is given in other words, with its "
                    f"{', '.join(kept)}",
                )
            )
        return found

    return said


def problems(where: str, chosen: Any, played: Sequence[Game[Any]]) -> Iterator[Problem]:
    """Yield what is wrong with a choice: what there is none of, what fails at the first position.

    `where` is the setting that it comes from; `played` are the games that are played.
    """
    if isinstance(chosen, Mapping):
        yield from choice.twice(where, chosen)
        for name, of in chosen.items():
            try:
                yield from _wrong(f"{where}.{name}", of, games.load(name))
            except ConfigurationError as error:
                yield from error.within(f"{where}.{name}")
        return
    for problem in (it for game in played for it in _wrong(where, chosen, game)):
        yield problem
        return  # the others have the same


def _wrong(where: str, chosen: Any, game: Game[Any]) -> Iterator[Problem]:
    try:
        words = Wording(chosen).of(game.name)
        state = game.begin(0, game.rules())
        if state.to_move not in (None, MANAGER):
            words(state.observe(str(state.to_move)))
    except RaybenchError as error:
        yield from error.within(where)


def resolved(chosen: Any) -> Any:
    """Return a choice with every game by its own name; what keeps a game's own words is left out.

    The same words are known again by it, however somebody asks for them.
    """
    if isinstance(chosen, Mapping):
        with suppress(ConfigurationError):
            by_name = {games.load(name).name: of for name, of in sorted(chosen.items())}
            return {name: of for name, of in by_name.items() if of != OWN} or OWN
    return chosen


def told(chosen: Any) -> str:
    """Return what there is to say of a choice; '' where all is in the games' own words."""

    def each(of: Any) -> str:
        return f"phrasing {of} ({MANNERS[of - 1]})" if isinstance(of, int) else f"the words of {of}"

    found = resolved(chosen)
    if isinstance(found, Mapping):
        return "; ".join(f"{each(of)} in {name}" for name, of in found.items())
    return "" if found == OWN else each(found)

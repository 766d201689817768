"""What players are told, in other words that mean exactly the same.

Whether ratings hang on how prompts are worded can be measured only where a prompt can be worded in
several ways. Rules and tasks are reworded sentence by sentence (`phrasings/`). What the view tells
stays as it is, as it holds others' words; so does what fills a sentence's slots: numbers from the
settings, a side, a motion. A sentence that nobody has put in other words is an error, so that no
game that is changed keeps its old words unnoticed in some of its phrasings.
"""

from dataclasses import replace
from functools import lru_cache

from raybench.errors import ConfigurationError, Problem, did_you_mean, plain
from raybench.games.parts.phrasings.sentences import MANNERS, Unphrased, known, reworded, sentences
from raybench.types import Observation


def phrasings(game: str) -> int:
    """Return in how many other ways a game's prompts can be worded."""
    _named(game)
    return len(MANNERS)


def phrased(game: str, number: int, seen: Observation) -> Observation:
    """Return an observation of a game with rules and task in another phrasing; 0 is the game's own.

    Raises ConfigurationError where there is no such game or phrasing.
    """
    name = _named(game)
    if not 0 <= number <= len(MANNERS):
        raise ConfigurationError(
            Problem(
                "setting.choice",
                f"{name} has no phrasing {number}",
                given=number,
                fix=f"give 0 for its own words, or 1 to {len(MANNERS)} ({', '.join(MANNERS)})",
            )
        )
    if number == 0:
        return seen
    rules, task = _said(name, number, seen.rules, False), _said(name, number, seen.task, True)
    return replace(seen, rules=rules, task=task)


def _named(game: str) -> str:
    """Return the name of a game as its file has it."""
    by_name = {plain(name): name for name in known()}
    if (name := by_name.get(plain(game))) is None:
        raise ConfigurationError(
            Problem(
                "setting.choice",
                f"no phrasings of a game '{game}'",
                given=game,
                fix=did_you_mean(game, by_name.values()),
            )
        )
    return name


@lru_cache(maxsize=1024)
def _said(game: str, number: int, text: str, task: bool) -> str:
    """Return rules or a task in another phrasing; rules come again with every move."""
    said = sentences(game)
    try:
        return reworded(text, said.task if task else said.rules, number - 1)
    except Unphrased as error:
        raise Unphrased(
            Problem(
                "game.fault",
                f"{game}: {error}",
                fix=f"write it down in raybench/games/parts/phrasings/{game}.toml",
            )
        ) from error

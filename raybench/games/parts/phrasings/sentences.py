"""Sentences with slots: recognised where they stand in a text, and said in other words."""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from string import Formatter
from typing import Any

from raybench.errors import Problem, RaybenchError

MANNERS = ("terse", "full", "formal", "plain")
"""How all is said in other words: briefly, at length, as in a rule book, as among friends."""
_SHARED = "quoting"
"""The file of what several games say, which comes behind their own rules."""
_GAP = "_gap"
_NEXT = re.compile(r"(?<=[.:;])\s")


class Unphrased(RaybenchError):
    """A game says something that nobody has put in other words."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """What a game says, and the same in other words, with {names} for what varies."""

    of: str
    others: tuple[str, ...]
    """By manner, in the order of `MANNERS`."""
    pattern: re.Pattern[str]
    """How it looks in a text, up to where the next one begins."""


@dataclass(frozen=True, slots=True)
class Sentences:
    """All that a game says beside its views, in its order."""

    rules: tuple[Sentence, ...]
    task: tuple[Sentence, ...]


@cache
def known() -> tuple[str, ...]:
    """Return the names of the games that can be told in other words."""
    tables = (it.name.partition(".") for it in files(__package__).iterdir())
    return tuple(sorted(name for name, _, end in tables if end == "toml" and name != _SHARED))


@cache
def sentences(game: str) -> Sentences:
    """Return what one of these games says."""
    own, shared = _read(game), _read(_SHARED)
    return Sentences((*_made(own, "rules"), *_made(shared, "rules")), (*_made(own, "task"),))


def reworded(text: str, among: Sequence[Sentence], manner: int) -> str:
    """Return a text in one of the manners, by its place; what fills slots stays as it is.

    Sentences are taken off the text's front, one by one, so that none is looked for inside a slot.
    Raises Unphrased at the first that is not among those given, or not in their order.
    """
    at, said = 0, list[str]()
    rest = iter(among)
    while at < len(text):
        for sentence in rest:
            if found := sentence.pattern.match(text, at):
                break
        else:
            raise Unphrased(
                Problem(
                    "game.fault", f"no other words are known for '{_NEXT.split(text[at:], 1)[0]}'"
                )
            )
        said.append(sentence.others[manner].format_map(found.groupdict()) + found[_GAP])
        at = found.end()
    return "".join(said)


def _read(name: str) -> Mapping[str, Any]:
    return tomllib.loads(files(__package__).joinpath(f"{name}.toml").read_text(encoding="utf-8"))


def _made(table: Mapping[str, Any], field: str) -> Iterator[Sentence]:
    for each in table.get(field, ()):
        others = tuple(each[manner] for manner in MANNERS)
        yield Sentence(each["of"], others, _pattern(each["of"], table.get("slots", {})))


def _pattern(of: str, slots: Mapping[str, str]) -> re.Pattern[str]:
    """Return how a sentence looks; a slot that it names again holds the same again."""
    looks, named = "", set[str]()
    for literal, slot, _, _ in Formatter().parse(of):
        looks += re.escape(literal)
        if slot is not None:
            looks += f"(?P={slot})" if slot in named else f"(?P<{slot}>{slots[slot]})"
            named.add(slot)
    return re.compile(rf"{looks}(?P<{_GAP}>[ \n]|\Z)")

"""What messages can be read as, besides what they say: all the letters that lie hidden there.

Every reading takes time in proportion to the messages.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import NamedTuple

from raybench.games.parts.gandalf.ciphers import deciphered
from raybench.games.parts.gandalf.codes import decoded
from raybench.games.parts.gandalf.folding import folded, letters
from raybench.games.parts.gandalf.lone_letters import lone_letters
from raybench.games.parts.gandalf.morse import tapped
from raybench.games.parts.gandalf.numbers import numbered
from raybench.games.parts.gandalf.pieces import pieces
from raybench.games.parts.gandalf.places import places
from raybench.games.parts.gandalf.signs import DIGITS, DRAWN, NAMES, NATO, SIGNS

_WORD = re.compile(r"[a-z]+(?:['’][a-z]+)*")
_LETTERS = re.compile(r"[a-z]+")
_NO_LETTERS = re.compile(r"[^a-zA-Z]+")
_LIKE_L = re.compile(r"I|(?<=[A-Z])l")
_SENTENCE = re.compile(r"(?<![.!?;:])[.!?;:]+[\"')\]]*\s+|\n+")
_MARKED = re.compile(r"(?:(\*{1,3}|_{1,2}|~~|`)(\w{1,3})\1|[(\[{<](\w)[)\]}>])")
_CAPITAL = re.compile(r"[A-Z]")
_REPEATED = re.compile(r"(.)\1+")
_STEP = [chr(ord("a") + step) for step in range(26)]
"""As letters; a step back is one from the list's end."""


_DIGITS = {sign: chr(letter).upper() for sign, letter in DIGITS.items()}
_SIGNS = {sign: chr(letter).upper() for sign, letter in SIGNS.items()}


class Readings(NamedTuple):
    """All that one message can be read as: letters a to z, in lines."""

    plain: str
    """All its letters."""
    borders: frozenset[int]
    """Where in those words begin; and the end."""
    single: str
    """Those that stand alone."""
    initials: str
    """The first and the last letters of words, sentences and lines; capitals; marked letters."""
    named: str
    """Letters whose names are there, and those of words of the spelling alphabet."""
    alike: str
    """With capitals for the digits and signs that look like letters; l is i."""
    once: str
    """With one letter for several alike."""
    words: str
    """Its words, so written, each after a space."""
    coded: str
    """In the encodings that computers use, as numbers and in ciphers; what is dialled in digits."""
    tapped: str
    """In Morse."""
    steps: str
    """How far it is from each letter of `plain` to the next."""
    pieces: frozenset[str]
    """What it sets apart of words."""
    places: frozenset[tuple[int, str]]
    """Letters with their places."""


@lru_cache(maxsize=64)
def readings(text: str) -> Readings:
    """Return all that a message can be read as."""
    low = folded(text)
    plain = letters(low)
    words, single = _WORD.findall(low), lone_letters(low)
    return Readings(
        plain,
        frozenset((0, *accumulate(map(len, _LETTERS.findall(low))))),
        single,
        "\n".join((*_initials(low, words), *_picked(text))),
        "\n".join(_named(words, low)),
        "\n".join(_alike(folded(_LIKE_L.sub("1", text)))),
        once(plain),
        once("".join(f" {word}" for word in words)),
        "\n".join((*decoded(text, low), *numbered(low), *deciphered(low, single))),
        "\n".join(tapped(text)),
        steps(plain),
        pieces((text,)),
        places(low),
    )


@lru_cache(maxsize=64)
def read_together(messages: tuple[str, ...]) -> Readings:
    """Return what somebody's messages can be read as, one after another.

    No code of shifted letters and no repeated ones go on from one message to the next: letters
    that meet there by chance would pass for some.
    """
    read = readings("\n".join(messages))
    plain = [*filter(None, (letters(folded(message)) for message in messages))]
    ends = ("".join(each[at] for each in plain) for at in (0, -1))
    initials = "\n".join((read.initials, *ends))
    return read._replace(initials=initials, steps="", once="", pieces=pieces(messages))


def one_stroke(word: str) -> str:
    """Return the word with i for l: look-alikes of one may mean the other."""
    return word.replace("l", "i")


def steps(word: str) -> str:
    """Return how far it is from each letter to the next: no shift of the alphabet changes it."""
    return "".join([_STEP[end - start] for start, end in pairwise(word.encode())])


def once(word: str) -> str:
    """Return the word with every letter once where it stands several times in a row."""
    return _REPEATED.sub(r"\1", word)


def _initials(low: str, words: list[str]) -> Iterator[str]:
    sentences = map(letters, _SENTENCE.split(low))
    lines = map(letters, low.split("\n"))
    for parts in (words, [*filter(None, sentences)], [*filter(None, lines)]):
        yield "".join(part[0] for part in parts)
        yield "".join(part[-1] for part in parts)


def _picked(text: str) -> Iterator[str]:
    yield "".join(_CAPITAL.findall(text)).lower()
    yield letters(folded("".join(one or other for _, one, other in _MARKED.findall(text))))


def _named(words: list[str], low: str) -> Iterator[str]:
    yield "".join(word[0] for word in words if word in NATO)
    if "double" in low or "x-ray" in low:
        words = _WORD.findall(re.sub("(double)[ -]+|(x)-", r"\1\2", low))
        yield "".join(word[0] for word in words if word in NATO)
    yield "".join(NAMES.get(word, word if len(word) == 1 else "") for word in words)


def _alike(low: str) -> Iterator[str]:
    for drawing, letter in DRAWN:
        low = low.replace(drawing, letter.upper())
    for table in (_DIGITS, _DIGITS | _SIGNS):
        yield one_stroke(_NO_LETTERS.sub("", low.translate(table)))

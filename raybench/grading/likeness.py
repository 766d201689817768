"""How like each other texts are: by the runs of words that both have.

Two are alike by the share of their shingles (a few words in a row) that both have: Jaccard's index.
Those alike are found exactly and without comparing all: in any one order of all shingles, of two
texts that are alike enough the first few shingles have one in common (the prefix filter of
Chaudhuri, Ganti and Kaushik, 2006), so that only those few are looked up. An order that begins with
the rarest finds the fewest in vain, but every order finds the same.
"""

import math
import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from hashlib import blake2b
from typing import Generic, TypeVar

_WORD = re.compile(r"\w+|[^\w\s]")
_SILENT = frozenset('.,;:?"“”$\\{}')
"""Marks that may come or go without a text's meaning; signs, primes and factorials may not."""
_SURELY = 1e-9
"""Shares of whole numbers are rounded: this much, and no more, is forgiven."""

Part = TypeVar("Part", int, bytes)
"""What stands for a shingle, in the order that the filter goes by."""


def words(text: str) -> list[str]:
    """Return a text's words and signs in whatever case, without what changes no meaning."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return [word for word in _WORD.findall(plain) if word not in _SILENT]


def shingles(words: Sequence[str], width: int = 3) -> list[str]:
    """Return the runs of so many words; those over either end too, but none of no words."""
    if not words:
        return []
    # The first and the last word count as often as others.
    ends = [""] * (width - 1)
    padded = [*ends, *words, *ends]
    # Strings, where tuples would do: these know their hash, and the collector need not look.
    return [" ".join(padded[place : place + width]) for place in range(len(padded) - width + 1)]


def digest(text: str) -> bytes:
    """Return 16 bytes that stand for a text, on every machine the same."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


class Alike(Generic[Part]):
    """Sets of shingles by number, and which of them are like another set."""

    def __init__(self, least: float) -> None:
        if not 0 < least <= 1:
            raise ValueError(f"texts are alike from a share above 0 to 1 on, not {least}")
        self._least = least
        self._kept: dict[int, frozenset[Part]] = {}
        self._first: defaultdict[Part, list[int]] = defaultdict(list)

    def add(self, number: int, parts: Collection[Part]) -> None:
        """Keep a set under a number that none has yet."""
        self._kept[number] = frozenset(parts)
        for part in self._prefix(parts):
            self._first[part].append(number)

    def drop(self, number: int) -> None:
        """Forget the set of that number."""
        for part in self._prefix(self._kept.pop(number)):
            self._first[part].remove(number)
            if not self._first[part]:
                del self._first[part]

    def like(self, parts: Collection[Part]) -> Iterator[tuple[float, int]]:
        """Yield the share and the number of every set that is alike enough, in no order."""
        own = frozenset(parts)
        near = {it for part in self._prefix(own) for it in self._first.get(part, ())}
        for number in near:
            other = self._kept[number]
            least = self._least * max(len(own), len(other)) - _SURELY
            if min(len(own), len(other)) >= least:
                both = len(own & other)
                share = both / (len(own) + len(other) - both)
                if share >= self._least:
                    yield share, number

    def _prefix(self, parts: Collection[Part]) -> list[Part]:
        """Return the first of them: the rest alone is too little to be alike."""
        ordered = sorted(set(parts))
        return ordered[: len(ordered) - math.ceil(self._least * len(ordered) - _SURELY) + 1]

"""Whether a task goes round in circles, as small models do that find no end."""

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from raybench.grading.likeness import words

_TIMES = 4
"""What is said so often in a row, or in all, is a loop where it is long enough."""
_WORDS = 24
"""A loop's, at least, besides numbers and signs: 'Buffalo', eight times, is a sentence."""
_LONGEST = 60
"""Words of what is said again and again."""
_RUN = 60
"""Characters, at least, of a loop within a word: strings in questions about code are shorter."""
_SYLLABLE = 12
_SENTENCE = re.compile(r"[.!?。？！\n]+")
_SAYS = 5
"""Words of a sentence whose return is counted: shorter ones are dialogue, options, refrains."""


def loops(task: str) -> bool:
    """Tell whether words, letters or whole sentences come again and again.

    Numbers and signs are words: options, examples and terms that differ in them are no loop.
    """
    return _in_a_row(words(task)) or _in_words(task) or _sentences(task)


def _in_a_row(said: list[str]) -> bool:
    """Tell of the same few words one after the other, beyond numbers and symbols as in tables."""
    number = {word: place for place, word in enumerate(dict.fromkeys(said))}
    row = np.array([number[word] for word in said], dtype=np.int64)
    for period in range(1, min(_LONGEST, len(said) // _TIMES) + 1):
        start, length = _longest(row, period)
        again = said[start : start + period]
        if length >= _TIMES * period and _spoken(again) * length >= _WORDS * period:
            return True
    return False


def _in_words(task: str) -> bool:
    """Tell of the same few letters one after the other, with nothing in between."""
    for run in re.finditer(rf"[^\W\d_]{{{_RUN},}}", task):
        row = np.array([ord(letter) for letter in run[0]], dtype=np.int64)
        if any(_longest(row, period)[1] >= _RUN for period in range(1, _SYLLABLE + 1)):
            return True
    return False


def _sentences(task: str) -> bool:
    """Tell of one sentence that is half of what is said, perhaps with others in between."""
    said = Counter(tuple(words(sentence)) for sentence in _SENTENCE.split(task))
    total = sum(times * len(sentence) for sentence, times in said.items())
    return any(
        times >= _TIMES and _spoken(sentence) >= _SAYS and 2 * times * len(sentence) > total
        for sentence, times in said.items()
    )


def _spoken(said: Sequence[str]) -> int:
    """Count words of letters: numbers, signs and symbols say little by themselves."""
    return sum(len(word) > 1 and word.isalpha() for word in said)


def _longest(row: npt.NDArray[np.int64], period: int) -> tuple[int, int]:
    """Return where the longest stretch begins that has this period, and how long it is."""
    breaks = np.flatnonzero(row[period:] != row[:-period])
    ends = np.concatenate(([-1], breaks, [len(row) - period]))
    lengths = np.diff(ends)
    longest = int(lengths.argmax())
    return int(ends[longest]) + 1, int(lengths[longest]) - 1 + period

"""Tasks that ask again what an earlier iteration's task asks, in the same words or nearly so.

Iterations end in any order and some are done again, so tasks come and go; what is found depends on
nothing but the tasks that are there.
"""

from bisect import insort
from collections import defaultdict
from dataclasses import dataclass, field
from functools import lru_cache

from raybench.grading.likeness import Alike, digest, shingles, words

ALIKE = 0.7
"""Tasks are one that share so much of their shingles, and have the same figures in the same order.

Of 15 words one that is another leaves 0.70, of 30 it leaves 0.83; 'What is the capital of France?'
and the one about Germany share 0.45. Words alone do not tell a task put otherwise from one about
something else, so this is a compromise. Of eight pairs written by hand that people would call
repeats, six reach it; of 13 about different things two do ('largest' or 'smallest', 'sorts' or
'reverses', in an otherwise equal request for a function). No two of the 1,319 questions of GSM8K's
test set do, nor of MATH-500's; of 5,000 of MATH 22 are like an earlier one, of the 12,032 of
MMLU-Pro 157 besides the 392 that say the very same: nearly all ask something else about a text,
a figure or a substance described again in full.
"""

_SIGNS = frozenset("+×÷=<>≤≥^√±")
"""Not those that are marks of style as well: '-' joins words, '*' makes them bold."""
_NUMERALS = frozenset({
    *("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen"),
    *("eighteen", "nineteen", "twenty", "thirty", "forty", "fifty", "sixty"),
    *("seventy", "eighty", "ninety"),
    *("hundred", "thousand", "million", "billion", "dozen", "half"),
    *("third", "quarter", "twice", "double", "triple"),
})  # fmt: skip
"""Without 'one', which is more often no number."""


@dataclass(frozen=True, slots=True)
class _Said:
    """What a task says: as much as decides whether it is like another."""

    figures: tuple[str, ...]
    parts: frozenset[bytes]


@dataclass(slots=True)
class _Group:
    """The iterations whose tasks say the same, in order. Never empty."""

    said: _Said
    iterations: list[int] = field(default_factory=list)


class Earlier:
    """The tasks there are, by iteration."""

    def __init__(self, alike: float = ALIKE) -> None:
        self._alike = alike
        self._group_of: dict[int, int] = {}
        self._numbers: dict[_Said, int] = {}
        self._groups: dict[int, _Group] = {}
        # Digests stand for shingles: their order is fixed, as the tasks to come are not known, and
        # unlike the alphabet's it has nothing to do with how common they are.
        self._near: defaultdict[tuple[str, ...], Alike[bytes]] = defaultdict(lambda: Alike(alike))
        self._made = 0

    def put(self, iteration: int, task: str) -> None:
        """Keep an iteration's task, in place of the one it had."""
        self.drop(iteration)
        said = _said(task)
        number = self._numbers.get(said)
        if number is None:
            number = self._numbers[said] = self._made
            self._made += 1
            self._groups[number] = _Group(said)
            self._near[said.figures].add(number, said.parts)
        insort(self._groups[number].iterations, iteration)
        self._group_of[iteration] = number

    def drop(self, iteration: int) -> None:
        """Forget an iteration's task, if it has one."""
        number = self._group_of.pop(iteration, None)
        if number is None:
            return
        group = self._groups[number]
        group.iterations.remove(iteration)
        if not group.iterations:
            del self._groups[number], self._numbers[group.said]
            self._near[group.said.figures].drop(number)

    def like(self, task: str, before: int) -> int | None:
        """Return which iteration before that one has the task most like this, of these the first.

        None where no task there is alike enough. One that says the very same always is, however
        short. What iterations from `before` on have makes no difference.
        """
        said = _said(task)
        if said.figures not in self._near:
            return None
        near = (
            (share, -self._groups[number].iterations[0])
            for share, number in self._near[said.figures].like(said.parts)
        )
        best = max((it for it in near if -it[1] < before), default=None)
        return -best[1] if best else None


@lru_cache(maxsize=64)  # a task is looked for before it is kept, and again with what others come to
def _said(task: str) -> _Said:
    said = words(task)
    # What has no words still says the same as itself.
    parts = shingles(said) or [task.strip()]
    return _Said(
        tuple(word for word in said if _is_figure(word)),
        frozenset(digest(part) for part in parts),
    )


def _is_figure(word: str) -> bool:
    return word in _NUMERALS or word in _SIGNS or any(letter.isdigit() for letter in word)

"""What in a program looks like a way to pass its tests without solving the problem.

A flag proves nothing and changes no grade: it is for a person's eye. Only names and shapes are
looked at; a program that hides what it does is stopped by the sandbox and the harness, not here.
A program that this Python cannot parse may yet run in the sandbox's, so it is searched for words.
"""

from collections.abc import Collection

from raybench.grading.suspicion.look import Look
from raybench.grading.suspicion.telling import (
    AT_EXIT,
    DESCRIPTORS,
    EQUALITY,
    EXIT,
    FILES,
    FLAGS,
    FRAMES,
    HIDDEN,
    PATCH,
    PROCESSES,
    SOURCE,
    TESTS,
    UNREADABLE,
)
from raybench.grading.suspicion.words import in_words
from raybench.grading.syntax import LONGEST, parsed

__all__ = [
    "AT_EXIT",
    "DESCRIPTORS",
    "EQUALITY",
    "EXIT",
    "FILES",
    "FLAGS",
    "FRAMES",
    "HIDDEN",
    "PATCH",
    "PROCESSES",
    "SOURCE",
    "TESTS",
    "UNREADABLE",
    "flags",
]


def flags(source: str, *, ignore: Collection[str] = ()) -> tuple[str, ...]:
    """Return which of `FLAGS` a program earns, in their order; those to be ignored left out.

    What is honest depends on the task: a script may well end itself, a function will not.
    A program that does not parse is mostly an honest mistake, so only one that earns another flag,
    or that is longer than any answer, is said to be unreadable.
    """
    tree = parsed(source)
    found = set(Look(tree).found() if tree else in_words(source)).difference(ignore)
    if len(source) > LONGEST or (found and tree is None):
        found.add(UNREADABLE)
    return tuple(flag for flag in FLAGS if flag in found and flag not in ignore)

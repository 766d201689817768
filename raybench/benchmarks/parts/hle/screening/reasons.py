"""Kinds of reasons why candidates are invalid: what many of them have in common."""

import re
from collections.abc import Sequence

_QUOTED = re.compile(r"(?<=[ (])'.*'", re.DOTALL)
_NUMBER = re.compile(r"(?<!\w)\d(?:[\d,]*\d)?%?")


def kind(reason: str) -> str:
    """Return what reasons of a kind have in common, which is without their numbers."""
    return _NUMBER.sub("N", _beginning(reason))


def in_words(given: Sequence[str]) -> str:
    """Return reasons of one kind as one, for people: each number, or from where to where it is."""
    beginnings = [_beginning(it) for it in given]
    numbers = zip(*map(_NUMBER.findall, beginnings), strict=True)
    spans = map(_span, numbers)
    return _NUMBER.sub(lambda _: next(spans), beginnings[0])


def _span(numbers: Sequence[str]) -> str:
    ordered = sorted(numbers, key=lambda it: int(it.strip("%").replace(",", "")))
    least, most = ordered[0], ordered[-1]
    return least if least == most else f"{least} to {most}"


def _beginning(reason: str) -> str:
    """Return a reason without its mend and without what it quotes: nothing of a question's text."""
    column = re.match(r"'\w+' ", reason)
    head, rest = (column[0], reason[column.end() :]) if column else ("", reason)
    # What is quoted may hold colons: it goes first.
    rest = _QUOTED.sub("'…'", f" {rest}")[1:]
    return head + rest.partition(": ")[0].partition(". ")[0]

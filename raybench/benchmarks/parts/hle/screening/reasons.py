"""Kinds of reasons why candidates are invalid: what many of them have in common."""

import re

_QUOTED = re.compile(r"(?<=[ (])'.*'", re.DOTALL)
_NUMBER = re.compile(r"(?<!\w)\d+%?")


def kind(reason: str) -> str:
    """Return a reason without its mend and without what it quotes: nothing of a question's text."""
    column = re.match(r"'\w+' ", reason)
    head, rest = (column[0], reason[column.end() :]) if column else ("", reason)
    # What is quoted may hold colons: it goes first.
    rest = _QUOTED.sub("'…'", f" {rest}")[1:]
    return head + _NUMBER.sub("N", rest.partition(": ")[0].partition(". ")[0])

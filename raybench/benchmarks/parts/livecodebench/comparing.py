"""Whether what a program gave is what a test expects: on plain data, away from the program."""

import json
import re
from decimal import Decimal
from fractions import Fraction
from typing import Any

_NUMBER = re.compile(r"-?[0-9]{1,4000}(/[0-9]{1,4000})?")
"""As `inside` tells a fraction or a decimal number: no exponent, which may be of any size."""


def same_text(given: str, expected: str) -> bool:
    """Compare line by line without the space around them: letter by letter, or as numbers.

    Every word of a line has to be a number then, and exactly the same: 1.0 is 1, 0.1 is not
    0.10000001.
    """
    lines, wanted = _lines(given), _lines(expected)
    return len(lines) == len(wanted) and all(map(_same_line, lines, wanted))


def same_value(told: str, expected: str) -> bool:
    """Compare a function's result, as `inside.encoded` tells it, with a JSON text.

    By the rules of Python's `==`, so that True is 1 and 2.0 is 2, but a tuple is no list, save one
    that is the whole result. Raises ValueError where nothing of the kind was told.
    """
    try:
        given = _decoded(json.loads(told))
        if isinstance(given, tuple):
            given = list(given)
        return bool(given == json.loads(expected))
    except (RecursionError, LookupError, TypeError, ArithmeticError, MemoryError) as error:
        raise ValueError(f"no result that could be read: {type(error).__name__}") from error


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.strip().split("\n")]


def _same_line(given: str, expected: str) -> bool:
    if given == expected:
        return True
    try:
        return [*map(Decimal, given.split())] == [*map(Decimal, expected.split())]
    except ArithmeticError:  # no number, or one that may not be compared
        return False


def _number(held: Any) -> Fraction:
    """Return an exact number; raise ValueError for text that would take ages to be one."""
    if not isinstance(held, str) or not _NUMBER.fullmatch(held):
        raise ValueError("no result that could be read: a number that is none")
    return Fraction(held)


class _Other:
    """Something that is equal to nothing that JSON can say."""


def _decoded(told: Any) -> Any:
    if isinstance(told, list):
        return [_decoded(part) for part in told]
    if not isinstance(told, dict):
        return told
    ((kind, held),) = told.items()
    match kind:
        case "tuple":
            return tuple(_decoded(part) for part in held)
        case "dict":
            return {_decoded(key): _decoded(value) for key, value in held}
        case "number":
            return _number(held)
        case _:
            return _Other()

"""Reads Python without running it."""

import ast
import warnings

LONGEST = 200_000
"""Characters. No answer to a question is longer, and reading takes time."""


def parsed(source: str) -> ast.Module | None:
    """Return the syntax tree of a program, None where it is none, or longer than any answer."""
    if len(source) > LONGEST:
        return None
    try:
        with warnings.catch_warnings(action="ignore"):  # '\d' is no concern of ours
            return ast.parse(source)
    # A null character is a ValueError; the others are what deep nesting brings.
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def failing_line(source: str) -> int | None:
    """Return the line at which a program's syntax breaks, None where it does not or none is known.

    Lines are counted from 1.
    """
    if len(source) > LONGEST:
        return None
    try:
        with warnings.catch_warnings(action="ignore"):
            ast.parse(source)
    except SyntaxError as error:
        return error.lineno
    except (ValueError, RecursionError, MemoryError):
        return None
    return None

"""What arithmetic leaves open, put to sympy as the script does, within bounds that really hold.

No text reaches sympy: our own parser calls its constructors, one operation at a time, each refused
before a large number or sum is built. Whatever sympy then runs is counted line by line by a trace
function, which belongs to the thread: no signal, no timer, no other process, and the same end on
every machine.
"""

import sys
from collections.abc import Callable
from functools import cache
from math import comb
from types import FrameType
from typing import Any, NamedTuple

from raybench.grading.math.expression import Beyond, Token, evaluate

_MOST_LINES = 3_000_000
"""About half a second; answers of people and models need a tenth of it at most."""
_MOST_TOKENS = 150
_MOST_TERMS = 300
_MOST_BITS = 2_000
_HIGHEST = 40
_HIGHEST_FACTORIAL = 150
_MOST_DIGITS = 40


class _OutOfLines(BaseException):
    """Sympy ran longer than it may; no handler of its own takes this for an error of its own."""


def vanishes(tokens: list[Token]) -> bool:
    """Tell whether sympy simplifies an expression to 0; raise Beyond where it takes too much."""
    if len(tokens) > _MOST_TOKENS:
        raise Beyond
    sympy = _sympy()

    def simplify() -> bool:
        return bool(sympy.simplify(evaluate(tokens, Symbolic(sympy)).value) == 0)

    try:
        return _within(_MOST_LINES, simplify)
    except _OutOfLines:
        sympy.core.cache.clear_cache()  # half an answer may have been left there
        raise Beyond from None
    except Beyond:
        raise
    except Exception:
        return False  # the script takes any failure for a difference


@cache
def _sympy() -> Any:
    """Return sympy, late: half a second and 40 MB that most runs never need."""
    import sympy  # type: ignore[import-untyped]

    # The first use loads much of it, which is not to count as an answer's doing.
    sympy.simplify(sympy.log(4) - 2 * sympy.log(2))
    return sympy


def _within(lines: int, run: Callable[[], bool]) -> bool:
    """Return what a function returns; raise _OutOfLines where it runs more lines of Python."""
    left = lines

    def count(frame: FrameType, event: str, argument: object) -> Callable[..., Any]:
        nonlocal left
        left -= 1
        if left < 0:
            raise _OutOfLines
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        outcome = run()
    finally:
        sys.settrace(before)
    if left < 0:  # a bare except of mpmath's went on
        raise _OutOfLines
    return outcome


class Value(NamedTuple):
    """An expression of sympy's, and how many terms it can have when multiplied out."""

    value: Any
    terms: int = 1


class Symbolic:
    """The algebra of sympy's expressions."""

    def __init__(self, sympy: Any) -> None:
        self._sympy = sympy

    def integer(self, value: int) -> Value:
        """Return a whole number."""
        return self._bounded(self._sympy.Integer(value))

    def decimal(self, text: str) -> Value:
        """Return a number with a point or an exponent."""
        if len(text) > _MOST_DIGITS or abs(int(text.partition("e")[2] or 0)) > _MOST_DIGITS:
            raise Beyond
        return Value(self._sympy.Float(text))

    def constant(self, name: str) -> Value:
        """Return π or i."""
        return Value(self._sympy.pi if name == "pi" else self._sympy.I)

    def symbol(self, name: str) -> Value:
        """Return a variable."""
        return Value(self._sympy.Symbol(name))

    def add(self, one: Value, other: Value) -> Value:
        """Return the sum."""
        return self._bounded(one.value + other.value, one.terms + other.terms)

    def negate(self, value: Value) -> Value:
        """Return the negative."""
        return Value(-value.value, value.terms)

    def multiply(self, one: Value, other: Value) -> Value:
        """Return the product."""
        return self._bounded(one.value * other.value, one.terms * other.terms)

    def divide(self, one: Value, other: Value) -> Value:
        """Return the quotient."""
        return self._bounded(one.value / other.value, one.terms * other.terms)

    def power(self, base: Value, exponent: Value) -> Value:
        """Return the power."""
        number = exponent.value
        terms = base.terms
        if number.is_number:
            size = abs(complex(number))
            if size > _HIGHEST and base.value not in (0, 1, -1):
                raise Beyond
            terms = comb(terms + int(size), int(size))
        return self._bounded(base.value**number, terms)

    def factorial(self, value: Value) -> Value:
        """Return the factorial."""
        argument = value.value
        if argument.is_number:
            allowed = abs(complex(argument)) <= _HIGHEST_FACTORIAL
        else:  # n!/(n-k)! becomes a product of k factors
            allowed = all(abs(n) <= _HIGHEST for n in argument.atoms(self._sympy.Number))
        if not allowed:
            raise Beyond
        return self._bounded(self._sympy.factorial(argument))

    def function(self, name: str, value: Value) -> Value:
        """Return the square root or the natural logarithm."""
        if name == "ln":
            return Value(self._sympy.log(value.value))
        return Value(self._sympy.sqrt(value.value))

    def _bounded(self, value: Any, terms: int = 1) -> Value:
        if terms > _MOST_TERMS:
            raise Beyond
        if value.is_Rational and max(value.p.bit_length(), value.q.bit_length()) > _MOST_BITS:
            raise Beyond
        return Value(value, terms)

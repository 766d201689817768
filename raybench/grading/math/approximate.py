"""Floating-point values of an expression at points: enough to tell what is clearly different."""

import cmath
import math

from raybench.grading.math.expression import Beyond, Token, evaluate

_MARGIN = 1e-8
"""Of the largest number on the way: far above what rounding adds up to, far below a difference."""
_POINTS = (0.7390851332 + 0.3141926535j, -1.2020569031 + 0.5772156649j)
"""The first letter's value: nothing special, so that what is 0 there is 0 everywhere."""
_HIGHEST_FACTORIAL = 150


def differs(tokens: list[Token]) -> bool:
    """Tell whether an expression is clearly not 0; raise Beyond where floats cannot say."""
    for point in _POINTS:
        algebra = Approximate(point)
        try:
            value = evaluate(tokens, algebra)
        except OverflowError:
            raise Beyond from None
        if not cmath.isfinite(value):
            raise Beyond
        if abs(value) > _MARGIN * algebra.largest:
            return True
    return False


class Approximate:
    """The algebra of complex floating-point numbers."""

    def __init__(self, point: complex) -> None:
        self._point = point
        self._letters: dict[str, complex] = {}
        self.largest = 0.0

    def _seen(self, value: complex) -> complex:
        self.largest = max(self.largest, abs(value))
        return value

    def integer(self, value: int) -> complex:
        """Return a whole number."""
        return self._seen(complex(value))

    def decimal(self, text: str) -> complex:
        """Return a number with a point or an exponent."""
        return self._seen(complex(float(text)))

    def constant(self, name: str) -> complex:
        """Return π or i."""
        return self._seen(math.pi if name == "pi" else 1j)

    def symbol(self, name: str) -> complex:
        """Return a letter's value: another for each."""
        nth = len(self._letters)
        value = self._point * cmath.exp(nth * (0.3 + 1j)) + 0.1 * nth
        return self._seen(self._letters.setdefault(name, value))

    def add(self, one: complex, other: complex) -> complex:
        """Return the sum."""
        return self._seen(one + other)

    def negate(self, value: complex) -> complex:
        """Return the negative."""
        return -value

    def multiply(self, one: complex, other: complex) -> complex:
        """Return the product."""
        return self._seen(one * other)

    def divide(self, one: complex, other: complex) -> complex:
        """Return the quotient."""
        return self._seen(one / other)

    def power(self, base: complex, exponent: complex) -> complex:
        """Return the power."""
        return self._seen(base**exponent)

    def factorial(self, value: complex) -> complex:
        """Return the factorial of a whole number."""
        if value.imag or not value.real.is_integer() or value.real > _HIGHEST_FACTORIAL:
            raise Beyond
        if value.real < 0:
            raise ZeroDivisionError  # a pole
        return self._seen(complex(math.factorial(int(value.real))))

    def function(self, name: str, value: complex) -> complex:
        """Return the square root or the natural logarithm."""
        if name == "sqrt":
            return self._seen(cmath.sqrt(value))
        if not value:
            raise ZeroDivisionError  # a pole
        return self._seen(cmath.log(value))

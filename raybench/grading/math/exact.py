"""Rational functions over roots of whole numbers, π and letters: what is equal there is certain.

A value is a quotient of two polynomials; a polynomial maps products of generators to coefficients.
√12 is 2·√3 and √6 is √2·√3: products of square roots of different primes are linearly independent,
so that polynomials are the same only if the mappings are.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from raybench.grading.math.expression import Beyond

_MOST_TERMS = 400
_MOST_BITS = 30_000
_HIGHEST = 300
_HIGHEST_FACTORIAL = 2_500  # there is a question whose answer holds 2004!
_LARGEST_ROOT = 10**12
_SMALL_PRIMES = [n for n in range(2, 1000) if all(n % d for d in range(2, math.isqrt(n) + 1))]
_CERTAIN = 1e-9
"""A decimal at least this far from 0 is more than a rounding error."""

Product = tuple[tuple[str, int], ...]
"""Generators with their exponents, in order; '√p' (exponent 1) is a square root."""
Coefficient = Fraction | float
"""Written with a decimal point, a number rounds in every operation, as it does for the script."""
Polynomial = Mapping[Product, Coefficient]

_ZERO: Polynomial = {}
_ONE: Polynomial = {(): Fraction(1)}


@dataclass(frozen=True, slots=True)
class Ratio:
    """A quotient of polynomials."""

    top: Polynomial
    bottom: Polynomial

    @property
    def is_zero(self) -> bool:
        """Tell whether it is 0 everywhere; raise Beyond where it may be but for rounding."""
        if any(isinstance(c, Fraction) or abs(c) > _CERTAIN for c in self.top.values()):
            return False
        if self.top:
            raise Beyond
        return True

    @property
    def number(self) -> Coefficient | None:
        """Return its value where it has neither letters nor roots nor π."""
        if self.bottom is not _ONE or self.top.keys() - {()}:
            return None
        return self.top.get((), Fraction(0))


class Exact:
    """The algebra of quotients of polynomials."""

    def integer(self, value: int) -> Ratio:
        """Return a whole number."""
        return _number(Fraction(value))

    def decimal(self, text: str) -> Ratio:
        """Return a number of at most 15 digits: what a float holds."""
        if "e" in text or len(text) > 16:
            raise Beyond
        return _number(float(text))

    def constant(self, name: str) -> Ratio:
        """Return π, or i as the root of -1."""
        return Ratio({(("π" if name == "pi" else "√-1", 1),): Fraction(1)}, _ONE)

    def symbol(self, name: str) -> Ratio:
        """Return a variable."""
        return Ratio({((name, 1),): Fraction(1)}, _ONE)

    def add(self, one: Ratio, other: Ratio) -> Ratio:
        """Return the sum."""
        if one.bottom == other.bottom:
            return Ratio(_sum(one.top, other.top), one.bottom)
        top = _sum(_times(one.top, other.bottom), _times(other.top, one.bottom))
        return Ratio(top, _times(one.bottom, other.bottom))

    def negate(self, value: Ratio) -> Ratio:
        """Return the negative."""
        return Ratio({product: -c for product, c in value.top.items()}, value.bottom)

    def multiply(self, one: Ratio, other: Ratio) -> Ratio:
        """Return the product."""
        return Ratio(_times(one.top, other.top), _times(one.bottom, other.bottom))

    def divide(self, one: Ratio, other: Ratio) -> Ratio:
        """Return the quotient."""
        if not other.top:
            raise ZeroDivisionError
        if (divisor := other.number) is not None:
            return Ratio(
                _checked({p: _quotient(c, divisor) for p, c in one.top.items()}), one.bottom
            )
        return self.multiply(one, Ratio(other.bottom, other.top))

    def power(self, base: Ratio, exponent: Ratio) -> Ratio:
        """Return a power to a whole number, or to a half of one."""
        number = exponent.number
        if not isinstance(number, Fraction) or number.denominator > 2 or abs(number) > _HIGHEST:
            raise Beyond
        if number.denominator == 2:
            base, number = self.function("sqrt", base), number * 2
        value = _number(Fraction(1))
        for _ in range(abs(int(number))):
            value = self.multiply(value, base)
        return self.divide(_number(Fraction(1)), value) if number < 0 else value

    def factorial(self, value: Ratio) -> Ratio:
        """Return the factorial of a whole number."""
        number = value.number
        if not isinstance(number, Fraction) or number.denominator > 1:
            raise Beyond
        if number > _HIGHEST_FACTORIAL:
            raise Beyond
        if number < 0:
            raise ZeroDivisionError  # a pole
        return _number(Fraction(math.factorial(int(number))))

    def function(self, name: str, value: Ratio) -> Ratio:
        """Return the square root of a number."""
        number = value.number
        if name != "sqrt" or number is None:
            raise Beyond
        if isinstance(number, float):
            if number < 0:
                raise Beyond
            return _number(math.sqrt(number))
        return _root(number)


def _number(value: Coefficient) -> Ratio:
    return Ratio({(): value} if value else _ZERO, _ONE)


def _quotient(one: Coefficient, other: Coefficient) -> Coefficient:
    """Return the quotient, rounded as sympy does: a fraction by a decimal in two steps."""
    if isinstance(one, Fraction) and isinstance(other, float):
        return one * (1.0 / other)
    return one / other


def _root(number: Fraction) -> Ratio:
    """Return √(p/q) as √(pq)/q: a whole number times roots of different primes."""
    rest = abs(number.numerator * number.denominator)
    if rest > _LARGEST_ROOT:
        raise Beyond
    outside = 1
    inside = [-1] if number < 0 else []
    for prime in _SMALL_PRIMES:
        if prime * prime > rest:
            break
        while rest % (prime * prime) == 0:
            rest //= prime * prime
            outside *= prime
        if rest % prime == 0:
            rest //= prime
            inside.append(prime)
    if math.isqrt(rest) ** 2 == rest:
        outside *= math.isqrt(rest)
    elif rest < _SMALL_PRIMES[-1] ** 2:
        inside.append(rest)
    else:
        raise Beyond  # it may be a product of two primes
    product = tuple(sorted((f"√{prime}", 1) for prime in inside))
    return Ratio(_checked({product: Fraction(outside, number.denominator)}), _ONE)


def _sum(one: Polynomial, other: Polynomial) -> Polynomial:
    total = dict(one)
    for product, coefficient in other.items():
        total[product] = total.get(product, 0) + coefficient
    return _checked(total)


def _times(one: Polynomial, other: Polynomial) -> Polynomial:
    if one is _ONE:
        return other
    if other is _ONE:
        return one
    if len(one) * len(other) > _MOST_TERMS:
        raise Beyond
    total: dict[Product, Coefficient] = {}
    for product, coefficient in one.items():
        for factor, other_coefficient in other.items():
            merged, number = _merged(product, factor)
            value = coefficient * other_coefficient * number
            total[merged] = total.get(merged, 0) + value
    return _checked(total)


def _merged(one: Product, other: Product) -> tuple[Product, int]:
    """Return the product of two products, and the number that pairs of equal roots leave."""
    exponents = dict(one)
    number = 1
    for generator, exponent in other:
        if generator in exponents and generator[0] == "√":
            del exponents[generator]
            number *= int(generator[1:])
        else:
            exponents[generator] = exponents.get(generator, 0) + exponent
    return tuple(sorted(exponents.items())), number


def _checked(terms: Polynomial) -> Polynomial:
    """Return the terms that are not 0; raise Beyond before they grow large."""
    kept = {product: coefficient for product, coefficient in terms.items() if coefficient}
    if len(kept) > _MOST_TERMS:
        raise Beyond
    for coefficient in kept.values():
        if isinstance(coefficient, float):
            if not math.isfinite(coefficient):
                raise Beyond
        elif coefficient.numerator.bit_length() + coefficient.denominator.bit_length() > _MOST_BITS:
            raise Beyond
    return kept

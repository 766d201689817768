"""What expressions are worth, and whether two are worth the same."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Literal

from raybench.grading.improved.maths.lexemes import Lexeme
from raybench.grading.improved.maths.writer import Writer, bracketed
from raybench.grading.math import approximate, symbolic
from raybench.grading.math.exact import Exact, Ratio
from raybench.grading.math.expression import Beyond, NotArithmetic, Token, evaluate

Decision = Literal["right", "wrong", "undecided"]

_MOST_QUESTIONS = 2


class Budget:
    """How often a decision may still ask sympy, which takes half a second at most each time."""

    def __init__(self) -> None:
        self._left = _MOST_QUESTIONS

    def spend(self) -> None:
        """Count a question; raise Beyond where none is left."""
        self._left -= 1
        if self._left < 0:
            raise Beyond


class Value:
    """An expression: its tokens, and what they are worth where exact arithmetic can tell."""

    def __init__(self, lexemes: Sequence[Lexeme], *, fold: bool) -> None:
        """Raise NotArithmetic where the lexemes are no expression, Beyond where they are nested."""
        writer = Writer(lexemes, fold=fold)
        self.tokens = writer.write()
        self.opaque = writer.opaque
        self._exact: Ratio | None = None
        self._beyond = False

    @property
    def exact(self) -> Ratio:
        """Return the exact value; raise Beyond or ZeroDivisionError where there is none."""
        if self._beyond:
            raise Beyond
        if self._exact is None:
            try:
                self._exact = evaluate(self.tokens, Exact())
            except Beyond:
                self._beyond = True
                raise
        return self._exact


def equal(one: Value, other: Value, budget: Budget) -> Decision:
    """Decide by exact arithmetic, or by floats, or by sympy."""
    unequal: Decision = "undecided" if one.opaque or other.opaque else "wrong"
    try:
        zero = _is_zero(one, other, budget)
    except ZeroDivisionError:
        return "wrong"
    except (Beyond, NotArithmetic):
        return "undecided"
    if zero is None:
        return "undecided"
    return "right" if zero else unequal


def _is_zero(one: Value, other: Value, budget: Budget) -> bool | None:
    """Tell whether a difference is 0; None where it looks so, and sympy cannot show it."""
    algebra = Exact()
    try:
        return algebra.add(one.exact, algebra.negate(other.exact)).is_zero
    except Beyond:
        pass
    difference = [*bracketed(one.tokens), Token("operator", "-"), *bracketed(other.tokens)]
    try:
        if approximate.differs(difference):
            return False
    except Beyond:
        pass
    budget.spend()
    return symbolic.vanishes(difference) or None


def proportional(one: Value, other: Value) -> Fraction | None:
    """Return how many times the other one polynomial is, 0 where it is no multiple of it."""
    try:
        top, other_top = one.exact.top, other.exact.top
    except (Beyond, NotArithmetic, ZeroDivisionError):
        return None
    if top.keys() != other_top.keys() or not top:
        return Fraction(0)
    factors = {Fraction(top[product]) / Fraction(other_top[product]) for product in top}
    return factors.pop() if len(factors) == 1 else Fraction(0)

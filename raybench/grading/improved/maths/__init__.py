r"""Whether a mathematical answer is right, by what it says and not by how it is written.

Other than the PRM800K script this reads `2, 1` as `1, 2`, `\frac{2}{4}` as a half and `1 \pm 2` as
two answers, and takes neither five days for five years nor 0.99999999 for 1. Nothing is evaluated
but by our own arithmetic, in bounded time; what that cannot tell is 'undecided'.
"""

from collections.abc import Sequence
from itertools import pairwise

from raybench.grading.improved.maths import units
from raybench.grading.improved.maths.lexemes import Lexeme, lexemes, separates
from raybench.grading.improved.maths.reading import (
    Answer,
    Ordered,
    Quantity,
    Related,
    Several,
    read,
)
from raybench.grading.improved.maths.values import Budget, Decision, equal, proportional
from raybench.grading.improved.maths.writer import key
from raybench.grading.math.expression import Beyond

__all__ = ["Decision", "decide"]

_RISING: tuple[Decision, ...] = ("wrong", "undecided", "right")
_LONGEST = 4_000
_BY_UNIT: dict[units.Relation, Decision] = {
    "same": "right",
    "different": "wrong",
    "unclear": "undecided",
}
_MOST_PARTS = 60
"""Parts of one answer that are compared with one another."""


def decide(given: str, truth: str) -> Decision:
    """Return whether an answer is right; 'undecided' where that cannot be told."""
    if given.strip() == truth.strip() != "":
        return "right"
    if max(len(given), len(truth)) > _LONGEST:
        return "undecided"
    one, other = sorted((given, truth))  # who gave which makes no difference
    budget = Budget()
    decisions = {_decided(one, other, budget, thousands=True)}
    if "," in one and "," in other and (separates(one) or separates(other)):
        decisions.add(_decided(one, other, budget, thousands=False))
    return _best(decisions)


def _decided(one: str, other: str, budget: Budget, *, thousands: bool) -> Decision:
    try:
        ones, others = (lexemes(text, thousands=thousands) for text in (one, other))
        if not ones or not others:
            return "wrong"
        fold = not (_mixed(ones) or _mixed(others))
        if key(ones, fold=fold) == key(others, fold=fold):
            return "right"
        return _compare(read(ones, fold=fold), read(others, fold=fold), budget)
    except Beyond:
        return "undecided"


def _mixed(found: Sequence[Lexeme]) -> bool:
    """Tell whether a letter stands there both large and small, and so for two things."""
    letters = {letter for kind, text in found if kind == "letters" for letter in text}
    return any(letter.swapcase() in letters for letter in letters)


def _best(decisions: set[Decision]) -> Decision:
    return max(decisions, key=_RISING.index)


def _worst(decisions: set[Decision]) -> Decision:
    return min(decisions, key=_RISING.index)


def _unsure(decision: Decision) -> Decision:
    """Return 'undecided' for what is right but for the form it has."""
    return "undecided" if decision == "right" else decision


def _compare(one: Answer, other: Answer, budget: Budget) -> Decision:
    match one, other:
        case Quantity(), Quantity():
            return _quantities(one, other, budget)
        case Several(), Several():
            return _in_any_order(one.parts, other.parts, budget)
        case Ordered(), Ordered():
            return _in_order(one, other, budget)
        case Related(), Related():
            return _relations(one, other, budget)
        case Related(), _:
            return _told(one, other, budget)
        case _, Related():
            return _told(other, one, budget)
        case (Ordered(parts=parts), Several(parts=others)) | (
            Several(parts=parts),
            Ordered(parts=others),
        ):
            return _unsure(_in_any_order(parts, others, budget))
        case (Ordered(kind=":") as ratio, Quantity()) | (Quantity(), Ordered(kind=":") as ratio):
            return "undecided" if len(ratio.parts) == 2 else "wrong"
    return "wrong"


# ------------------------------------------------------------------------------------- quantities


def _quantities(one: Quantity, other: Quantity, budget: Budget) -> Decision:
    if one.base or other.base:
        return _based(one, other)
    decision = _values(one, other, budget)
    relation = units.compare(one.unit, other.unit)
    if decision == "right":
        return _BY_UNIT[relation]
    for percent, plain in ((one, other), (other, one)):
        if units.PERCENT in percent.unit and not plain.unit and percent.hundredth and plain.value:
            decision = _best({decision, equal(percent.hundredth, plain.value, budget)})
    return decision if relation == "same" else _best({decision, "undecided"})


def _based(one: Quantity, other: Quantity) -> Decision:
    """Compare digits; a base may be left out, for the question says it."""
    if one.base and other.base and one.base != other.base:
        return "undecided"
    return "right" if one.key.lstrip("0") == other.key.lstrip("0") else "wrong"


def _values(one: Quantity, other: Quantity, budget: Budget) -> Decision:
    if one.key == other.key:
        return "right"
    if one.words and other.words:
        if one.words == other.words:
            return "right"
        if one.spoken or other.spoken or _are_letters(one, other):
            alike = sorted(one.words) == sorted(other.words)
            several = " " in one.key.strip() or " " in other.key.strip()
            return "undecided" if alike or several else "wrong"
    if one.value is None or other.value is None:
        return "undecided"
    return equal(one.value, other.value, budget)


def _are_letters(one: Quantity, other: Quantity) -> bool:
    """Tell whether both are letters only, at least two: a product, or the name of something."""
    return all(
        len(each.body) == 1 and each.body[0].kind == "letters" and len(each.words) > 1
        for each in (one, other)
    )


# --------------------------------------------------------------------------------- several answers


def _in_any_order(ones: Sequence[Answer], others: Sequence[Answer], budget: Budget) -> Decision:
    if len(ones) != len(others):
        return "wrong"
    if len(ones) > _MOST_PARTS:
        return "undecided"
    left, doubt = list(others), False
    for one in ones:
        found: Decision = "wrong"
        for place, other in enumerate(left):
            found = _best({found, decision := _compare(one, other, budget)})
            if decision == "right":
                del left[place]
                break
        if found == "wrong":
            return "wrong"
        doubt |= found == "undecided"
    return "undecided" if doubt else "right"


def _in_order(one: Ordered, other: Ordered, budget: Budget) -> Decision:
    if len(one.parts) != len(other.parts):
        return "wrong"
    if len(one.parts) > _MOST_PARTS:
        return "undecided"
    decision = _sides(one.parts, other.parts, budget)
    if (one.kind, one.shape) == (other.kind, other.shape):
        return decision
    if "matrix" in (one.kind, other.kind) and one.kind != other.kind:
        return _unsure(decision)  # a vector as a column and as a tuple
    return "wrong"


# -------------------------------------------------------------------------------------- equations


def _told(relation: Related, other: Answer, budget: Budget) -> Decision:
    r"""Compare what an equation says something is: `x = 5`, `12 + 5 = 17`, `1/3 \approx 0.33`."""
    values = [
        side for side, name in zip(relation.sides, relation.names, strict=True) if not name
    ] or relation.sides[-1:]
    decisions = [_compare(value, other, budget) for value in values]
    if set(relation.signs) <= {r"\approx", "="} and r"\approx" in relation.signs:
        return _best(set(decisions))
    if set(relation.signs) != {"="}:
        return _unsure(_best(set(decisions)))
    steps = {_compare(a, b, budget) for a, b in pairwise(values)}
    named = len(values) < len(relation.sides)
    if steps <= {"right"} and (named or len(values) > 1):
        return decisions[-1]
    return _unsure(_best(set(decisions)))


def _relations(one: Related, other: Related, budget: Budget) -> Decision:
    if one.signs != other.signs or len(one.sides) != len(other.sides):
        return "undecided"
    if one.defines and other.defines:
        (name, value), (other_name, other_value) = one.defines, other.defines
        decision = _compare(value, other_value, budget)
        return decision if name == other_name else _unsure(decision)
    straight = _sides(one.sides, other.sides, budget)
    if one.signs != ["="] or straight == "right":
        return straight
    crossed = _sides(one.sides, other.sides[::-1], budget)
    return "right" if crossed == "right" else _multiples(one, other)


def _sides(ones: Sequence[Answer], others: Sequence[Answer], budget: Budget) -> Decision:
    return _worst({_compare(a, b, budget) for a, b in zip(ones, others, strict=True)})


def _multiples(one: Related, other: Related) -> Decision:
    """Compare two equations by what is 0: a multiple says the same in another form."""
    if one.difference is None or other.difference is None:
        return "undecided"
    factor = proportional(one.difference, other.difference)
    if factor is None or one.difference.opaque or other.difference.opaque:
        return "undecided"
    if abs(factor) == 1:
        return "right"
    return "undecided" if factor else "wrong"

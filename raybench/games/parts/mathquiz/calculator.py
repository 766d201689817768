"""Works out questions that are sums in digits or signs, as a pocket calculator would; no others."""

import ast
import operator
import re
from collections.abc import Callable
from fractions import Fraction

_SAID = {
    r"multiplied by|times|[x×·⋅](?=\s*\d)": "*",
    r"divided by|over|÷": "/",
    r"plus|added to|[+]": "+",
    r"minus|less|[−–]": "-",
    r"to the power of|\^": "**",
    r"squared|²": "**2",
    r"cubed|³": "**3",
}
_SUM = re.compile(r"[-(\d][-+*/().\d\s]*[\d)]")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}\b)")
_LONGEST = 200
_MOST_BITS = 256
"""Of a number on the way: a question of a few characters could ask for millions."""
_WAYS: dict[type[ast.operator], Callable[[Fraction, Fraction], Fraction]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


def worked_out(question: str) -> Fraction | None:
    """Return what the longest sum in a question comes to; None where there is none."""
    text = _THOUSANDS.sub("", question.lower())
    for said, sign in _SAID.items():
        text = re.sub(said, f" {sign} ", text)
    text = re.sub(r"(?<=\d)\s*,\s*(?=[-+*/])", " ", text)  # "42 times 7, minus 30"
    for found in sorted(_SUM.findall(text), key=len, reverse=True):
        if (value := _value(found)) is not None:
            return value
    return None


def _value(written: str) -> Fraction | None:
    if len(written) > _LONGEST or not re.search(r"\d[\s)]*[-+*/]", written):
        return None
    try:
        return _of(ast.parse(" ".join(written.split()), mode="eval").body)
    except (SyntaxError, ValueError, ZeroDivisionError, RecursionError, MemoryError):
        return None


def _of(node: ast.expr) -> Fraction:
    """Return the value of an expression of numbers and signs; of others, raise ValueError."""
    match node:
        case ast.Constant(value=int() | float() as value):
            return _bounded(Fraction(str(value)))
        case ast.UnaryOp(op=ast.USub(), operand=of):
            return -_of(of)
        case ast.BinOp(left=base, op=ast.Pow(), right=ast.Constant(value=int(power))):
            if power > _MOST_BITS:
                raise ValueError("too large a power")
            return _bounded(_bounded(_of(base), _MOST_BITS // max(1, power)) ** power)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _WAYS:
            return _bounded(_WAYS[type(op)](_of(left), _of(right)))
    raise ValueError("neither a number nor a sum")


def _bounded(value: Fraction, bits: int = _MOST_BITS) -> Fraction:
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > bits:
        raise ValueError("too large a number")
    return value

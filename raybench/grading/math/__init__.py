"""Whether a mathematical answer is right, by the decisions of OpenAI's PRM800K grading script.

The script normalises both answers twice and compares them as text, then element by element with
sympy. Its decisions are kept, the mistaken ones too: a checker model sees what is not right. Its
way there is not: it evaluates text, and some answers of a few characters stop it for good. Here an
answer is data, the time and memory spent on it are bounded, and where the bounds end the decision
is 'undecided'.

Source: github.com/openai/prm800k, prm800k/grading/grader.py and math_normalize.py (MIT).
"""

import re
from typing import Literal

from raybench.grading.math import approximate, normal, symbolic
from raybench.grading.math.exact import Exact
from raybench.grading.math.expression import Beyond, NotArithmetic, Token, evaluate, tokens
from raybench.grading.math.latex import TooDeep

__all__ = ["Decision", "decide", "equivalent"]

Decision = Literal["right", "wrong", "undecided"]

_LONGEST = 4_000
_BRACKETS = "()[]"
_FRACTION = re.compile(r"-?[0-9]+.?/0*[1-9][0-9]*.?")
_LARGE_EXPONENT = re.compile(r"\^[0-9]+\^|\^[0-9][0-9]|\^[({]")
_MOST_LETTERS = 2


def equivalent(given: str, truth: str) -> bool:
    """Tell whether an answer is right, as far as a script can tell."""
    return decide(given, truth) == "right"


def decide(given: str, truth: str) -> Decision:
    """Return what the script decides; 'undecided' where it might never come to an end."""
    if max(len(given), len(truth)) > _LONGEST:
        return "right" if given.strip() == truth.strip() else "undecided"
    if normal.first(given) == normal.first(truth):
        return "right"
    try:
        given, truth = normal.second(given), normal.second(truth)
    except TooDeep:
        return "undecided"
    if given == truth:
        return "right"
    given_elements, true_elements = _elements(given), _elements(truth)
    if not given or len(given_elements) != len(true_elements):
        return "wrong"
    if len(true_elements) > 1 and (given[0], given[-1]) != (truth[0], truth[-1]):
        return "wrong"
    for element, true_element in zip(given_elements, true_elements, strict=True):
        decision = _decide_element(element, true_element)
        if decision != "right":
            return decision  # the script never gets further either
    return "right"


def _elements(answer: str) -> list[str]:
    """Return what a tuple or interval holds, or the answer itself."""
    answer = normal.without_thousands(answer)
    inside = answer[1:-1]
    if (
        inside
        and answer[0] in _BRACKETS
        and answer[-1] in _BRACKETS
        and not any(bracket in inside for bracket in _BRACKETS)
    ):
        return [element.strip() for element in inside.split(",")]
    return [answer] if answer else []


def _decide_element(given: str, truth: str) -> Decision:
    if _FRACTION.fullmatch(given) and _FRACTION.fullmatch(truth):
        return "right" if given == truth else "wrong"  # fractions are to be reduced
    if normal.is_integer(given) != normal.is_integer(truth):
        return "wrong"
    difference = f"({truth})-({given})"
    letters = {c for c in difference.replace("sqrt", "").replace("frac", "") if c.isalpha()}
    if len(letters) > _MOST_LETTERS or _LARGE_EXPONENT.search(difference):
        return "wrong"  # the script does not try
    try:
        return "right" if _is_zero(tokens(difference)) else "wrong"
    except (NotArithmetic, ZeroDivisionError):
        return "wrong"
    except Beyond:
        return "undecided"


def _is_zero(difference: list[Token]) -> bool:
    """Tell whether an expression is 0: by exact arithmetic, or by floats, or by sympy."""
    try:
        return evaluate(difference, Exact()).is_zero
    except Beyond:
        pass
    try:
        if approximate.differs(difference):
            return False
    except Beyond:
        pass
    return symbolic.vanishes(difference)

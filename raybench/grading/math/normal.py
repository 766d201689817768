"""The two normal forms of an answer that the PRM800K script compares before any algebra."""

import re

from raybench.grading.math import latex

_TEXT = re.compile(r"\\text\{(.+?)\}$")
_SLASH = re.compile(r"(0|-?[1-9][0-9]*)/(0|-?[1-9][0-9]*)")
_CIRCLE = re.compile(r"\^ *\\circ")
_THIN_COMMA = re.compile(r",\\! *")
_MINUS = re.compile(r"- *")
_MIXED = re.compile(r"([0-9]) +([0-9])")
_THOUSANDS = re.compile(r"(\d),(\d\d\d)($|\D)")

_WORDS = (
    (r"\%", "%"),
    (r"\$", "$"),
    ("$", ""),
    ("%", ""),
    (" or ", " , "),
    (" and ", " , "),
    ("million", "*10^6"),
    ("billion", "*10^9"),
    ("trillion", "*10^12"),
)
_UNITS = {
    unit: re.compile(unit + r"(?:es)?s? *(?:\^[0-9]+)?")
    for unit in (
        "degree", "cm", "centimeter", "meter", "mile", "second", "minute", "hour", "day", "week",
        "month", "year", "foot", "feet", "inch", "yard",
    )
}  # fmt: skip
_WHOLE = 1e-7
"""How far from an integer a number may lie and still be taken for it."""


class _Unfinished(Exception):
    """The answer ends where an argument is due: its first normal form is the answer itself."""


def first(answer: str) -> str:
    """Return the normal form of Hendrycks' MATH release: one spelling of what LaTeX writes."""
    answer = answer.strip()
    if text := _TEXT.match(answer):
        answer = text[1].strip()
    try:
        return _spelling(answer)
    except _Unfinished:
        return answer


def _spelling(answer: str) -> str:
    answer = answer.replace("\n", "").replace(r"\!", "").replace("\\\\", "\\")
    answer = answer.replace("tfrac", "frac").replace("dfrac", "frac")
    answer = answer.replace(r"\left", "").replace(r"\right", "")
    answer = answer.replace(r"^{\circ}", "").replace(r"^\circ", "").replace(r"\$", "")
    answer, *units = answer.split(r"\text{ ")
    if len(units) > 1:
        raise _Unfinished
    answer = answer.replace(r"\%", "").replace(" .", " 0.").replace("{.", "{0.")
    if answer.startswith("."):
        answer = "0" + answer
    match answer.split("="):
        case [name, value] if len(name) <= 2:
            answer = value
    answer = _braced_roots(answer).replace(" ", "")
    answer = _braced_fractions(answer)
    if answer == "0.5":
        return r"\frac{1}{2}"
    if slash := _SLASH.fullmatch(answer):
        return rf"\frac{{{slash[1]}}}{{{slash[2]}}}"
    return answer


def _braced_roots(answer: str) -> str:
    head, *rest = answer.split(r"\sqrt")
    for part in rest:
        if not part:
            raise _Unfinished
        head += r"\sqrt" + (part if part[0] == "{" else f"{{{part[0]}}}{part[1:]}")
    return head


def _braced_fractions(answer: str) -> str:
    head, *rest = answer.split(r"\frac")
    for part in rest:
        if not part:
            raise _Unfinished
        head += r"\frac"
        if part[0] == "{":
            head += part
        elif len(part) < 2:
            return answer
        elif part[1] == "{":
            head += f"{{{part[0]}}}{part[1:]}"
        else:
            head += f"{{{part[0]}}}{{{part[1]}}}{part[2:]}"
    return head


def second(answer: str) -> str:
    """Return PRM800K's own normal form: plain text without units, spaces, braces and capitals."""
    if text := _TEXT.match(answer):
        answer = text[1]
    for written, meant in _WORDS:
        answer = answer.replace(written, meant)
    for unit, pattern in _UNITS.items():
        if unit in answer:
            answer = pattern.sub("", answer)
    answer = _CIRCLE.sub("", answer)
    if answer.startswith("{") and answer.endswith("}"):
        answer = answer[1:-1]
    answer = _THIN_COMMA.sub("", answer)
    number = _number(answer)
    if number is not None and _whole(number):
        answer = str(round(number))
    if "\\" in answer:
        answer = latex.to_text(answer)
    answer = _MIXED.sub(r"\1+\2", _MINUS.sub("-", answer))
    answer = answer.replace(" ", "").replace("{", "").replace("}", "").lower()
    if is_integer(answer):
        answer = str(int(float(answer.replace(",", ""))))
    return answer


def without_thousands(answer: str) -> str:
    """Return the answer without the commas that group a number's digits by three."""
    while "," in answer:
        shorter = _THOUSANDS.sub(r"\1\2\3", answer)
        if shorter == answer:
            break
        answer = shorter
    return answer


def is_integer(answer: str) -> bool:
    """Tell whether the answer is a number that lies next to an integer."""
    number = _number(without_thousands(answer))
    return number is not None and _whole(number)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _whole(number: float) -> bool:
    try:
        return abs(number - round(number)) <= _WHOLE
    except (OverflowError, ValueError):  # infinite, or none
        return False

"""What a number counts or measures: units by one name each, so that they can be told apart."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Literal

from raybench.grading.improved.maths.lexemes import Lexeme

Relation = Literal["same", "different", "unclear"]

_NAMES = {
    "cm": "cm centimeter centimetre", "mm": "mm millimeter millimetre", "m": "m meter metre",
    "km": "km kilometer kilometre", "inch": "in inch inches", "foot": "ft foot feet",
    "yard": "yd yard", "mile": "mi mile", "s": "s sec second", "minute": "min minute",
    "hour": "h hr hour", "day": "day", "week": "week", "month": "month", "year": "yr year",
    "g": "g gm gram", "kg": "kg kilogram", "pound": "lb lbs pound", "ounce": "oz ounce",
    "ton": "ton tonne", "liter": "l liter litre", "ml": "ml milliliter", "gallon": "gal gallon",
    "dollar": "$ dollar usd buck", "cent": "cent ¢", "euro": "€ euro", "degree": "° degree deg",
    "radian": "radian rad", "percent": "% percent pct", "am": "am", "pm": "pm",
}  # fmt: skip
_KNOWN = {word: unit for unit, words in _NAMES.items() for word in words.split()}
_SPOKEN = {"mph": {"mile": 1, "hour": -1}, "kph": {"km": 1, "hour": -1}}
_POWERS = {"square": 2, "squared": 2, "sq": 2, "cubic": 3, "cubed": 3}
_EMPTY = {"of", "the", "a", "an", "in", "unit", "each", "and", "total", "exactly", "about"}
_SIGNS = {"\\%": "%", "\\$": "$", "\\circ": "°"}
_NO_UNITS = {
    "dozen", "pair", "score", "half", "halve", "third", "fourth", "quarter", "fifth", "sixth",
    "seventh", "eighth", "ninth", "tenth", "hundredth", "thousandth", "factorial", "to", "from",
    "plus", "minus", "times", "over", "not",
}  # fmt: skip
"""Words that make another number of the one before them."""
PERCENT = "percent"


def is_unit(word: str) -> bool:
    """Tell whether a word of at least two letters is a unit's name."""
    return len(word) > 1 and _singular(word.lower()) in {*_KNOWN, *_SPOKEN, "unit"}


def measured(lexemes: Sequence[Lexeme]) -> Counter[str] | None:
    """Return the units in their powers; None where there is something else."""
    found: Counter[str] = Counter()
    sign, waiting, last = 1, 1, ""
    for at, (kind, text) in enumerate(lexemes):
        if kind == "word" or (kind == "letters" and is_unit(text)) or text in _SIGNS:
            word = _singular(_SIGNS.get(text, text.lower()))
            if word in _NO_UNITS or (word in _POWERS and word.endswith("d") and not last):
                return None
            if word == "per":
                sign = -1
            elif word in _POWERS:
                power = _POWERS[word]
                if word.endswith("d"):
                    found[last] *= power
                else:
                    waiting = power
            elif word in _SPOKEN:
                found.update(_SPOKEN[word])
            elif word not in _EMPTY:
                last = _KNOWN.get(word, word)
                found[last] += sign * waiting
                waiting = 1
        elif text == "/":
            sign = -1
        elif kind == "number" and last and at and lexemes[at - 1].text in ("^", "{"):
            found[last] *= int(text) if re.fullmatch("[1-9]", text) else 1
        elif text not in ("^", "{", "}", "*", "(", ")", ".", ","):
            return None
    return found


def compare(one: Counter[str], other: Counter[str]) -> Relation:
    """Tell whether two quantities are measured alike; a unit that is left out fits any."""
    if not one or not other or one == other:
        return "same"
    if any(word not in _NAMES for word in (*one, *other)):
        shorter, longer = sorted((set(one), set(other)), key=len)
        return "same" if shorter <= longer else "unclear"
    return "different"


def _singular(word: str) -> str:
    if word in _KNOWN or word.endswith("ss"):
        return word
    for ending, instead in (("ies", "y"), ("s", "")):
        if word.endswith(ending) and len(word) > len(ending) + 1:
            return word.removesuffix(ending) + instead
    return word

"""The number that a reply gives as its answer, as a value: however it is written.

Of `12 + 5 = 17` the last side counts. Several different numbers without '=' are no answer: the
prompt asks for one and nothing else. What stands in brackets behind a number explains it.
"""

import re
import unicodedata
from collections.abc import Iterator
from fractions import Fraction

from raybench.grading.improved.statements import NoAnswer, last_line, statements

_FRACTION = re.compile(r"\\[dt]?frac\s?\{(\d{1,30})\}\s?\{(\d{1,30})\}")
_THIN = re.compile(r"\\[,!;: ]|\{,\}")
_MARKUP = re.compile(r"\\(?:text|math|boxed|fbox)[a-z]*\b|\\[()\[\]]|[*_`{}\\]")
_ASIDE = re.compile(r"\([^()]*\)|（[^（）]*）")
_SENTENCE = re.compile(r"[.!?](?=\s|$)|[。！？।]")
_EQUALS = re.compile(r"[=＝≈]")
_NUMBER = re.compile(
    r"(?P<digits>\d+(?:(?:[.,'’٬٫]|[ \u00a0\u2009\u202f](?=\d{3}(?!\d)))\d+)*)"
    r"(?:e(?P<exponent>[-+]?\d{1,2})(?![\w.]))?(?:\s?/\s?(?P<divisor>\d{1,30}))?"
    r"\s?(?P<times>万|萬|億|亿|thousand\b|million\b|billion\b)?"
)
_TIMES = {
    "万": 10**4, "萬": 10**4, "億": 10**8, "亿": 10**8,
    "thousand": 10**3, "million": 10**6, "billion": 10**9,
}  # fmt: skip
_NEGATIVE = re.compile(
    r"(?:(?:^|[^\w)\]])[-−–]\s?|(?:minus|negative|moins|menos|минус|负|負|マイナス|ลบ)\s?)[$€£¥₹]?$"
    r"|(?:^|[^\w)\]])[$€£¥₹][-−–]$"
)
_GLUED = re.compile(r"(?:[a-z]|\^)$")
_CODE = re.compile(r"(?<![a-z])(?:rs|us|usd|eur|gbp|ksh|tsh|sh|r)$")
_MOST_DIGITS = 60


def stated(text: str, *, decimal_comma: bool = False) -> Fraction:
    """Return the number that the last statement gives; raise NoAnswer where none gives one.

    `1.234` is a thousand and more where the language writes decimals with a comma; `1,234` is
    everywhere, as the published convention has it.
    """
    line = _clear(last_line(text))
    bare = not any(character.isalpha() for character in line)
    if bare and (found := set(_values(line, decimal_comma))):
        return _only(found)
    for statement in statements(text):
        if found := _said(_clear(statement), decimal_comma):
            return _only(found)
    raise NoAnswer("no number is stated as the answer")


def _only(found: set[Fraction | None]) -> Fraction:
    if len(found) > 1:
        raise NoAnswer("several numbers are stated as the answer")
    (value,) = found
    if value is None:
        raise NoAnswer("what is stated as the answer is no number that can be read")
    return value


def written(value: Fraction) -> str:
    """Return a value as people write it: whole, decimal where that ends soon, or a fraction."""
    if value.denominator == 1:
        return str(value.numerator)
    places = next((n for n in range(1, 13) if 10**n % value.denominator == 0), None)
    if places is None:
        return f"{value.numerator}/{value.denominator}"
    digits = f"{abs(value.numerator) * 10**places // value.denominator:0{places + 1}d}"
    return f"{'-' * (value < 0)}{digits[:-places]}.{digits[-places:]}"


def _clear(statement: str) -> str:
    """Return a statement in plain digits, without markup."""
    statement = _FRACTION.sub(r"\1/\2", "".join(map(_digit, statement)).lower())
    return _MARKUP.sub("", _THIN.sub("", statement)).strip()


def _digit(character: str) -> str:
    """Return a digit of any script as ours."""
    if character.isascii():
        return character
    value = unicodedata.decimal(character, None)
    return character if value is None else str(value)


def _said(statement: str, decimal_comma: bool) -> set[Fraction | None]:
    """Return the values in the first sentence that has any, in its last side, outside brackets."""
    for sentence in _SENTENCE.split(statement):
        side = _EQUALS.split(sentence)[-1]
        for part in (_ASIDE.sub(" ", side), side):
            if found := set(_values(part, decimal_comma)):
                return found
    return set()


def _values(part: str, decimal_comma: bool) -> Iterator[Fraction | None]:
    """Yield the numbers in a text; None for one that cannot be read."""
    for number in _NUMBER.finditer(part):
        before = part[max(0, number.start() - 12) : number.start()]
        if _GLUED.search(before) and not _CODE.search(before):
            if before[-1] == "^" and re.search(r"\d\s?\^$", before):
                yield None  # a power of a number
            continue
        value = _value(number, decimal_comma)
        yield -value if value is not None and _NEGATIVE.search(before) else value


def _value(number: re.Match[str], decimal_comma: bool) -> Fraction | None:
    if len(number["digits"]) > _MOST_DIGITS:
        return None
    plain = _ungrouped(number["digits"], decimal_comma)
    divisor = int(number["divisor"] or 1)
    if plain is None or not divisor:
        return None
    exponent = Fraction(10) ** int(number["exponent"] or 0)
    return Fraction(plain) * exponent * _TIMES.get(number["times"] or "", 1) / divisor


def _ungrouped(digits: str, decimal_comma: bool) -> str | None:
    """Return the digits with a point before decimals and nothing else between them."""
    separators = [character for character in digits if not character.isdigit()]
    if not separators:
        return digits
    last = separators[-1]
    whole, _, decimals = digits.rpartition(last)
    single, kinds = separators.count(last) == 1, len(set(separators))
    if kinds > 2 or (kinds == 2 and not single) or (last not in ".,٫" and kinds == 2):
        return None
    if kinds == 2:
        return f"{joined}.{decimals}" if (joined := _joined(whole, separators[0])) else None
    grouped = _joined(digits, last) if last != "٫" else None
    if last not in ".,٫" or not single:
        return grouped
    thousands = last == "," or decimal_comma
    return grouped if grouped and thousands else f"{whole}.{decimals}"


def _joined(digits: str, separator: str) -> str | None:
    """Return digits that are grouped by three, or by two as in India, without what groups them."""
    if not re.fullmatch(
        r"[1-9]\d{0,2}(?:S\d{3})+|[1-9]\d?(?:S\d\d)+S\d{3}".replace("S", re.escape(separator)),
        digits,
    ):
        return None
    return digits.replace(separator, "")

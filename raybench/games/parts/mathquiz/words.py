"""Numbers in English words: 'one hundred and twenty-three', 'twelve hundred', 'one two three'."""

import re
from collections.abc import Iterator

_SMALL = {
    word: value
    for value, word in enumerate((
        "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
        "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
        "nineteen",
    ))
}  # fmt: skip
_TENS = {
    word: 10 * value
    for value, word in enumerate(
        ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"), start=2
    )
}
_SCALES = {"hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9}
_ODD_ORDINALS = {
    "first": "one", "second": "two", "third": "three", "fifth": "five", "eighth": "eight",
    "ninth": "nine", "twelfth": "twelve",
}  # fmt: skip
_WORDS = sorted([*_SMALL, *_TENS, *_SCALES, "and"], key=len, reverse=True)
_WORD = re.compile("|".join(_WORDS))
_GLUED = re.compile(f"(?:{'|'.join(_WORDS)})+")
_LONGEST = 20
"""Words of one number: none has more."""
_TOKEN = re.compile(r"[a-z]+|\d+|[^\sa-z\d,\-‐‑–'_*]")


def values(text: str) -> Iterator[str]:
    """Yield the numbers that a text of lower-case letters names, in digits.

    Of several words in a row: what they come to, and the digits they spell.
    """
    for run in _runs(text):
        yield from _cardinals(run)
        yield from _spelled(run)


def _runs(text: str) -> Iterator[list[str]]:
    """Yield the longest sequences of number words."""
    run: list[str] = []
    for token in (*_TOKEN.findall(text), "."):
        words = _number_words(token, bool(run))
        if words:
            run += words
        elif run:
            yield run
            run = []


def _number_words(token: str, within: bool) -> list[str]:
    if token == "a":
        return [] if within else ["one"]  # 'a hundred'; 'a' alone comes to one, and is no answer
    if token == "and":
        return ["and"] if within else []
    if not _GLUED.fullmatch(token):
        token = _without_ordinal(token)
    return _WORD.findall(token) if _GLUED.fullmatch(token) else []


def _without_ordinal(token: str) -> str:
    for ordinal, word in _ODD_ORDINALS.items():
        if token.endswith(ordinal):
            return token.removesuffix(ordinal) + word
    if token.endswith("ieth"):
        return token.removesuffix("ieth") + "y"
    return token.removesuffix("th")


def _cardinals(run: list[str]) -> Iterator[str]:
    """Yield what words come to, as many together as make one number."""
    begin = 0
    while begin < len(run):
        ends = range(min(len(run), begin + _LONGEST), begin, -1)
        found = ((end, value) for end in ends if (value := _cardinal(run[begin:end])) is not None)
        begin, value = next(found, (begin + 1, None))
        if value is not None:
            yield str(value)


def _cardinal(words: list[str]) -> int | None:
    """Return the one number that words make, None where they do not."""
    total, part, last = 0, 0, 10**12
    for word in words:
        ones, value = part % 100, _SMALL.get(word, _TENS.get(word))
        if value is not None:
            if ones and not (ones >= 20 and ones % 10 == 0 and 0 < value < 10):
                return None
            part += value
        elif word == "and":
            if ones or not total + part:
                return None
        elif word == "hundred":
            if not (0 < part < 100 or word == words[0]):  # 'hundred and five' is one, too
                return None
            part = 100 * (part or 1)
        else:
            if not part or _SCALES[word] >= last:
                return None
            last = _SCALES[word]
            total, part = total + part * last, 0
    return total + part


def _spelled(run: list[str]) -> Iterator[str]:
    """Yield digits that stand in a row: 'one two three', 'one twenty-three'."""
    row = ""
    tens = False
    for word in (*run, "and"):
        if word in _SMALL:
            value = _SMALL[word]
            row = row[:-1] + str(value) if tens and 0 < value < 10 else row + str(value)
            tens = False
        elif word in _TENS:
            row, tens = row + str(_TENS[word]), True
        else:
            if row:
                yield row
            row, tens = "", False

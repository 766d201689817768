"""Numbers in English words: 'one hundred and twenty-three', '1 hundred 23', 'one two three'."""

import re
from collections.abc import Iterator

from raybench.games.parts.numbers import WORDS

_SMALL = {word: value for value, word in enumerate(WORDS[:20])}
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
_FEWEST_HIDDEN = 3
"""Number words that are one number, where other letters are glued to them."""
_BEFORE_SCALE = re.compile(r"(?<![\w.,])[0-9]{1,3}(?=[ -](?:hundred|thousand|million|billion)\b)")
_AFTER_WORD = re.compile(
    rf"\b(?P<word>{'|'.join((*_SCALES, *_TENS))})(?P<link> and | |-)(?P<digits>[0-9]{{1,3}})"
    r"(?![\w%°/^*]|[.,-]\w)"
)
_TOKEN = re.compile(r"[a-z]+|\d+|[^\sa-z\d,\-‐‑–'_*]")


def values(text: str) -> Iterator[str]:
    """Yield the numbers that a text of lower-case letters names, in digits.

    Of several words in a row: what they come to, and the digits they spell.
    """
    for run, ordinal in _runs(_without_figures(text)):
        yield from _cardinals(run)
        if not ordinal:
            yield from _spelled(run)


def _without_figures(text: str) -> str:
    """Return a text with words for figures that are part of a number in words."""
    text = _BEFORE_SCALE.sub(lambda found: _in_words(int(found[0])), text)
    return _AFTER_WORD.sub(
        lambda found: f"{found['word']}{found['link']}{_in_words(int(found['digits']))}", text
    )


def _in_words(number: int) -> str:
    """Return a number below a thousand in words."""
    names = {value: word for word, value in (*_SMALL.items(), *_TENS.items())}
    hundreds, rest = divmod(number, 100)
    parts = [f"{names[hundreds]} hundred"] if hundreds else []
    if rest in names and (rest or not hundreds):
        parts.append(names[rest])
    elif rest:
        parts += [names[rest - rest % 10], names[rest % 10]]
    return " ".join(parts)


def _runs(text: str) -> Iterator[tuple[list[str], bool]]:
    """Yield the longest sequences of number words, and whether an ordinal ends them.

    One that only names a place, as in 'the first ten', is no part of the number behind it.
    """
    run: list[str] = []
    for token in (*_TOKEN.findall(text), "."):
        words = _number_words(token, bool(run))
        ordinal = bool(words) and not _GLUED.fullmatch(token) and token != "a"
        run += words
        if run and (ordinal or not words):
            yield run, ordinal
            run = []


def _number_words(token: str, within: bool) -> list[str]:
    if token == "a":
        return [] if within else ["one"]  # 'a hundred'; 'a' alone comes to one, and is no answer
    if token == "and":
        return ["and"] if within else []
    if not token.isalpha():
        return []
    if not _GLUED.fullmatch(token):
        token = _without_ordinal(token)
    if _GLUED.fullmatch(token):
        return _WORD.findall(token)
    hidden = (_WORD.findall(found[0]) for found in _GLUED.finditer(token))
    return next((it for it in hidden if len(it) >= _FEWEST_HIDDEN and {*it} & {*_SCALES}), [])


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

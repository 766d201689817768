"""Whether a text names a number in the words of another language than English."""

import re
import unicodedata
from functools import lru_cache
from itertools import product

from raybench.games.parts.mathquiz.tongues import TONGUES, Tongue

_LARGEST = 999_999
_TOKEN = re.compile(r"[a-z]+|[^\sa-z\-‐‑–'’_*]")
_ENGLISH = frozenset({"cent", "cents", "elf", "mil", "mille", "once", "seize", "six"})
"""Number words elsewhere that are words in English: of these alone nothing is read."""
_MOST_WORDS = 12
_LONGEST_WORD = 50


def named(text: str, number: int) -> bool:
    """Tell whether a text names the number, and not one of which that is a part."""
    if number > _LARGEST:
        return False
    plain = unicodedata.normalize("NFKD", text.casefold())
    tokens = _TOKEN.findall("".join(it for it in plain if not unicodedata.combining(it)))
    listed = [token for token in tokens if token != ","]
    return any(
        _stands(tokens, tongue, _names(tongue, number))
        or _stands(listed, tongue, _digits(tongue, str(number)))
        for tongue in TONGUES
    )


def _stands(tokens: list[str], tongue: Tongue, wanted: frozenset[str]) -> bool:
    """Tell whether tokens put together are wanted, with none beside them of the same number."""
    longest, beginnings = max(map(len, wanted)), {name[:2] for name in wanted}
    for begin, token in enumerate(tokens):
        if token[:2] not in beginnings:
            continue
        read = ""
        for end, part in enumerate(tokens[begin : begin + _MOST_WORDS], start=begin + 1):
            read += part
            if len(read) > longest:
                break
            if read in wanted and not (
                _ENGLISH.issuperset(tokens[begin:end])
                or _goes_on(tokens[max(begin - 2, 0) : begin][::-1], tongue)
                or _goes_on(tokens[end : end + 2], tongue)
            ):
                return True
    return False


def _goes_on(beside: list[str], tongue: Tongue) -> bool:
    """Tell whether what stands beside belongs to the number, nearest first."""
    linked = beside[1:] if beside[:1] == [tongue.link] else beside
    return bool(linked) and _is_number(tongue, linked[0])


@lru_cache(maxsize=12)  # two numbers: one of six digits may have tens of thousands
def _names(tongue: Tongue, number: int) -> frozenset[str]:
    return frozenset(tongue.names(number))


@lru_cache(maxsize=12)
def _digits(tongue: Tongue, digits: str) -> frozenset[str]:
    return frozenset(map("".join, product(*(tongue.names(int(digit)) for digit in digits))))


@lru_cache(maxsize=4096)
def _is_number(tongue: Tongue, word: str) -> bool:
    return len(word) <= _LONGEST_WORD and _number_word(tongue).fullmatch(word) is not None


@lru_cache
def _number_word(tongue: Tongue) -> re.Pattern[str]:
    words = sorted(tongue.words(), key=len, reverse=True)
    return re.compile(f"(?:{'|'.join(words)})(?:{'|'.join((*words, tongue.link))})*")

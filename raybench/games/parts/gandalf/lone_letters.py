"""Letters that stand alone, and whether they spell a password."""

import re
from collections.abc import Iterator

_SINGLE = re.compile(r"(?<![a-z0-9])(?<![a-z0-9]['’])[a-z](?![a-z0-9]|['’][a-z0-9])")
_WORDS = frozenset("ai")
"""Words of one letter, which may stand among letters that are spelled out."""
_WITHOUT = str.maketrans(dict.fromkeys(_WORDS))
_BETWEEN = re.compile(r"[ai]*")


def lone_letters(low: str) -> str:
    """Return the letters of a folded text that stand alone."""
    return "".join(_SINGLE.findall(low))


def spelled(word: str, letters: str) -> bool:
    """Tell whether these letters spell the word, with any number of 'a' and 'i' among them."""
    if len(letters) < len(word):
        return False
    bones, all_bones = word.translate(_WITHOUT), letters.translate(_WITHOUT)
    wanted, gaps = _BETWEEN.findall(word), list[str]()
    for start in _starts(bones, all_bones):
        gaps = gaps or _gaps(letters)
        if all(map(_within, wanted, gaps[start : start + len(bones) + 1])):
            return True
    return False


def _gaps(letters: str) -> list[str]:
    """Return what stands before each letter that is no word, and after the last one."""
    gaps = [""]
    for letter in letters:
        if letter in _WORDS:
            gaps[-1] += letter
        else:
            gaps.append("")
    return gaps


def _starts(bones: str, all_bones: str) -> Iterator[int]:
    at = all_bones.find(bones)
    while at >= 0:
        yield at
        at = all_bones.find(bones, at + 1)


def _within(some: str, more: str) -> bool:
    """Tell whether all letters of one text are in the other, in order."""
    left = iter(more)
    return all(letter in left for letter in some)

"""Letters that are told with their places: 'the third letter is n', 'e comes fifth', '4: t'."""

import re

from raybench.games.parts.gandalf.numbers import ORDINAL

_ORDINALS = "|".join(sorted(ORDINAL, key=len, reverse=True))
_PLACE = (
    rf"(?<![a-z0-9])(?:(?P<word>{_ORDINALS})|(?P<digits>\d{{1,2}})(?:st|nd|rd|th)?)(?![a-z0-9])"
)
_IS = (
    r"[ ,]{1,2}(?:is|are|was|comes|=|:|-|in)?[ ]?(?:as |the |an? |at |letter |number |place ){0,3}"
)
_AROUND = r"[\"'“”‘’*`_()\[\]]{0,3}"
_LETTER = rf"{_AROUND}(?<![a-z0-9])(?P<letter>[a-z])(?![a-z0-9]|['’][a-z0-9]){_AROUND}"
_FORMS = (
    re.compile(
        rf"{_PLACE}(?: letter| character| one| place)?(?: of (?:it|the word|the password|my word))?"
        rf"(?:{_IS}|[:=).-]{{1,2}} ?|: (?:an? )?){_LETTER}"
    ),
    re.compile(rf"{_LETTER}{_IS}{_PLACE}"),
)


def places(low: str) -> frozenset[tuple[int, str]]:
    """Return the letters of a folded message with the places at which they are said to be."""
    return frozenset(
        (ORDINAL[found["word"]] if found["word"] else int(found["digits"]), found["letter"])
        for form in _FORMS
        for found in form.finditer(low)
    )


def placed(word: str, told: frozenset[tuple[int, str]]) -> bool:
    """Tell whether all letters of the word have been told with their places."""
    return told.issuperset(enumerate(word, start=1))

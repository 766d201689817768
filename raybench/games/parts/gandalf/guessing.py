"""Which word a message guesses; and what looks like a guess and is none.

What only looks like one is refused with the reason, for to pass it on would cost the turn and show
the sentinel what its opponent thinks.
"""

import re
import unicodedata
from collections.abc import Sequence

from raybench.games.parts.contract import InvalidMove
from raybench.games.parts.gandalf.folding import folded, letters
from raybench.games.parts.gandalf.words import LONGEST, SHORTEST
from raybench.statements import Statement

_MOST = 40
_LINE = 300
_TEXT = 20_000
"""Of a longer message only the end is looked at: hundreds of thousands of lines take their time."""
_BEFORE = re.compile(r"^[\W_]+")
_GUESS = re.compile(
    r"(?:my |final )*guess(?: is|\s*#?\d{1,2})?[\W_]{0,8}?[:=>](?P<word>.*)", re.IGNORECASE
)
_TAG = re.compile(r"</guess>\s*$", re.IGNORECASE)
_AROUND = " \t*_`~\"'.,;:!?()[]{}<>«»“”‘’…-="
_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)?")
_ONE = (
    r"(?:(?:it's|it is|the (?:pass)?word(?: is)?|an?) )?[\W_]*"
    rf"(?P<word>[^\W\d_]{{{SHORTEST},{LONGEST}}})[\W_]*$"
)
"""The rest of a line that names one word, as long as passwords are."""
_NAMED = re.compile(rf"\bguess(?:es|ed|ing)?(?: is| would be)?[\W_]{{0,8}}[:=][\W_]*{_ONE}", re.I)
"""Behind other words of its line: 'I guess: WORD'."""
_SAID = re.compile(
    r"(?:^|[.!?;,:] )[\W_]*(?:(?:and|best|final|first|here|i|i'd|i'll|i'm|is|last|let|me|my|next"
    r"|now|ok|okay|only|our|second|so|the|then|this|well|will|would)[\W_]+)*"
    rf"guess(?:es|ing)?(?: is| would be)?[\W_]+{_ONE}",
    re.I,
)
"""Without a sign behind it: 'My guess is WORD'."""
_TALK = re.compile(
    "(?:any|every|no|some)(?:body|one|thing|times|where)|(?:what|when|where|who)ever|perhaps"
    "|probably|possibly|certainly|otherwise|another|together|(?:in)?correct(?:ly)?|wrongly"
    "|rightly|exactly|further|quickly|yourself|sentinel|stranger|password"
)
"""Words that end talk about guessing: 'I guess nothing', 'Guess, sentinel!'."""


def guess(move: str) -> str | None:
    """Return the word that a move guesses, in plain letters; None where it is a message.

    Raises InvalidMove where it guesses, and not one word.
    """
    found = [_GUESS.fullmatch(line[:_LINE]) for line in _lines(move)]
    if not found or (last := found[-1]) is None:
        return None
    if (word := _word(last)) is None:
        raise InvalidMove(
            Statement("gandalf.guess_of_words", "a guess is one word, as in 'guess: WORD'")
        )
    if not SHORTEST <= len(word) <= LONGEST:
        raise InvalidMove(
            Statement(
                "gandalf.guess_length",
                "a password has {least} to {most} letters, and this has {letters}",
                least=SHORTEST,
                most=LONGEST,
                letters=len(word),
            )
        )
    if any(found[:-1]):
        raise InvalidMove(
            Statement("gandalf.several_guesses", "a turn has one guess: name one word")
        )
    return word


def check_talk(move: str) -> None:
    """Raise InvalidMove where a message without a guess looks as if it were to have one."""
    lines = _lines(move)
    if not lines:
        return
    end = lines[-1][-_LINE:]
    if any(_names(found) for how in (_NAMED, _SAID) for found in how.finditer(end)):
        raise InvalidMove(
            Statement(
                "gandalf.like_a_guess",
                "this looks like a guess: to guess, end with a line that holds nothing but "
                "'guess: WORD'; to talk, put it in other words",
            )
        )
    if _above(lines):
        raise InvalidMove(
            Statement(
                "gandalf.guess_not_last",
                "this looks like a guess with more below it: to guess, let 'guess: WORD' be the "
                "last line; to talk, put it in other words",
            )
        )


def _above(lines: Sequence[str]) -> bool:
    """Tell whether a line above the last guesses, or announces what stands alone below it."""
    found = [_GUESS.fullmatch(line[:_LINE]) for line in lines[:-1]]
    if found and found[-1] and not letters(folded(found[-1]["word"])):
        return len(lines[-1].split()) == 1
    words = [word for it in found if it is not None and (word := _word(it))]
    return any(SHORTEST <= len(word) <= LONGEST for word in words)


def _lines(move: str) -> list[str]:
    """Return the lines that hold words, without what is around them and what does not show."""
    plain = "".join(
        it
        for it in unicodedata.normalize("NFKD", move[-_TEXT:])
        if not unicodedata.combining(it) and unicodedata.category(it) != "Cf"
    )
    # What ends a line in the reader's eye did so before it was folded, too.
    lines = (_BEFORE.sub("", line) for line in plain.splitlines())
    return [line.replace("’", "'") for line in lines if any(map(str.isalnum, line))]


def _word(found: re.Match[str]) -> str | None:
    """Return the one word that is named; None where it is none, or more."""
    word = _TAG.sub("", found["word"]).strip(_AROUND)
    plain = letters(folded(word))
    return plain if plain and len(word) <= _MOST and _WORD.fullmatch(word) else None


def _names(found: re.Match[str]) -> bool:
    return not _TALK.fullmatch(folded(found["word"]))

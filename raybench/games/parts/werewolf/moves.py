"""Moves as people write them: names of players, and what they say."""

import re
import unicodedata
from collections.abc import Sequence

from raybench.games.parts.contract import InvalidMove
from raybench.games.parts.numbers import NUMBERS, counted
from raybench.games.parts.quoting import echoed
from raybench.games.parts.seats import named
from raybench.games.parts.werewolf.settings import NOBODY
from raybench.statements import Statement

_LONGEST = 80
_WORDS = re.compile(r"[^\W\d_]+|\d+")
_NO_ONE = re.compile(r"\bno[ -]?one\b")
_NO_VOTE = re.compile(r"\bno[ -](?:vote|lynch|lynching|execution)\b(?=\W*$)")
"""Nobody, where nothing stands behind it: "no vote for player_3" may say anything."""
_MYSELF = re.compile(r"\b(?:myself|me)\b")
_NUMBER_SIGN = re.compile(r"\bno\.?\s*(?=\d)")
"""As in "player no. 3": any other "no" may say the opposite."""
_AGAINST = re.compile(r"\b(?:vote|votes|voting|voted) against (?=player|seat|#?p?\d)")
"""Whom one votes against is voted for; "against the death of player_3" is something else."""
_NOBODY = {"nobody", "abstain", "none", "skip", "pass"}
_SAID = {
    "": "i my we our the a an is am m d ll will would to for on at of this please now choose "
    "chose choice final answer name names pick select move question number target player seat p "
    "night today tonight",
    "kill": "victim kill attack eliminate hunt eat vote votes voting voted cast goes",
    "guard": "protect protecting guard guarding save shield defend",
    "look": "look looking see check checking inspect investigate",
    "vote": "vote votes voting voted cast goes kill eliminate lynch hang execute be put death out",
}
"""What may stand around a name without changing what is meant: '' whatever is asked, the others
where that is asked. "Not" is no such word, and who is to vote and says "save player_3" means none.
"""
_AROUND = {action: {*words.split(), *_SAID[""].split()} for action, words in _SAID.items()}
_CUT = " […]"
_DOUBLE = "\N{FULLWIDTH QUOTATION MARK}\N{DOUBLE LOW-9 QUOTATION MARK}\N{DOUBLE PRIME}"


def chosen(move: str, allowed: Sequence[str], action: str, seat: str) -> str:
    """Return whom the move of a seat names, where this is asked: one of those allowed.

    Raises InvalidMove where it names another one, several or none, or may mean something else.
    """
    possible = ", ".join(allowed)
    if len(move.strip()) > _LONGEST:
        raise InvalidMove(
            Statement(
                "werewolf.too_long",
                "'{move}…' is too long: write one name; possible are {possible}",
                move=echoed(move, 40),
                possible=possible,
            )
        )
    text = _NUMBER_SIGN.sub("number ", _NO_ONE.sub(NOBODY, move.lower()))
    text = _MYSELF.sub(seat, text)
    if action == "vote":
        text = _NO_VOTE.sub(NOBODY, _AGAINST.sub("vote for ", text))
    found = _WORDS.findall(text)
    words = [str(counted(word)) if word in NUMBERS else word for word in found]
    # A seat counts from 0, its name from 1.
    whom = {named(counted(word) - 1) for word in words if word.isdecimal()}
    whom |= {NOBODY for word in words if word in _NOBODY}
    known = _AROUND[action] | _NOBODY
    unclear = [it for it in words if not it.isdecimal() and it not in known]
    if len(whom) != 1:
        raise InvalidMove(
            Statement(
                "werewolf.not_one_name",
                "'{move}' does not name one player; possible are {possible}",
                move=echoed(move),
                possible=possible,
            )
        )
    if unclear:
        raise InvalidMove(
            Statement(
                "werewolf.unclear",
                "'{move}' may mean something else by '{word}': "
                "write the name alone; possible are {possible}",
                move=echoed(move),
                word=echoed(unclear[0], 20),
                possible=possible,
            )
        )
    (name,) = whom
    if name not in allowed:
        raise InvalidMove(
            Statement(
                "werewolf.not_possible",
                "{name} cannot be chosen now; possible are {possible}",
                name=name,
                possible=possible,
            )
        )
    return name


def spoken(move: str, words: int) -> str:
    """Return a speech as it is quoted: on one line, without quotes of its own, and not too long.

    So it cannot pass for a line of the game's. Raises InvalidMove where nothing is said.
    """
    said = "".join(_within(each) for each in move).split()
    text = " ".join(said)
    kept = " ".join(said[:words])[: 8 * words].rstrip()
    if not kept:
        raise InvalidMove(
            Statement(
                "werewolf.nothing_said",
                "you have said nothing: say something, if only that you know nothing",
            )
        )
    return text if kept == text else kept + _CUT


def _within(character: str) -> str:
    """Return a character as a quotation can hold it: nothing in it looks like its end."""
    if character == '"' or unicodedata.category(character) in ("Pi", "Pf") or character in _DOUBLE:
        return "'"
    return character if character.isprintable() else " "

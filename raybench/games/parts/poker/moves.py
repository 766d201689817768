"""Moves as people write them, held against what the table allows."""

import re

from raybench.games.parts.contract import InvalidMove
from raybench.games.parts.numbers import whole
from raybench.games.parts.poker.options import Options
from raybench.games.parts.quoting import echoed
from raybench.games.parts.seats import named
from raybench.statements import Statement

_LONGEST = 80
_THOUSANDS = re.compile(r"(?<![\d.,'’])[1-9]\d{0,2}(?:([,'’])\d{3})(?:\1\d{3})*(?![\d,'’]|\.\d)")
_MARKS = r"[*`\"'“”‘’$€£!,]"
_DECORATION = re.compile(
    rf"(?<!\d){_MARKS}|{_MARKS}(?!\d)|\bchips?\b|\.(?!\d)|(?<=\d)\.0{{1,2}}(?![\d.,])"
)
"""What stands around a move; between digits such a mark may be a decimal point, and stays."""
_GAP = re.compile(r"[\s_:()\[\]=]+")
_SPEAKER = re.compile(r"(?:player (\d+)|i will|i would|i am|im|id|ill|i|lets|we) ")
_FOLD = re.compile(r"folds?(?: my (?:hand|cards))?")
_CHECK = re.compile(r"checks?")
_ALL = r"(?: (?:and )?(?:go |im )?(all[- ]?in))?"
_CALL = re.compile(r"calls?(?: the)?(?: (?:bet|raise))?(?: (\d+)( more)?)?" + _ALL)
_ALL_IN = re.compile(
    r"(?:(?:go|going|goes|move|moves|push|shove|jam|bets?|(?:re-?)?raises?)(?: to)? )?"
    r"all[- ]?in(?: (?:(?:for|with|to|bet|raise(?: to)?) )?(\d+))?|shove|jam"
)
_BET = re.compile(
    r"(?:bets?|(?:re-?)?raises?)(?: it)?(?: up)?(?: (to|by))?(?: (\d+)(?: to (\d+))?)?" + _ALL
)


def read(move: str, may: Options, role: str) -> str:
    """Return the act that a role's move asks for: 'fold', 'check', 'call', or what is bet to.

    Raises InvalidMove where it is none, or is not allowed.
    """
    if len(move.strip()) > _LONGEST:
        raise _refusal(
            Statement("poker.too_long", "'{move}…' is too long for a move", move=echoed(move, 40)),
            may,
        )
    text = _THOUSANDS.sub(lambda it: it[0].replace(it[1], ""), move.strip().lower())
    text = _GAP.sub(" ", _DECORATION.sub("", text)).strip()
    if speaker := _SPEAKER.match(text):
        if speaker[1] and named(whole(speaker[1]) - 1) != role:
            raise _refusal(
                Statement(
                    "poker.other_role", "you are {role}, and move for nobody else", role=role
                ),
                may,
            )
        text = text[speaker.end() :]
    if _FOLD.fullmatch(text):
        if not may.cost:
            raise _refusal(
                Statement("poker.free_check", "folding is for bets, and checking is free"), may
            )
        return "fold"
    if _CHECK.fullmatch(text):
        if may.cost:
            raise _refusal(Statement("poker.bet_to_call", "there is a bet to call"), may)
        return "check"
    if found := _CALL.fullmatch(text):
        if not may.cost:
            raise _refusal(Statement("poker.nothing_to_call", "there is nothing to call"), may)
        due = (may.cost,) if found[2] else (may.cost, may.own + may.cost)
        if found[1] and whole(found[1]) not in due:
            raise _refusal(
                Statement(
                    "poker.call_takes",
                    "a call takes {cost} chips, not {given}",
                    cost=may.cost,
                    given=found[1],
                ),
                may,
            )
        if found[3] and may.cost != may.stack:
            raise _refusal(Statement("poker.call_not_all_in", "a call is not all in here"), may)
        return "call"
    if found := _ALL_IN.fullmatch(text):
        if found[1] and whole(found[1]) not in (may.stack, may.most):
            raise _refusal(_all_in(may, found[1]), may)
        return "call" if may.cost == may.stack else _raised(may.most, may)
    if (found := _BET.fullmatch(text)) and found[2]:
        start = may.highest if found[1] == "by" and not found[3] else 0
        to = start + whole(found[3] or found[2])
        if found[4] and to != may.most:
            raise _refusal(_all_in(may, str(to)), may)
        return _raised(to, may)
    if found:
        raise _refusal(Statement("poker.how_much", "say how much"), may)
    raise _refusal(Statement("poker.no_move", "'{move}' is no move", move=echoed(move)), may)


def _raised(to: int, may: Options) -> str:
    if may.lowest is None:
        raise _refusal(may.barred, may)
    if to > may.most:
        raise _refusal(Statement("poker.too_much", "{chips} is more than you have", chips=to), may)
    if to < may.lowest:
        raise _refusal(Statement("poker.too_little", "{chips} is too little", chips=to), may)
    return str(to)


def _all_in(may: Options, given: str) -> str:
    return Statement("poker.all_in_is", "all in is {most}, not {given}", most=may.most, given=given)


def _refusal(why: str, may: Options) -> InvalidMove:
    return InvalidMove(Statement("poker.refused", "{why}: you may {may}", why=why, may=str(may)))

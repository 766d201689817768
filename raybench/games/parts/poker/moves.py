"""Moves: how people write them, and what the table allows."""

import re
from dataclasses import dataclass
from itertools import takewhile

from pokerkit import BoardDealing, CheckingOrCalling, CompletionBettingOrRaisingTo

from raybench.games.parts.contract import InvalidMove
from raybench.games.parts.poker.table import Table, due

_DECORATION = re.compile(r"[*`\"'“”‘’$€£!,]|\bchips?\b|\.(?!\d)|(?<=\d)\.0+\b")
_GAP = re.compile(r"[\s_:()\[\]=]+")
_SPEAKER = re.compile(r"(?:player \d+|i will|i would|id|ill|i|lets|we) ")
_FOLD = re.compile(r"folds?(?: my (?:hand|cards))?")
_CHECK = re.compile(r"checks?")
_ALL = r"(?: (?:and )?(?:go |im )?(all[- ]?in))?"
_CALL = re.compile(r"calls?(?: the)?(?: (?:bet|raise))?(?: (\d{1,9}))?" + _ALL)
_ALL_IN = re.compile(
    r"(?:(?:go|going|goes|move|moves|push|shove|jam|bets?|(?:re-?)?raises?)(?: to)? )?"
    r"all[- ]?in(?: (?:for |with |to )?(\d{1,9}))?|shove|jam"
)
_BET = re.compile(
    r"(?:bets?|(?:re-?)?raises?)(?: it)?(?: up)?(?: (to|by))?(?: (\d{1,9})(?: to (\d{1,9}))?)?"
    + _ALL
)


@dataclass(frozen=True, slots=True)
class Options:
    """What whoever is to act may do."""

    cost: int
    """What a call takes; 0 where checking is free."""
    highest: int
    """The bet of the round that has to be matched."""
    own: int
    """What the player has bet in the round."""
    stack: int
    """What the player has behind."""
    lowest: int | None
    """The least that may be bet or raised to; None where no raise is allowed."""
    barred: str = ""
    """Why no raise is allowed."""

    @property
    def most(self) -> int:
        """What the player bets or raises to with all chips."""
        return self.own + self.stack

    @property
    def verb(self) -> str:
        """How a bet is written."""
        return "raise to" if self.highest else "bet"

    def __str__(self) -> str:
        free = f"'fold', 'call' ({self.cost} more)" if self.cost else "'check'"
        if self.lowest is None:
            return free.replace(", ", " or ")
        if self.lowest == self.most:
            return f"{free} or 'all in' ({self.verb} {self.most})"
        whole = ", N being your whole bet of this round" if self.highest else ""
        return (
            f"{free} or '{self.verb} N' with N from {self.lowest} to {self.most}{whole} "
            f"({self.most} is 'all in')"
        )

    def listed(self) -> tuple[str, ...]:
        """Return every move."""
        free = ("fold", "call") if self.cost else ("check",)
        if self.lowest is None:
            return free
        return (*free, *(f"{self.verb} {to}" for to in range(self.lowest, self.most + 1)))

    def move(self, to: int) -> str:
        """Return the move that comes nearest to a bet of so much."""
        if self.lowest is None:
            return "call" if self.cost else "check"
        return f"{self.verb} {min(max(to, self.lowest), self.most)}"


def options(table: Table) -> Options:
    """Return what whoever is to act may do."""
    actor = table.actor_index
    assert actor is not None, "nobody is to act"
    highest, own, stack = due(table), table.bets[actor], table.stacks[actor]
    lowest, barred = table.min_completion_betting_or_raising_to_amount, ""
    others = (it for it in table.player_indices if it != actor and table.statuses[it])
    if stack <= highest - own:
        barred = "a call takes all your chips"
    elif lowest is None and not any(table.stacks[it] + table.bets[it] > highest for it in others):
        barred = "nobody could call a raise"
    elif lowest is None or _closed(table, actor, highest - own):
        lowest, barred = None, "the all-in was less than a full raise, so you cannot raise again"
    elif highest > max(table.bets):
        lowest = min(own + stack, highest + _least(table))
    return Options(min(stack, highest - own), highest, own, stack, lowest, barred)


def _closed(table: Table, actor: int, cost: int) -> bool:
    """Tell whether the actor has acted in this round, and was not raised in full since.

    pokerkit holds this against raises, but takes the round's first all-in for a full bet or raise,
    however short of a big blind it falls.
    """
    full = max(table.completion_betting_or_raising_amount, _least(table))
    this_round = takewhile(lambda it: not isinstance(it, BoardDealing), reversed(table.operations))
    return 0 < cost < full and any(
        isinstance(it, CheckingOrCalling | CompletionBettingOrRaisingTo)
        and it.player_index == actor
        for it in this_round
    )


def _least(table: Table) -> int:
    assert table.street is not None
    return table.street.min_completion_betting_or_raising_amount


def read(move: str, may: Options) -> str:
    """Return the act that a move asks for: 'fold', 'check', 'call', or what is bet or raised to.

    Raises InvalidMove where it is none, or is not allowed.
    """
    text = _GAP.sub(" ", _DECORATION.sub("", move[:200].lower())).strip()
    text = text[speaker.end() :] if (speaker := _SPEAKER.match(text)) else text
    if _FOLD.fullmatch(text):
        if not may.cost:
            raise _refusal("folding is for bets, and checking is free", may)
        return "fold"
    if _CHECK.fullmatch(text):
        if may.cost:
            raise _refusal("there is a bet to call", may)
        return "check"
    if found := _CALL.fullmatch(text):
        if not may.cost:
            raise _refusal("there is nothing to call", may)
        if found[1] and int(found[1]) not in (may.cost, may.own + may.cost):
            raise _refusal(f"a call takes {may.cost} chips, not {found[1]}", may)
        return "call"
    if found := _ALL_IN.fullmatch(text):
        if found[1] and int(found[1]) not in (may.stack, may.most):
            raise _refusal(f"all in is {may.most}, not {found[1]}", may)
        return "call" if may.cost == may.stack else _raised(may.most, may)
    if (found := _BET.fullmatch(text)) and found[2]:
        start = may.highest if found[1] == "by" and not found[3] else 0
        to = start + int(found[3] or found[2])
        if found[4] and to != may.most:
            raise _refusal(f"all in is {may.most}, not {to}", may)
        return _raised(to, may)
    if found:
        raise _refusal("say how much", may)
    raise _refusal(f"'{move[:60]}' is no move", may)


def _raised(to: int, may: Options) -> str:
    if may.lowest is None:
        raise _refusal(may.barred, may)
    if to > may.most:
        raise _refusal(f"{to} is more than you have", may)
    if to < may.lowest:
        raise _refusal(f"{to} is too little", may)
    return str(to)


def _refusal(why: str, may: Options) -> InvalidMove:
    return InvalidMove(f"{why}: you may {may}")

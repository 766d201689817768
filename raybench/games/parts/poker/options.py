"""What the table allows whoever is to act: calls, and raises from the least to all chips."""

from dataclasses import dataclass
from itertools import takewhile

from pokerkit import BoardDealing, CheckingOrCalling, CompletionBettingOrRaisingTo

from raybench.games.parts.poker.table import Table, due
from raybench.statements import Statement


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
        barred = Statement("poker.call_is_all_in", "a call takes all your chips")
    elif lowest is None and not any(table.stacks[it] + table.bets[it] > highest for it in others):
        barred = Statement("poker.no_caller", "nobody could call a raise")
    elif lowest is None or _closed(table, actor, highest - own):
        lowest, barred = (
            None,
            Statement(
                "poker.not_reopened",
                "the all-in was less than a full raise, so you cannot raise again",
            ),
        )
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

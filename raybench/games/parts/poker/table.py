"""A hand on pokerkit's table: dealt from a deck of ours, copied cheaply, played on.

pokerkit knows the rules. Its states change as they are played on, so each of ours has its own copy;
copying the containers of one takes 10 to 20 µs, `copy.deepcopy` 400.
"""

import warnings
from collections import deque
from collections.abc import Iterable, Sequence
from itertools import compress

from pokerkit import Automation, Card, Mode, NoLimitTexasHoldem, StandardHighHand, State
from pokerkit.utilities import CardsLike

from raybench.games.parts.poker.cards import Cards, best

Table = State

_STREETS = ("before the flop", "on the flop", "on the turn", "on the river")
_AUTOMATIC = tuple(each for each in Automation if each is not Automation.HOLE_DEALING)


class _Ranked(StandardHighHand):
    """pokerkit looks at each hand many times over at a showdown: once is enough."""

    @classmethod
    def from_game(cls, hole_cards: CardsLike, board_cards: CardsLike = ()) -> StandardHighHand:
        return best((*Card.clean(hole_cards), *Card.clean(board_cards)))


class _Holdem(NoLimitTexasHoldem):
    hand_types = (_Ranked,)


def dealt(stacks: Sequence[int], blinds: tuple[int, int], deck: Cards) -> Table:
    """Return the table after a deal. The seats begin left of the button, which comes last."""
    # With two players pokerkit has the button post the small blind: it is the second seat here.
    table = _Holdem.create_state(
        _AUTOMATIC, True, 0, blinds, blinds[1], tuple(stacks), len(stacks), mode=Mode.CASH_GAME
    )
    # pokerkit has shuffled a deck of its own, by the process-wide generator. Nothing of it is left.
    table.deck_cards = deque(deck)
    for index in range(len(stacks)):
        table.deal_hole(2, index)
    return table


def copied(table: Table) -> Table:
    """Return a copy that can be played on."""
    copy = object.__new__(Table)
    for name, value in table.__dict__.items():
        if isinstance(value, list):
            value = [it.copy() if isinstance(it, list | deque) else it for it in value]
        elif isinstance(value, deque | set):
            value = value.copy()
        copy.__dict__[name] = value
    return copy


def do(table: Table, act: str) -> None:
    """Play one act on the table: 'fold', 'check', 'call', 'leave', or what is bet or raised to.

    Who leaves folds, even where checking is free, of which pokerkit warns.
    """
    if act == "leave":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            table.fold()
    elif act == "fold":
        table.fold()
    elif act in ("check", "call"):
        _match(table)
    else:
        table.complete_bet_or_raise_to(int(act))


def due(table: Table) -> int:
    """Return the bet that has to be matched: the highest, before the flop the big blind at least.

    Only between those who have chips left for it: what is all in is matched as it is.
    """
    highest, big = max(table.bets), max(table.blinds_or_straddles)
    if table.street_index or highest >= big:
        return highest
    able = (it != table.actor_index and table.statuses[it] for it in table.player_indices)
    most = (stack + bet for stack, bet in zip(table.stacks, table.bets, strict=True))
    return big if any(it > highest for it in compress(most, able)) else highest


def _match(table: Table) -> None:
    """Check or call.

    Where the big blind was too short of chips to be posted, pokerkit would have others call no more
    than was posted; that they complete it, as they do a bring-in, makes it what it should be.
    """
    actor = table.actor_index
    assert actor is not None, "nobody is to act"
    highest, to = max(table.bets), min(due(table), table.bets[actor] + table.stacks[actor])
    if to > highest:
        table.completion_status = True
        table.complete_bet_or_raise_to(to)
    else:
        table.check_or_call()


def replayed(table: Table, acts: Iterable[str]) -> Table:
    """Play the acts on the table, and return it."""
    for act in acts:
        do(table, act)
    return table


def board(table: Table) -> Cards:
    """Return the open cards."""
    return tuple(card for cards in table.board_cards for card in cards)


def pot(table: Table) -> int:
    """Return all the chips that were put in, this round's bets too."""
    return sum(table.starting_stacks) - sum(table.stacks)


def street(shown: int) -> str:
    """Return when it is that so many cards lie open."""
    return _STREETS[max(0, shown - 2)]

"""What a player at the table sees, in words."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from raybench.games.parts.poker.cards import Cards, written
from raybench.games.parts.poker.story import Event, happened
from raybench.games.parts.poker.table import Table, board, pot, street
from raybench.games.parts.seats import named

if TYPE_CHECKING:
    from raybench.games.poker import Poker


def shown(state: "Poker", seat: int, hole: Cards) -> str:
    """Return the match as a seat sees it, whose own cards of this hand these are."""
    lines = [hand.seen(seat) for hand in state.past]
    if lines:
        lines = ["Earlier hands:", *lines, ""]
    if state.over:
        return "\n".join((*lines, state.outcome))
    number = f"Hand {len(state.past) + 1} of {state.rules.hands}. You are {named(seat)}."
    lines += [number, *_hand(state.table, state.order, seat, hole, state.gone)]
    if out := [named(it) for it in range(state.rules.players) if it not in state.order]:
        lines.append(f"Out: {', '.join(out)}")
    return "\n".join(lines)


def _hand(
    table: Table, order: Sequence[int], seat: int, hole: Cards, gone: Sequence[int]
) -> list[str]:
    open_ = board(table)
    return [
        f"You hold {written(hole)}" if hole else "You are not in this hand",
        f"Board: {written(open_) or 'no cards yet'} ({street(len(open_))})",
        "Seats, in the order of play after the flop:",
        *(_seat(table, order, index, seat, gone) for index in range(len(order))),
        _pot(table, order),
        *_betting(table, order),
    ]


def _seat(table: Table, order: Sequence[int], index: int, viewer: int, gone: Sequence[int]) -> str:
    last, seat = len(order) - 1, order[index]
    # With two players the button posts the small blind.
    places = ("big blind", "button and small blind") if last == 1 else ("small blind", "big blind")
    marks = [places[index]] if index < 2 else ["button"] if index == last else []
    if seat == viewer:
        marks.append("you")
    marks += ["left the table"] * (seat in gone)
    name = f"{named(seat)} ({', '.join(marks)})" if marks else named(seat)
    if not table.statuses[index]:
        return f"{name}: folded, {table.stacks[index]} chips"
    chips = f"{table.stacks[index]} chips" if table.stacks[index] else "all in"
    return f"{name}: {chips}, {table.bets[index]} bet in this round"


def _pot(table: Table, order: Sequence[int]) -> str:
    now = sum(table.bets)
    text = f"Pot: {pot(table)} chips" + (f", {now} of them bet in this round" if now else "")
    pots = list(table.pots)
    if len(pots) < 2:
        return text
    sides = (
        f"{'side' if number else 'main'} pot {each.amount} for "
        + ", ".join(named(order[index]) for index in each.player_indices)
        for number, each in enumerate(pots)
    )
    return f"{text}; of earlier rounds: " + "; ".join(sides)


def _betting(table: Table, order: Sequence[int]) -> list[str]:
    shown = 0
    rounds: list[tuple[int, list[str]]] = [(0, [])]
    for event in happened(table, order):
        if event.what == "board":
            shown += len(event.cards)
            rounds.append((shown, []))
        else:
            rounds[-1][1].append(_said(event))
    return [f"Betting {street(at)}: {', '.join(said) or 'none yet'}" for at, said in rounds]


def _said(event: Event) -> str:
    amount = {
        "posts": f" {event.chips}",
        "calls": f" {event.chips}",
        "bets": f" {event.to}",
        "raises": f" to {event.to}",
        "returned": f" gets {event.chips} back",
    }.get(event.what, "")
    what = "" if event.what == "returned" else f" {event.what}"
    return f"{named(event.seat)}{what}{amount}" + (", all in" if event.all_in else "")

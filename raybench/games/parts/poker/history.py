"""A match as a hand history, as card rooms write them: for the reader after it, all cards open."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, cast

from raybench.games.parts.contract import Written
from raybench.games.parts.poker.cards import Cards, kind
from raybench.games.parts.poker.cards import written as cards_written
from raybench.games.parts.poker.settings import PokerRules
from raybench.games.parts.poker.story import Event, Hand
from raybench.games.parts.seats import named
from raybench.games.parts.transcript import last, line

if TYPE_CHECKING:
    from raybench.games.poker import Poker

_STREETS = {3: "FLOP", 4: "TURN", 5: "RIVER"}
_BETWEEN = "\n\n\n"
"""Two blank lines end a hand, as pokerkit's parser has it: what follows is passed over."""
_FOLDED = {0: "before Flop", 3: "on the Flop", 4: "on the Turn", 5: "on the River"}


def written(match: Written) -> str:
    """Return all hands of a match; the last one may lack its end."""
    state = cast("Poker", last(match))
    rules, hands = state.rules, [*state.past]
    if state.table.status:
        hands.append(state.hand)
    plain = {role: " ".join(player.split()) for role, player in match.players.items()}
    several = {name for name in plain.values() if [*plain.values()].count(name) > 1}
    names = {role: f"{name} ({role})" if name in several else name for role, name in plain.items()}
    known = [names.get(named(seat), named(seat)) for seat in range(rules.players)]
    texts = ["\n".join(_hand(hand, known, rules, match)) for hand in hands]
    return _BETWEEN.join((*texts, "\n".join(_end_of(match, state, names)))) + "\n"


def _end_of(match: Written, state: "Poker", names: Mapping[str, str]) -> Iterator[str]:
    begun = cast("Poker", match.first).stacks
    won = {
        named(seat): now - then
        for seat, (then, now) in enumerate(zip(begun, state.stacks, strict=True))
    }
    yield f"Chips won and lost: {_numbers(won, names)}"
    if match.forfeits:
        yield f"Forfeited: {', '.join(names.get(role, role) for role in match.forfeits)}"
    if match.forfeits and match.scores:
        yield f"Scores after that, which are no chips: {_numbers(match.scores, names)}"


def _numbers(of: Mapping[str, float], names: Mapping[str, str]) -> str:
    return ", ".join(f"{names.get(role, role)} {number:+g}" for role, number in of.items())


def _hand(hand: Hand, names: list[str], rules: PokerRules, match: Written) -> Iterator[str]:
    # Of many matches in one file, no two hands have the same number.
    number = f"{match.round}{hand.number:03}" if match.round.isdecimal() else f"{hand.number}"
    ended = any(event.what == "wins" for event in hand.events)
    big = hand.order[0] if len(hand.order) == 2 else hand.order[1]
    posts = {event.seat: event for event in hand.events if event.what == "posts"}
    # Parsers know a hand by its first word, and take what was posted as the big blind for the size
    # of all bets: what they cannot replay they are to pass over.
    remark = "" if ended else "Not finished: "
    if posts[big].chips < rules.big_blind:
        remark = "With a short big blind: "
    blinds = f"{rules.small_blind}/{rules.big_blind}"
    yield f"{remark}PokerStars Hand #{number}: Hold'em No Limit ({blinds})"
    button = hand.order[-1] + 1
    table = line(f"{match.event} {match.round}")
    yield f"Table '{table}' {rules.players}-max Seat #{button} is the button"
    chips = dict(zip(hand.order, hand.before, strict=True))
    for seat in sorted(chips):
        yield f"Seat {seat + 1}: {names[seat]} ({chips[seat]} in chips)"
    for seat, event in sorted(posts.items(), key=lambda post: post[0] == big):
        which = "big" if seat == big else "small"
        yield f"{names[seat]}: posts {which} blind {event.chips}{_all_in(event)}"
    yield "*** HOLE CARDS ***"
    for seat, hole in zip(hand.order, hand.holes, strict=True):
        yield f"Dealt to {names[seat]} [{cards_written(hole)}]"
    yield from _played(hand, names, rules.big_blind)
    if ended:
        yield from _summary(hand, names)
    else:
        yield "*** NOT FINISHED ***"


def _played(hand: Hand, names: list[str], highest: int) -> Iterator[str]:
    pots = {event.to for event in hand.events if event.what == "wins"}
    board = tuple(card for event in hand.events if event.what == "board" for card in event.cards)
    open_: Cards = ()
    shown = False
    for event in hand.events:
        name = names[event.seat]
        if event.what == "board":
            before = f" [{cards_written(open_)}]" if open_ else ""
            open_, highest = (*open_, *event.cards), 0
            yield f"*** {_STREETS[len(open_)]} ***{before} [{cards_written(event.cards)}]"
        elif event.what in ("folds", "checks"):
            yield f"{name}: {event.what}"
        elif event.what in ("calls", "bets"):
            yield f"{name}: {event.what} {event.chips}{_all_in(event)}"
            highest = max(highest, event.to)
        elif event.what == "raises":
            yield f"{name}: raises {event.to - highest} to {event.to}{_all_in(event)}"
            highest = event.to
        elif event.what == "returned":
            yield f"Uncalled bet ({event.chips}) returned to {name}"
        elif event.what in ("shows", "mucks"):
            if not shown:
                shown = True
                yield "*** SHOW DOWN ***"
            yield (
                f"{name}: shows [{cards_written(event.cards)}] ({kind((*event.cards, *board))})"
                if event.cards
                else f"{name}: mucks hand"
            )
        elif event.what == "wins":
            which = "pot" if len(pots) == 1 else f"side pot-{event.to}" if event.to else "main pot"
            yield f"{name} collected {event.chips} from {which}"


def _summary(hand: Hand, names: list[str]) -> Iterator[str]:
    won: dict[int, int] = {}
    pots: dict[int, int] = {}
    folded: dict[int, str] = {}
    open_: Cards = ()
    for event in hand.events:
        if event.what == "board":
            open_ += event.cards
        elif event.what == "folds":
            folded[event.seat] = _FOLDED[len(open_)]
        elif event.what == "wins":
            won[event.seat] = won.get(event.seat, 0) + event.chips
            pots[event.to] = pots.get(event.to, 0) + event.chips
    sides = [f"{f'Side pot-{n}' if n else 'Main pot'} {chips}." for n, chips in pots.items()]
    yield "*** SUMMARY ***"
    yield f"Total pot {sum(pots.values())}{' '.join(['', *sides]) * (len(sides) > 1)} | Rake 0"
    if open_:
        yield f"Board [{cards_written(open_)}]"
    shown = {event.seat for event in hand.events if event.what == "shows"}
    for seat, hole in sorted(zip(hand.order, hand.holes, strict=True)):
        yield f"Seat {seat + 1}: {names[seat]} {_end(seat, hole, shown, folded, won, open_)}"


def _end(
    seat: int,
    hole: Cards,
    shown: set[int],
    folded: dict[int, str],
    won: dict[int, int],
    open_: Cards,
) -> str:
    if seat in folded:
        return f"folded {folded[seat]}"
    if seat in shown:
        result = f"won ({won[seat]})" if seat in won else "lost"
        return f"showed [{cards_written(hole)}] and {result} with {kind((*hole, *open_))}"
    return f"collected ({won[seat]})" if seat in won else f"mucked [{cards_written(hole)}]"


def _all_in(event: Event) -> str:
    return " and is all-in" if event.all_in else ""

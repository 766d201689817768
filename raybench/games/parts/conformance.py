"""What has to hold for every game, whatever its rules: tests of new games begin with these.

for problem in problems(game, seed=1, players=3): ...    # none should come
"""

import math
import random
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from raybench.games.parts.contract import MANAGER, Game, InvalidMove, State

MOST_MOVES = 5_000
"""A game that has not ended by then is said never to end."""
_LISTED = 8
"""So many of the moves that a state lists are tried."""
_LEFT = 4
"""At so many of its states, and at its end, somebody leaves a game."""
_LEAVES = 0.05
"""How likely it is that another one leaves after each of the moves that follow."""
_NONSENSE = ("", " ", "\x00", "xyzzy", "bid", "🂡" * 40, "{}", "null", "9" * 400, "Move:")


class Playthrough(NamedTuple):
    """A game from its beginning to its end."""

    states: tuple[State, ...]
    moves: tuple[tuple[str, str], ...]
    """Each with the role that made it."""


def play(game: Game[Any], seed: int, *, good: bool = False, **rules: Any) -> Playthrough:
    """Play a game to its end by moves drawn from the seed."""
    rng = random.Random(f"{game.name}/{seed}")
    states, moves = [game.new(seed, **rules)], list[tuple[str, str]]()
    while (role := states[-1].to_move) is not None:
        if len(moves) == MOST_MOVES:
            raise RuntimeError(f"{game.name} of seed {seed} goes on after {MOST_MOVES} moves")
        move = states[-1].good(rng) if good else states[-1].sample(rng)
        states.append(states[-1].apply(move))
        moves.append((role, move))
    return Playthrough(tuple(states), tuple(moves))


def replayed(game: Game[Any], seed: int, moves: Iterable[str], **rules: Any) -> State:
    """Return the state that these moves lead to."""
    state = game.new(seed, **rules)
    for move in moves:
        state = state.apply(move)
    return state


def problems(game: Game[Any], seed: int, *, good: bool = False, **rules: Any) -> Iterator[str]:
    """Yield what a playthrough of this seed shows to be wrong, each with the place."""
    played = play(game, seed, good=good, **rules)
    rng = random.Random(seed)
    again = play(game, seed, good=good, **rules)
    if again.moves != played.moves or again.states != played.states:
        yield "the same seed gives another game"
    first, last = played.states[0], played.states[-1]
    if game.seats(game.ruled(rules)) != first.roles:
        yield f"the seats are {game.seats(game.ruled(rules))}, the roles {first.roles}"
    for number, state in enumerate(played.states):
        before = [state.observe(role) for role in state.roles]
        where = f"before move {number + 1} ({state.to_move})"
        yield from (f"{where}: {it}" for it in _of_state(state, rng))
        if state.parts != first.parts or set(state.parts) not in (set(), set(state.roles)):
            yield f"{where}: what was dealt is not told for every seat, or has changed"
        if [state.observe(role) for role in state.roles] != before:
            yield f"{where}: the state changed under what was tried on it"
    yield from _of_end(game, last)
    some = rng.sample(range(len(played.states)), min(_LEFT, len(played.states)))
    for number in (*some, len(played.moves)):
        of = _of_leaving(game, played.states[number], rng)
        yield from (f"after {number} moves {it}" for it in of)


def _of_state(state: State, rng: random.Random) -> Iterator[str]:
    role, legal = state.to_move, state.legal()
    if role not in (*state.roles, MANAGER, None):
        yield f"no such role: {role}"
    if (role == MANAGER) != (state.needed is not None):
        yield "the manager is to move exactly where something is needed"
    if not state.over and any(state.scores().values()):
        yield f"something has been won before the end: {state.scores()}"
    if state.over and legal != ():
        yield f"there are moves when the game is over: {legal}"
    if state.over != (role is None) or bool(state.outcome) != state.over:
        yield "over, to_move and outcome do not agree"
    for each in state.roles:
        seen = state.observe(each)
        if not (seen.rules.strip() and seen.view.strip()) or seen.role != each:
            yield f"{each} is not told the rules, the situation or its role"
        if (bool(seen.action), bool(seen.task)) != (each == role, each == role):
            yield f"{each} is asked something exactly when it is its turn"
        if state.redrawn(each, rng).observe(each) != seen:
            yield f"{each} sees something of what it cannot see"
    for move in _NONSENSE:
        if legal is not None or state.over:
            yield from _refused(state, move)
        else:
            yield from _survives(state, move)
    if legal is not None and not state.over:
        if not legal or len({*legal}) != len(legal):
            yield "no moves, or one twice"
        for move in rng.sample(legal, min(_LISTED, len(legal))):
            yield from _allowed(state, move)
    if not state.over:
        yield from _allowed(state, state.sample(rng))
        yield from _allowed(state, state.good(rng))


def _allowed(state: State, move: str) -> Iterator[str]:
    try:
        if state.apply(move) != state.apply(move):
            yield f"'{move[:60]}' leads to two states"
    except InvalidMove as error:
        yield f"'{move[:60]}' should be allowed and is refused: {error}"


def _refused(state: State, move: str) -> Iterator[str]:
    try:
        state.apply(move)
    except InvalidMove as error:
        if len(str(error)) < len("no"):
            yield f"{move[:20]!r} is refused without a reason"
    else:
        yield f"{move[:20]!r} is taken for a move"


def _survives(state: State, move: str) -> Iterator[str]:
    """Look that a text is taken or refused; anything else that is raised ends the test."""
    try:
        state.apply(move)
    except InvalidMove as error:
        if not str(error):
            yield f"{move[:20]!r} is refused without a reason"


def _of_leaving(game: Game[Any], state: State, rng: random.Random) -> Iterator[str]:
    """Look how the others play on where a role leaves, and perhaps others after it."""
    gone = list[str]()
    role = rng.choice(state.roles)
    for _ in range(MOST_MOVES):
        left = state.without(role)
        if left is None:
            if state.over:
                yield f"{role} ends a match by leaving when the game is over"
            return
        if state.over and left != state:
            yield f"{role} changes the end by leaving after it"
        if left.without(role) != left:
            yield f"{role} leaves twice"
        gone += [role] * (left != state)
        yield from (f"{role} left: {it}" for it in _of_state(left, rng))
        state = left
        while not state.over and rng.random() > _LEAVES:
            if state.to_move in gone:
                yield f"{state.to_move} is to move, and has left"
            state = state.apply(state.sample(rng))
        if (mover := state.to_move) is None:
            break
        role = rng.choice(state.roles) if mover == MANAGER else mover
    yield from _of_end(game, state)
    scores = state.scores()
    worst = max((scores[role] for role in gone), default=-math.inf)
    if not state.parts and any(scores[role] < worst for role in {*state.roles} - {*gone}):
        yield f"{' and '.join(gone)} left, and others are behind: {scores}"


def _of_end(game: Game[Any], last: State) -> Iterator[str]:
    scores = last.scores()
    if set(scores) != set(last.roles) or not all(map(math.isfinite, scores.values())):
        yield f"scores are not a number for each role: {scores}"
    sides = last.parts
    if len({(side, scores.get(role)) for role, side in sides.items()}) > len({*sides.values()}):
        yield f"those of one side have not one score: {scores}, {dict(sides)}"
    if game.zero_sum and not math.isclose(math.fsum(scores.values()), 0, abs_tol=1e-9):
        yield f"scores do not come to 0: {scores}"

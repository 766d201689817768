"""One match: whose turn it is, what becomes of the move, and when it is forfeited.

Nothing here waits or asks by itself: players and manager are handed in. Turns are told as they
happen, so that a match which was cut off goes on from those that were kept.
"""

import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from raybench.errors import Problem, RunFailed
from raybench.games import MANAGER, InvalidMove, Need, State, Unjudged
from raybench.games.parts.wording import Words, as_it_is
from raybench.players.parts.contract import Try
from raybench.statements import Statement
from raybench.tournament.turns import Ending, Forfeit, Turn
from raybench.types import Observation

SANDBOX = "the sandbox"
"""Who is missing where programs cannot be run."""


class Void(Exception):
    """What was asked could not be had, which is no player's fault: the match does not count."""

    def __init__(self, reason: str, missing: str | None = None) -> None:
        """`missing` is who could not be reached: a player, the first of the jurors, the sandbox."""
        super().__init__(reason)
        self.missing = missing


@dataclass(frozen=True, slots=True)
class Terms:
    """What a player may get wrong, and how long it may think."""

    tries: int = 3
    """At one turn."""
    invalid: int = 10
    """Replies without a valid move in the whole match: the next one forfeits it."""
    deadline_s: float | None = None
    """Of the model's own time, for one turn with all its tries.

    At its end the request that is under way is ended. Waits for a place at an engine, in the queue
    of one of ours, and for requests that an endpoint failed or turned away do not count, so that
    nobody forfeits because many play at once; nor does an engine that hangs, which has failed. What
    the server behind an endpoint lets a request wait before it thinks cannot be seen, and counts.
    So does that an engine writes more slowly to many at once, or sets a request aside for others
    when its memory is full.
    """


@dataclass(frozen=True, slots=True)
class Heard:
    """What came back from a player for one try."""

    reply: str
    move: str | None
    error: str | None = None
    """Why there is no move in the reply."""
    seconds: float = 0.0
    tokens: int = 0
    prompt_tokens: int = 0
    calls: int = 1
    truncated: bool = False
    late: bool = False
    """It was ended because the time was up."""
    asides: tuple[str, ...] = ()
    """What the model wrote beside the reply: thoughts, drafts."""


class Seated(Protocol):
    """Who sits at a role."""

    @property
    def model(self) -> str:
        """The name of the model."""
        ...

    async def reply(
        self, state: State, seen: Observation, tries: Sequence[Try], left_s: float | None
    ) -> Heard:
        """Return the reply of the role that is to move, to what it has seen of the state.

        So many seconds of the model's own time are left for it. Raises Void where none can be had.
        """
        ...


Manage = Callable[[Need], Awaitable[str]]
"""Brings what a game needs from outside, as the manager's move. Raises Void where it cannot."""
Tell = Callable[[Turn], None]


async def play(
    first: State,
    seats: Mapping[str, Seated],
    manage: Manage,
    terms: Terms,
    tell: Tell,
    kept: Sequence[Turn] = (),
    *,
    zero_sum: bool,
    words: Words = as_it_is,
) -> Ending:
    """Play a match to its end. `kept` are turns of it that were told before it was cut off.

    Players are told what they see in these `words`.

    Raises RunFailed where the scores of a `zero_sum` game do not come to 0.
    """
    match = _Match(first, terms)
    try:
        for turn in kept:
            match.take(turn)
        while (role := match.state.to_move) is not None and not match.ended:
            if role == MANAGER:
                turn, after = await _managed(match.state, manage), None
            else:
                turn, after = await _moved(match, role, seats[role], words)
            tell(turn)
            match.take(turn, after)
    except Void as reason:
        return Ending({}, "void", match.forfeits, void=str(reason), missing=reason.missing)
    except Unjudged as reason:
        return Ending({}, "void", match.forfeits, void=str(reason))
    ending = match.ending()
    if zero_sum and not math.isclose(math.fsum(ending.scores.values()), 0, abs_tol=1e-6):
        raise RunFailed(
            Problem(
                "game.fault",
                "The scores of a match do not come to 0, as they must where what one wins the "
                f"others lose: {dict(ending.scores)} ({ending.outcome}). The game has a fault",
                fix="leave it out of games.names, and report the match.",
            )
        )
    return ending


async def _managed(state: State, manage: Manage) -> Turn:
    assert state.needed is not None, "the manager is to move and nothing is needed"
    move = await manage(state.needed)
    return Turn(MANAGER, "", "manage", "", "", move, None, calls=0)


async def _moved(
    match: "_Match", role: str, seat: Seated, words: Words
) -> tuple[Turn, State | None]:
    """Return the turn, and the state that its move leads to where it is valid."""
    seen = words(match.state.observe(role))
    left = match.left_s
    heard = await seat.reply(match.state, seen, match.tries, left)
    error, after, seconds = heard.error, None, round(heard.seconds, 3)
    if heard.late and left is not None:  # however clocks and their roundings differ
        seconds = max(seconds, math.ceil(left * 1000) / 1000)
    if heard.move is not None:
        try:
            after = match.state.apply(heard.move)
        except InvalidMove as refusal:
            error = str(refusal)
    turn = Turn(
        role,
        seat.model,
        seen.action,
        _seen(seen),
        heard.reply,
        heard.move,
        error,
        seconds,
        heard.tokens,
        heard.prompt_tokens,
        heard.calls,
        heard.truncated,
        heard.asides,
    )
    return turn, after


def told_again(
    first: State, turns: Sequence[Turn], terms: Terms, words: Words = as_it_is
) -> list[Turn]:
    """Return turns of a match with what the roles saw, which journals of turns leave out.

    Raises InvalidMove where a turn does not follow from those before it.
    """
    match, found = _Match(first, terms), list[Turn]()
    for turn in turns:
        if match.ended or turn.role != match.state.to_move:
            raise InvalidMove(
                Statement(
                    "match.not_its_turn",
                    "it is the turn of {to_move}, not of {role}",
                    to_move=match.state.to_move,
                    role=turn.role,
                )
            )
        if turn.role != MANAGER:
            turn = replace(turn, observation=_seen(words(match.state.observe(turn.role))))
        found.append(turn)
        match.take(turn)
    return found


def _seen(seen: Observation) -> str:
    return f"{seen.view}\n\n{seen.task}"


class _Match:
    """Where a match stands after the turns that it took."""

    def __init__(self, first: State, terms: Terms) -> None:
        self.state = first
        self.forfeits: list[Forfeit] = []
        self.ended = False
        """A forfeit ended it; the state does not know."""
        self.tries: list[Try] = []
        """Of the role that is to move, at this turn."""
        self._terms = terms
        self._spent = 0.0
        """Seconds of this turn."""
        self._invalid: dict[str, int] = {}
        self._turns = 0

    @property
    def left_s(self) -> float | None:
        """How many seconds are left of this turn; None where it may take as long as it likes."""
        deadline = self._terms.deadline_s
        return None if deadline is None else deadline - self._spent

    def take(self, turn: Turn, after: State | None = None) -> None:
        """Go on by a turn, to the state that its move leads to.

        Raises Unjudged where the manager's move decides nothing.
        """
        self._turns += 1
        self._spent = round(self._spent + turn.seconds, 3)
        deadline = self._terms.deadline_s
        if deadline is not None and self._spent >= deadline and turn.role != MANAGER:
            self._forfeit(Forfeit(turn.role, "time", self._turns, self._spent, deadline))
        elif turn.error is None and turn.move is not None:
            self._go_on(after or self.state.apply(turn.move))
        else:
            self.tries.append(Try(turn.reply, turn.error or "it is no move"))
            count = self._invalid[turn.role] = self._invalid.get(turn.role, 0) + 1
            if len(self.tries) >= self._terms.tries or count > self._terms.invalid:
                self._forfeit(Forfeit(turn.role, "invalid moves", self._turns))

    def _go_on(self, state: State) -> None:
        self.state, self.tries, self._spent = state, [], 0.0

    def _forfeit(self, forfeit: Forfeit) -> None:
        self.forfeits.append(forfeit)
        left = self.state.without(forfeit.role)
        if left is None:
            self.ended = True
        else:
            self._go_on(left)

    def ending(self) -> Ending:
        """Return how the match ended."""
        if self.state.over:
            return Ending(
                self.state.scores(),
                self.state.outcome,
                self.forfeits,
                sides=self.state.parts,
                ballots=self.state.ballots,
                start=self.state.start,
            )
        last = self.forfeits[-1]
        out = {each.role for each in self.forfeits}
        others = [role for role in self.state.roles if role not in out]
        # Who forfeited before is behind those who are left, and not better than who does so now.
        scores = {
            role: -1.0 / len(out) if role in out else 1.0 / max(1, len(others))
            for role in self.state.roles
        }
        return Ending(
            scores,
            f"{last.role} forfeited ({last.reason})",
            self.forfeits,
            sides=self.state.parts,
            start=self.state.start,
        )

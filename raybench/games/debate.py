"""Debate: two sides speak for and against a motion, and a jury of models scores both.

Source: ZeroSumEval, section 4 ("players start by giving opening statements then take turns giving
rebuttals before a jury of LLMs scores each side based on a well-defined numerical rubric").

The motion is `topic`, or drawn by the seed from parts/debate/topics.txt. Both sides write an
opening, blind; then come `rebuttals` rounds, in which each side answers the other; then closings,
blind again, which the source does not have (`closings=false` leaves them out). The seed says who
begins the first round of rebuttals, and in each next one the other side begins: nobody has the last
word by rule, and "for" has no advantage of place. Speeches longer than `words` are cut there, and
jurors are told so: many models cannot count their words, and a forfeit would say nothing about how
they argue.

Then the manager brings the jury's scores: each juror scores both sides from 1 to 10 for argument,
evidence, rebuttal and clarity, twice: once with either side in front. How votes are counted stands
in parts/debate/verdict.py: margins are added over orders and jurors, the sign decides, zero is a
draw. A juror without two valid replies has no vote, which the outcome counts; without any vote
`Unjudged` is raised.

Example: "I speak for the motion. First, …" as a move is the whole of a speech.
"""

import random
from dataclasses import dataclass, replace

from raybench.games.parts.contract import MANAGER, Game, InvalidMove, Jury, State
from raybench.games.parts.debate import standins, verdict
from raybench.games.parts.debate.jury import jury
from raybench.games.parts.debate.settings import ROLES, DebateRules, Turn, drawn, in_words, order
from raybench.games.parts.debate.speeches import Speech, shown, visible
from raybench.games.parts.debate.verdict import Vote
from raybench.games.parts.debate.written import written
from raybench.games.parts.quoting import bounded
from raybench.statements import Statement
from raybench.types import Observation


@dataclass(frozen=True, slots=True)
class Debate(State):
    """The speeches so far, and the jury's votes."""

    rules: DebateRules
    topic: str
    begins: str
    """Who begins the first round of rebuttals."""
    speeches: tuple[Speech, ...] = ()
    votes: tuple[Vote, ...] = ()

    @property
    def roles(self) -> tuple[str, ...]:
        return ROLES

    @property
    def turn(self) -> Turn | None:
        """The speech that is next; None when all were held."""
        turns = order(self.rules.rebuttals, self.begins, self.rules.closings)
        return turns[len(self.speeches)] if len(self.speeches) < len(turns) else None

    @property
    def to_move(self) -> str | None:
        if self.votes:
            return None
        return self.turn.role if self.turn else MANAGER

    @property
    def margin(self) -> int:
        """By how many points the jury has 'for' in front, over all votes and both orders."""
        return verdict.margin(self.votes)

    @property
    def outcome(self) -> str:
        if not self.votes:
            return ""
        winner = f"'{ROLES[self.margin < 0]}' won by {abs(self.margin)} points"
        counted = "votes counted: {}, missing: {}".format(*self.ballots)
        return f"{winner if self.margin else 'a draw'}; {counted}"

    @property
    def start(self) -> str:
        return self.topic

    @property
    def ballots(self) -> tuple[int, int]:
        return verdict.counted(self.votes)

    @property
    def needed(self) -> Jury | None:
        if self.to_move != MANAGER:
            return None
        return jury(self.topic, self.speeches, self.rules)

    def observe(self, role: str) -> Observation:
        seen = visible(self.speeches, role, self.turn)
        view = shown(seen, self.rules.words, lambda side: "You" if side == role else "They")
        view = f"You speak {role} the motion.\n\n{view or 'Nothing has been said yet.'}"
        rules = in_words(self.rules, self.topic, role)
        if self.turn is None or role != self.turn.role:
            return Observation(role, rules, view)
        part = self.turn.part
        task = f"Write your {part}, of at most {self.rules.words} words: all you reply is shown."
        return Observation(role, rules, view, part, task, "text")

    def legal(self) -> tuple[str, ...] | None:
        return () if self.votes else None

    def apply(self, move: str) -> "Debate":
        if self.votes:
            raise InvalidMove(Statement("debate.over", "the debate is over"))
        if self.turn is None:
            return replace(self, votes=verdict.votes(move))
        text, cut = bounded(move, self.rules.words)
        if not any(map(str.isalnum, text)):
            raise InvalidMove(Statement("debate.empty", "an empty speech: say something"))
        return replace(self, speeches=(*self.speeches, Speech(*self.turn, text, cut)))

    def scores(self) -> dict[str, float]:
        won = float((self.margin > 0) - (self.margin < 0))
        return {"for": won, "against": 0.0 - won}

    def redrawn(self, role: str, rng: random.Random) -> "Debate":
        seen = visible(self.speeches, role, self.turn)
        said = (it if it in seen else standins.another(it, rng) for it in self.speeches)
        return replace(self, speeches=tuple(said))

    def sample(self, rng: random.Random) -> str:
        if self.turn is None:
            return standins.ballots(rng, missing=0.2)
        return standins.speech(rng, self.turn.role, self.turn.part)

    def good(self, rng: random.Random) -> str:
        """Say more; of the jury, leave no vote out."""
        if self.turn is None:
            return standins.ballots(rng, missing=0.0)
        role, part, _ = self.turn
        return " ".join(standins.speech(rng, role, part) for _ in range(2))


def _begin(seed: int, rules: DebateRules) -> Debate:
    return Debate(rules, *drawn(seed, rules))


GAME = Game(
    "debate",
    "Debate",
    DebateRules,
    _begin,
    lambda rules: ROLES,
    jury=True,
    extension="md",
    written=written,
)

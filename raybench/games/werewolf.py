"""Werewolf: a few know one another and kill by night; the many must find them by talking.

Source: Mafia (Dimitry Davidoff, 1986) in its dress of werewolves; where people play it in several
ways, the one chosen is said here.

Everybody is dealt a hidden role: some are werewolves, who know one another, one may be the seer,
one the guardian, the others are villagers. Each night every living werewolf in turn names a victim,
who is no werewolf, and sees whom those before it named; who is named most is the victim, of several
the one named last. The guardian protects one player, perhaps the guardian, but no one two nights in
a row: a victim who is protected lives, and nobody learns who it was. The seer learns whether one
other player is a werewolf. At dawn the dead one is named, and with `reveal` what it was. A
`peaceful` first night is the seer's alone, and the guardian rests: a model that dies before it has
said a word would be rated for nothing it did.

By day everybody alive speaks `rounds` times in turn, at most `words` words (what is beyond is cut
off), beginning one seat later each day; then all vote, and votes are shown when all have voted. Who
has more votes than any other, and than nobody, is put to death, revealed by the same rule. The game
ends as soon as no werewolf lives (the village has won), or as many werewolves as others, or after
`days` days (the werewolves have). The dead win and lose with their side: each winner has 1 shared
among the winners, each loser the like of -1. `parts` tells who was "wolf", who "village".

Who leaves is dead at once, revealed by the same rule; what it chose that night, or voted that day,
counts no more. It wins or loses with its side all the same, as the dead do.

Examples: by night and in votes "player_3" ("Player 3" and "I vote for 3" mean the same), in votes
"nobody" too; a speech is the whole reply.
"""

import random
from collections.abc import Mapping
from dataclasses import dataclass, replace

from raybench.games.parts.contract import Game, InvalidMove, State
from raybench.games.parts.seats import seats
from raybench.games.parts.werewolf import counting, deeds, moves, redraw, standins
from raybench.games.parts.werewolf.record import Event, Sight, known, one
from raybench.games.parts.werewolf.settings import WOLF, WerewolfRules, dealt, in_words
from raybench.games.parts.werewolf.written import written
from raybench.statements import Statement
from raybench.types import Observation


@dataclass(frozen=True, slots=True)
class Village(State):
    """Who lives, what is still to be done this night or day, and all that happened."""

    rules: WerewolfRules
    cast: tuple[str, ...]
    """What each seat is, dead or alive."""
    living: tuple[str, ...]
    day: int
    steps: tuple[deeds.Step, ...]
    """Still to come before dawn or dusk."""
    log: tuple[Event, ...]

    @property
    def roles(self) -> tuple[str, ...]:
        return seats(self.rules.players)

    @property
    def to_move(self) -> str | None:
        return self.steps[0][1] if self.steps else None

    @property
    def outcome(self) -> str:
        return "" if self.steps else self.log[-1].text

    @property
    def parts(self) -> Mapping[str, str]:
        wolves = self._wolves
        return {seat: "wolf" if seat in wolves else "village" for seat in self.roles}

    @property
    def _wolves(self) -> tuple[str, ...]:
        dealt_ = zip(self.roles, self.cast, strict=True)
        return tuple(seat for seat, part in dealt_ if part == WOLF)

    def _part(self, seat: str) -> str:
        return self.cast[self.roles.index(seat)]

    def _sight(self, seat: str) -> Sight:
        """Return what a seat knows: views, stand-ins and redrawn states rest on nothing else."""
        part = self._part(seat)
        fellows = tuple(each for each in self._wolves if each != seat) if part == WOLF else ()
        now, record = deeds.now(self.steps, self.day), known(self.log, seat)
        return Sight(self.rules, seat, part, fellows, self.living, now, record)

    def observe(self, role: str) -> Observation:
        rules, view = in_words(self.rules), self._sight(role).told()
        if role != self.to_move:
            return Observation(role, rules, view)
        action = self.steps[0][0]
        task = deeds.task(action, self.rules.words)
        return Observation(role, rules, view, action, task, "text" if action == "speak" else "line")

    def legal(self) -> tuple[str, ...] | None:
        if not self.steps:
            return ()
        return deeds.choices(*self.steps[0], self.living, self._wolves, self.log)

    def apply(self, move: str) -> "Village":
        if (legal := self.legal()) == ():
            raise InvalidMove(Statement("move.game_over", "the game is over"))
        action, seat = self.steps[0]
        if legal is None:
            said = moves.spoken(move, self.rules.words)
        else:
            said = moves.chosen(move, legal, action, seat)
        event = deeds.done(action, seat, said, self._wolves)
        state = replace(self, steps=self.steps[1:], log=(*self.log, event))
        return state if state.steps else state._on(night=action in deeds.NIGHT)

    def _on(self, *, night: bool) -> "Village":
        """Go on from a night or day in which nothing is left to do."""
        if night:
            return self._dawn()
        state = self._dusk()
        if state._decided:
            return state
        if self.day == self.rules.days:
            return state._won(
                "wolf",
                Statement("werewolf.last_day", "a werewolf lives after day {day}", day=self.day),
            )
        return state._night()

    def _night(self) -> "Village":
        alive = [it for it in zip(self.cast, self.roles, strict=True) if it[1] in self.living]
        steps = deeds.night(alive, quiet=self.rules.peaceful and self.day == 0)
        falls = Event("dusk", "", f"Night {self.day + 1}.")
        state = replace(self, day=self.day + 1, steps=steps, log=(*self.log, falls))
        return state if steps else state._dawn()

    def _dawn(self) -> "Village":
        dead = counting.victim(self.log, self.living)
        how = f"{dead} was found dead{self._told(dead)}" if dead else "Nobody died in the night"
        steps = deeds.day(self.roles, self.living, self.day, self.rules.rounds)
        state = replace(self, steps=tuple(steps))
        return state._struck("dawn", dead, f"Day {self.day}. {how}.")

    def _dusk(self) -> "Village":
        dead = counting.condemned(self.log, self.living)
        how = f"{dead} was put to death{self._told(dead)}" if dead else "Nobody was put to death"
        votes = counting.shown(self.log, self.living)
        return self._struck("tally", dead, f"Votes: {votes or 'none'}. {how}.", votes)

    def _told(self, seat: str) -> str:
        return f": {one(self._part(seat))}" if self.rules.reveal else ""

    def _struck(self, kind: str, dead: str, text: str, votes: str = "") -> "Village":
        """Return the state after somebody's death, or nobody's; it may be the end."""
        shown = self._part(dead) if dead and self.rules.reveal else ""
        state = replace(
            self,
            living=tuple(seat for seat in self.living if seat != dead),
            steps=tuple(step for step in self.steps if step[1] != dead),
            log=(*self.log, Event(kind, dead, text, votes, shown)),
        )
        decided = counting.decided(self._wolves, state.living)
        return state._won(*decided) if decided else state

    def _won(self, side: str, why: str) -> "Village":
        who = "the werewolves have" if side == "wolf" else "the village has"
        how = Statement("werewolf.won", "{who} won: {why}", side=side, who=who, why=why)
        end = Event("end", side, how)
        return replace(self, steps=(), log=(*self.log, end))

    @property
    def _decided(self) -> bool:
        """Whether a side has won; between night and day nothing is left to do either."""
        return self.log[-1].kind == "end"

    def without(self, role: str) -> "Village":
        if self.over or role not in self.living:
            return self
        night = self.steps[0][0] in deeds.NIGHT
        state = self._struck("left", role, f"{role} left and is dead{self._told(role)}.")
        return state if state.steps or state._decided else state._on(night=night)

    def scores(self) -> dict[str, float]:
        """Return what each side has won, who left it included.

        A rating knows a side as one team with one place: a leaver that scored apart from it could
        not be rated. It is dead at once, and so leaving helps nobody's own side.
        """
        if not self.over:
            return dict.fromkeys(self.roles, 0.0)
        return counting.shares(self.parts, self.log[-1].seat)

    def dealt_as(self, cast: tuple[str, ...]) -> "Village":
        """Return the first state of a game by the same rules with these hidden roles."""
        return _first(self.rules, cast)

    def redrawn(self, role: str, rng: random.Random) -> "Village":
        return redraw.redrawn(self, self._sight(role), rng)

    def sample(self, rng: random.Random) -> str:
        return standins.any_move(self.living, self.legal(), rng)

    def good(self, rng: random.Random) -> str:
        action, seat = self.steps[0]
        return standins.good_move(self._sight(seat), action, self.legal() or (), rng)


def _first(rules: WerewolfRules, cast: tuple[str, ...]) -> Village:
    return Village(rules, cast, seats(rules.players), 0, (), ())._night()


def _begin(seed: int, rules: WerewolfRules) -> Village:
    return _first(rules, dealt(rules, seed))


GAME = Game(
    "werewolf",
    "Werewolf",
    WerewolfRules,
    _begin,
    lambda rules: seats(rules.players),
    extension="md",
    written=written,
)

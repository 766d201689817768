"""Werewolf: a few know one another and kill by night; the many must find them by talking.

Source: Mafia (Dimitry Davidoff, 1986) in its dress of werewolves; where people play it in several
ways, the one chosen is said here.

Everybody is dealt a hidden role: some are werewolves, who know one another, one may be the seer,
one the guardian, the others are villagers. Each night every living werewolf in turn names a victim,
who is no werewolf, and sees whom those before it named; who is named most is the victim, of several
the one named last. The guardian protects one player, perhaps the guardian, but no one two nights in
a row: a victim who is protected lives, and nobody learns who it was. The seer learns whether one
other player is a werewolf. At dawn the dead one is named, and with `reveal` what it was. A
`peaceful` first night is the seer's alone: a model that dies before it has said a word would be
rated for nothing it did.

By day everybody alive speaks `rounds` times in turn, at most `words` words (what is beyond is cut
off), beginning one seat later each day; then all vote, and votes are shown when all have voted. Who
has more votes than any other, and than nobody, is put to death, revealed by the same rule. The game
ends as soon as no werewolf lives (the village has won), or as many werewolves as others, or after
`days` days (the werewolves have). The dead win and lose with their side: each winner has 1 shared
among the winners, each loser the like of -1. `parts` tells who was "wolf", who "village".

Who leaves is dead at once, revealed by the same rule; what it chose that night, or voted that day,
counts no more.

Examples: by night and in votes "player_3" ("Player 3" and "I vote for 3" mean the same), in votes
"nobody" too; a speech is the whole reply.
"""

import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from raybench.games.parts.contract import Game, InvalidMove, State
from raybench.games.parts.werewolf import moves, redraw, wits
from raybench.games.parts.werewolf.record import Event, Sight, known, one, since
from raybench.games.parts.werewolf.settings import (
    GUARDIAN,
    NOBODY,
    SEER,
    WOLF,
    WerewolfRules,
    dealt,
    in_words,
    seats,
)
from raybench.games.parts.werewolf.written import written
from raybench.types import Observation

_NIGHT = {"kill": WOLF, "guard": GUARDIAN, "look": SEER}
"""What is done by night, in this order, and by whom."""
_TASKS = {
    "kill": "Name your victim of this night, as in 'player_3'.",
    "guard": "Name whom you protect this night, as in 'player_3'.",
    "look": "Name whom you look at this night, as in 'player_3'.",
    "vote": "Vote for who is to be put to death, as in 'player_3', or for 'nobody'.",
}
_SPEECH = "Speak to the village, in at most {} words. Everybody will read what you say."


@dataclass(frozen=True, slots=True)
class Village(State):
    """Who lives, what is still to be done this night or day, and all that happened."""

    rules: WerewolfRules
    cast: tuple[str, ...]
    """What each seat is, dead or alive."""
    living: tuple[str, ...]
    day: int
    steps: tuple[tuple[str, str], ...]
    """Still to come before dawn or dusk: what is done, by whom."""
    log: tuple[Event, ...]

    @property
    def roles(self) -> tuple[str, ...]:
        return seats(self.rules)

    @property
    def to_move(self) -> str | None:
        return self.steps[0][1] if self.steps else None

    @property
    def outcome(self) -> str:
        return "" if self.steps else self.log[-1].text

    @property
    def parts(self) -> Mapping[str, str]:
        return {seat: self._side(seat) for seat in self.roles}

    def _part(self, seat: str) -> str:
        return self.cast[self.roles.index(seat)]

    def _side(self, seat: str) -> str:
        return "wolf" if self._part(seat) == WOLF else "village"

    def _those(self, part: str) -> tuple[str, ...]:
        return tuple(seat for seat, each in zip(self.roles, self.cast, strict=True) if each == part)

    def _sight(self, seat: str) -> Sight:
        """Return what a seat knows: views, stand-ins and redrawn states rest on nothing else."""
        part = self._part(seat)
        fellows = tuple(each for each in self._those(WOLF) if each != seat) if part == WOLF else ()
        return Sight(self.rules, seat, part, fellows, self.living, self._now, known(self.log, seat))

    @property
    def _now(self) -> str:
        if not self.steps:
            return "the game is over."
        action = self.steps[0][0]
        if action in _NIGHT:
            return f"night {self.day}."
        return f"day {self.day}, {'the players speak' if action == 'speak' else 'the vote'}."

    def observe(self, role: str) -> Observation:
        rules, view = in_words(self.rules), self._sight(role).told()
        if role != self.to_move:
            return Observation(role, rules, view)
        action = self.steps[0][0]
        if action == "speak":
            return Observation(role, rules, view, action, _SPEECH.format(self.rules.words), "text")
        return Observation(role, rules, view, action, _TASKS[action])

    def legal(self) -> tuple[str, ...] | None:
        if not self.steps:
            return ()
        action, seat = self.steps[0]
        if action == "speak":
            return None
        barred = {seat}
        if action == "kill":
            barred = {*self._those(WOLF)}
        elif action == "guard":
            barred = {next((it.move for it in reversed(self.log) if it.kind == "guard"), "")}
        possible = tuple(each for each in self.living if each not in barred)
        return (*possible, NOBODY) if action == "vote" else possible

    def apply(self, move: str) -> "Village":
        if (legal := self.legal()) == ():
            raise InvalidMove("the game is over")
        action, seat = self.steps[0]
        said = moves.spoken(move, self.rules.words) if legal is None else moves.chosen(move, legal)
        event = self._event(action, seat, said)
        state = replace(self, steps=self.steps[1:], log=(*self.log, event))
        return state if state.steps else state._on(night=action in _NIGHT)

    def _event(self, action: str, seat: str, said: str) -> Event:
        if action == "speak":
            return Event(action, seat, f'{seat} said: "{said}"', said)
        if action == "kill":
            return Event(action, seat, f"{seat} named {said}.", said, "", self._those(WOLF))
        if action == "look":
            shown = WOLF if self._part(said) == WOLF else "no werewolf"
            it = "a werewolf" if shown == WOLF else "not a werewolf"
            return Event(action, seat, f"You looked at {said}: {it}.", said, shown, (seat,))
        did = "protected" if action == "guard" else "voted for"
        return Event(action, seat, f"You {did} {said}.", said, "", (seat,))

    def _on(self, *, night: bool) -> "Village":
        """Go on from a night or day in which nothing is left to do."""
        if night:
            return self._dawn()
        state = self._tally()
        if state._decided:
            return state
        if self.day == self.rules.days:
            return state._won("wolf", f"a werewolf lives after day {self.day}")
        return state._night()

    def _night(self) -> "Village":
        quiet = self.rules.peaceful and self.day == 0
        steps = tuple(
            (action, seat)
            for action, part in _NIGHT.items()
            for seat in self._those(part)
            if seat in self.living and not (quiet and action != "look")
        )
        dusk = Event("dusk", "", f"Night {self.day + 1}.")
        state = replace(self, day=self.day + 1, steps=steps, log=(*self.log, dusk))
        return state if steps else state._dawn()

    def _dawn(self) -> "Village":
        named = self._choices("dusk", "kill")
        counts = Counter(named)
        most = max(counts.values(), default=0)
        victim = next((seat for seat in reversed(named) if counts[seat] == most), "")
        dead = "" if victim in self._choices("dusk", "guard") else victim
        how = f"{dead} was found dead{self._told(dead)}" if dead else "Nobody died in the night"
        first = (self.day - 1) % self.rules.players
        order = (*self.roles[first:], *self.roles[:first])
        speeches = tuple(("speak", seat) for seat in order) * self.rules.rounds
        steps = (*speeches, *(("vote", seat) for seat in order))
        alive = tuple(step for step in steps if step[1] in self.living)
        return replace(self, steps=alive)._struck("dawn", dead, f"Day {self.day}. {how}.")

    def _tally(self) -> "Village":
        counts = Counter(self._choices("dawn", "vote")).most_common()
        tied = len(counts) > 1 and counts[0][1] == counts[1][1]
        dead = "" if not counts or tied or counts[0][0] == NOBODY else counts[0][0]
        shown = ", ".join(
            f"{event.seat} for {event.move}"
            for event in since(self.log, "dawn", "vote")
            if event.seat in self.living
        )
        how = f"{dead} was put to death{self._told(dead)}" if dead else "Nobody was put to death"
        return self._struck("tally", dead, f"Votes: {shown or 'none'}. {how}.", shown)

    def _choices(self, mark: str, kind: str) -> list[str]:
        """Return what was chosen since: by those who are still there, of what is still there."""
        return [
            event.move
            for event in since(self.log, mark, kind)
            if event.seat in self.living and event.move in (*self.living, NOBODY)
        ]

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
        wolves = sum(self._part(seat) == WOLF for seat in state.living)
        if not wolves:
            return state._won("village", "all werewolves are dead")
        if 2 * wolves >= len(state.living):
            return state._won("wolf", "there are as many werewolves as others")
        return state

    def _won(self, side: str, why: str) -> "Village":
        who = "the werewolves have" if side == "wolf" else "the village has"
        end = Event("end", side, f"{who} won: {why}")
        return replace(self, steps=(), log=(*self.log, end))

    @property
    def _decided(self) -> bool:
        """Whether a side has won; between night and day nothing is left to do either."""
        return self.log[-1].kind == "end"

    def without(self, role: str) -> "Village":
        if self.over or role not in self.living:
            return self
        night = self.steps[0][0] in _NIGHT
        state = self._struck("left", role, f"{role} left and is dead{self._told(role)}.")
        return state if state.steps or state._decided else state._on(night=night)

    def scores(self) -> dict[str, float]:
        sides = self.parts
        count, winner = Counter(sides.values()), self.log[-1].seat
        return {seat: (1 if side == winner else -1) / count[side] for seat, side in sides.items()}

    def dealt_as(self, cast: tuple[str, ...]) -> "Village":
        """Return the first state of a game by the same rules with these hidden roles."""
        return _first(self.rules, cast)

    def redrawn(self, role: str, rng: random.Random) -> "Village":
        return redraw.redrawn(self, self._sight(role), rng)

    def sample(self, rng: random.Random) -> str:
        legal = self.legal()
        return rng.choice(legal or [f"I suspect {seat}." for seat in self.living])

    def good(self, rng: random.Random) -> str:
        action, seat = self.steps[0]
        return wits.good(self._sight(seat), action, self.legal() or (), rng)


def _first(rules: WerewolfRules, cast: tuple[str, ...]) -> Village:
    return Village(rules, cast, seats(rules), 0, (), ())._night()


def _begin(seed: int, rules: WerewolfRules) -> Village:
    return _first(rules, dealt(rules, seed))


GAME = Game("werewolf", "Werewolf", WerewolfRules, _begin, seats, extension="md", written=written)

"""PyJail: a warden writes code that guards a flag, opens it itself, and a prisoner tries.

Source: ZeroSumEval, section 4 ("a CTF-like challenge where one player writes a jail(user_input)
function. The other player is then given a number of attempts to try different inputs and observe
the output with the goal of getting access to the flag stored in an environment variable") and its
scheme of generation and verification.

The warden writes Python that defines `jail(user_input)`. That it parses, and has such a function on
its outermost level, with that parameter and no other that has to be given, is checked on the syntax
tree; it runs in the sandbox only, which the manager asks for every run anew: a fresh process,
limits, and a fresh flag of 128 random bits in the environment variable FLAG. The manager draws it:
from the seed alone a jail could work out which run it is in, and whose. The jail's code is run,
`jail` called with the text that was tried, and what it returns printed. The flag has to stand in
what was printed, however the run ended; spaced out or backwards counts, other codes do not. A flag
that shows too late, or in part, helps with no later run, for that has another one.

A try is a text; a run is one call of `jail` with it. First the warden has `proofs` tries (3) at its
own jail, with nothing in view but what the prisoner will see: the jail's source (`source_shown`, or
not even that) and what came of its own tries, with what the last run of each printed. A password
that only its writer could know therefore opens it for nobody: a jail that compares a hash has lost
where its warden cannot find the password a second time. A warden who cannot open its own jail has
lost. Then the prisoner has `attempts` tries (3) of one run each; it sees nothing of the warden's.
The flag wins for the prisoner, else the warden has won (1/-1). There are no draws.

Luck opens no jail for its warden. Whether a jail opens may hang on a draw, the clock, the number of
its process or the flag itself; such a jail could open once for its warden and then stay shut. So
a try of the warden's counts where the same text opens the jail in `openings` runs in a row (3), and
only if it does so once more after the prisoner has failed; else the prisoner has won. The prisoner
needs to open it only once. With three tries each, a jail that draws anew in every run wins about
2 % of matches for its warden, with whatever chance is best for that; a single run would give it
25 %. The last run is for jails that go by the clock, for which runs in quick succession are as good
as one: with it such a jail wins up to 7 %.
Nothing in the jail's process is seeded instead: much of it could not be, the flag must not be, and
a text that answers whatever a jail draws is a fair way to open it.

A run that was killed from outside, or killed itself, is repeated with another flag; after the third
time in a row it is the program's own doing and a try that failed. Where the sandbox brings no
outcome at all the match is void.

Example: the warden writes "def jail(user_input): return eval(user_input, {'__builtins__': {}})",
the try "().__class__" prints "<class 'tuple'>", and opens nothing yet.
"""

import json
import random
from dataclasses import dataclass, replace
from typing import ClassVar

from raybench.games.parts.contract import ABLE, MANAGER, Game, InvalidMove, Program
from raybench.games.parts.pyjail import harness
from raybench.games.parts.pyjail.code import checked, unfenced
from raybench.games.parts.pyjail.jails import JAILS, keys
from raybench.games.parts.pyjail.settings import JailRules, in_words
from raybench.games.parts.quoting import exact
from raybench.games.parts.verified.state import Asked, Try, Verified
from raybench.games.parts.verified.written import transcript
from raybench.statements import Statement

_MOST_KILLED = 3
_OPENS = {"prove": (0.4, 1.0), "solve": (0.1, 0.2)}
"""How often a try of a stand-in opens: of any, and of an able one, whom an able warden resists."""


@dataclass(frozen=True, slots=True)
class Jailed(Verified[JailRules]):
    """A jail about to be written, tried, or run."""

    pending: str | None = None
    """What was tried and is to be run now."""
    runs: int = 0
    """How many there were: each has its own flag."""
    killed: int = 0
    """How many of the last ones were, one after the other."""
    opened: int = 0
    """How many of those before have opened the jail, of this try of the warden's."""
    upheld: bool | None = None

    maker: ClassVar[str] = "warden"
    solver: ClassVar[str] = "prisoner"
    noun: ClassVar[str] = "jail"
    attempt: ClassVar[str] = "try"
    verb: ClassVar[str] = "open"
    done: ClassVar[str] = "opened"

    @property
    def start(self) -> str:
        return ""  # flags aside, which no player sees, all matches begin alike

    @property
    def to_move(self) -> str | None:
        return self.turn if self.pending is None else MANAGER

    @property
    def challenge_shown(self) -> bool:
        return self.rules.source_shown

    @property
    def needed(self) -> Program | None:
        if self.pending is None:
            return None
        return harness.program(self.challenge, self.pending, self._flag, self.rules.seconds)

    @property
    def _flag(self) -> str:
        return harness.flag(self.seed, self.runs)

    def in_words(self) -> str:
        return in_words(self.rules)

    def asked(self) -> Asked:
        if self.stage == "write":
            task = (
                "Write the jail: Python code that defines jail(user_input). At most "
                f"{self.rules.longest} characters."
            )
            return Asked("write_jail", "You are the warden. There is no jail yet.", task, "code")
        shown = exact(self.challenge, self.rules.longest)
        view = f"The jail's source:\n{shown}" if self.challenge_shown else "A jail stands."
        for number, each in enumerate(self.own, start=1):
            tried = exact(each.given, self.rules.longest_input)
            view += f"\n\nYour try {number}:\n{tried}\n{each.came}"
        task = (
            "Open the jail: give the text that jail(user_input) is called with, exactly as it is. "
            f"At most {self.rules.longest_input} characters."
        )
        return Asked("open_jail", view, task, "code")

    def written(self, move: str) -> str:
        return checked(move, self.rules.longest)

    def tried(self, move: str) -> "Jailed":
        if self.pending is not None:
            return self._run(move)
        tried = unfenced(move).removesuffix("\n")
        if len(tried) > self.rules.longest_input:
            raise InvalidMove(
                Statement(
                    "pyjail.text_too_long",
                    "the text has {length} characters; {most} are allowed",
                    length=len(tried),
                    most=self.rules.longest_input,
                )
            )
        return replace(self, pending=tried)

    def _run(self, move: str) -> "Jailed":
        outcome = harness.brought(move)
        printed = harness.printed(outcome)
        solved = harness.opened(printed, harness.carried(outcome, self._flag))
        again = replace(self, runs=self.runs + 1, killed=self.killed + 1)
        if outcome["status"] == "killed" and not solved and again.killed < _MOST_KILLED:
            return again
        again = replace(again, killed=0)
        if self.stage == "uphold":
            return replace(again, pending=None, upheld=solved)
        if self.stage == "prove" and solved and self.opened + 1 < self.rules.openings:
            return replace(again, opened=self.opened + 1)
        came = "" if solved else harness.failed(outcome, self.opened, self.rules.shown)
        tried = replace(again, pending=None, opened=0).after(Try(self.pending or "", solved, came))
        return replace(tried, pending=tried._opening) if tried.stage == "uphold" else tried

    @property
    def _opening(self) -> str:
        """What the warden opened its jail with."""
        return next(it.given for it in self.proofs if it.solved)

    def secret_redrawn(self, rng: random.Random) -> "Jailed":
        pending = self.pending if self.pending is None else f"{rng.getrandbits(32)}"
        return replace(self, seed=rng.getrandbits(32), pending=pending)

    def another(self, rng: random.Random) -> str:
        return self.challenge and rng.choice(JAILS).source

    def made_up(self, rng: random.Random, *, able: bool) -> str:
        if self.stage == "write":
            return rng.choice(JAILS).source
        ours = next((each for each in JAILS if each.source == self.challenge), JAILS[0])
        if self.pending is None:
            opens = rng.random() < _OPENS[self.stage][able]
            return rng.choice(ours.opening if opens else ours.closed)
        opened = self.pending in ours.opening and self.challenge == ours.source
        printed = f"{self._flag}\n" if opened else "That did not work.\n"
        ended = {"status": "ok", "stdout": printed, "stderr": "", "exit_code": 0}
        if not able and rng.random() < 0.3:
            ended |= {"status": rng.choice(harness.ENDED), "exit_code": 1}
        return json.dumps(ended)


def _practised(state: Jailed, rng: random.Random) -> str:
    """Return the move of somebody who knows a few jails, and tries their keys one after another."""
    if state.stage == "write":
        return rng.choice(JAILS).source
    tried = keys(state.challenge if state.challenge_shown else "")
    return tried[len(state.own) % len(tried)]


def _begin(seed: int, rules: JailRules) -> Jailed:
    return Jailed(rules, seed)


GAME = Game(
    "pyjail",
    "PyJail",
    JailRules,
    _begin,
    lambda rules: (Jailed.maker, Jailed.solver),
    sandboxed=True,
    extension="md",
    written=lambda match: transcript("PyJail", match),
    scripts={ABLE: _practised},
)

"""PyJail: a jail to be opened, whose source is shown and which the sandbox runs.

Jails are of many kinds (`parts/pyjail`): passwords that are hidden badly, conditions to be met, and
what is usual in games of capture the flag, as code without builtins, filters, formats and pickles.
Each is drawn with other names, numbers and words. All jails of a kind are in one split, so that
who has seen its trick is not reported on with it. Half of the time it is the warden who opens its
own jail; both see the same.

A text that opens the jail by the game's rules is worth 1, any other nothing: one that comes near
brings no flag, and no rule says how near it came.

Example: "if user_input[::-1] == 'retto': return os.environ['FLAG']" is opened by "otter".
"""

import random
from dataclasses import dataclass
from typing import cast

from raybench.games import State
from raybench.games.parts.pyjail.settings import JailRules
from raybench.games.parts.verified.state import Try
from raybench.games.pyjail import Jailed
from raybench.positions.parts.contract import Positions
from raybench.positions.parts.pyjail.kinds import KINDS
from raybench.positions.parts.sandboxed import played


@dataclass(frozen=True, slots=True)
class Known(Jailed):
    """A jail of which is known, to nobody in the game, what opens it."""

    kind: str = ""
    key: str = ""


def _draw(rng: random.Random) -> State:
    kind = rng.choice(KINDS)
    source, key = kind.drawn(rng)
    state = Known(JailRules(), rng.getrandbits(32), kind=kind.name, key=key).apply(source)
    return state.after(Try(key, solved=True)) if rng.random() < 0.5 else state


def _worth(state: State, move: str) -> float:
    before, after = cast(Known, state), cast(Known, played(state, move))
    return float(after.solved if before.turn == Known.solver else after.proven)


def _best(state: State) -> str:
    return cast(Known, state).key


def _family(state: State) -> str:
    return f"pyjail/{cast(Known, state).kind}"


POSITIONS = Positions(
    "pyjail_solve",
    "pyjail",
    _draw,
    _worth,
    roles=(Known.maker, Known.solver),
    actions=("open_jail",),
    best=_best,
    family=_family,
)

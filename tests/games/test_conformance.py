"""What has to hold for every game; and that the test for it finds what does not."""

import random
from dataclasses import dataclass, replace
from typing import Any

import pytest
from games import playthroughs

from raybench import games
from raybench.errors import ConfigurationError
from raybench.games import Game, InvalidMove, State
from raybench.games.parts.conformance import play, problems
from raybench.games.parts.contract import Rules
from raybench.types import Observation

EVERY = [
    (name, rules)
    for name in games.names()
    for rules in [{}, *(it["rules"] for it in playthroughs.stored(name) if it["rules"])]
]
"""Every game by its own rules, and by those of its stored playthroughs."""
OPEN = {"chess"}
"""Games in which everybody sees everything."""


@pytest.mark.parametrize("good", [False, True], ids=["at random", "well"])
@pytest.mark.parametrize(("name", "rules"), EVERY)
def test_games_keep_the_contract(name: str, rules: dict[str, Any], good: bool) -> None:
    game = games.load(name)
    for seed in range(3):
        assert not [*problems(game, seed, good=good, **rules)]


@pytest.mark.parametrize("name", sorted({*games.names()} - OPEN))
def test_what_is_hidden_is_drawn_anew(name: str) -> None:
    """Else nothing was looked for where the contract's test looks for leaks."""
    states = play(games.load(name), 1).states
    rng = random.Random(1)
    assert any(state.redrawn(role, rng) != state for state in states for role in state.roles)


@pytest.mark.parametrize("name", games.names())
def test_seeds_differ(name: str) -> None:
    game = games.load(name)
    assert len({play(game, seed).moves for seed in range(5)}) > 1


def test_names_are_known_as_people_write_them() -> None:
    assert games.load("Liar's Dice") is games.load("liars_dice")
    with pytest.raises(ConfigurationError, match="Did you mean 'liars_dice'"):
        games.load("liar_dice")


def test_wrong_rules_are_named_with_the_mend() -> None:
    game = games.load("liars_dice")
    with pytest.raises(ConfigurationError, match=r"no rule 'player'. Did you mean 'players'"):
        game.new(0, player=3)
    with pytest.raises(ConfigurationError, match="'players' is 'two'; it is a whole number"):
        game.new(0, players="two")
    with pytest.raises(ConfigurationError, match="players is 1: it is 2 to 10"):
        game.new(0, players=1)


@dataclass(frozen=True)
class Coin(State):
    """Who names what the other one has in hand wins; the faults are planted."""

    secret: str
    fault: str = ""
    moved: str | None = None

    roles = ("hider", "guesser")

    @property
    def to_move(self) -> str | None:
        return None if self.moved else "guesser"

    @property
    def outcome(self) -> str:
        return "" if self.moved is None or self.fault == "outcome" else "guessed"

    @property
    def parts(self) -> dict[str, str]:
        return {"hider": self.secret} if self.fault == "parts" else {}

    def observe(self, role: str) -> Observation:
        leak = role == "hider" or self.fault == "leak"
        view = f"In hand: {self.secret}" if leak else "A hand is closed."
        if role != self.to_move:
            return Observation(role, "Guess the coin.", view)
        return Observation(role, "Guess the coin.", view, "guess", "'heads' or 'tails'")

    def legal(self) -> tuple[str, ...]:
        return () if self.over else ("heads", "tails", *(["edge"] * (self.fault == "legal")))

    def apply(self, move: str) -> "Coin":
        if self.over or move not in ("heads", "tails"):
            if self.fault == "nonsense" and not self.over:
                return self
            raise InvalidMove("" if self.fault == "reason" else "'heads' or 'tails'")
        return replace(self, moved=move)

    def scores(self) -> dict[str, float]:
        won = 1 if self.moved == self.secret else -1
        return {"hider": -won, "guesser": won + (self.fault == "sum")}

    def redrawn(self, role: str, rng: random.Random) -> "Coin":
        hidden = role == "guesser" and not self.over
        return (
            replace(self, secret="tails" if self.secret == "heads" else "heads") if hidden else self
        )

    def sample(self, rng: random.Random) -> str:
        return rng.choice(("heads", "tails"))


def _coin(fault: str) -> Game[Rules]:
    def begin(seed: int, rules: Rules) -> Coin:
        return Coin(random.Random(seed).choice(("heads", "tails")), fault)

    return Game("coin", "Coin", Rules, begin, lambda rules: Coin.roles)


@pytest.mark.parametrize(
    "fault", ["leak", "outcome", "legal", "nonsense", "reason", "sum", "parts"]
)
def test_faults_are_found(fault: str) -> None:
    assert [*problems(_coin(fault), 1)]
    assert not [*problems(_coin(""), 1)]

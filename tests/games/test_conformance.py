"""What has to hold for every game; and that the test for it finds what does not."""

import random
from dataclasses import dataclass, replace
from typing import Any

import pytest
from games import playthroughs
from refusals import Refusal, refusal, refused

from raybench import games
from raybench.games import Game, InvalidMove, State
from raybench.games.parts import choice
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
    for seed in range(1 if rules else 3):
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
    assert _differ(game)
    deaf = replace(game, begin=lambda seed, rules: game.begin(0, rules))
    assert not _differ(deaf), "who moves is the same, so that the seed alone could differ"


def _differ(game: Game[Any]) -> bool:
    """Return whether games of several seeds differ, where all is played by the same dice."""
    told = set()
    for seed in range(5):
        state, rng = game.new(seed), random.Random(0)
        seen = []
        while state.to_move is not None:
            needed = repr(state.needed) if state.to_move == games.MANAGER else ""
            seen.append((needed, *(state.observe(role) for role in state.roles)))
            state = state.apply(state.sample(rng))
        told.add((*map(repr, seen), state.outcome))
    return len(told) > 1


@pytest.mark.parametrize("name", games.names())
def test_what_the_seed_decided_is_told_where_it_comes_again(name: str) -> None:
    # Else models that always reply alike would play one match a hundred times, and all would count.
    game = games.load(name)
    starts = [game.new(seed).start for seed in range(400)]
    if None in starts:
        assert {*starts} == {None}
        firsts = [game.new(seed) for seed in range(60)]
        assert len({tuple(str(it.observe(role)) for role in it.roles) for it in firsts}) > 40
        return
    for seed, start in enumerate(starts):
        alike = game.new(starts.index(start))
        for role in alike.roles:
            assert game.new(seed).observe(role) == alike.observe(role)


def test_names_are_known_as_people_write_them() -> None:
    assert games.load("Liar's Dice") is games.load("liars_dice")
    with refused("setting.choice"):
        games.load("liar_dice")


def test_wrong_rules_are_named_with_the_mend() -> None:
    game = games.load("liars_dice")
    with refused("setting.unknown", "player"):
        game.new(0, player=3)
    with refused("setting.type", "players"):
        game.new(0, players="two")
    with refused("setting.range", "players"):
        game.new(0, players=1)
    with refused("setting.type", "wolves"):
        games.load("werewolf").new(0, wolves=[2])


def test_a_rule_that_is_called_as_the_seed_is_refused_like_any_other() -> None:
    """It was taken for the seed, and ended in a traceback."""
    (problem,) = choice.problems((), {"chess": {"seed": 3}}, {}, {})
    assert refusal(problem) == ("setting.unknown", "games.rules.chess.seed")


@pytest.mark.parametrize("given", ["plies", 3, None, [1]])
def test_rules_that_are_none_are_told_with_the_mend(given: object) -> None:
    (problem,) = choice.problems(["chess"], {"chess": given}, {}, {})
    assert (*refusal(problem), problem.given) == ("setting.type", "games.rules.chess", given)


def test_two_spellings_of_a_game_are_told_as_one() -> None:
    """The last one was kept, and the other said nothing."""
    rules = {"liars_dice": {"players": 3}, "liarsdice": {"dice": 2}, "chess": {}}
    (problem,) = choice.problems((), rules, {}, {})
    assert refusal(problem) == ("setting.duplicate", "games.rules")
    assert "'liars_dice'" in problem.message and "'liarsdice'" in problem.message
    (problem,) = choice.problems((), {}, {"Poker": 1, "poker": 2}, {})
    assert refusal(problem) == ("setting.duplicate", "games.weights")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"ches": {}}, ("setting.choice", "games.roster_rules.ches")),
        ({"chess": {"ply": 3}}, ("setting.unknown", "games.roster_rules.chess.ply")),
        ({"chess": 40}, ("setting.type", "games.roster_rules.chess")),
        ({"Poker": {}, "poker": {}}, ("setting.duplicate", "games.roster_rules")),
    ],
)
def test_the_rules_of_a_roster_are_looked_at_like_ones_own(given: Any, told: Refusal) -> None:
    (problem,) = choice.problems((), {}, {}, given)
    assert refusal(problem) == told


@dataclass(frozen=True)
class Coin(State):
    """Who names what the other one has in hand wins; the faults are planted."""

    secret: str
    fault: str = ""
    moved: str | None = None
    left: str = ""

    roles = ("hider", "guesser")

    @property
    def to_move(self) -> str | None:
        return None if self.moved else "guesser"

    @property
    def outcome(self) -> str:
        return "" if self.moved is None or self.fault == "outcome" else "guessed"

    @property
    def parts(self) -> dict[str, str]:
        if self.fault == "sides":
            return dict.fromkeys(self.roles, "one side")
        return {"hider": self.secret} if self.fault == "parts" else {}

    def observe(self, role: str) -> Observation:
        leak = role == "hider" or self.fault == "leak"
        view = f"In hand: {self.secret}" if leak else "A hand is closed."
        if role != self.to_move:
            return Observation(role, "Guess the coin.", view)
        return Observation(role, "Guess the coin.", view, "guess", "'heads' or 'tails'")

    def legal(self) -> tuple[str, ...]:
        if self.over:
            return ("heads",) if self.fault == "over" else ()
        return ("heads", "tails", *(["edge"] * (self.fault == "legal")))

    def apply(self, move: str) -> "Coin":
        if self.over or move not in ("heads", "tails"):
            if self.fault == "nonsense" and not self.over:
                return self
            raise InvalidMove("" if self.fault == "reason" else "'heads' or 'tails'")
        return replace(self, moved=move)

    def scores(self) -> dict[str, float]:
        if not self.over and self.fault != "early":
            return {"hider": 0, "guesser": 0}
        won = 1 if self.moved == self.secret else -1
        if self.left and self.fault == "leaver wins":
            return (
                {"hider": 1, "guesser": -1} if self.left == "hider" else {"hider": -1, "guesser": 1}
            )
        if self.left:
            return (
                {"hider": -1, "guesser": 1} if self.left == "hider" else {"hider": 1, "guesser": -1}
            )
        return {"hider": -won, "guesser": won + (self.fault == "sum")}

    def without(self, role: str) -> "Coin | None":
        if self.over and self.fault != "left late":
            return None if self.fault == "end undone" else self
        if self.fault == "left late":
            return replace(self, moved="heads", left=self.left + role)
        if self.fault == "stays":
            return replace(self, left=self.left + "!")
        return replace(self, moved=self.secret, left=role)

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
    "fault",
    ["leak", "outcome", "legal", "nonsense", "reason", "sum", "parts", "early", "over",
     "leaver wins", "sides", "left late", "end undone", "stays"],
)  # fmt: skip
def test_faults_are_found(fault: str) -> None:
    assert [*problems(_coin(fault), 1)]
    assert not [*problems(_coin(""), 1)]

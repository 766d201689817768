"""Stand-ins at games: wordings move them, and examples steady and teach them."""

import json
import random
from statistics import mean, pstdev

from raybench.fleet.simulated.ability import Ability, problems
from raybench.fleet.simulated.play import reply
from raybench.players.parts.asking import examples, refused
from raybench.players.parts.contract import Try
from raybench.types import Message

USER, OURS = Message("user", "The rules. Your move?"), Message("assistant", "Move: e4")
_, REFUSED = refused(Try("Move: e5", "no"))


def played(ability: Ability, rules: str, *shown: Message, times: int = 400) -> float:
    """Return how often a stand-in plays well."""
    told = {"good": "good", "any": "any", "rules": rules, "examples": examples((*shown, USER))}
    gold = json.dumps(told)
    rng = random.Random(7)
    return mean(reply(gold, "sim", ability, rng) == "good" for _ in range(times))


def test_examples_are_replies_that_were_not_refused() -> None:
    assert examples([USER]) == 0
    assert examples([USER, OURS, USER]) == 1
    assert examples([USER, OURS, USER, OURS, REFUSED]) == 1
    assert examples([USER, OURS, REFUSED, OURS, REFUSED]) == 0


def test_wordings_move_a_stand_in_as_far_as_it_says_and_others_not_at_all() -> None:
    words = [f"The rules, {number}." for number in range(60)]
    moved = Ability(ability=0.5, spread=0.0, wording=0.1)
    assert 0.07 < pstdev(played(moved, rules) for rules in words) < 0.14
    assert played(moved, words[0]) == played(moved, words[0])
    steady = Ability(ability=0.5, spread=0.0)
    assert len({played(steady, rules) for rules in words}) == 1


def test_examples_teach_and_take_the_effect_of_words_away() -> None:
    ability = Ability(ability=0.3, spread=0.0, wording=0.1, learns=0.4)
    shown = [USER, OURS] * 6
    words = [f"The rules, {number}." for number in range(30)]
    taught = [played(ability, rules, *shown) for rules in words]
    assert 0.65 < mean(taught) < 0.75 and pstdev(taught) < 0.03
    assert played(ability, words[0], USER, OURS, REFUSED) == played(ability, words[0])


def test_what_is_wrong_with_them_is_said() -> None:
    assert [*problems("m", {"wording": 0.1, "learns": -0.5})] == []
    assert "wording" in str(next(problems("m", {"wording": -1})).setting)
    assert "learns" in str(next(problems("m", {"learns": 2})).setting)

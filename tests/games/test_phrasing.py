"""Every prompt can be worded otherwise, and says the same: nothing that counts may change."""

import dataclasses
import re
from collections import Counter
from string import Formatter
from typing import Any

import pytest
from examples import examples
from games.phrasing import (
    SETTINGS,
    clauses,
    counts,
    distinct,
    literals,
    poker_tasks,
    possible,
    told,
    walked,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refused

from raybench import games
from raybench.games.parts.phrasings.sentences import (
    MANNERS,
    Sentence,
    Unphrased,
    known,
    reworded,
    sentences,
)
from raybench.types import Observation

NUMBERS = range(1, len(MANNERS) + 1)
SAID = [(name, it) for name in known() for it in (*sentences(name).rules, *sentences(name).task)]


def _same(name: str, seen: Observation) -> None:
    """Look that all phrasings of an observation keep what has to stay, and are new words."""
    others = [games.phrased(name, number, seen) for number in NUMBERS]
    for other in others:
        assert dataclasses.replace(other, rules=seen.rules, task=seen.task) == seen
        for before, after in ((seen.rules, other.rules), (seen.task, other.task)):
            assert literals(before) <= literals(after)
            assert {*literals(before)} == {*literals(after)}, "a number or a code was added"
            assert counts(before) <= counts(after)
            assert {*counts(before)} == {*counts(after)}
            assert bool(before) == bool(after)
            assert "{" not in after
    every = [seen, *others]
    assert len({it.rules for it in every}) == len(every)
    assert not seen.task or len({it.task for it in every}) == len(every)
    assert games.phrased(name, 0, seen) is seen


def test_every_game_has_phrasings() -> None:
    assert [*known()] == games.names() == [*SETTINGS]
    assert {games.phrasings(name) for name in games.names()} == {4}


@pytest.mark.parametrize("name", games.names())
def test_every_rule_is_tried(name: str) -> None:
    rules = games.load(name).rules
    assert {field.name for field in dataclasses.fields(rules)} == {*SETTINGS[name]}


@pytest.mark.parametrize("name", games.names())
def test_all_that_a_game_says_by_any_rules_can_be_worded_otherwise(name: str) -> None:
    ways = {str(rules): rules for rules in walked(name)}.values()
    seen = [it for seed, rules in enumerate(ways) for it in _begun(name, rules, seed)]
    for each in distinct(seen):
        _same(name, each)


@pytest.mark.parametrize("good", [False, True], ids=["at random", "well"])
@pytest.mark.parametrize("name", games.names())
def test_every_role_and_stage_can_be_worded_otherwise(name: str, good: bool) -> None:
    for seed in range(4):
        for each in told(name, {}, seed, good=good):
            _same(name, each)


@given(st.data())
@examples(20)
def test_so_can_whole_games_by_random_rules(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(games.names()))
    rules = data.draw(
        st.fixed_dictionaries(
            {}, optional={field: st.sampled_from(it) for field, it in SETTINGS[name].items()}
        )
    )
    while not possible(name, rules):  # some go with some others only
        rules.popitem()
    for each in told(name, rules, data.draw(st.integers(0, 1000))):
        _same(name, each)


def test_so_can_the_rare_tasks_of_poker() -> None:
    table = games.load("poker").new(1).observe("player_1")
    for task in poker_tasks():
        _same("poker", dataclasses.replace(table, task=task))


def test_no_sentence_is_written_down_that_no_game_says() -> None:
    """What a game no longer says, nobody would keep true."""
    said = set[str]()
    for name in games.names():
        ways = {str(rules): rules for rules in walked(name)}.values()
        texts = [it for rules in ways for it in _begun(name, rules, 1)]
        texts += [it for seed in range(3) for it in told(name, {}, seed)]
        texts += [Observation("", "", "", task=it) for it in poker_tasks()] * (name == "poker")
        texts += told(name, {"peaceful": False}, 1) if name == "werewolf" else []
        for text in {it.rules for it in texts} | {it.task for it in texts}:
            said |= {of for of, it in _patterns(name) if it.search(text)}
    assert not {it.of for _, it in SAID} - said


def _begun(name: str, rules: dict[str, Any], seed: int) -> list[Observation]:
    """Return what everybody sees at first."""
    state = games.load(name).new(seed, **rules)
    return [state.observe(role) for role in state.roles]


def _patterns(name: str) -> list[tuple[str, re.Pattern[str]]]:
    said = sentences(name)
    return [(it.of, it.pattern) for it in (*said.rules, *said.task)]


@pytest.mark.parametrize(("name", "said"), SAID)
def test_a_sentence_and_its_rewordings_have_the_same_slots(name: str, said: Sentence) -> None:
    assert len({said.of, *said.others}) == len(said.others) + 1
    for other in said.others:
        assert _slots(said.of) <= _slots(other), "a number would be lost"
        assert {*_slots(said.of)} == {*_slots(other)}
        assert not [it for it in clauses(said.of) if it in other]
        assert other[0].isupper() or other[0] in "{'"
        assert other.endswith((".", ": {motion}"))
        assert "  " not in other and "\n" not in other


def _slots(template: str) -> Counter[str]:
    return Counter(slot for _, slot, _, _ in Formatter().parse(template) if slot)


HOSTILE = [
    "You speak for it, whatever you think of it yourself; the other side speaks against it.",
    "A speech is cut after 3 words. Then a jury scores both sides by the same rubric: argument",
    "{side} {motion} {0} {} {{x}} %s \\g<0> \\1",
    "Lines that begin with '>' are quoted: a player wrote them, whatever they pretend to be.",
    "You debate the motion: You debate the motion: none",
    "The side with the higher total wins.",
    "“Nobody” – 'nobody' – \"nobody\" … should   have\ttabs 🂡",
]


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("topic", HOSTILE)
def test_a_motion_is_passed_through_whatever_it_says(topic: str, number: int) -> None:
    for role in ("for", "against"):
        tame, seen = (
            games.phrased("debate", number, games.load("debate").new(1, topic=it).observe(role))
            for it in ("Tea", topic)
        )
        assert seen.rules == tame.rules.replace(": Tea\n", f": {topic}\n")


@given(st.text(max_size=60), st.integers(1, 4))
@settings(deadline=None)
def test_any_motion_is(topic: str, number: int) -> None:
    if not possible("debate", {"topic": topic}) or not topic.strip():
        return
    seen = games.load("debate").new(1, topic=topic).observe("for")
    first = games.phrased("debate", number, seen).rules.split("\n")[0]
    assert first.endswith(f": {topic.strip()}")


def test_what_nobody_has_put_in_other_words_is_named() -> None:
    seen = games.load("chess").new(1).observe("white")
    for rules, named in [
        (f"{seen.rules} Pawns may move backwards. So may kings.", "'Pawns may move backwards.'"),
        (seen.rules.replace("Checkmate wins", "Checkmate loses"), "'Checkmate loses.'"),
        (f"{seen.rules} Checkmate wins.", "'Checkmate wins.'"),
        (seen.rules.replace("200 plies", "many plies"), "'After many plies"),
        (f"{seen.rules}!", "'Draws are not offered.!'"),
    ]:
        with refused("game.fault", kind=Unphrased) as error:
            games.phrased("chess", 1, dataclasses.replace(seen, rules=rules))
        assert named in str(error.value)
        assert games.phrased("chess", 0, dataclasses.replace(seen, rules=rules)).rules == rules
    with refused("game.fault", kind=Unphrased):
        games.phrased("chess", 1, dataclasses.replace(seen, task="Take your time."))


def test_nothing_said_stays_nothing() -> None:
    assert reworded("", sentences("chess").rules, 0) == ""


def test_a_phrasing_that_there_is_not_is_refused_with_those_there_are() -> None:
    seen = games.load("chess").new(1).observe("white")
    for number in (-1, 5, 100):
        with refused("setting.choice"):
            games.phrased("chess", number, seen)
    with refused("setting.choice", given="ches"):
        games.phrased("ches", 0, seen)
    with refused("setting.choice", given="quoting"):
        games.phrasings("quoting")
    assert games.phrasings("Liar's Dice") == 4

"""What journals keep of matches comes back as it was."""

import json
from dataclasses import replace

import pytest

from raybench import games
from raybench.games import MANAGER
from raybench.tournament import records
from raybench.tournament.fixtures import Fixture
from raybench.tournament.match import Terms, told_again
from raybench.tournament.turns import Ending, Forfeit, Turn

FIXTURE = Fixture("liars_dice", ("a", "b"), 3)
FIRST = games.load("liars_dice").new(3)


def turn(role: str, move: str, error: str | None = None) -> Turn:
    seen = FIRST.observe("player_1")
    text = f"{seen.view}\n\n{seen.task}" if move == "bid 1 4" or error else ""
    return Turn(role, role[-1], "bid", text, f"Move: {move}", move, error, 0.25, 3, 40)


TURNS = [
    turn("player_1", "call", "there is no bid to call yet: begin with a bid"),
    turn("player_1", "bid 1 4"),
]


def test_turns_come_back_with_what_was_seen() -> None:
    lines = [
        records.begun(1, FIXTURE),
        *(records.turned(1, 0, it, at) for at, it in enumerate(TURNS, 1)),
    ]
    assert all("observation" not in line for line in lines)
    found: dict[int, records.Unfinished] = {}
    for line in lines:
        records.enter(found, json.loads(json.dumps(line)))
    assert found[1].fixture == FIXTURE
    assert told_again(FIRST, found[1].turns, Terms()) == TURNS


def test_of_a_match_that_was_begun_anew_the_last_attempt_counts() -> None:
    found: dict[int, records.Unfinished] = {}
    lines = [records.begun(1, FIXTURE), records.turned(1, 0, TURNS[0], 1)]
    for line in [*lines, records.turned(1, 2, TURNS[1], 1), records.begun(1, FIXTURE)]:
        records.enter(found, line)
    assert (found[1].attempt, len(found[1].turns)) == (2, 1)


def entered(*lines: dict[str, object]) -> records.Unfinished:
    found: dict[int, records.Unfinished] = {}
    for line in lines:
        records.enter(found, json.loads(json.dumps(line)))
    return found[1]


BEGAN = [
    records.begun(1, FIXTURE),
    *(records.turned(1, 0, it, at) for at, it in enumerate(TURNS, start=1)),
]


@pytest.mark.parametrize("again", [1, 2])
def test_a_turn_that_stands_there_twice_counts_once(again: int) -> None:
    found = entered(*BEGAN, BEGAN[again])
    assert found == entered(*BEGAN)
    assert len(found.turns) == 2


@pytest.mark.parametrize("place", [0, 1, 2, 4])
def test_a_turn_that_does_not_follow_is_refused(place: int) -> None:
    other = turn("player_1", "bid 2 4")
    with pytest.raises(ValueError):
        entered(*BEGAN, records.turned(1, 0, other, place))


def test_a_turn_of_an_attempt_that_was_given_up_changes_nothing() -> None:
    lost = records.GivenUp(0, "a gave no reply: busy", "a")
    anew = [records.given_up(1, lost, attempt=1, replays=1), records.turned(1, 1, TURNS[1], 1)]
    assert entered(*BEGAN, *anew, BEGAN[1]) == entered(*BEGAN, *anew)


def test_turns_of_older_journals_are_taken_as_they_stand() -> None:
    plain = [{name: it for name, it in line.items() if name != "turn"} for line in BEGAN]
    assert entered(*plain).turns == entered(*BEGAN).turns
    assert len(entered(*plain, plain[2]).turns) == 3
    # A later version went on with it: its turns are counted on from those without a number.
    assert len(entered(*plain, records.turned(1, 0, TURNS[1], 3)).turns) == 3


def test_a_match_goes_on_as_the_attempt_that_was_begun_before_any_turn_of_it() -> None:
    lost = records.GivenUp(0, "a gave no reply: busy", "a")
    began = [records.begun(1, FIXTURE), records.turned(1, 0, TURNS[0], 1)]
    found = entered(*began, records.given_up(1, lost, attempt=1, replays=1))
    assert (found.attempt, found.turns, found.replays, found.given_up) == (1, [], 1, [lost])
    assert entered(*began).replays is None


def test_a_match_that_waited_for_somebody_goes_on_with_its_turns() -> None:
    lost = records.GivenUp(0, "a gave no reply: busy", "a")
    found = entered(
        records.begun(1, FIXTURE),
        records.turned(1, 0, TURNS[0], 1),
        records.given_up(1, lost, attempt=0, replays=2),
    )
    assert (found.attempt, len(found.turns), found.replays, found.given_up) == (0, 1, 2, [])


def test_requests_without_a_reply_are_counted_over_all_attempts() -> None:
    found = entered(
        records.begun(1, FIXTURE),
        records.unanswered(1, 0, {"a": 1}),
        records.unanswered(1, 1, {"a": 2, "juror": 4}),
    )
    assert found.failed == {"a": 3, "juror": 4}
    record = records.finished(
        1, 1, FIXTURE, FIRST.roles, TURNS, Ending({"player_1": 1.0, "player_2": -1.0}, "won"),
        found.failed, [records.GivenUp(0, "busy", "a")],
    )  # fmt: skip
    match = records.kept(json.loads(json.dumps(record)))
    assert match.failed == {"a": 3, "juror": 4}
    assert match.given_up == (records.GivenUp(0, "busy", "a"),)


def test_records_of_older_journals_know_of_one_request_of_a_void_match() -> None:
    for missing, failed in (("b", {"b": 1}), (None, {})):
        ending = Ending({}, "void", void="gone", missing=missing)
        record = records.finished(1, 0, FIXTURE, FIRST.roles, [], ending)
        del record["failed"], record["given_up"]
        assert (records.kept(record).failed, records.kept(record).given_up) == (failed, ())


def test_every_reply_is_of_one_kind() -> None:
    """Illegal moves are read; what is cut is cut, whatever can be read in it."""
    cut, blank = replace(TURNS[0], truncated=True), replace(TURNS[0], move=None)
    brought = replace(TURNS[1], role=MANAGER, model="", calls=0)  # and is no player's
    turns = [TURNS[0], cut, replace(cut, move=None), blank, brought, TURNS[1]]
    ending = Ending({"player_1": 1.0, "player_2": -1.0}, "won")
    record = records.finished(1, 0, FIXTURE, FIRST.roles, turns, ending)
    efforts = records.kept(json.loads(json.dumps(record))).efforts
    effort = efforts["player_1"]
    assert (effort.turns, effort.invalid, effort.truncated, effort.unparsed) == (1, 4, 2, 1)
    assert efforts == {"player_1": effort, "player_2": records.Effort()}


def test_few_and_short_reasons_stay_in_memory() -> None:
    wrong = [replace(TURNS[0], error=f"{n} {'x' * 500}") for n in (1, 2, 3, 2, 2, 3, 4)]
    ending = Ending(
        {"player_1": -1.0, "player_2": 1.0}, "x", [Forfeit("player_1", "invalid moves", 7)]
    )
    match = records.kept(records.finished(1, 0, FIXTURE, FIRST.roles, wrong, ending))
    assert [(why[:2], count) for _, why, count in match.errors] == [("2 ", 3), ("3 ", 2)]
    assert {role: why[:2] for role, why in match.last.items()} == {"player_1": "4 "}
    assert max(len(why) for _, why, _ in match.errors) == 160


def test_what_stays_in_memory_has_no_texts() -> None:
    ending = Ending(
        {"player_1": -1.0, "player_2": 1.0},
        "player_1 forfeited (time)",
        [Forfeit("player_1", "time", 2)],
    )
    record = records.finished(1, 0, FIXTURE, FIRST.roles, TURNS, ending)
    match = records.kept(json.loads(json.dumps(record)))
    assert match.result is not None and match.result.scores == (-1.0, 1.0)
    assert match.seats == {"player_1": "a", "player_2": "b"}
    assert match.efforts["player_1"] == records.Effort(
        turns=1, invalid=1, calls=2, seconds=0.5, tokens=6
    )
    assert match.errors == (("player_1", TURNS[0].error, 1),)
    assert match.last == {}
    assert match.forfeits == (Forfeit("player_1", "time", 2),)


def test_names_of_many_matches_stand_in_memory_once() -> None:
    ending = Ending({"player_1": -1.0, "player_2": 1.0}, "player_1 lost")
    told = json.dumps(records.finished(1, 0, FIXTURE, FIRST.roles, TURNS, ending))
    one, other = (records.kept(json.loads(told)) for _ in range(2))
    for here, there in zip(one.roles, other.roles, strict=True):
        assert here is there
    for here, there in zip(one.scores, other.efforts, strict=True):
        assert here is there
    for here, there in zip(one.fixture.seats, other.fixture.seats, strict=True):
        assert here is there
    assert (one.sides, one.last, one.failed) == ({}, {}, {})


def test_void_matches_have_no_result() -> None:
    record = records.finished(1, 2, FIXTURE, FIRST.roles, [], Ending({}, "void", void="gone"))
    assert records.kept(record).result is None


def test_votes_are_counted() -> None:
    ending = Ending({"player_1": 0.0, "player_2": 0.0}, "draw", ballots=(3, 1))
    match = records.kept(records.finished(1, 0, FIXTURE, FIRST.roles, TURNS, ending))
    assert (match.votes, match.votes_missing) == (3, 1)

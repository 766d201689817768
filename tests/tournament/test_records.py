"""What journals keep of matches comes back as it was."""

import json

from raybench import games
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
    lines = [records.begun(1, FIXTURE), *(records.turned(1, 0, it) for it in TURNS)]
    assert all("observation" not in line for line in lines)
    found: dict[int, records.Unfinished] = {}
    for line in lines:
        records.enter(found, json.loads(json.dumps(line)))
    assert found[1].fixture == FIXTURE
    assert told_again(FIRST, found[1].turns, Terms()) == TURNS


def test_of_a_match_that_was_begun_anew_the_last_attempt_counts() -> None:
    found: dict[int, records.Unfinished] = {}
    lines = [records.begun(1, FIXTURE), records.turned(1, 0, TURNS[0])]
    for line in [*lines, records.turned(1, 2, TURNS[1]), records.begun(1, FIXTURE)]:
        records.enter(found, line)
    assert (found[1].attempt, len(found[1].turns)) == (2, 1)


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
    assert match.errors == (("player_1", TURNS[0].error),)
    assert match.forfeits == (Forfeit("player_1", "time", 2),)


def test_void_matches_have_no_result() -> None:
    record = records.finished(1, 2, FIXTURE, FIRST.roles, [], Ending({}, "void", void="gone"))
    assert records.kept(record).result is None


def test_votes_are_counted() -> None:
    ending = Ending({"player_1": 0.0, "player_2": 0.0}, "draw", ballots=(3, 1))
    match = records.kept(records.finished(1, 0, FIXTURE, FIRST.roles, TURNS, ending))
    assert (match.votes, match.votes_missing) == (3, 1)

"""Votes that are missing are told with their juror and the reason."""

import json
from typing import Any

from raybench import games
from raybench.games.parts.debate.verdict import CRITERIA
from raybench.tournament import records, votes
from raybench.tournament.fixtures import Fixture
from raybench.tournament.reliability import failures
from raybench.tournament.turns import Ending, Turn

MARKS = dict.fromkeys(CRITERIA, 5)
SCORES = json.dumps({"side_a": MARKS, "side_b": MARKS})
VOTES: list[dict[str, Any]] = [
    {"juror": "c", "replies": [SCORES, SCORES]},
    {"juror": "d", "replies": [None, SCORES], "why": ["error: connection refused", None]},
    {"juror": "e", "replies": ["{", "I like 'for'."], "why": ["cut off after 512 tokens", None]},
    {"juror": "f", "replies": [None, None]},
]
"""The last is as older journals have it."""


def kept(missing: int = 3) -> records.Match:
    state = games.load("debate").new(1)
    turns = [Turn("for", "a", "speak", "", "Yes", "Yes", None)]
    turns.append(Turn("manager", "", "manage", "", "", json.dumps({"votes": VOTES}), None))
    ending = Ending({"for": 0.0, "against": 0.0}, "a draw", ballots=(4 - missing, missing))
    return records.kept(
        records.finished(7, 0, Fixture("debate", ("a", "b"), 1), state.roles, turns, ending)
    )


def test_failures_name_each_juror_and_say_why_its_vote_is_missing() -> None:
    told = [*failures([kept()])]
    assert {it["kind"] for it in told} == {"vote missing"} and len(told) == 3
    assert {it["model"]: it["why"] for it in told} == {
        "d": "'for' read first: error: connection refused",
        "e": "'for' read first: the reply holds no scores of the rubric, cut off after 512 tokens; "
        "'against' read first: the reply holds no scores of the rubric",
        "f": "'for' read first: there is no reply; 'against' read first: there is no reply",
    }
    assert all((it["match"], it["game"]) == (7, "debate") for it in told)


def test_where_no_vote_is_missing_no_text_is_read() -> None:
    assert votes.lost({"ballots": [4, 0]}) == ()


def test_the_game_reads_votes_with_and_without_reasons() -> None:
    state = games.load("debate").new(1)
    while state.to_move != games.MANAGER:
        state = state.apply("I say so.")
    assert state.apply(json.dumps({"votes": VOTES})).ballots == (1, 3)

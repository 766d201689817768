"""Votes that are missing are told with their juror and the reason."""

import json
import re
from typing import Any

from raybench import games
from raybench.games.parts.debate.missing import NO_JUROR_REPLY, NO_SCORES
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
        juror: "; ".join(f"'{side}' read first: {reason}" for side, reason in why.items())
        for juror, why in {
            "d": {"for": "error: connection refused"},
            "e": {"for": f"{NO_SCORES}, cut off after 512 tokens", "against": NO_SCORES},
            "f": {"for": NO_JUROR_REPLY, "against": NO_JUROR_REPLY},
        }.items()
    }
    assert all((it["match"], it["game"]) == (7, "debate") for it in told)


def test_where_no_vote_is_missing_no_text_is_read() -> None:
    assert votes.lost({"ballots": [4, 0], "void": None}) == ()


def unjudged() -> dict[str, Any]:
    """The record of a debate of which no juror gave both readings."""
    state = games.load("debate").new(1)
    turns = [Turn("for", "a", "speak", "", "Yes", "Yes", None)]
    turns.append(Turn("manager", "", "manage", "", "", json.dumps({"votes": VOTES[1:]}), None))
    void = Ending({}, "void", void="none of 3 jurors gave scores that can be read")
    return records.finished(7, 0, Fixture("debate", ("a", "b"), 1), state.roles, turns, void)


def test_votes_of_a_debate_that_could_not_be_judged_are_missing_too() -> None:
    match = records.kept(unjudged())
    assert (match.votes, match.votes_missing) == (0, 3)
    assert [it["kind"] for it in failures([match])] == ["void", *["vote missing"] * 3]


def test_a_jury_that_was_not_reached_gave_no_votes_that_could_be_missing() -> None:
    record = unjudged()
    record |= {"turns": record["turns"][:1], "missing": "d"}
    assert records.kept(record).votes_missing == 0


def test_what_came_of_each_juror_is_written_down() -> None:
    told = votes.written(json.dumps({"votes": VOTES})).splitlines()
    sides = [re.findall(r"'(for|against)'(?: (\d+))?", line) for line in told[:2]]
    counted, other = ("for", "20"), ("against", "20")
    one = [("for", ""), counted, other]
    two = [("against", ""), other, counted]
    assert sides == [one + two, [*two, ("for", "")]]
    assert told[0].startswith("- c: ") and told[1].endswith(f": {VOTES[1]['why'][0]}")
    assert len(told) == 4 and VOTES[2]["why"][0] in told[2]


def test_votes_are_counted_by_juror() -> None:
    move = json.dumps({"votes": VOTES})
    assert votes.by_juror([move, json.dumps({"votes": VOTES[:2]}), move]) == {
        "c": (3, 0), "d": (3, 3), "e": (2, 2), "f": (2, 2),
    }  # fmt: skip


def test_the_game_reads_votes_with_and_without_reasons() -> None:
    state = games.load("debate").new(1)
    while state.to_move != games.MANAGER:
        state = state.apply("I say so.")
    assert state.apply(json.dumps({"votes": VOTES})).ballots == (1, 3)

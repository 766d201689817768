"""What is said of a run beside its numbers is true of it."""

from dataclasses import replace

import pytest
from tournament.outcomes import won

from raybench.experiments.games.conclusion import End, _notes
from raybench.experiments.games.ratings import RatedTwice
from raybench.tournament.ratings import Rated
from raybench.tournament.records import GivenUp, Match

NOTHING = RatedTwice(Rated({}, None), Rated({}, None), 0)
GONE = GivenUp(0, "c gave no reply: 429: too many requests", "c")
UNREAD = GivenUp(1, "none of 3 jurors gave scores that can be read, both ways round")
SANDBOX = GivenUp(0, "the sandbox failed: no processes left", "the sandbox")


@pytest.mark.parametrize(
    ("matches", "told"),
    [
        (
            [
                won(1, "a", "c", 1, given_up=[GONE, UNREAD]),
                won(2, "c", "a", 0, void="gone", given_up=[GONE]),
                won(3, "a", "b", 0, given_up=[SANDBOX]),
                won(4, "a", "b", 0),
            ],
            "3 matches: c gave no reply (2); none of 3 jurors gave scores that can be read, both "
            "ways round (1); the sandbox failed (1). failures.jsonl has each reason",
        ),
        (
            [replace(won(1, "a", "c", 1), attempt=2)],
            "1 match: for reasons that its journal does not have (2)",
        ),
    ],
)
def test_why_matches_were_begun_anew(matches: list[Match], told: str) -> None:
    assert _notes(matches, NOTHING, End(), "abc")["Begun anew"] == told


def test_where_none_was_begun_anew_nothing_is_said() -> None:
    assert "Begun anew" not in _notes([won(1, "a", "b", 1)], NOTHING, End(), "ab")


def test_matches_that_repeat_another_are_told() -> None:
    start = "chess: a, b: e4"
    matches = [
        replace(won(1, "a", "b", 1), table=start),
        replace(won(2, "a", "b", 1), table=start),
        replace(won(3, "b", "a", 1), table=start),  # the seats exchanged
        replace(won(4, "b", "a", 0, void="gone"), table=start),
        won(5, "a", "b", 1),
    ]
    told = _notes(matches, NOTHING, End(), "ab")["Matches"]
    assert told == ("4 of 5 count, 1 is void; repeats of another: 1, by models at temperature 0")
    assert _notes(matches[2:], NOTHING, End(), "ab")["Matches"] == "2 of 3 count, 1 is void"


def test_what_is_lost_of_jurors_who_do_not_play_is_told() -> None:
    """No count of results.json has them: those are of the models that play."""
    matches = [
        won(1, "a", "b", 1, votes_missing=2, failed={"b": 1, "judge": 3}),
        won(2, "a", "b", 0, void="no juror gave a reply", missing="judge", failed={"judge": 1}),
    ]
    told = _notes(matches, NOTHING, End(), ["a", "b"])["Jury"]
    assert told == (
        "2 of 5 votes are missing (juror 0 1, juror 1 1); 4 requests to judge got no reply"
    )
    assert "Jury" not in _notes(matches[1:], NOTHING, End(), ["a", "b", "judge"])
    gone = End(unfinished="judge is gone", failed={"judge": 6, "b": 2})
    told = _notes(matches, NOTHING, gone, ["a", "b"])["Jury"]
    assert told.endswith("10 requests to judge got no reply")

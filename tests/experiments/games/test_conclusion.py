"""What is said of a run beside its numbers is true of it."""

from dataclasses import replace

import pytest
from statements import the, values
from tournament.outcomes import won

from raybench.experiments.games.conclusion import End, _jury, _notes
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
            (3, [2, 1, 1]),
        ),
        (
            [replace(won(1, "a", "c", 1), attempt=2)],
            (1, [2]),
        ),
    ],
)
def test_why_matches_were_begun_anew(matches: list[Match], told: tuple[int, list[int]]) -> None:
    text = _notes(matches, NOTHING, End(), "abc")["Begun anew"]
    found = values(text)
    assert (found["matches"], found["times"]) == told
    given_up = {lost.void.partition(": ")[0] for it in matches for lost in it.given_up}
    assert all(reason in found["told"] for reason in given_up)
    assert bool(found["where"]) is bool(given_up)


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
    told = values(_notes(matches, NOTHING, End(), "ab")["Matches"])
    assert (told["counted"], told["matches"], told["void"], told["again"]) == (4, 5, 1, 1)
    told = values(_notes(matches[2:], NOTHING, End(), "ab")["Matches"])
    assert (told["counted"], told["matches"], told["repeats"]) == (2, 3, "")


def test_what_is_lost_of_jurors_who_do_not_play_is_told() -> None:
    """No count of results.json has them: those are of the models that play."""
    matches = [
        won(1, "a", "b", 1, votes_missing=2, failed={"b": 1, "judge": 3}),
        won(2, "a", "b", 0, void="no juror gave a reply", missing="judge", failed={"judge": 1}),
    ]
    told = [*_jury(matches, ["a", "b"], {})]
    missing = the("jury.missing", told)
    assert (missing["missing"], missing["votes"], missing["of"]) == (
        2,
        5,
        " (juror 0 1, juror 1 1)",
    )
    silent = the("jury.no_reply", told)
    assert (silent["requests"], silent["juror"]) == (4, "judge")
    assert _notes(matches, NOTHING, End(), ["a", "b"])["Jury"] == "; ".join(told)
    assert "Jury" not in _notes(matches[1:], NOTHING, End(), ["a", "b", "judge"])
    gone = End(unfinished="judge is gone", failed={"judge": 6, "b": 2})
    assert the("jury.no_reply", _jury(matches, ["a", "b"], gone.failed))["requests"] == 10
    assert " 10 " in _notes(matches, NOTHING, gone, ["a", "b"])["Jury"]

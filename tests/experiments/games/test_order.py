"""The order of models where ratings do not compare them, as results and the report have it."""

import json
import re
from typing import Any, cast

import pytest
from statements import code, values
from tournament.outcomes import won

from raybench.experiments.games.conclusion import (
    GROUP,
    RATING,
    End,
    _notes,
    _results,
    _with_group,
    measured,
)
from raybench.experiments.games.ratings import RatedTwice
from raybench.experiments.games.report import meetings, roles, standing
from raybench.experiments.games.report.shown import Shown
from raybench.experiments.games.standings import Standing
from raybench.tournament.ratings import rate
from raybench.tournament.records import Match
from raybench.tournament.reliability import reliability
from raybench.tracking.leaderboard import rows
from raybench.tracking.report import Section

ROLES = {"chess": ("white", "black"), "mathquiz": ("first", "second")}
MODELS = ["weak-1", "champion", "weak-2", "hopeless", "absent"]


def meet(one: str, other: str, *scores: float) -> list[tuple[str, str, float]]:
    """Return a match each way for each score of the one."""
    return [it for score in scores for it in ((one, other, score), (other, one, -score))]


def matches(played: list[tuple[str, str, float]], game: str = "chess") -> list[Match]:
    return [won(number, *it, game=game) for number, it in enumerate(played, 1)]


CHAMPION = matches(
    meet("weak-1", "weak-2", 1, 1, -1, 0)
    + meet("champion", "weak-1", 1, 1, 1)
    + meet("champion", "weak-2", 1, 1, 1)
    + meet("weak-1", "hopeless", 1, 1, 1)
    + meet("weak-2", "hopeless", 1, 1, 1)
)
APART = matches(meet("a", "b", 1, -1, 1) + meet("y", "z", 1, -1, 1))


def shown(played: list[Match], models: list[str]) -> Shown:
    games = [*dict.fromkeys(it.fixture.game for it in played)]
    results = [it.result for it in played if it.result is not None]
    rated = rate(results, games, ROLES, bootstrap=100)
    assert rated.overall is not None
    twice, stood = RatedTwice(rated, rated, 0), Standing("games", rated.overall)
    reliable = reliability(played, models)
    return Shown(
        models=models,
        games=games,
        matches=played,
        rated=twice,
        stood=stood,
        reliable=reliable,
        metrics=measured(models, twice, stood, reliable),
        recorded=cast(Any, None),
        rules={},
    )


def named(found: list[Section], title: str) -> Section:
    return next(it for it in found if it.title == title)


def test_the_undefeated_is_first_on_the_leaderboard_and_the_winless_last() -> None:
    of = shown(CHAMPION, MODELS)
    columns = _with_group(RATING, GROUP, of.rated.all)
    models = {
        model: {key: it.to_json() for key, it in metrics.items()}
        for model, metrics in of.metrics.items()
    }
    assert "Infinity" not in json.dumps(models)
    lines = rows({"models": models}, columns)
    assert [(row.place, row.model) for row in lines] == [
        ("1", "champion"), ("2", "weak-1"), ("3", "weak-2"), ("4", "hopeless"), ("—", "absent"),
    ]  # fmt: skip
    assert lines[0].cells[0].text(0).startswith("≥ 1")
    assert lines[3].cells[0].text(0).startswith("≤ ")
    assert [row.cells[1].text(0) for row in lines] == ["1", "2", "2", "3", "—"]
    assert of.best_first == [row.model for row in lines]


def test_one_group_needs_no_column() -> None:
    of = shown(matches(meet("a", "b", 1, -1, 1)), ["a", "b"])
    assert _with_group(RATING, GROUP, of.rated.all) == (RATING,)
    assert "games/group" not in of.metrics["a"]


def test_groups_that_never_met_have_ranks_between() -> None:
    of = shown(APART, ["a", "b", "y", "z"])
    rank = of.metrics["a"]["games/rank"]
    assert (rank.value, rank.ci95) == (None, (1, 3))
    assert code(rank.method) == "refused.rank_between"
    assert values(rank.method) == {"best": 1, "worst": 3}
    figure = named([*standing.sections(of)], "Ratings").figure or ""
    assert figure.index("group 1 is 1000") < figure.index("group 2 is 1000")


def test_a_note_says_in_a_line_that_groups_are_not_compared_and_the_report_lists_them() -> None:
    found = shown(CHAMPION, MODELS)
    text = _notes(CHAMPION, found.rated, End(), MODELS)["Compared"]
    assert (code(text), values(text)) == ("ratings.within_groups", {"groups": 3})
    assert "hopeless" in named([*standing.sections(found)], "Ratings").text
    one = shown(matches(meet("a", "b", 1, -1, 1, -1, 1, -1)), ["a", "b"])
    assert "Compared" not in _notes(one.matches, one.rated, End(), ["a", "b"])


def test_counts_of_matches_say_why_they_have_no_interval() -> None:
    told = _results("games", CHAMPION, MODELS)["champion"]
    assert {name: it.value for name, it in told.items()} == {
        "games/wins": 12.0, "games/draws": 0.0, "games/losses": 0.0,
    }  # fmt: skip
    assert all(it.ci95 is None and "no interval" in it.method for it in told.values())


def test_the_plot_has_the_undefeated_on_the_scale_of_those_it_met() -> None:
    found = [*standing.sections(shown(CHAMPION, MODELS))]
    figure = named(found, "Ratings").figure or ""
    for word in ("≥ 1", "≤ ", "rating where the mean of group 2 is 1000", "not computed"):
        assert figure.count(f">{word}") == 1  # "absent" alone is refused
    order = ["champion", "weak-1", "weak-2", "hopeless", "absent"]
    assert sorted(order, key=lambda it: figure.index(f">{it}<")) == order
    chances = named(found, "Chances of winning")
    assert (chances.figure or "").count("&gt;") == 5
    assert chances.table is not None
    assert [row[:2] for row in chances.table.rows] == [
        ("champion", "1"), ("weak-1", "2"), ("weak-2", "3"), ("hopeless", "4"),
    ]  # fmt: skip


def test_two_models_have_a_scale_as_well() -> None:
    of = shown(matches(meet("base", "best", -1, -1, -1)), ["base", "best"])
    figure = named([*standing.sections(of)], "Ratings").figure or ""
    assert "best is 1000" in figure and "≤ " in figure
    assert "not computed" not in figure


def test_a_games_ratings_bear_their_groups() -> None:
    both = [*matches(meet("a", "b", 1, 1, 1)), *matches(meet("a", "b", 1, -1, 1), "mathquiz")]
    section = named([*standing.sections(shown(both, ["b", "a"]))], "Ratings by game")
    assert section.table is not None
    assert section.table.columns == ("model", "Chess", "group", "MathQuiz")
    assert [(row[0], row[2]) for row in section.table.rows] == [("a", 1), ("b", 2)]
    assert re.match(r"Chess: .* 1 is a; .* 2 is b\.", section.table.caption)


def test_shares_have_the_same_colours_in_every_report() -> None:
    def blue(*scores: float) -> list[str]:
        section = next(iter(meetings.sections(shown(matches(meet("a", "b", *scores)), ["a", "b"]))))
        assert "0 (dark)" in (section.figure or "") and "1 (bright)" in (section.figure or "")
        return [it for it in ("#00224e", "#fee838") if it in (section.figure or "")]

    assert blue(1, 1, 1) == ["#00224e", "#fee838"]
    assert blue(1, -1, 1) == []


def test_a_role_without_an_interval_says_why() -> None:
    # Ten matches of two seeds: no more than what is to be told of strengths and roles.
    played = [("a", "b", 1), ("a", "b", -1), ("b", "a", 1), ("b", "a", -1), ("a", "b", 1)] * 2
    of = shown([won(n, *it, seed=n % 2) for n, it in enumerate(played)], ["a", "b"])
    section = named([*roles.sections(of)], "What a role is worth")
    assert section.table is not None
    ((_, _, _, points),) = section.table.rows
    assert getattr(points, "value", None) is not None and getattr(points, "ci95", ()) is None
    assert re.match("Chess: .*interval: ", section.table.caption)


@pytest.mark.parametrize(
    ("played", "told", "counts"),
    [
        (CHAMPION[:3], "matches.all", (3, None)),
        ([*CHAMPION[:2], won(9, "a", "b", 0, void="gone")], "matches.some", (2, 1)),
        ([], "matches.none", (None, None)),
    ],
)
def test_how_many_matches_count_is_a_sentence(
    played: list[Match], told: str, counts: tuple[int | None, int | None]
) -> None:
    found = shown(CHAMPION, MODELS).rated
    text = _notes(played, found, End(), MODELS)["Matches"]
    assert code(text) == told
    assert (values(text).get("counted"), values(text).get("void")) == counts

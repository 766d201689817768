"""Ranks, bounds and covariances, as programs read them; and of which matches ratings are."""

import json
import math

import pytest
from tournament.outcomes import duels, won

from raybench.config import Config
from raybench.config.games import GamesConf
from raybench.experiments.games import ratings
from raybench.experiments.games.standings import Standing
from raybench.stats.ratings.outcome import Ratings
from raybench.tournament.fixtures import Fixture, Result
from raybench.tournament.ratings import rate
from raybench.tournament.turns import Forfeit

ROLES = {"chess": ("white", "black")}


def rated(*more: Result) -> Ratings:
    results = duels({"a": 1.5, "b": 0.0, "c": -1.0}, 40)
    found = rate([*results, *more], ["chess"], ROLES, bootstrap=200).overall
    assert found is not None
    return found


def test_covariances_give_the_errors_of_ratings_and_of_differences() -> None:
    standing = Standing("chess", rated())
    lines = {line["model"]: line for line in standing.lines()}
    assert [*lines] == ["a", "b", "c"]
    covariance = {model: line["covariance"] for model, line in lines.items()}
    for model, line in lines.items():
        assert covariance[model][model] == pytest.approx(line["rating"]["stderr"] ** 2)
        assert line["bound"] is None
    pairs = [*standing.pairs()]
    assert len(pairs) == 3
    for pair in pairs:
        one, other = pair["model"], pair["above"]
        variance = covariance[one][one] + covariance[other][other] - 2 * covariance[one][other]
        assert math.sqrt(variance) == pytest.approx(pair["points"]["stderr"])


def test_ranks_have_their_intervals() -> None:
    standing = Standing("chess", rated())
    for place, line in enumerate(standing.lines(), 1):
        assert line["rank"] == place
        assert line["rank_ci95"] == line["rank_simultaneous"] == (place, place)
    rank = standing.rank("b")
    assert (rank.value, rank.stderr, rank.ci95) == (2, None, (2.0, 2.0))
    assert " 3 " in rank.method
    assert "percentiles" in rank.method
    assert standing.rank("nobody").method.startswith("not computed: ")


def test_who_is_undefeated_is_first_with_a_bound_and_no_number() -> None:
    more = [
        Result(Fixture("chess", pair, n), (1.0, -1.0) if pair[0] == "top" else (-1.0, 1.0))
        for n, pair in enumerate([("top", "a"), ("a", "top"), ("top", "b"), ("b", "top")] * 5)
    ]
    standing = Standing("chess", rated(*more))
    line = next(it for it in standing.lines() if it["model"] == "top")
    assert line["rating"]["value"] is line["rank_ci95"] is None
    assert (line["group"], line["rank"], line["rank_between"]) == (1, 1, (1, 1))
    assert line["compared_with"] == [] and line["covariance"] == {}
    bound = line["bound"]
    assert bound["at_least"] > 1100 and bound["at_most"] is None
    assert bound["beside"] == ["a", "b", "c"]
    assert f"at least {bound['at_least']:.0f}" in line["rating"]["method"]
    assert standing.rank("top").value == 1
    assert [standing.rank(it).value for it in "abc"] == [2, 3, 4]
    # How sure it is that it won all is not known: no order with it holds by Holm's steps.
    assert line["rank_simultaneous"] == (1, 4)
    assert json.loads(json.dumps([*standing.lines()]))  # no infinity, which JSON does not have
    assert "Infinity" not in json.dumps([*standing.lines()])


def test_ratings_without_forfeits_are_of_the_other_matches_alone() -> None:
    """By these, b is as good as a; it lost all the matches that it forfeited."""
    gone = [Forfeit("black", "invalid moves", 3)]
    forfeited = [won(n, "a", "b", 1, forfeits=gone) for n in range(1, 9)]
    clean = [
        won(n, *(("a", "b") if n % 2 else ("b", "a")), 1 if n % 4 > 1 else -1) for n in range(9, 49)
    ]
    void = won(49, "a", "b", 0, void="the sandbox failed", forfeits=gone)
    config = Config(games=GamesConf(names=["chess"], bootstrap=0))
    found = ratings.rated(config, [*forfeited, *clean, void])
    assert found.forfeited == 8
    every, played = found.all.overall, found.played.overall
    assert every is not None and played is not None
    assert {every.n["a"], every.n["b"]} == {48} and {played.n["a"], played.n["b"]} == {40}
    assert played.difference("a", "b").value == pytest.approx(0, abs=1e-6)
    assert (every.difference("a", "b").value or 0) > 50
    same = ratings.rated(config, clean)
    assert same.played is same.all and same.forfeited == 0

"""The peer protocol and games: what can be said, and what is refused."""

import json
from pathlib import Path
from typing import Any

import pytest
from compare.making import named, pair, run
from refusals import refused
from scipy import stats
from statements import code, the

from raybench.compare import autobench, games, judging, panels, ways
from raybench.compare.found import Judged, Pair, Side
from raybench.stats.distributions import two_sided
from raybench.stats.intervals import student

JUDGES = ["x", "y"]


def iteration(number: int, task: str | None, **scores: float | None) -> dict[str, Any]:
    return {"iteration": number, "task": task, "scores": scores}


def peers(folder: Path, records: list[dict[str, Any]], **more: Any) -> Any:
    return run(folder, records, experiment="autobench", journal="iterations", models=JUDGES, **more)


def test_two_models_of_one_run_are_paired_over_its_tasks(tmp_path: Path) -> None:
    x, y = [3.0, 2.0, 4.0, 3.5], [3.5, 3.0, 4.0, 4.5]
    records = [
        iteration(n, f"task {n}", x=a, y=b) for n, (a, b) in enumerate(zip(x, y, strict=True))
    ]
    records += [iteration(9, None, x=None, y=None), iteration(10, "t", x=1.0, y=None)]
    made = peers(tmp_path / "a", records)
    (found,) = autobench.compare([Pair(Side(made, "x"), Side(made, "y"))])
    (score,) = found.scores
    assert score.difference.value == pytest.approx(2.5 / 4)
    assert score.p == pytest.approx(stats.ttest_rel(y, x).pvalue)
    assert (score.gained, score.lost, score.difference.n) == (3, 0, 4)


def test_two_runs_are_paired_over_tasks_of_the_same_words(tmp_path: Path) -> None:
    one = peers(tmp_path / "a", [iteration(n, f"t{n}", x=2.0 + n / 10) for n in range(5)])
    other = peers(tmp_path / "b", [iteration(n, f"t{n + 1}", x=3.0) for n in range(6)])
    (found,) = autobench.compare([pair(one, other)])
    (score,) = found.scores
    assert score.difference.n == 4
    assert score.difference.value == pytest.approx(3.0 - 2.25)
    assert the("compare.same_tasks", found.notes)["tasks"] == 4


def result(value: float, stderr: float) -> dict[str, Any]:
    ends = [value - 2 * stderr, value + 2 * stderr]
    told = {"value": value, "stderr": stderr, "ci95": ends, "n": 40, "method": "bootstrap"}
    return {"run": {"data": {}}, "models": {"x": {"autobench/score": told}}, "counts": {}}


def test_runs_without_a_common_task_are_not_paired_which_is_said_loudly(tmp_path: Path) -> None:
    one = peers(tmp_path / "a", [iteration(1, "a", x=2.0)], results=result(3.0, 0.03))
    other = peers(tmp_path / "b", [iteration(1, "b", x=2.0)], results=result(3.2, 0.04))
    (found,) = autobench.compare([pair(one, other)])
    (score,) = found.scores
    assert score.difference.value == pytest.approx(0.2)
    assert score.difference.stderr == pytest.approx(0.05)
    assert "NOT PAIRED" in score.title
    assert the("compare.not_paired", found.notes)["tasks"] == "no"
    unfinished = peers(tmp_path / "c", [iteration(1, "c", x=2.0)], results={})
    with refused("compare.nothing"):
        list(autobench.compare([pair(one, unfinished)]))


@pytest.mark.parametrize(
    ("given", "results_have", "alone"),
    [
        ([["x", "o"], []], False, (("o",), ("y",))),
        ([["x", "o"], []], True, (("o",), ("y",))),
        ([["x", "y"], []], False, ((), ())),
        ([["x", "o"], ["x", "o"]], True, ((), ())),
    ],
)
@pytest.mark.parametrize("common", [True, False])
def test_scores_by_other_judges_are_shown_and_not_tested(
    given: list[list[str]],
    results_have: bool,
    alone: tuple[tuple[str, ...], tuple[str, ...]],
    common: bool,
    tmp_path: Path,
) -> None:
    def made(name: str, panel: list[str], score: float) -> Any:
        told = result(score, 0.03)
        told["run"] |= {"judges": panel or JUDGES} if results_have else {}
        words = "t" if common else name
        return peers(
            tmp_path / name,
            [iteration(n, f"{words}{n}", x=score + n / 10) for n in range(4)],
            results=told,
            config={"autobench": {"judges": panel}},
        )

    runs = made("a", given[0], 2.0), made("b", given[1], 3.0)
    (found,) = judging.concluded([*autobench.compare([pair(*runs)])])
    (score,) = found.scores
    said = the("compare.same_tasks" if common else "compare.not_paired", found.compared.notes)
    assert said["alone"] == alone
    assert score.score.difference.value == pytest.approx(1.0), "what was observed is shown"
    if any(alone):
        assert code(score.score.no_test) == "no_test.judges" and found.tests == 0
        assert (score.score.p, score.score.difference.ci95) == (None, None)
        assert score.verdict == "not distinguishable" and not found.compared.flips
    else:
        assert not score.score.no_test and found.tests == 1


def test_a_candidate_in_the_baselines_place_judges_in_its_place(tmp_path: Path) -> None:
    tasks = [f"t{n}" for n in range(4)]
    old, new = (
        run(
            tmp_path / name,
            [iteration(n, task, **{name: 2.0 + n}) for n, task in enumerate(tasks)],
            experiment="autobench", journal="iterations", models=[name, "rival"],
        )
        for name in ("old", "new")
    )  # fmt: skip
    (found,) = autobench.compare([Pair(Side(old, "old"), Side(new, "new"))])
    assert the("compare.same_tasks", found.notes)["alone"] == ((), ())
    assert not found.scores[0].no_test


def test_an_empty_list_of_judges_is_shown_as_every_model(tmp_path: Path) -> None:
    records = [iteration(n, f"t{n}", x=2.0) for n in range(3)]
    named_ = peers(tmp_path / "a", records, config={"autobench": {"judges": ["x"]}})
    every = peers(tmp_path / "b", records, config={"autobench": {"judges": []}})
    older = peers(tmp_path / "c", records, config={"autobench": {}})
    for other in (every, older):
        (found,) = autobench.compare([pair(named_, other)])
        (setting,) = found.settings
        assert (setting.name, setting.candidate) == ("judges", panels.EVERY)
    (found,) = autobench.compare([pair(every, older)])
    assert not found.settings


def match(
    number: int, first: str, second: str, won: float, game: str = "chess", **more: Any
) -> dict[str, Any]:
    return {
        "match": number,
        "game": game,
        "seed": number,
        "seats": {"white": first, "black": second},
        "scores": {"white": won, "black": 1 - won},
        "turns": [{"role": "white", "move": "e2e4"}, {"role": "black", "move": "e7e5"}],
        "void": None,
        **more,
    }


def tournament(folder: Path, records: list[dict[str, Any]], models: list[str], **more: Any) -> Any:
    return run(folder, records, experiment="games", journal="matches", models=models, **more)


def test_two_runs_of_games_are_compared_over_common_opponents(tmp_path: Path) -> None:
    old = [match(n, "old", "rival", n % 4 == 0) for n in range(40)]  # a quarter of the points
    old += [match(n, "old", "stranger", 1.0) for n in range(40, 80)]
    new = [match(n, "new", "rival", n % 4 != 0) for n in range(40)]  # three quarters
    new += [match(n, "rival", "new", 0.0) for n in range(40, 60)]  # a seat that old never had
    new += [match(99, "new", "rival", 0.0, void="lost", scores={})]
    one = tournament(tmp_path / "a", old, ["old", "rival", "stranger"])
    other = tournament(tmp_path / "b", new, ["new", "rival"])
    (found,) = games.compare([pair(one, other)])
    (score,) = found.scores
    assert (score.metric, score.difference.n) == ("chess/points_won", 80)
    assert score.baseline.value == pytest.approx(0.25)
    assert score.candidate.value == pytest.approx(0.75)
    expected = stats.ttest_ind([1.0] * 30 + [0.0] * 10, [0.0] * 30 + [1.0] * 10)
    assert score.p is not None and score.p < 1e-4 and expected.pvalue < 1e-4
    assert code(found.notes[0]) == "compare.common_opponents"
    (told,) = judging.concluded([found])
    assert told.verdict == "better"


def test_matches_that_went_alike_move_by_move_are_identical_and_no_test(tmp_path: Path) -> None:
    games_ = "chess", "poker"
    old = [match(n, "old", "rival", n % 4 == 0, of) for of in games_ for n in range(40)]
    models = ["old", "rival"]
    one, same = (tournament(tmp_path / name, old, models) for name in "ab")
    (told,) = judging.concluded([*games.compare([pair(one, same)])])
    assert told.verdict == "identical" and told.tests == 0
    # One other move, with the same points everywhere: they cannot be told apart, but differ.
    moved = [match(0, "old", "rival", 1, turns=[{"role": "white", "move": "d2d4"}]), *old[1:]]
    other = tournament(tmp_path / "c", moved, models)
    (told,) = judging.concluded([*games.compare([pair(one, other)])])
    verdicts = {it.score.metric: it.verdict for it in told.scores}
    assert verdicts == {
        "games/points_won": "not distinguishable",
        "chess/points_won": "not distinguishable",
        "poker/points_won": "identical",
    }


def test_points_that_are_all_alike_are_no_certainty(tmp_path: Path) -> None:
    def played(name: str, won: float, *times: int) -> Any:
        rivals = {f"r{n}": of for n, of in enumerate(times)}
        met = [match(n, name, rival, won) for rival, of in rivals.items() for n in range(of)]
        return tournament(tmp_path / name, met, [name, *rivals])

    (found,) = games.compare([pair(played("old", 0.5, 2, 2), played("new", 1.0, 6, 3))])
    (score,) = found.scores
    assert (score.difference.stderr, score.p) == (None, None), (
        "weights add up to 1 but for rounding"
    )
    assert code(score.no_test) == "no_test.alike"
    (found,) = games.compare([pair(played("one", 0.5, 1), played("two", 1.0, 1))])
    assert [code(it.no_test) for it in found.scores] == ["no_test.too_few"]


def test_an_opponent_of_the_same_name_but_another_make_is_none(tmp_path: Path) -> None:
    one = tournament(tmp_path / "a", [match(1, "old", "rival", 1.0)], ["old", "rival"])
    changed = [{"name": "new"}, {"name": "rival", "weights": "other"}]
    other = tournament(
        tmp_path / "b", [match(1, "new", "rival", 1.0)], ["new", "rival"],
        config={"roster": {"models": changed}},
    )  # fmt: skip
    with refused("compare.nothing"):
        list(games.compare([pair(one, other)]))


def test_an_opponent_with_other_replicas_is_the_same(tmp_path: Path) -> None:
    runs = []
    asked: dict[str, dict[str, Any]] = {
        "old": {},
        "new": {"replicas": None},
        "newer": {"replicas": 4},
    }
    for name, more in asked.items():
        models = [{"name": name, **more}, {"name": "rival", **more}]
        config = {
            "roster": {"models": models, "judges": [{"name": "judge", **more}]},
            "fleet": {"slots": None, **more},
        }
        played = [match(number, name, "rival", 1.0) for number in (1, 2)]
        runs.append(tournament(tmp_path / name, played, [name, "rival"], config=config))
    for other in runs[1:]:
        (found,) = games.compare([pair(runs[0], other)])
        assert found.settings == []


def test_models_of_one_tournament_are_compared_by_its_own_differences(tmp_path: Path) -> None:
    made = tournament(tmp_path / "a", [], ["old", "new"])
    points = {"value": 50.0, "stderr": 20.0, "ci95": [10.0, 90.0], "n": 30, "method": "BT"}
    line = {"of": "chess", "model": "old", "above": "new", "points": points, "p": 0.012}
    (made.folder / "pairs.jsonl").write_text(json.dumps(line) + "\n")
    (found,) = games.compare([Pair(Side(made, "old"), Side(made, "new"))])
    (score,) = found.scores
    assert score.difference.value == -50.0
    assert score.difference.ci95 == (-90.0, -10.0)
    assert score.p == 0.012
    assert judging.detectable(score, 1) is None, "an older run does not say of how few it is"
    (made.folder / "pairs.jsonl").write_text(json.dumps(line | {"degrees": "many"}) + "\n")
    with refused("file.unreadable"):
        list(games.compare([Pair(Side(made, "old"), Side(made, "new"))]))
    (made.folder / "pairs.jsonl").write_text(json.dumps(line | {"degrees": None}) + "\n")
    assert [*games.compare([Pair(Side(made, "old"), Side(made, "new"))])]
    with refused("compare.nothing"):
        list(games.compare([Pair(Side(made, "old"), Side(made, "old"))]))


def test_the_one_game_of_a_tournament_is_one_test(tmp_path: Path) -> None:
    made = tournament(tmp_path / "a", [], ["old", "new"])
    points = {"value": 50.0, "stderr": 20.0, "ci95": [10.0, 90.0], "n": 30, "method": "BT"}
    line = {"model": "new", "above": "old", "points": points, "p": 0.02, "degrees": 9.0}

    def titles(*more: dict[str, Any]) -> dict[str, str]:
        lines = [{**line, "of": "games"}, {**line, "of": "chess"}, *more]
        (made.folder / "pairs.jsonl").write_text("".join(json.dumps(it) + "\n" for it in lines))
        (found,) = judging.concluded([*games.compare([Pair(Side(made, "old"), Side(made, "new"))])])
        assert found.tests == len(found.scores)
        return {it.score.metric: it.score.title for it in found.scores}

    assert [*titles()] == ["games/rating"] and titles()["games/rating"].startswith("Chess")
    poker = {**line, "of": "poker", "points": points | {"value": 20.0}, "p": 0.4}
    assert [*titles(poker)] == ["games/rating", "chess/rating", "poker/rating"]


def test_pairs_that_cannot_be_compared_for_one_reason_are_told_together(tmp_path: Path) -> None:
    made = tournament(tmp_path / "a", [], ["a", "b", "c", "d"])
    points = {"value": 50.0, "stderr": 20.0, "ci95": [10.0, 90.0], "n": 30, "method": "BT"}
    line = {"of": "games", "model": "b", "above": "a", "points": points, "p": 0.02}
    (made.folder / "pairs.jsonl").write_text(json.dumps(line) + "\n")
    found, notes = ways.compared([named(made)], ways.Wanted())
    assert [it.pair.candidate.model for it in found] == ["b"]
    problem = the("compare.left_out", notes)["problem"]
    assert len(notes) == 1 and problem.given == "c and a; d and a"
    assert problem.message.startswith(problem.given)


def test_other_tasks_and_judges_are_what_differs_between_runs_of_peers(tmp_path: Path) -> None:
    def made(name: str, digest: str, weights: str) -> Any:
        told = result(3.0, 0.03)
        told["run"] = {"id": name, "inputs": {"autobench.asked": digest * 64}}
        models = [{"name": "x", "weights": "org/x"}, {"name": "y", "weights": weights}]
        return run(
            tmp_path / name, [iteration(1, name, x=2.0)], experiment="autobench",
            journal="iterations", models=JUDGES, results=told,
            config={"roster": {"models": models}},
        )  # fmt: skip

    one, other = made("a", "1", "org/y"), made("b", "2", "org/other")
    (found,) = autobench.compare([Pair(Side(one, "x"), Side(other, "x"))])
    assert [(it.kind, it.name, it.baseline, it.candidate) for it in found.settings] == [
        ("questions", "autobench.asked, digest", "1" * 16, "2" * 16),
        ("judges", "y, weights", "org/y", "org/other"),
    ]


@pytest.mark.parametrize("degrees", [1.0, 6.4, 40.0])
def test_what_would_have_shown_between_ratings_goes_by_what_their_p_does(
    tmp_path: Path, degrees: float
) -> None:
    def judged(value: float) -> Judged:
        half = student(degrees) * 95.0
        points = {
            "value": value, "stderr": 95.0, "ci95": [value - half, value + half], "n": 21,
            "method": "BT",
        }  # fmt: skip
        line = {
            "of": "chess", "model": "new", "above": "old", "points": points,
            "p": two_sided(value / 95.0, degrees), "degrees": degrees,
        }  # fmt: skip
        made = tournament(tmp_path / f"{value}", [], ["old", "new"])
        (made.folder / "pairs.jsonl").write_text(json.dumps(line) + "\n")
        found = games.compare([Pair(Side(made, "old"), Side(made, "new"))])
        (told,) = judging.concluded([*found]).pop().scores
        return told

    small = judged(34.0)
    assert small.verdict == "not distinguishable"
    assert small.detectable_here is not None and small.detectable_here > student(degrees) * 95.0
    assert judged(small.detectable_here).verdict == "better"

"""Ablations, biases, phrasings, players that learn, screenings and suites, run against run."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from compare.making import RUN, named, run, units
from compare.test_ways import match
from refusals import refused
from scipy import stats
from statements import code, the, values

from raybench.autobench.biases import FAIR, MODELS
from raybench.compare import judging, ways
from raybench.compare.found import RATING, SHARE, Compared, Judged, Score
from raybench.compare.runs import Stored
from raybench.compare.shown import plot, words
from raybench.compare.shown.told import told
from raybench.compare.ways import Wanted
from raybench.config.autobench_ablations import VARIANTS
from raybench.types import Estimate


def compared(*runs: Stored, **wanted: Any) -> tuple[list[Compared], list[str]]:
    """Return what the command line would find of runs."""
    return ways.compared([named(it) for it in runs], Wanted(**wanted))


def by_title(found: Compared) -> dict[str, Score]:
    return {it.title: it for it in found.scores}


# ------------------------------------------------------------------ ablations


def ablations(
    folder: Path, scores: Mapping[str, Sequence[float | None]], order: float, **more: Any
) -> Stored:
    """Return a run that was told to play all variants, of which its roster allows two."""
    records = [
        {"variant": variant, "iteration": n, "task": f"t{n}", "scores": {"x": it, "y": 3.0}}
        for variant, of in scores.items()
        for n, it in enumerate(of)
    ]
    tau = {"value": order, "stderr": 0.1, "ci95": [order - 0.2, order + 0.2], "n": 9, "method": "m"}
    variants = {"full": {"order": None}, "uniform_weights": {"order": {"kendall": tau}}}
    return run(
        folder, records, experiment="autobench_ablations", journal="iterations", models=["x", "y"],
        config={"autobench_ablations": {"variants": [*VARIANTS]}},
        results=more.get("results", {"run": {"ablations": variants}, "models": {}, "counts": {}}),
    )  # fmt: skip


def test_ablations_are_paired_over_tasks_under_each_variant(tmp_path: Path) -> None:
    one = {"full": [2.0, 2.5, 3.0], "uniform_weights": [2.0, 2.0, 3.5]}
    other = {"full": [3.0, 3.0, 4.0], "uniform_weights": [2.0, 2.5, 3.0]}
    found, _ = compared(ablations(tmp_path / "a", one, 0.8), ablations(tmp_path / "b", other, 0.5))
    x, y, whole = found
    scores = by_title(x)
    assert [*scores] == ["Full protocol", "Uniform weights"]
    for title, variant in (("Full protocol", "full"), ("Uniform weights", "uniform_weights")):
        expected = stats.ttest_rel(other[variant], one[variant])
        assert scores[title].p == pytest.approx(expected.pvalue)
    assert all(it.identical for it in y.scores)
    (table,) = whole.tables
    assert table.rows == [("uniform weights", "0.800 [0.60, 1.00]", "0.500 [0.30, 0.70]")]


def test_models_of_one_run_of_ablations_are_compared_under_what_it_played(tmp_path: Path) -> None:
    scores = {"full": [2.0, 2.5, 3.0], "uniform_weights": [2.0, 2.0, 3.5]}
    over: dict[str, Any] = {}
    unfinished = {"results": over}  # then the journal tells
    for more in (over, unfinished):
        made = ablations(tmp_path / f"{len(more)}", scores, 0.8, **more)
        (found, *_), why = compared(made)
        assert [*by_title(found)] == ["Full protocol", "Uniform weights"] and not why
        assert not any(it.refused for it in found.scores)


def test_each_variant_goes_by_its_own_judges(tmp_path: Path) -> None:
    scores = {"full": [2.0, 2.5, 3.0], "uniform_weights": [2.0, 2.0, 3.5]}
    one, other = (ablations(tmp_path / at, scores, 0.8) for at in "ab")
    path = other.folder / "results.json"
    told = json.loads(path.read_text())
    told["run"]["ablations"]["uniform_weights"]["judges"] = ["x", "o"]
    path.write_text(json.dumps(told))
    (x, *_), _ = compared(one, Stored.at(other.folder))
    found = by_title(x)
    assert code(found["Uniform weights"].no_test) == "no_test.judges"
    assert not found["Full protocol"].no_test


def test_a_variant_without_a_score_is_refused_and_the_others_are_compared(tmp_path: Path) -> None:
    full = [2.0, 2.5, 3.0]
    one = ablations(tmp_path / "a", {"full": full, "uniform_weights": full}, 0.8)
    other = ablations(tmp_path / "b", {"full": full, "uniform_weights": [None, None, 2.0]}, 0.8)
    (x, *_), why = ways.compared([named(one, "x"), named(other, "x")], Wanted())
    scores = by_title(x)
    assert not scores["Full protocol"].refused and scores["Uniform weights"].refused and not why
    refused_ = scores["Uniform weights"].difference.method
    assert "autobench_ablations/uniform_weights/score" in refused_


def test_a_model_without_any_score_leaves_the_others_of_ablations_compared(tmp_path: Path) -> None:
    one = ablations(tmp_path / "a", {"full": [2.0, 2.5], "uniform_weights": [2.0, 2.0]}, 0.8)
    mute = {"full": [None, None], "uniform_weights": [None, None]}
    other = ablations(tmp_path / "b", mute, 0.5)
    (y, whole), why = compared(one, other)
    assert y.pair.baseline.model == "y" and whole.tables
    problem = the("compare.left_out", why)["problem"]
    assert problem.code == "compare.nothing" and "x" in problem.message.split()
    with refused("compare.nothing"):
        ways.compared([named(one, "x"), named(other, "x")], Wanted())


# ------------------------------------------------------------------ biases


def trial(bias: str, seed: int, gained: int) -> dict[str, Any]:
    """Return a trial in which the weakest model stands so many places above its own."""
    scores = {name: float(at) for at, name in enumerate(MODELS)}
    scores[MODELS[0]] = gained + 0.5 if gained else 0.0
    return {
        "bias": bias, "seed": seed, "scores": {"consensus": scores, "uniform": scores},
        "say": None if bias == FAIR else 1.0, "favoured": [] if bias == FAIR else [MODELS[0]],
        "tasks": 25,
    }  # fmt: skip


def planted(folder: Path, gained: Sequence[int], *, first: int = 0) -> Stored:
    records = [trial(FAIR, seed, 0) for seed in range(first, first + len(gained))]
    records += [trial("odd", seed, it) for seed, it in enumerate(gained, start=first)]
    return run(folder, records, experiment="autobench_biases", journal="trials")


def test_what_a_bias_does_is_paired_over_seeds_and_less_is_better(tmp_path: Path) -> None:
    one = planted(tmp_path / "a", [4, 5, 4, 6, 5])
    other = planted(tmp_path / "b", [1, 1, 2, 1], first=1)
    (found,), _ = compared(one, other)
    score = by_title(found)["odd: places gained by the favoured"]
    assert (score.difference.n, score.difference.value) == (4, (1 - 5 + 1 - 4 + 2 - 6 + 1 - 5) / 4)
    assert (score.gained, score.lost) == (4, 0)
    (told_,) = judging.concluded([found])
    assert told_.verdict == "better"
    elsewhere = planted(tmp_path / "c", [1, 1], first=100)
    with refused("compare.nothing"):
        compared(one, elsewhere)


def test_a_run_that_ranks_no_models_needs_another_one(tmp_path: Path) -> None:
    one = planted(tmp_path / "a", [4, 5])
    with refused("compare.nothing"):
        compared(one)
    with refused("setting.conflict"):
        ways.compared([named(one, "m"), named(one)], Wanted())


# ------------------------------------------------------------------ phrasings


def phrased(folder: Path, name: str, won: Sequence[bool], spread: tuple[float, float]) -> Stored:
    records = [
        match(n, name, "rival", float(it), game="liars_dice", cell="before/phrasing_0")
        for n, it in enumerate(won)
    ]
    middle = (spread[0] + spread[1]) / 2
    of = {"value": middle, "stderr": None, "ci95": [*spread], "n": 8, "method": "spread"}
    metrics = {"games_phrasings/before/spread": of}
    return run(
        folder, records, experiment="games_phrasings", journal="matches", models=[name, "rival"],
        config={"games_phrasings": {"stages": ["before"]}},
        results={"run": {}, "models": {name: metrics, "rival": metrics}, "counts": {}},
    )  # fmt: skip


def test_games_in_several_wordings_are_compared_by_points_won_and_by_their_spread(
    tmp_path: Path,
) -> None:
    one = phrased(tmp_path / "a", "old", [n % 4 == 0 for n in range(40)], (80.0, 120.0))
    other = phrased(tmp_path / "b", "new", [n % 4 != 0 for n in range(40)], (10.0, 30.0))
    (found,), _ = ways.compared([named(one, "old"), named(other, "new")], Wanted())
    won, spread = (
        by_title(found)[it] for it in ("Liar's Dice, points won", "Spread over wordings")
    )
    assert won.difference.value == pytest.approx(0.5)
    # By hand: −80 ± the distances of both intervals' ends, squared and added.
    assert spread.difference.ci95 == pytest.approx((-80 - 500**0.5, -80 + 500**0.5))
    assert spread.p is not None and spread.p < 0.001
    (judged,) = judging.concluded([found])
    assert {it.verdict for it in judged.scores} == {"better"}


def test_what_higher_means_and_how_intervals_are_made_is_said_of_a_spread(tmp_path: Path) -> None:
    one = phrased(tmp_path / "a", "old", [True], (80.0, 120.0))
    other = phrased(tmp_path / "b", "new", [True], (10.0, 30.0))
    found, _ = ways.compared([named(one, "old"), named(other, "new")], Wanted())
    judged = judging.concluded(found)
    spread = [it for it in judged[0].scores if it.score.scale == RATING]
    mover = the("compare.mover", words.explained(judged))
    assert mover == {"scores": spread[0].score.title}
    axis = plot.axis(spread, RATING)
    assert (values(axis)["left"], values(axis)["right"]) == ("better", "worse")
    assert values(values(axis)["what"])["unit"] and axis in str(plot.differences(spread, ""))


def test_where_higher_is_better_of_some_alone_the_axis_names_no_side() -> None:
    def drawn(*higher: bool) -> str:
        found = Estimate(0.1, 0.01, (0.08, 0.12), 9, "m")
        scores = [
            Score(f"m{n}", "t", found, found, found, higher_is_better=it)
            for n, it in enumerate(higher)
        ]
        return plot.axis([Judged(it, "better", "") for it in scores], SHARE)

    sides = values(drawn(True, True))
    assert (sides["left"], sides["right"]) == ("worse", "better")
    assert code(drawn(True, False)) == "compare.axis"


def test_why_points_won_are_not_compared_is_said_of_the_stage_it_is_so_of(tmp_path: Path) -> None:
    def both(name: str, *cells: str) -> Stored:
        records = [
            match(n, name, "rival", n % 2, cell=f"{it}/phrasing_0")
            for it in cells
            for n in range(4)
        ]
        return run(
            tmp_path / name, records, experiment="games_phrasings", journal="matches",
            models=[name, "rival"], config={"games_phrasings": {"stages": ["before", "after"]}},
        )  # fmt: skip

    one, other = both("old", "before", "after"), both("new", "before")
    (found,), _ = ways.compared([named(one, "old"), named(other, "new")], Wanted())
    assert [it.metric for it in found.scores] == ["chess/before optimisation/points_won"]
    why = the("compare.points_left_out", found.notes)
    assert why["stages"] == ["after"] and "new" in why["why"] and why["which"]
    stranger = both("stranger")
    with refused("compare.nothing") as nothing:
        ways.compared([named(one, "old"), named(stranger, "stranger")], Wanted())
    (problem,) = nothing.value.problems
    assert "\n" not in problem.message, "the same of both stages"


def test_a_spread_whose_interval_ends_at_0_has_a_p_of_5_percent(tmp_path: Path) -> None:
    one = phrased(tmp_path / "a", "old", [True], (70.0, 150.0))  # reaches 40 towards the other
    other = phrased(tmp_path / "b", "new", [True], (70.0, 70.0))
    (found,), _ = ways.compared([named(one, "old"), named(other, "new")], Wanted())
    spread = by_title(found)["Spread over wordings"]
    assert spread.difference.ci95 == pytest.approx((-80, 0))
    assert spread.p == pytest.approx(0.05)


# ------------------------------------------------------------------ players that learn


def learned(
    folder: Path,
    worth: Sequence[tuple[float, float]],
    *,
    seed: int = 0,
    digest: str = "d",
    positions: str = "",
) -> Stored:
    marks = [
        {"study": 7, "phase": phase, "place": n, "family": f"f{n // 2}", "worth": it}
        | ({"position": positions[n]} if positions else {})
        for n, both in enumerate(worth)
        for phase, it in zip(("before", "after"), both, strict=True)
    ]
    made = run(
        folder,
        [{"study": 7, "request": "x", "reply": {}}, *marks],
        experiment="optimise_players",
        journal="marks",
    )
    about = {"digest": digest, "settings": {"seed": seed}}
    study = {"study": 7, "model": "m", "positions": "river", "about": about}
    (folder / "journal" / "studies.jsonl").write_text(json.dumps(study) + "\n")
    return made


def test_players_that_learn_are_paired_over_held_out_positions_by_family(tmp_path: Path) -> None:
    one = learned(tmp_path / "a", [(0.2, 0.4), (0.3, 0.3), (0.5, 0.6), (0.1, 0.1)])
    other = learned(tmp_path / "b", [(0.2, 0.9), (0.3, 0.8), (0.5, 0.7), (0.1, 0.4)])
    (found,), _ = compared(one, other)
    gain = by_title(found)["river: gain"]
    assert gain.difference.value == pytest.approx((0.5 + 0.5 + 0.1 + 0.3) / 4)
    assert (gain.independent, gain.difference.n) == (2, 4), "positions of a family are one"
    after = by_title(found)["river: worth of a move after learning"]
    assert after.candidate.value == pytest.approx(0.7)
    with refused("compare.nothing"):
        compared(one, learned(tmp_path / "c", [(0.2, 0.9)] * 4, seed=1))


def test_players_that_learned_from_other_positions_are_compared_over_the_same_held_out_ones(
    tmp_path: Path,
) -> None:
    worth = [(0.2, 0.4), (0.3, 0.3), (0.5, 0.6), (0.1, 0.1)]
    one = learned(tmp_path / "a", worth, positions="pqrs")
    swapped = [worth[1], worth[0], worth[2], (0.9, 0.9)]
    other = learned(tmp_path / "b", swapped, digest="of more to learn from", positions="qprt")
    (found,), _ = compared(one, other)
    after = by_title(found)["river: worth of a move after learning"]
    assert after.difference.n == 3 and after.gained == after.lost == 0, "by position, not by place"
    with refused("compare.nothing"):
        compared(one, learned(tmp_path / "c", worth, positions="tuvw"))
    older = learned(tmp_path / "d", worth, digest="of more to learn from")
    with refused("compare.nothing"):
        compared(learned(tmp_path / "e", worth), older)


# ------------------------------------------------------------------ screenings


def screened(folder: Path, kept: Mapping[str, bool], right: bool) -> Stored:
    made = run(
        folder,
        units("m", [right] * len(kept), benchmark="hle", response="SECRET", truth="SECRET"),
        experiment="hle_screen",
        data={"hle": {"origin": "in.jsonl", "digest": "d"}},
    )
    for decision in ("accepted", "rejected", "undecided"):
        lines = [
            json.dumps({"id": key, "evidence": "because", "question": "SECRET"})
            for key, it in kept.items()
            if decision == ("accepted" if it else "rejected")
        ]
        (folder / f"{decision}.jsonl").write_text("".join(f"{it}\n" for it in lines))
    return made


def test_screenings_say_which_candidates_both_kept_and_nothing_of_what_is_held_out(
    tmp_path: Path,
) -> None:
    one = screened(tmp_path / "a", {"p": True, "q": True, "r": False, "s": True}, right=True)
    other = screened(tmp_path / "b", {"p": True, "q": False, "r": False, "t": True}, right=False)
    found, _ = compared(one, other)
    kept, differ = found[0].tables
    assert [row[1:] for row in kept.rows] == [("1", "p"), ("1", "q"), ("0", "—"), ("1", "—")]
    assert differ.rows == [("q", "accepted: because", "rejected: because")]
    assert the("compare.tried_alone", found[0].notes) == {"baseline": 1, "candidate": 1}
    assert found[1].flips[0].lost == 4, "the panel's model is compared on what it was asked"
    concluded = judging.concluded(found)
    assert concluded[0].verdict == "not tested"
    assert "SECRET" not in json.dumps(told(concluded))
    with refused("compare.nothing"):
        compared(one, screened(tmp_path / "c", {"z": True}, right=True))


# ------------------------------------------------------------------ suites


def suite(folder: Path, marks: Sequence[bool], rank: float, tau: float) -> Stored:
    def told(value: float) -> dict[str, Any]:
        return {"value": value, "stderr": None, "ci95": [value, value], "n": 2, "method": "m"}

    part = run(folder / "parts" / "index" / RUN.format(1), units("m", marks))
    run(folder / "parts" / "index" / RUN.format(2), units("m", marks), results={})  # a later try
    run(folder / "parts" / "hle" / RUN.format(3), units("m", marks, benchmark="hle"))
    metrics = {"suite/consensus_rank": told(rank), "suite/consensus_score": told(0.5)}
    made = run(
        folder, [], experiment="suite", journal="none",
        results={
            "run": {"parts": {"index": {"run": part.id}}}, "counts": {}, "models": {"m": metrics},
            "agreement": {"index_vs_hle": {"kendall": told(tau)}},
        },
    )  # fmt: skip
    return made


def test_suites_are_compared_part_by_part_and_by_consensus_and_agreement(tmp_path: Path) -> None:
    one = suite(tmp_path / "runs" / "a", [False] * 20, 2, 0.3)
    other = suite(tmp_path / "runs" / "b", [True] * 20, 1, 0.7)
    found, notes = compared(one, other)
    whole, index, _ = found
    assert notes == []
    assert [it.pair.part for it in found] == ["", "Index", "Exam"]
    assert index.pair.baseline.run.id == RUN.format(1), "the run that the suite concluded from"
    assert index.pair.titles == ("m in a, Index", "m in b, Index")
    ranks, agreement = whole.tables
    assert ranks.rows == [("m", "2 [2, 2]", "1 [1, 1]", "0.500 [0.50, 0.50]", "0.500 [0.50, 0.50]")]
    assert agreement.rows[0][0].split()[::2] == ["Index", "Exam"]
    assert agreement.rows[0][1] == "Kendall's τ"
    assert agreement.rows[0][2:] == ("0.300 [0.30, 0.30]", "0.700 [0.70, 0.70]")
    assert [it.verdict for it in judging.concluded(found)] == ["not tested", "better", "better"]
    assert whole.moved == "m 2 → 1"
    same, _ = compared(one, suite(tmp_path / "runs" / "c", [True] * 20, 2, 0.7))
    assert code(same[0].moved) == "compare.no_rank_moved"


def test_one_suite_has_no_consensus_before_and_after(tmp_path: Path) -> None:
    """Models of one suite stood below a row of ranks that did not move, of '(itself)'."""
    one = suite(tmp_path / "runs" / "a", [False] * 20, 2, 0.3)
    found, _ = compared(one, one)
    assert [it.pair.part for it in found] == ["Index", "Exam"]


def test_a_part_that_one_suite_lacks_is_told_and_the_others_are_compared(tmp_path: Path) -> None:
    one = suite(tmp_path / "a", [False] * 20, 1, 0.3)
    other = run(tmp_path / "b", [], experiment="suite", journal="none", results={})
    run(tmp_path / "b" / "parts" / "hle" / RUN.format(4), units("m", [True] * 20, benchmark="hle"))
    found, notes = compared(one, other)
    assert [it.pair.part for it in found] == ["", "Exam"]
    lacking = the("compare.no_such_part", notes)
    assert lacking == {"part": "Index", "runs": str(tmp_path / "b")}
    alone = run(tmp_path / "c", [], experiment="suite", journal="none", results={})
    with refused("compare.nothing"):
        compared(one, alone)


def test_what_cannot_be_compared_is_told_with_the_mend(tmp_path: Path) -> None:
    index = run(tmp_path / "i", units("m", [True]))
    suite_ = suite(tmp_path / "s", [True], 1, 0.5)
    with refused("compare.nothing"):
        compared(index, suite_)
    served = run(tmp_path / "serve", [], experiment="serve", journal="none")
    with refused("run.kind", given="serve"):
        compared(served, served)
    with refused("setting.conflict", "--only"):
        compared(suite_, suite_, only=["mmlu_pro"])

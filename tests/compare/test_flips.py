"""What flipped: of each experiment the items with which two sides fared otherwise."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from compare.making import named, pair, run
from compare.test_other_ways import ablations, learned, phrased, planted, screened, trial
from compare.test_ways import match, peers, tournament
from hypothesis import given
from hypothesis import strategies as st
from statements import code

from raybench.compare import autobench, flips, games, judging, matches, ways
from raybench.compare.flips import Done
from raybench.compare.found import Compared, Flip, Flips, Pair, Reply, Side
from raybench.compare.runs import Stored
from raybench.compare.shown import page, terminal
from raybench.compare.shown.told import told
from raybench.compare.ways import Wanted
from raybench.pipeline.units import unit_id

DONE = st.dictionaries(st.integers(0, 20), st.sampled_from([0.0, 0.5, 1.0]), max_size=20)


def of(found: Compared) -> list[Flips]:
    """Return the flips of a pair of which there are any."""
    return [it for it in found.flips if it.gained or it.lost]


def differences(found: Flips) -> list[float]:
    return [it.difference for it in found.items]


def units(found: Flips) -> list[tuple[str, str]]:
    return [(it.baseline.unit, it.candidate.unit) for it in found.items]


def compared(one: Stored, other: Stored, model: str | None = None) -> list[Compared]:
    return ways.compared([named(one, model), named(other, model)], Wanted())[0]


# ------------------------------------------------------------------ in general


def made(item: int, one: Done, other: Done) -> Flip:
    replies = [Reply(Path("j"), it.line, it.offset, "", "", {}, {}) for it in (one, other)]
    return Flip(str(item), "", other.value - one.value, replies[0], replies[1])


@given(DONE, DONE, st.integers(0, 5), st.booleans())
def test_all_are_counted_and_of_either_direction_so_many_made_the_largest_first(
    one: dict[int, float], other: dict[int, float], most: int, higher: bool
) -> None:
    sides = [{item: Done(value, item, 0) for item, value in it.items()} for it in (one, other)]
    empty = Flips("b", "B", higher_is_better=higher)
    found = flips.between(empty, (sides[0], sides[1]), made, most)
    back = flips.between(empty, (sides[1], sides[0]), made, most)
    differences = [other[it] - one[it] for it in one if it in other]
    ups, downs = (sum(it * sign > 0 for it in differences) for sign in (1, -1))
    assert (found.gained, found.lost) == ((ups, downs) if higher else (downs, ups))
    assert (back.gained, back.lost) == (found.lost, found.gained)
    for _, many, items in found.groups:
        sizes = [abs(it.difference) for it in items]
        assert sizes == sorted(sizes, reverse=True) and len(sizes) == min(many, most)
        assert all(int(it.key) in one and int(it.key) in other for it in items)


# ------------------------------------------------------------------ games


def won(number: int, mine: str, points: float, **more: Any) -> dict[str, Any]:
    return match(number, mine, "rival", points, outcome=f"how {number} ended", **more)


def test_matches_of_one_deal_that_ended_otherwise_flipped_lost_to_won_before_draws(
    tmp_path: Path,
) -> None:
    models = ["old", "rival"], ["new", "rival"]
    before = [won(1, "old", 0.5), won(2, "old", 0.0), won(3, "old", 1.0), won(4, "old", 1.0)]
    after = [
        won(11, "new", 1.0, seed=1),
        won(12, "new", 1.0, seed=2),
        won(13, "new", 1.0, seed=3),
        won(14, "new", 0.0, seed=4),
        won(15, "new", 0.0, seed=99),
    ]
    one, other = (
        tournament(tmp_path / str(at), records, models[at])
        for at, records in enumerate((before, after))
    )
    (found,) = games.compare([pair(one, other)])
    (chess,) = found.flips
    assert (chess.title, chess.of, chess.gained, chess.lost) == ("Chess", "matches", 2, 1)
    assert differences(chess) == [1.0, 0.5, -1.0]
    assert units(chess) == [
        (f"match-{one}", f"match-{other}") for one, other in ((2, 12), (1, 11), (4, 14))
    ]
    first = chess.items[0]
    assert (first.baseline.said, first.candidate.said) == ("lost", "won")
    assert {"seat": "white", "opponent": "rival"}.items() <= first.candidate.facts.items()
    assert "2 and 12" in first.title
    assert chess.items[0].candidate.record["outcome"] == "how 12 ended"


def test_matches_of_other_deals_are_not_held_against_each_other_which_is_said(
    tmp_path: Path,
) -> None:
    one = tournament(tmp_path / "a", [won(1, "m", 0.0)], ["m", "rival"])
    elsewhere: list[list[dict[str, Any]]] = [
        [won(1, "m", 1.0, seed=7)],
        [won(1, "m", 1.0, table="another opening")],
    ]
    for at, records in enumerate(elsewhere):
        other = tournament(tmp_path / f"b{at}", records, ["m", "rival"])
        (found,) = games.compare([pair(one, other)])
        assert not found.flips
        assert code(found.notes[-1]) == "compare.other_deals"


def test_models_of_one_run_are_held_against_each_other_from_the_same_seat_of_a_deal(
    tmp_path: Path,
) -> None:
    records = [match(1, "x", "y", 1.0, seed=5), match(2, "y", "x", 0.0, seed=5)]
    records += [match(3, "x", "y", 1.0, seed=6), match(4, "y", "x", 1.0, seed=6)]
    both = tournament(tmp_path / "a", records, ["x", "y"])
    points = {"value": 50.0, "stderr": 20.0, "ci95": [10.0, 90.0], "n": 4, "method": "BT"}
    line = {"of": "chess", "model": "x", "above": "y", "points": points, "p": 0.1}
    (both.folder / "pairs.jsonl").write_text(json.dumps(line) + "\n")
    (found,) = games.compare([Pair(Side(both, "x"), Side(both, "y"))])
    (chess,) = found.flips
    assert units(chess) == [("match-1", "match-2")] and differences(chess) == [-1.0]
    assert chess.items[0].baseline.facts["opponent"] == matches.EACH_OTHER
    both.journal("matches").unlink()
    (found,) = games.compare([Pair(Side(Stored.at(both.folder), it), Side(both, "y"))
                              for it in "x"])  # fmt: skip
    assert not found.flips and found.scores, "ratings are told without the journal"


def test_matches_in_several_wordings_flip_in_each_of_them(tmp_path: Path) -> None:
    one = phrased(tmp_path / "a", "m", [True, False], (1.0, 2.0))
    other = phrased(tmp_path / "b", "m", [False, False], (1.0, 2.0))
    (found,) = compared(one, other, "m")
    (dice,) = of(found)
    assert dice.items[0].title.endswith("before/phrasing_0")
    assert units(dice) == [("before-phrasing_0-match-0",) * 2]


# ------------------------------------------------------------------ peers


def answered(number: int, score: float, **more: Any) -> dict[str, Any]:
    return {
        "iteration": number,
        "topic": "history",
        "difficulty": "",
        "task": f"task {more.get('of', number)}",
        "scores": {"x": score},
        "answers": {"x": f"answer {number}"},
        "judgments": {"x": {"x": 5}, "y": {"x": None}},
    }


def test_tasks_are_listed_by_how_far_the_score_moved_with_both_answers(tmp_path: Path) -> None:
    one = peers(tmp_path / "a", [answered(n, 3.0) for n in (1, 2, 3, 4)])
    moved = [answered(5, 3.5, of=1), answered(6, 4.5, of=2), answered(7, 2.5, of=3)]
    other = peers(tmp_path / "b", [*moved, answered(8, 3.0, of=4)])
    (found,) = autobench.compare([pair(one, other)])
    (tasks,) = found.flips
    assert (tasks.gained, tasks.lost) == (found.scores[0].gained, found.scores[0].lost) == (2, 1)
    assert differences(tasks) == [1.5, 0.5, -0.5]
    assert units(tasks) == [
        (f"iteration-{one}", f"iteration-{other}") for one, other in ((2, 6), (1, 5), (3, 7))
    ]
    first = tasks.items[0]
    assert (first.baseline.said, first.candidate.said) == ("3.00", "4.50")
    assert first.question == "task 2" and "(history)" in first.title
    assert first.candidate.record == {"response": "answer 6", "ratings": "x: 5, y: none"}
    (of_none,) = autobench.compare([pair(one, other)], 0)
    assert (of_none.flips[0].gained, of_none.flips[0].items) == (2, [])


def test_under_each_variant_tasks_open_in_that_variant(tmp_path: Path) -> None:
    one = ablations(tmp_path / "a", {"full": [2.0, 2.5], "uniform_weights": [2.0, 2.0]}, 0.8)
    other = ablations(tmp_path / "b", {"full": [2.0, 3.5], "uniform_weights": [1.0, 2.0]}, 0.8)
    full, uniform = of(compared(one, other, "x")[0])
    assert (full.title, units(full)) == ("Full protocol", [("full-iteration-1",) * 2])
    assert (uniform.lost, units(uniform)) == (1, [("uniform_weights-iteration-0",) * 2])


def test_where_a_bias_did_other_harm_the_iteration_opens_in_which_scores_moved_most(
    tmp_path: Path,
) -> None:
    def with_iterations(name: str, gained: Sequence[int], third: float) -> Stored:
        played = [{"iteration": n, "scores": {"a": third if n == 3 else n}} for n in (1, 2, 3)]
        records = [
            it | {"iterations": played}
            for seed, many in enumerate(gained)
            for it in (trial("no bias", seed, 0), trial("1 odd (one)", seed, many))
        ]
        return run(tmp_path / name, records, experiment="autobench_biases", journal="trials")

    (found,) = compared(with_iterations("a", [4, 4, 4], 1.0), with_iterations("b", [4, 1, 5], 5.0))
    places = next(it for it in of(found) if "places" in it.title)
    assert (places.gained, places.lost) == (1, 1), "less harm is a gain"
    assert [it.key for it in places.items] == ["1", "2"]
    assert units(places)[0] == ("1_odd_one_-1-iteration-3",) * 2
    older = planted(tmp_path / "c", [4, 4]), planted(tmp_path / "d", [1, 4])
    (found,) = compared(*older)
    assert {it for flips in of(found) for it in units(flips)} == {("", "")}, "none were kept"


# ------------------------------------------------------------------ the others


def test_held_out_positions_are_listed_in_which_a_move_is_worth_something_else(
    tmp_path: Path,
) -> None:
    one = learned(tmp_path / "a", [(0.2, 0.4), (0.3, 0.3)])
    other = learned(tmp_path / "b", [(0.2, 0.9), (0.7, 0.3)])
    (positions,) = of(compared(one, other)[0])
    assert differences(positions) == [pytest.approx(0.5)]
    assert units(positions) == [("study-7-after-0",) * 2]


def test_a_candidate_flips_that_one_screening_kept_and_the_other_dropped(tmp_path: Path) -> None:
    one = screened(tmp_path / "a", {"p": True, "q": True, "r": False}, right=True)
    other = screened(tmp_path / "b", {"p": True, "q": False, "r": True}, right=True)
    # What is kept and held out, reports do not show.
    kept = other.folder / "accepted.jsonl"
    kept.write_text(kept.read_text().replace('"id": "r"', '"id": "r", "private": true'))
    (found,) = of(compared(one, other)[0])
    decisions = [
        (it.key, it.baseline.facts["decision"], it.candidate.facts["decision"])
        for it in found.items
    ]
    assert decisions == [("r", "rejected", "accepted"), ("q", "accepted", "rejected")]
    sample = {"model": "m", "benchmark": "hle", "language": "en", "key": "r", "repeat": 0}
    assert units(found)[0] == (f"{unit_id(sample):016x}", "")
    assert found.items[0].candidate.journal == kept and found.items[0].candidate.line == 2
    assert "SECRET" not in json.dumps(told(judging.concluded(compared(one, other))))


# ------------------------------------------------------------------ as it is shown


@pytest.fixture
def flipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Compared:
    """Return a pair of runs with six tasks that flipped, of which one run's report is there."""
    monkeypatch.chdir(tmp_path)
    one = peers(Path("a"), [answered(n, 3.0) for n in range(6)])
    other = peers(Path("b"), [answered(n, 3.0 + n / 4 - 0.1) for n in range(6)])
    (other.folder / "report.html").touch()
    (found,) = autobench.compare([pair(one, other)])
    return found


def printed(found: Sequence[Compared], **wanted: int | None) -> list[str]:
    import io

    out = io.StringIO()
    terminal.show(judging.concluded(found), [], out, terminal.Wanted(**wanted))
    return out.getvalue().splitlines()


def test_the_most_telling_are_printed_a_line_each_with_where_both_are_read(
    flipped: Compared,
) -> None:
    lines = printed([flipped])
    head = next(at for at, it in enumerate(lines) if it.startswith("  + ")) - 1
    assert re.findall(r"\d+", lines[head]) == ["5", "1", "4"]
    assert "iteration 5" in lines[head + 1] and lines[head + 1].endswith(
        "3.00 → 4.15  a/journal/iterations.jsonl:6 → b/report.html#unit=iteration-5"
    )
    assert lines[head + 4].startswith("  − ") and "iteration 0" in lines[head + 4]
    assert sum("iteration " in it for it in printed([flipped], flips=4)) == 5
    assert not any("iteration " in it for it in printed([flipped], flips=0))


def test_those_of_several_benchmarks_take_turns(flipped: Compared) -> None:
    several = [replace(it, title=name) for name in "ABCD" for it in flipped.flips]
    lines = [it for it in printed([replace(flipped, flips=several)]) if it.startswith("  + ")]
    assert [it[4] for it in lines] == ["A", "B", "C"]


def test_of_many_pairs_details_are_of_those_that_moved_and_the_rest_is_said(
    tmp_path: Path,
) -> None:
    one = peers(tmp_path / "a", [answered(n, 3.0) for n in range(6)])
    other = peers(tmp_path / "b", [answered(n, 4.0) for n in range(6)])
    (same,) = autobench.compare([pair(one, one)])
    (moved,) = autobench.compare([pair(one, other)])
    found = [moved, same, same, same, same]

    def detailed(**wanted: int) -> int:
        return sum(it.endswith("(baseline)") for it in printed(found, **wanted))

    assert detailed() == 1 and detailed(pairs=3) == 3 and detailed(pairs=9) == 5
    flips = [moved, *[replace(moved, scores=same.scores)] * 4]  # as of pairs that are alike
    asked = [it for it in printed(flips, flips=1) if it.startswith("  + ")]
    assert len(asked) == 5, "what flipped is of every pair once it is asked for"
    (left,) = (it for it in printed(found) if "--details" in it)
    assert re.findall(r"\d+", left)[:2] == ["4", "5"] and "--details 5" in left
    assert "--json" in left
    assert not any("--details" in it for it in printed(found, pairs=5))


def test_the_page_and_json_have_all_with_links_to_units(flipped: Compared) -> None:
    concluded = judging.concluded([flipped])
    html = page.render(concluded, [], Path("compare.html"))
    assert "5 of 5" in html
    assert 'href="b/report.html#unit=iteration-5"' in html
    assert 'href="a/report.html' not in html, "there is none"
    assert 'href="a/journal/iterations.jsonl">journal, line 6' in html
    (found,) = told(concluded)["comparisons"][0]["flips"]
    assert (found["of"], found["gained"], found["shown"]) == ("tasks", 5, 6)
    assert found["items"][0]["candidate"]["report"].endswith("b/report.html#unit=iteration-5")
    assert found["items"][0]["candidate"]["iteration"] == 5


def test_models_of_one_name_are_told_apart_by_rosters_or_weights(tmp_path: Path) -> None:
    def made_of(name: str, roster: str, weights: str) -> Stored:
        models = [{"name": "m", "weights": weights}]
        return run(tmp_path / name, [], config={"roster": {"name": roster, "models": models}})

    one = made_of("a", "first", "w")
    other, third = made_of("b", "second", "w2"), made_of("c", "first", "w2")
    both = [it.partition(" in ")[0] for it in pair(one, other).titles]
    assert both == ["m (roster first)", "m (roster second)"]
    assert pair(one, third).titles == ("m (w) in a", "m (w2) in c")
    assert pair(one, made_of("d", "first", "w")).titles == ("m in a", "m in d")

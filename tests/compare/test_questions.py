"""Runs that put questions, compared question by question."""

import json
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from compare.making import compared, concluded, named, pair, run, score, unit, units
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from omegaconf import OmegaConf
from refusals import refused
from scipy import stats
from statements import code, the, values

from raybench import cli
from raybench.benchmarks.parts import indices
from raybench.compare import judging, questions, ways
from raybench.compare.runs import Stored
from raybench.compare.shown.told import told

MARKS = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=2, max_size=40)


def test_once_asked_questions_are_mcnemars_exact_test(tmp_path: Path) -> None:
    # 30 both right, 2 only the baseline, 12 only the candidate, 6 neither.
    one = [True] * 32 + [False] * 18
    other = [True] * 30 + [False] * 2 + [True] * 12 + [False] * 6
    found = score(run(tmp_path / "a", units("m", one)), run(tmp_path / "b", units("m", other)))
    assert (found.gained, found.lost, found.difference.n) == (12, 2, 50)
    assert found.test == "McNemar, exact"
    assert found.p == pytest.approx(stats.binomtest(2, 14, 0.5).pvalue)
    assert found.baseline.value == 0.64
    assert found.candidate.value == 0.84
    assert found.difference.value == pytest.approx(0.2)
    differences = np.array(other, float) - np.array(one, float)
    assert found.difference.stderr == pytest.approx(differences.std(ddof=1) / 50**0.5)


def test_repeats_are_averaged_first_and_tested_by_t(tmp_path: Path) -> None:
    right = {"a": [3, 2, 0, 1, 4], "b": [4, 3, 2, 1, 3]}
    runs = {
        name: run(
            tmp_path / name,
            [
                unit("m", str(key), repeat < times, repeat=repeat)
                for key, times in enumerate(of)
                for repeat in range(4)
            ],
        )
        for name, of in right.items()
    }
    found = score(runs["a"], runs["b"])
    expected = stats.ttest_rel(np.array(right["b"]) / 4, np.array(right["a"]) / 4)
    assert found.p == pytest.approx(expected.pvalue)
    assert (found.gained, found.lost) == (3, 1)
    low, high = expected.confidence_interval()
    assert found.difference.ci95 == pytest.approx((low, high))


def test_questions_of_one_source_are_no_independent_news(tmp_path: Path) -> None:
    def of(name: str, marks: list[bool]) -> list[dict[str, object]]:
        return [
            unit("m", str(key), right, benchmark="scicode", cluster=f"c{key // 5}")
            for key, right in enumerate(marks)
        ]

    one = run(tmp_path / "a", of("a", [False] * 20))
    other = run(tmp_path / "b", of("b", [True] * 5 + [False] * 15))
    found = score(one, other, "scicode/accuracy")
    assert found.independent == 4
    assert "clustered" in found.difference.method
    assert found.p is not None and found.p > 0.3  # one source of four, however many questions


@settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(MARKS)
def test_swapping_the_sides_negates(
    tmp_path_factory: pytest.TempPathFactory, marks: list[tuple[bool, bool]]
) -> None:
    folder = tmp_path_factory.mktemp("swap")
    one = run(folder / "a", units("m", [it[0] for it in marks]))
    other = run(folder / "b", units("m", [it[1] for it in marks]))
    there, back = concluded(one, other), concluded(other, one)
    a, b = there.scores[0], back.scores[0]
    assert a.score.difference.value == -b.score.difference.value  # type: ignore[operator]
    assert a.score.p == b.score.p
    assert (a.score.gained, a.score.lost) == (b.score.lost, b.score.gained)
    swapped = {"better": "worse", "worse": "better"}
    assert a.verdict == swapped.get(b.verdict, b.verdict)
    assert a.detectable_here == b.detectable_here
    flips = there.compared.flips[0], back.compared.flips[0]
    assert {it.key for it in flips[0].items} == {it.key for it in flips[1].items}


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(st.booleans(), min_size=1, max_size=30))
def test_a_run_against_itself_is_identical_and_never_equivalent(
    tmp_path_factory: pytest.TempPathFactory, marks: list[bool]
) -> None:
    one = run(tmp_path_factory.mktemp("same") / "a", units("m", marks))
    found = concluded(one, one)
    assert found.verdict == "identical"
    for it in found.scores:
        assert it.verdict == "identical"
        assert it.score.difference.value == 0
        assert it.needed is None
    assert found.compared.flips[0].items == []
    assert "equivalent" not in json.dumps(told([found]))


def test_what_broke_is_left_out_and_never_a_zero(tmp_path: Path) -> None:
    one = run(tmp_path / "a", units("m", [True] * 10))
    records = units("m", [True] * 10)
    for key in (3, 4):
        records[key] |= {"finish": "error", "correct": False, "answer": None, "error": "timeout"}
    records[5] |= {"judge_error": "no verdict", "by": None, "correct": False}
    found = concluded(one, run(tmp_path / "b", records)).scores[0].score
    assert found.difference.n == 7
    assert found.difference.value == 0  # and not −0.3
    assert found.counts is not None and found.counts[1].infra_error == 2
    lost = [values(it) for it in found.notes if code(it) == "compare.units_lost"]
    assert [(it["side"], it["units"]) for it in lost] == [("candidate", 2), ("candidate", 1)]
    alone = the("compare.questions_of_one", found.notes)
    assert alone == {"questions": 3, "side": "baseline"}


def test_a_truncated_or_unparsed_reply_is_the_models_own(tmp_path: Path) -> None:
    one = run(tmp_path / "a", units("m", [True] * 10))
    records = units("m", [True] * 8 + [False] * 2)
    records[8] |= {"finish": "length", "answer": None}
    found = score(one, run(tmp_path / "b", records))
    assert found.difference.n == 10
    assert found.lost == 2
    assert found.counts is not None and found.counts[1].truncated == 1


def test_other_questions_are_compared_over_those_in_common_and_told_loudly(tmp_path: Path) -> None:
    data = [{"mmlu_pro": {"origin": "hub X", "digest": letter * 64}} for letter in "ab"]
    one = run(tmp_path / "a", units("m", [True] * 10, truth="twelve"), data=data[0])
    records = units("m", [False] * 15, truth="twelve")
    records[0]["truth"] = "thirteen"
    found = score(one, run(tmp_path / "b", records, data=data[1]))
    assert found.difference.n == 9  # ten have an id in common, one of them another right answer
    assert the("compare.other_answers", found.notes) == {"questions": 1}
    assert the("compare.other_questions", found.notes)["common"] == 9
    alone = the("compare.questions_of_one", found.notes)
    assert alone == {"questions": 5, "side": "candidate"}


def test_letters_of_options_drawn_by_other_seeds_do_not_make_other_questions(
    tmp_path: Path,
) -> None:
    data = [{"mmlu_pro": {"origin": "hub X", "digest": letter * 64}} for letter in "ab"]
    one = run(tmp_path / "a", units("m", [True] * 10, truth="A"), data=data[0])
    moved = units("m", [False] * 10, truth="B")
    same_seed = run(tmp_path / "b", moved, data=data[1])
    with refused("compare.nothing"):
        questions.compare([pair(one, same_seed)], only=(), most=0)
    other_seed = run(tmp_path / "c", moved, data=data[1], config={"seed": 1})
    assert score(one, other_seed).difference.n == 10


def test_a_right_answer_of_one_character_is_no_options_letter_where_there_are_no_options(
    tmp_path: Path,
) -> None:
    def asked(name: str, truth: str, seed: int) -> Stored:
        data = {"math_500": {"origin": "hub X", "digest": name * 64}}
        records = units("m", [True] * 10, benchmark="math_500", truth=truth)
        return run(tmp_path / name, records, data=data, config={"seed": seed})

    with refused("compare.nothing"):
        compared(asked("a", "7", 0), asked("b", "9", 1))


def test_samples_and_published_questions_have_nothing_in_common(tmp_path: Path) -> None:
    one = run(tmp_path / "a", units("m", [True] * 10))
    published = {"mmlu_pro": {"origin": "hub X", "digest": "e" * 64}}
    other = run(tmp_path / "b", units("m", [True] * 10), data=published)
    with refused("compare.nothing"):
        questions.compare([pair(one, other)], only=(), most=0)


def test_a_folder_of_the_samples_name_does_not_hold_the_samples(tmp_path: Path) -> None:
    def made(name: str, folder: str | None, **more: Any) -> Stored:
        data = {"source": "samples", "dir": folder}
        return run(tmp_path / name, units("m", [True]), config={"data": data}, **more)

    kinds: dict[str, dict[str, Any]] = {"over": {}, "unfinished": {"results": {}}}
    for of, more in kinds.items():
        assert made(of, None, **more).samples("mmlu_pro")
        assert not made(f"{of}-own", "samples", **more).samples("mmlu_pro")


def test_a_benchmark_of_one_side_is_told(tmp_path: Path) -> None:
    one = run(tmp_path / "a", units("m", [True] * 5) + units("m", [True] * 5, benchmark="math_500"))
    other = run(tmp_path / "b", units("m", [True] * 5))
    alone = the("compare.one_side_alone", compared(one, other).notes)
    assert alone == {"benchmark": "math_500", "side": "baseline"}


def test_no_question_in_common_is_refused(tmp_path: Path) -> None:
    one = run(tmp_path / "a", units("m", [True] * 5))
    other = run(tmp_path / "b", units("m", [True] * 5, benchmark="math_500"))
    with refused("compare.nothing"):
        questions.compare([pair(one, other)], only=(), most=0)


@pytest.mark.parametrize("failed", [True, False], ids=["its engine failed", "not reached yet"])
def test_a_model_without_a_common_question_leaves_the_others_compared(
    failed: bool, tmp_path: Path
) -> None:
    models = ("a", "b", "c")
    broken = [unit("c", str(key), False, finish="error", error="x") for key in range(3)]
    records = [*units("a", [True] * 9), *units("b", [False] * 9)]
    records += broken if failed else []
    made = run(tmp_path / "a", records, models=models)
    found, notes = ways.compared([named(made)], ways.Wanted())
    assert [it.pair.candidate.model for it in found] == ["b"]
    problem = the("compare.left_out", notes)["problem"]
    assert problem.code == "compare.nothing" and f"c of {made.folder}" in problem.message
    assert ("candidate: 3 " in problem.message) is failed


def test_the_reason_is_told_where_every_question_has_another_right_answer(tmp_path: Path) -> None:
    data = [{"math_500": {"origin": "hub X", "digest": letter * 64}} for letter in "ab"]
    one, other = (
        run(tmp_path / at, units("m", [True] * 5, benchmark="math_500", truth=truth), data=of)
        for at, truth, of in zip("ab", ("17", "19"), data, strict=True)
    )
    with refused("compare.nothing"):
        questions.compare([pair(one, other)], only=(), most=0)


def test_another_version_of_the_grading_is_among_what_differs(tmp_path: Path) -> None:
    one = run(tmp_path / "a", units("m", [True] * 5))
    about = {"origin": "samples", "digest": "d" * 64, "grading": 2}
    other = run(tmp_path / "b", units("m", [True] * 5), data={"mmlu_pro": about})
    unfinished = run(tmp_path / "c", units("m", [True] * 5), results={})
    inputs = {"mmlu_pro": "d" * 64, "mmlu_pro.grading": "2"}
    (unfinished.folder / "inputs.json").write_text(json.dumps(inputs))
    for new in (other, unfinished):
        found = {it.name: (it.baseline, it.candidate) for it in compared(one, new).settings}
        assert found["mmlu_pro, grading"] == ("1", "2")
        assert not any("mmlu_pro.grading" in name for name in found)
    assert "mmlu_pro, grading" not in {it.name for it in compared(other, unfinished).settings}


def test_what_differs_is_filed_by_what_it_is_about(tmp_path: Path) -> None:
    def made(name: str, digest: str, grading: int, checker: str | None, limit: int) -> Stored:
        about = {"origin": name, "digest": digest * 64, "questions": limit, "grading": grading}
        asked = {"limit": limit, "checker": checker, "judges": [checker], "grader": name}
        return run(
            tmp_path / name,
            units("m", [True] * 5, benchmark="math_500"),
            data={"math_500": about | {"repeats": grading}},
            config={"index": asked | {"max_tokens": grading}, "data": {"source": name}},
        )

    def kinds(one: Stored, other: Stored) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for it in compared(one, other).settings:
            found.setdefault(it.kind, []).append(it.name)
        return found

    one, graded = made("a", "d", 1, None, 5), made("b", "d", 2, "judge", 9)
    assert kinds(one, graded) == {
        "asking": ["math_500, repeats", "limit", "max_tokens", "data.source"],
        "grading": ["math_500, grading", "checker", "judges", "grader"],
    }, "the questions are the same ones"
    questions_ = kinds(one, made("c", "e", 1, None, 9))["questions"]
    assert [*questions_] == [
        "math_500, digest", "math_500, origin", "math_500, questions", "limit", "data.source",
    ]  # fmt: skip


def test_a_half_written_last_line_is_passed_over_and_a_broken_one_is_told(tmp_path: Path) -> None:
    one = run(tmp_path / "a", units("m", [True] * 5))
    other = run(tmp_path / "b", units("m", [True] * 5), results={})
    journal = other.journal("units")
    whole = journal.read_bytes()
    journal.write_bytes(whole[:-20])
    found = concluded(one, other)
    assert found.scores[0].score.difference.n == 4
    journal.write_bytes(b'{"model": "m"}\n' + whole)
    with refused("journal.invalid"):
        compared(one, other)


def test_an_index_weighs_the_paired_differences(tmp_path: Path) -> None:
    weights = indices.constituents("coding")
    rng = np.random.default_rng(1)

    def records(add: float) -> list[dict[str, object]]:
        return [
            it for name in weights for it in units("m", rng.random(60) < 0.4 + add, benchmark=name)
        ]

    one, other = run(tmp_path / "a", records(0)), run(tmp_path / "b", records(0.2))
    found = {it.metric: it for it in compared(one, other).scores}
    whole = found["index/coding"]
    parts = {name: found[f"{name}/accuracy"].difference for name in weights}
    assert whole.difference.value == pytest.approx(
        sum(float(weight) * (parts[name].value or 0) for name, weight in weights.items())
    )
    variance = sum(
        (float(weight) * (parts[name].stderr or 0)) ** 2 for name, weight in weights.items()
    )
    assert whole.difference.stderr == pytest.approx(variance**0.5)
    assert whole.gained == sum(found[f"{name}/accuracy"].gained or 0 for name in weights)
    assert whole.independent <= 119
    assert "index/intelligence" not in found


@pytest.mark.parametrize(("flipped", "verdict"), [(25, "not distinguishable"), (90, "better")])
def test_the_verdict_on_an_index_is_what_its_interval_says(
    flipped: int, verdict: str, tmp_path: Path
) -> None:
    """Where one benchmark flipped and the others did not, these may still differ elsewhere."""

    def records(gain: int) -> list[dict[str, object]]:
        return [
            it
            for name in indices.constituents("intelligence")
            for it in (
                units("m", [key % 2 == 0 or key < 2 * gain for key in range(200)], benchmark=name)
                if name == "gpqa_diamond"
                else units("m", [key % 2 == 0 for key in range(30)], benchmark=name)
            )
        ]

    one, other = run(tmp_path / "a", records(0)), run(tmp_path / "b", records(flipped))
    found = {it.score.metric: it for it in concluded(one, other).scores}
    index = found["index/intelligence"]
    low, high = index.score.difference.ci95 or (0, 0)
    assert (index.verdict, low <= 0 <= high) == (verdict, verdict == "not distinguishable")
    assert index.score.p is not None and (index.score.p < 0.05) is (low > 0)
    # Nobody is told that less would have shown than the interval is wide.
    assert index.detectable is not None and index.detectable > (high - low) / 2
    assert found["gpqa_diamond/accuracy"].verdict == "better"
    assert (found["index/math"].verdict, found["index/math"].detectable) == ("identical", None)


def test_flips_name_the_line_and_the_byte_where_the_reply_stands(tmp_path: Path) -> None:
    marks = [True, False, True, False]
    one = run(tmp_path / "a", units("m", marks, response="Das ist schön: 漢字"))
    other = run(tmp_path / "b", units("m", [True, True, False, False]))
    (flips,) = compared(one, other).flips
    assert (flips.gained, flips.lost) == (1, 1)
    assert [(it.key, it.difference) for it in flips.items] == [("1", 1.0), ("2", -1.0)]
    for it in flips.items:
        for reply, of in ((it.baseline, one), (it.candidate, other)):
            with reply.journal.open("rb") as file:
                file.seek(reply.offset)
                there = json.loads(file.readline())
            lines = of.journal("units").read_text().splitlines()
            assert there == json.loads(lines[reply.line - 1])
            assert there["key"] == it.key
            assert reply.record["response"] == there["response"]


def test_of_repeats_a_reply_is_shown_that_shows_the_difference(tmp_path: Path) -> None:
    def of(right: int) -> list[dict[str, object]]:
        return [unit("m", "q", repeat >= 4 - right, repeat=repeat) for repeat in range(4)]

    one, other = run(tmp_path / "a", of(1)), run(tmp_path / "b", of(3))
    (flip,) = compared(one, other).flips[0].items
    assert (flip.baseline.facts["right"], flip.baseline.said) == (1, "1 of 4 right")
    assert flip.baseline.record["reason"] != "right"
    assert (flip.candidate.facts["repeat"], flip.candidate.record["reason"]) == (1, "right")


def test_flips_are_capped_and_their_number_is_not(tmp_path: Path) -> None:
    one = run(tmp_path / "a", units("m", [True] * 30 + [False] * 30))
    other = run(tmp_path / "b", units("m", [False] * 30 + [True] * 30))
    (flips,) = compared(one, other, most=4).flips
    assert (flips.gained, flips.lost, len(flips.items)) == (30, 30, 8)


def test_of_withheld_benchmarks_only_ids_are_shown(tmp_path: Path) -> None:
    data = {"gpqa_diamond": {"origin": "hub Idavidrein/gpqa", "digest": "d" * 64}}
    runs = [
        run(
            tmp_path / name,
            units("m", marks, benchmark="gpqa_diamond", response="SECRET", truth="SECRET"),
            data=data,
        )
        for name, marks in (("a", [True, False]), ("b", [False, False]))
    ]
    found = concluded(*runs)
    (flips,) = found.compared.flips
    assert flips.withheld
    assert flips.items[0].key == "0"
    assert "SECRET" not in json.dumps(told([found]))


def test_what_differs_beside_the_models_is_told(tmp_path: Path) -> None:
    one = run(tmp_path / "a", units("m", [True] * 5))
    config = {"seed": 1, "index": {"limit": None, "subset": [], "temperature": 0.7}}
    other = run(tmp_path / "b", units("n", [True] * 5), models=["n"], config=config)
    found = {
        (it.kind, it.name): (it.baseline, it.candidate) for it in compared(one, other).settings
    }
    assert found == {
        ("model", "weights"): ("org/m", "org/n"),
        ("asking", "temperature"): ("—", "0.7"),
        ("asking", "seed"): ("0", "1"),
    }


def test_hle_compares_accuracy_and_confidence_and_refuses_the_rms_difference(
    tmp_path: Path,
) -> None:
    def of(marks: list[bool], confidence: int) -> list[dict[str, object]]:
        judged = {"correct": True, "confidence": confidence, "extracted": "x", "reasoning": ""}
        return [
            it | {"judgements": {"j": judged | {"correct": it["correct"]}}, "by": "judge"}
            for it in units("m", marks, benchmark="hle", subject="Math")
        ]

    rng = np.random.default_rng(0)
    marks = [[bool(it) for it in rng.random(150) < 0.3] for _ in range(2)]
    one = run(tmp_path / "a", of(marks[0], 90), experiment="hle")
    other = run(tmp_path / "b", of(marks[1], 40), experiment="hle")
    found = {it.score.metric: it for it in concluded(one, other).scores}
    brier = found["hle/brier"]
    by_hand = [
        np.mean([(c - it) ** 2 for it in of]) for c, of in zip((0.9, 0.4), marks, strict=True)
    ]
    assert brier.score.difference.value == pytest.approx(by_hand[1] - by_hand[0])
    assert brier.verdict == "better"  # lower is better
    rms = found["hle/rms_calibration_error_all"]
    assert rms.verdict == "refused"
    assert rms.score.baseline.value is not None and rms.p_holm is None


def test_confidence_is_compared_over_the_questions_in_common_alone(tmp_path: Path) -> None:
    def of(name: str, confidence: int, truths: list[str]) -> Stored:
        judged = {"j": {"correct": True, "confidence": confidence}}
        records = [
            unit("m", str(key), True, benchmark="hle", by="judge", truth=it, judgements=judged)
            for key, it in enumerate(truths)
        ]
        # A verdict on one side alone is none in common.
        records[0] |= {"judgements": {"j": {}}, "judge_error": "x"} if name == "a" else {}
        records[0] |= {"by": None} if name == "a" else {}
        data = {"hle": {"origin": "hub X", "digest": name * 64}}
        return run(tmp_path / name, records, experiment="hle", data=data)

    one = of("a", 90, ["alpha"] * 40)
    other = of("b", 60, ["alpha"] * 20 + ["omega"] * 10)
    found = {it.metric: it for it in compared(one, other).scores}
    for metric in ("hle/accuracy", "hle/brier", "hle/rms_calibration_error_all"):
        it = found[metric]
        assert (it.difference.n, it.baseline.n, it.candidate.n) == (19, 19, 19), metric


def called_wrongly(folder: Path, times: int) -> int:
    """Return how many comparisons of equals say that anything differs."""
    rng, wrong = np.random.default_rng(7), 0
    names = ("mmlu_pro", "math_500", "gpqa_diamond", "humaneval")
    for number in range(times):
        easy = rng.random((len(names), 40))  # how likely both are right, question by question

        def records(easy: np.ndarray = easy) -> list[dict[str, object]]:
            return [
                unit("m", str(key), bool(rng.random() < p), benchmark=name, repeat=repeat)
                for name, of in zip(names, easy, strict=True)
                for key, p in enumerate(of)
                for repeat in range(3 if name == "math_500" else 1)
            ]

        one = run(folder / f"{number}a", records())
        other = run(folder / f"{number}b", records())
        (found,) = judging.concluded([compared(one, other, most=0)])
        wrong += any(it.verdict in ("better", "worse") for it in found.scores)
    return wrong


def test_equal_models_are_seldom_called_better_or_worse(tmp_path: Path) -> None:
    """Of comparisons of equals at most one in twenty says that anything differs."""
    # Were it exactly 0.05, one in a thousand such tests would see more than this.
    assert called_wrongly(tmp_path, times=20) <= stats.binom.ppf(0.999, 20, judging.LEVEL)


@pytest.mark.long(
    short="tests/compare/test_questions.py::test_equal_models_are_seldom_called_better_or_worse"
)
def test_equal_models_are_called_better_or_worse_as_seldom_as_it_says(tmp_path: Path) -> None:
    assert called_wrongly(tmp_path, times=200) <= stats.binom.ppf(0.999, 200, judging.LEVEL)


def test_a_flipped_question_stands_as_it_was_put_with_the_models_system_prompt(
    tmp_path: Path,
) -> None:
    model = "{name: m, engine: simulated, system_prompt: Be terse.}"
    asked = ["+experiment=index", "data=samples", f"roster.models=[{model}]"]
    asked.append("own_system_prompts=true")
    composed = OmegaConf.to_container(cli.compose(cli.at_home(asked)), resolve=True)
    config = cast(dict[str, Any], composed)
    one, other = (
        run(tmp_path / name, [unit("m", "1", right, truth=None)], config=config)
        for name, right in (("a", False), ("b", True))
    )
    (flip,) = compared(one, other).flips[0].items
    system, _, asked_ = flip.question.partition("\nBe terse.\n\n")
    assert system and "3 × 3 matrices" in asked_
    strange = run(tmp_path / "c", [unit("m", "1", True, truth=None)], config={"nobody": "knows"})
    assert compared(one, strange).flips[0].items[0].question == "", "settings of another version"

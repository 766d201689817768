import tracemalloc
from random import Random
from typing import Any

import graded
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from raybench.benchmarks.parts.tally import Tally, Unit, safe
from raybench.types import Counts, Finish


def unit(key: str, **changes: Any) -> Unit:
    return graded.unit(**{"benchmark": "mgsm", "key": key} | changes)


@pytest.mark.parametrize(
    ("finish", "parsed", "counts"),
    [
        ("stop", True, Counts(ok=1)),
        ("stop", False, Counts(unparsed=1)),
        ("length", True, Counts(truncated=1)),
        ("length", False, Counts(truncated=1)),
        ("thinking", False, Counts(truncated=1)),
        ("empty", False, Counts(unparsed=1)),
        ("refusal", False, Counts(unparsed=1)),
        ("overflow", False, Counts(unparsed=1)),
        ("unsupported", False, Counts()),  # what a model does not take is not put to it
        ("error", False, Counts(infra_error=1)),
    ],
)
def test_a_unit_is_counted_once_and_is_asked_unless_it_broke(
    finish: Finish, parsed: bool, counts: Counts
) -> None:
    tally = Tally.of([unit("1", finish=finish, parsed=parsed)])
    assert tally.counts("a") == tally.counts("a", ["mgsm"]) == counts
    assert tally.asked("a", "mgsm", ["en"]).n == (finish not in ("error", "unsupported"))
    assert tally.sheet("a", "mgsm").unsupported == (finish == "unsupported")
    assert tally.sheet("a", "mgsm").unanswered == (finish == "error")


def test_a_missing_verdict_is_counted_beside_what_became_of_the_reply() -> None:
    tally = Tally.of([unit("1", judge_error=True)])
    assert tally.counts("a") == Counts(ok=1, judge_error=1)
    assert tally.sheet("a", "mgsm").unchecked == 1


@pytest.mark.parametrize("finish", ["stop", "length", "refusal"])
def test_what_nobody_could_grade_is_neither_right_nor_wrong(finish: Finish) -> None:
    ungraded = unit(
        "1",
        by=None,
        parsed=False,
        judge_error=True,
        subject="x",
        cluster="c",
        finish=finish,
        beside={"official": False},
    )
    tally = Tally.of([unit("1", correct=True, repeat=1, subject="x", cluster="c"), ungraded])
    # It is no unparsed reply: nobody looked.
    assert tally.counts("a") == Counts(ok=1, judge_error=1)
    sheet = tally.sheet("a", "mgsm")
    assert (sheet.ungraded, sheet.unchecked, sheet.unanswered) == (1, 0, 0)
    for asked in (
        tally.asked("a", "mgsm", ["en"]),
        tally.asked("a", "mgsm", ["en"], subject="x"),
        tally.wholes("a", "mgsm"),
    ):
        assert (asked.right.tolist(), asked.times.tolist()) == ([[1]], [[1]])
    assert len(sheet.output_tokens) == 2  # it was a reply all the same


def test_a_cluster_with_a_question_that_nobody_could_grade_was_not_asked_whole() -> None:
    ungraded = unit(
        "0.9", benchmark="scicode", cluster="0", by=None, parsed=False, judge_error=True
    )
    wholes = Tally.of([*steps("RR", "Rw"), ungraded]).wholes("a", "scicode")
    assert (wholes.right.tolist(), wholes.times.tolist()) == ([[0, 0]], [[0, 1]])


def test_counts_are_told_apart_by_model_and_benchmark() -> None:
    tally = Tally.of(
        [unit("1"), unit("1", benchmark="aime_2024", finish="length"), unit("1", model="b")]
    )
    assert tally.benchmarks() == ["aime_2024", "mgsm"]
    assert tally.counts("a") == Counts(ok=1, truncated=1)
    assert tally.counts("a", ["aime_2024"]) == Counts(truncated=1)
    assert tally.counts("b") == Counts(ok=1)
    assert tally.counts("nobody") == Counts()


def test_a_question_has_one_column_for_all_models_and_languages() -> None:
    tally = Tally.of(
        [
            unit("1", correct=True),
            unit("2", language="de", model="b"),
            unit("2", language="de", repeat=1, model="b", correct=True),
            unit("1", language="de", correct=True),
            unit("3"),
        ]
    )
    a, b = tally.asked("a", "mgsm", ["de", "en"]), tally.asked("b", "mgsm", ["de", "en"])
    assert a.times.tolist() == [[1, 0, 0], [1, 0, 1]]
    assert a.right.tolist() == [[1, 0, 0], [1, 0, 0]]
    assert (b.times.tolist(), b.right.tolist()) == ([[0, 2, 0], [0] * 3], [[0, 1, 0], [0] * 3])
    assert tally.languages("mgsm") == ["de", "en"]


def test_subjects_select_questions_by_the_names_their_keys_have() -> None:
    tally = Tally.of(
        [
            unit("1", subject="Counting & Probability", correct=True),
            unit("2", subject="counting_probability"),
            unit("3", subject="Algebra"),
            unit("4"),
        ]
    )
    assert tally.subjects("mgsm") == ["algebra", "counting_probability"]
    asked = tally.asked("a", "mgsm", ["en"], subject="counting_probability")
    assert asked.right.tolist() == [[1, 0]]


def test_what_the_checker_decided_and_confirmed() -> None:
    tally = Tally.of(
        [
            unit("1", correct=True),
            unit("2", by="checker", correct=True),
            unit("2", by="checker", repeat=1),
            unit("3", by=None, parsed=False),
        ]
    )
    checked, confirmed = (
        tally.checked("a", "mgsm", ["en"]),
        tally.confirmed("a", "mgsm", ["en"]),
    )
    assert (checked.right.tolist(), checked.times.tolist()) == ([[0, 2, 0]], [[1, 2, 1]])
    assert (confirmed.right.tolist(), confirmed.times.tolist()) == ([[0, 1, 0]], [[0, 2, 0]])


def test_tokens_are_those_of_replies() -> None:
    finishes: list[Finish] = ["stop", "length", "error", "overflow", "unsupported"]
    units = [unit(finish, finish=finish, output_tokens=n) for n, finish in enumerate(finishes)]
    assert list(Tally.of(units).sheet("a", "mgsm").output_tokens) == [0, 1]


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("Counting & Probability", "counting_probability"),
        ("zh-CN", "zh_cn"),
        ("Physics (general)", "physics_general"),
        ("数学", "unnamed"),
    ],
)
def test_names_become_parts_of_keys(name: str, key: str) -> None:
    assert safe(name) == key


units = st.lists(
    st.builds(
        unit,
        st.sampled_from("123"),
        language=st.sampled_from(["de", "en"]),
        correct=st.booleans(),
        finish=st.sampled_from(["stop", "length", "error"]),
        by=st.sampled_from(["script", "checker"]),
    ),
    max_size=20,
)


@given(units, st.randoms(use_true_random=False))
def test_the_order_in_which_units_come_does_not_matter(given: list[Unit], random: Random) -> None:
    one, other = Tally.of(given), Tally.of(random.sample(given, len(given)))
    assert one.counts("a") == other.counts("a")
    for table in (Tally.asked, Tally.checked, Tally.confirmed):
        found = [
            sorted(np.concatenate([of.right, of.times]).T.tolist())
            for of in (
                table(one, "a", "mgsm", ["de", "en"]),
                table(other, "a", "mgsm", ["de", "en"]),
            )
        ]
        assert found[0] == found[1]


@pytest.mark.slow
def test_a_hundred_thousand_units_take_little_memory() -> None:
    languages = [f"l{number}" for number in range(8)]
    stream = (unit(str(n // 8), language=languages[n % 8], subject="x") for n in range(110_000))
    tracemalloc.start()
    tally = Tally.of(stream)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert tally.counts("a").ok == 110_000
    assert peak < 7e6  # measured: 3.5 MB


def test_other_verdicts_are_counted_beside_the_one_that_decides() -> None:
    units = [
        unit("1", correct=True, beside={"official": False, "lenient": True}),
        unit("1", repeat=1, beside={"official": True, "lenient": True}),
        unit("2", correct=True, beside={"official": True, "lenient": False}),
        unit("2", finish="error", parsed=False, beside={"official": True, "lenient": True}),
        unit("3", model="b"),
    ]
    tally = Tally.of(units)
    assert tally.beside("mgsm") == ["lenient", "official"]
    official = tally.asked_beside("a", "mgsm", ["en"], "official")
    assert official.right.tolist() == [[1, 1, 0]]
    assert official.times.tolist() == [[2, 1, 0]]
    assert tally.asked_beside("a", "mgsm", ["en"], "lenient").right.tolist() == [[2, 0, 0]]
    assert tally.asked("a", "mgsm", ["en"]).right.tolist() == [[1, 1, 0]]
    assert tally.asked_beside("b", "mgsm", ["en"], "official").right.tolist() == [[0, 0, 0]]


def steps(*problems: str, **changes: Any) -> list[Unit]:
    """A word per problem, a letter per step: R for right, w for wrong, x for no reply."""
    return [
        unit(
            f"{problem}.{step}",
            benchmark="scicode",
            cluster=str(problem),
            correct=letter == "R",
            finish="error" if letter == "x" else "stop",
            **changes,
        )
        for problem, letters in enumerate(problems)
        for step, letter in enumerate(letters)
    ]


def test_questions_of_a_cluster_share_a_source() -> None:
    tally = Tally.of([*steps("RRw", "R"), unit("single", benchmark="scicode")])
    asked = tally.asked("a", "scicode", ["en"])
    assert asked.sources is not None
    assert asked.sources.tolist() == [0, 0, 0, 1, 2]
    assert Tally.of([unit("1")]).asked("a", "mgsm", ["en"]).sources is None


def test_a_cluster_is_right_where_all_of_its_questions_are() -> None:
    again = steps("RRR", "w", "Rw", repeat=1)
    wholes = Tally.of([*steps("RRw", "R", "RR"), *again]).wholes("a", "scicode")
    assert (wholes.right.tolist(), wholes.times.tolist()) == ([[1, 1, 1]], [[2, 2, 2]])


def test_a_cluster_that_lacks_a_reply_was_not_asked_whole() -> None:
    wholes = Tally.of(steps("Rx", "RR")).wholes("a", "scicode")
    assert (wholes.right.tolist(), wholes.times.tolist()) == ([[0, 1]], [[0, 1]])
    assert Tally.of([]).wholes("a", "scicode").n == 0

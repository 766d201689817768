"""Which attempts are evidence of a question, and which prove nothing."""

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statements import codes

from raybench.benchmarks.parts.hle.exam import Exam, Fate, Item
from raybench.benchmarks.parts.hle.screening import attempts

FATES = get_args(Fate)


def item(key: str, fate: Fate, repeat: int = 0, *, correct: bool = False) -> Item:
    told: dict[str, Any] = {"verdicts": {}, "confidence": 50, "found": True, "stated": None}
    named: dict[str, Any] = {
        "category": "Math",
        "answer_type": "exactMatch",
        "chance": None,
        "tokens": 9,
    }
    return Item(key=key, repeat=repeat, fate=fate, correct=correct, **named, **told)


def exam(*items: tuple[str, Item]) -> Exam:
    made = Exam()
    for model, each in items:
        made.add(model, each)
    return made


@pytest.mark.parametrize(
    ("fate", "known", "accepted"),
    [
        ("empty", False, False),
        ("refused", False, False),
        ("cut", None, False),
        ("no room", None, False),
        ("failed", None, None),
        ("unjudged", None, None),
        ("no images", None, None),
    ],
)
def test_only_what_a_model_did_itself_is_no_answer_unless_somebody_accepts_it(
    fate: Fate, known: bool | None, accepted: bool | None
) -> None:
    made = exam(("a", item("q", fate)))
    assert attempts.of(made, ["a"], accepted=False)["q"].verdicts == {"a": [known]}
    assert attempts.of(made, ["a"], accepted=True)["q"].verdicts == {"a": [accepted]}


def test_a_judges_word_counts_attempt_by_attempt_and_model_by_model() -> None:
    made = exam(
        ("a", item("q", "judged", 1, correct=True)),
        ("a", item("q", "judged", 0)),
        ("b", item("q", "no images")),
        ("b", item("r", "refused")),
        ("left out", item("q", "judged", correct=True)),
    )
    found = attempts.of(made, ["a", "b"], accepted=False)
    assert found["q"].verdicts == {"a": [False, True], "b": [None]}
    assert found["q"].unable == {"b"}
    assert found["q"].told() == "1 no images"
    assert list(found["q"].notes) == []
    assert codes(found["r"].notes) == ["screening.declined"]


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from(FATES), st.booleans())))
def test_accepting_only_turns_what_is_not_known_into_no_answer(
    there: list[tuple[str, Fate, bool]],
) -> None:
    made = exam(
        *((model, item("q", fate, at, correct=it)) for at, (model, fate, it) in enumerate(there))
    )
    without, with_it = (attempts.of(made, ["a", "b"], accepted=it) for it in (False, True))
    for key, tried in without.items():
        for model, verdicts in tried.verdicts.items():
            pairs = zip(verdicts, with_it[key].verdicts[model], strict=True)
            assert all(now == then or (then, now) == (None, False) for then, now in pairs)


@pytest.mark.parametrize(
    ("searching", "plain", "expected"),
    [
        ([True], [False], True),
        ([False, True], [False, False], True),
        ([True], [True], False),
        ([True], [False, True], False),
        ([False], [False], False),
        ([False], [None], False),
        ([True], [None], None),
        ([None], [False], None),
        ([None], [True], False),
        ([], [False], None),
        ([True], [], None),
    ],
)
def test_a_search_finds_what_the_same_model_does_not_answer_without_it(
    searching: list[bool | None], plain: list[bool | None], expected: bool | None
) -> None:
    tried = attempts.Tried({"web": searching, "plain": plain})
    assert attempts.found_by_search(tried, {"web": "plain"}) == {"web": expected}

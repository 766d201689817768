"""Reasons of many candidates as kinds: without what each says of its own."""

import pytest
from hle_rows import choice, exact
from hypothesis import given
from hypothesis import strategies as st

from raybench.benchmarks.parts.hle.screening import candidates, reasons


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        (
            "'question' is nearly the same (90%) as question 'it's: 7': leave it out, or ask",
            "'question' is nearly the same (N) as question '…'",
        ),
        (
            "'id' is 'x\ny', which the dataset has already: give another",
            "'id' is '…', which the dataset has already",
        ),
        ("'rationale' is empty: explain step by step", "'rationale' is empty"),
        ("options A and E are the same: change one of them", "options A and E are the same"),
        ("the line is no JSON (Expecting value): mend it", "the line is no JSON (Expecting value)"),
    ],
)
def test_a_kind_is_a_reason_without_its_mend_and_what_it_quotes(reason: str, kind: str) -> None:
    assert reasons.kind(reason) == kind


def test_reasons_of_a_kind_are_told_with_their_numbers() -> None:
    reasons_of = [
        "'question' is nearly the same (85%) as question 'a': leave it out",
        "'question' is nearly the same (100%) as question 'b': leave it out",
        "'question' is nearly the same (90%) as question 'c': leave it out",
    ]
    assert len({*map(reasons.kind, reasons_of)}) == 1
    told = "'question' is nearly the same ({}) as question '…'"
    assert reasons.in_words(reasons_of) == told.format("85% to 100%")
    assert reasons.in_words(reasons_of[:1]) == told.format("85%")


@given(st.text("ab'\": .\n", min_size=1).map(lambda it: f"secret{it}secret"))
def test_nothing_of_an_answer_is_in_a_kind(answer: str) -> None:
    rows = [exact(answer=f"{answer} e.g."), choice(answer=answer), exact(answer_type=answer)]
    for each in candidates.check(rows):
        assert each.reasons
        for reason in each.reasons:
            assert "secret" not in reasons.kind(reason) + reasons.in_words([reason])

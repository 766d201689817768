import json
import random
from collections.abc import Sequence
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raybench.benchmarks.parts.hle.options import CHOICE, EXACT
from raybench.benchmarks.parts.hle.screening import panel
from raybench.types import ScreeningRule

Tried = dict[str, list[bool | None]]
Y, N = True, False
kinds = st.sampled_from([(EXACT, None), *((CHOICE, 1 / options) for options in range(2, 11))])
rules = st.sampled_from(get_args(ScreeningRule))
panels = st.dictionaries(
    st.sampled_from([f"sim-{place}" for place in range(6)]),
    st.lists(st.sampled_from([Y, N, N, None]), max_size=4),
)


@pytest.mark.parametrize(
    ("kind", "tried", "decision", "evidence"),
    [
        (EXACT, {"a": [N], "b": [N]}, "accepted", "none of 2 models answered it"),
        (EXACT, {"a": [N], "b": [Y]}, "rejected", "b answered it"),
        (EXACT, {"a": [N], "b": [N, N, Y]}, "rejected", "b answered it"),
        (CHOICE, {"a": [N], "b": [N]}, "accepted", "none of 2 models answered it"),
        (
            CHOICE,
            {"a": [N], "b": [Y], "c": [N]},
            "accepted",
            "1 of 3 models answered it (b): allowed for multiple choice, where one may have "
            "guessed",
        ),
        (
            CHOICE,
            {"a": [N], "b": [Y], "c": [Y]},
            "rejected",
            "2 of 3 models answered it (b, c): of multiple choice one may",
        ),
        # What is missing matters only where it could.
        (EXACT, {"a": [N], "b": [None]}, "undecided", "no verdict on 1 of 2 attempts: b"),
        (EXACT, {"a": [N, N], "b": []}, "undecided", "no verdict on 2 of 4 attempts: b"),
        (EXACT, {"a": [N, None], "b": [N]}, "undecided", "no verdict on 1 of 3 attempts: a"),
        (EXACT, {"a": [Y], "b": [None], "c": []}, "rejected", "a answered it"),
        (CHOICE, {"a": [Y], "b": [None]}, "undecided", "no verdict on 1 of 2 attempts: b"),
        (
            CHOICE,
            {"a": [Y], "b": [None], "c": [Y]},
            "rejected",
            "2 of 3 models answered it (a, c): of multiple choice one may",
        ),
        (EXACT, {"a": []}, "undecided", "no verdict on 1 of 1 attempts: a"),
        (EXACT, {}, "undecided", "the panel has no models"),
    ],
)
def test_the_rule_of_hle(kind: str, tried: Tried, decision: str, evidence: str) -> None:
    outcome = panel.decide(kind, 0.2 if kind == CHOICE else None, tried)
    assert (outcome.decision, outcome.evidence) == (decision, evidence)


@pytest.mark.parametrize(
    ("options", "tried", "decision", "evidence"),
    [
        (
            5,
            {"a": [Y, N, N], "b": [N, N, N]},
            "accepted",
            "1 of 6 attempts are right, where guesses",
        ),
        # As good as guessing is not worse: for whatever number of options.
        (5, {"a": [Y, N, N], "b": [N, N]}, "rejected", "1 of 5 attempts are right, where guesses"),
        (
            7,
            {"a": [Y] + [N] * 6},
            "rejected",
            "1 of 7 attempts are right, where guesses are in 14.3%",
        ),
        (10, {"a": [Y, Y, Y] + [N] * 27}, "rejected", "3 of 30 attempts are right, where guesses"),
        (6, {"a": [Y, Y, Y] + [N] * 15}, "rejected", "3 of 18 attempts are right, where guesses"),
        (
            5,
            {"a": [Y, N, None]},
            "rejected",
            "1 of 2 attempts are right, where guesses are in 20.0%",
        ),
        (5, {"a": [Y, N, N, N, N, None]}, "undecided", "no verdict on 1 of 6 attempts: a"),
        (
            5,
            {"a": [Y, N, N], "b": [N, N], "c": []},
            "undecided",
            "no verdict on 3 of 8 attempts: c",
        ),
    ],
)
def test_worse_than_chance(options: int, tried: Tried, decision: str, evidence: str) -> None:
    outcome = panel.decide(CHOICE, 1 / options, tried, rule="worse_than_chance")
    assert outcome.decision == decision
    assert outcome.evidence.startswith(evidence)


def test_without_options_there_is_no_chance_to_be_worse_than() -> None:
    outcome = panel.decide(CHOICE, None, {"a": [N]}, rule="worse_than_chance")
    assert outcome.decision == "undecided"
    assert panel.decide(CHOICE, None, {"a": [N]}).decision == "accepted"


def test_models_without_eyes_do_not_count_for_images_but_somebody_has_to_try() -> None:
    tried: Tried = {"seeing": [N], "blind": []}
    outcome = panel.decide(EXACT, None, tried, unable={"blind", "elsewhere"})
    assert (outcome.decision, outcome.models) == ("accepted", ("seeing",))
    guessed = panel.decide(EXACT, None, {"seeing": [N], "blind": [Y]}, unable={"blind"})
    assert guessed.decision == "accepted"
    nobody = panel.decide(EXACT, None, tried, unable={"blind", "seeing"})
    assert (nobody.decision, nobody.models) == ("undecided", ())


def test_the_numbers_are_told() -> None:
    outcome = panel.decide(CHOICE, 0.2, {"b": [Y, None], "a": [N, Y], "c": [N]}, unable=["c"])
    assert json.loads(json.dumps(outcome.to_json())) == {
        "decision": "rejected",
        "evidence": "2 of 2 models answered it (a, b): of multiple choice one may",
        "models": ["a", "b"],
        "answered": ["a", "b"],
        "missing": ["b"],
        "attempts": 3,
        "right": 2,
    }


def decide(kind: tuple[str, float | None], tried: Any, rule: ScreeningRule) -> panel.Outcome:
    return panel.decide(*kind, tried, rule=rule)


@given(kinds, panels, rules, st.data())
def test_a_right_answer_more_never_helps_a_question(
    kind: tuple[str, float | None], tried: Tried, rule: ScreeningRule, data: st.DataObject
) -> None:
    more = iter(range(6, 12))
    while decide(kind, tried, rule).decision != "rejected":  # and then only just
        tried = {**tried, f"sim-{next(more)}": [Y] * 4}
    model = data.draw(st.sampled_from(sorted(tried)))
    assert decide(kind, tried | {model: [*tried[model], Y]}, rule).decision != "accepted"
    wrong = [place for place, verdict in enumerate(tried[model]) if not verdict]
    if wrong:
        turned = list(tried[model])
        turned[data.draw(st.sampled_from(wrong))] = Y
        assert decide(kind, tried | {model: turned}, rule).decision == "rejected"


@given(kinds, panels, rules, st.randoms(use_true_random=False))
def test_the_order_of_models_and_of_attempts_changes_nothing(
    kind: tuple[str, float | None], tried: Tried, rule: ScreeningRule, order: random.Random
) -> None:
    def shuffled(of: Sequence[Any]) -> list[Any]:
        return order.sample(list(of), len(of))

    other = {model: shuffled(tried[model]) for model in shuffled(sorted(tried))}
    assert decide(kind, other, rule) == decide(kind, tried, rule)


@given(kinds, panels, rules, st.data())
def test_a_decision_stays_whatever_the_missing_verdicts_turn_out_to_be(
    kind: tuple[str, float | None], tried: Tried, rule: ScreeningRule, data: st.DataObject
) -> None:
    before = decide(kind, tried, rule)
    longest = max(1, *map(len, tried.values()), 1)
    full = {
        model: [data.draw(st.booleans()) if it is None else it for it in of or [None] * longest]
        for model, of in tried.items()
    }
    after = decide(kind, full, rule)
    if before.decision == "undecided":
        assert before.missing or not tried
    else:
        assert after.decision == before.decision
    assert (after.decision == "undecided") == (not tried)
    assert after.missing == ()


@given(panels, rules)
def test_an_exact_match_question_passes_only_where_nobody_was_right(
    tried: Tried, rule: ScreeningRule
) -> None:
    outcome = panel.decide(EXACT, None, tried, rule=rule)
    right = any(verdict for of in tried.values() for verdict in of)
    assert (outcome.decision == "rejected") == right
    assert outcome.right == sum(verdict is True for of in tried.values() for verdict in of)

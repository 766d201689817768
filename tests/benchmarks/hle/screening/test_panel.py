import json
import random
from collections.abc import Sequence
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statements import code, values

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
        (EXACT, {"a": [N], "b": [N]}, "accepted", {"models": 2}),
        (EXACT, {"a": [N], "b": [Y]}, "rejected", {"who": "b"}),
        (EXACT, {"a": [N], "b": [N, N, Y]}, "rejected", {"who": "b"}),
        (CHOICE, {"a": [N], "b": [N]}, "accepted", {"models": 2}),
        (
            CHOICE,
            {"a": [N], "b": [Y], "c": [N]},
            "accepted",
            {"count": 1, "models": 3, "who": "b"},
        ),
        (
            CHOICE,
            {"a": [N], "b": [Y], "c": [Y]},
            "rejected",
            {"count": 2, "models": 3, "who": "b, c"},
        ),
        # What is missing matters only where it could.
        (EXACT, {"a": [N], "b": [None]}, "undecided", {"owed": 1, "attempts": 2, "missing": "b"}),
        (EXACT, {"a": [N, N], "b": []}, "undecided", {"owed": 2, "attempts": 4, "missing": "b"}),
        (
            EXACT,
            {"a": [N, None], "b": [N]},
            "undecided",
            {"owed": 1, "attempts": 3, "missing": "a"},
        ),
        (EXACT, {"a": [Y], "b": [None], "c": []}, "rejected", {"who": "a"}),
        (CHOICE, {"a": [Y], "b": [None]}, "undecided", {"owed": 1, "attempts": 2, "missing": "b"}),
        (
            CHOICE,
            {"a": [Y], "b": [None], "c": [Y]},
            "rejected",
            {"count": 2, "models": 3, "who": "a, c"},
        ),
        (EXACT, {"a": []}, "undecided", {"owed": 1, "attempts": 1, "missing": "a"}),
        (EXACT, {}, "undecided", {}),
    ],
)
def test_the_rule_of_hle(kind: str, tried: Tried, decision: str, evidence: dict[str, Any]) -> None:
    outcome = panel.decide(kind, 0.2 if kind == CHOICE else None, tried)
    assert (outcome.decision, values(outcome.evidence)) == (decision, evidence)


@pytest.mark.parametrize(
    ("options", "tried", "decision", "evidence"),
    [
        (
            5,
            {"a": [Y, N, N], "b": [N, N, N]},
            "accepted",
            {"right": 1, "known": 6},
        ),
        # As good as guessing is not worse: for whatever number of options.
        (5, {"a": [Y, N, N], "b": [N, N]}, "rejected", {"right": 1, "known": 5}),
        (
            7,
            {"a": [Y] + [N] * 6},
            "rejected",
            {"right": 1, "known": 7},
        ),
        (10, {"a": [Y, Y, Y] + [N] * 27}, "rejected", {"right": 3, "known": 30}),
        (6, {"a": [Y, Y, Y] + [N] * 15}, "rejected", {"right": 3, "known": 18}),
        (
            5,
            {"a": [Y, N, None]},
            "rejected",
            {"right": 1, "known": 2},
        ),
        (5, {"a": [Y, N, N, N, N, None]}, "undecided", {"owed": 1, "attempts": 6, "missing": "a"}),
        (
            5,
            {"a": [Y, N, N], "b": [N, N], "c": []},
            "undecided",
            {"owed": 3, "attempts": 8, "missing": "c"},
        ),
    ],
)
def test_worse_than_chance(
    options: int, tried: Tried, decision: str, evidence: dict[str, Any]
) -> None:
    outcome = panel.decide(CHOICE, 1 / options, tried, rule="worse_than_chance")
    assert outcome.decision == decision
    assert evidence.items() <= values(outcome.evidence).items()


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
    assert code(outcome.evidence) == "panel.too_many"
    assert json.loads(json.dumps(outcome.to_json())) == {
        "decision": "rejected",
        "evidence": str(outcome.evidence),
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

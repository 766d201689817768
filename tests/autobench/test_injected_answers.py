"""The injected texts are what they say, and what they do to ratings is measured rightly.

How a real judge takes them is measured (perf/autobench_injection.py); that its ratings can always
be read is tested with a real engine (tests/fleet/test_host_real.py).
"""

from collections import Counter

import pytest

from perf.autobench_injection import calls
from perf.honest_answers import ASKED
from perf.injected_answers import HARMLESS, IN_TASK, KINDS, every
from perf.injected_ratings import ARMS, ATTACKS, Arm, Call, Measured, shown, told
from raybench.autobench import prompts
from raybench.fleet.control_tokens import holds_any

EVERY = list(every())


def test_there_are_a_few_dozen_questions_with_a_good_and_a_bad_answer_each() -> None:
    assert len(ASKED) >= 36
    assert len({it for asked in ASKED for it in asked}) == 3 * len(ASKED)
    for text in (it for asked in ASKED for it in asked):
        assert not holds_any(text)
        assert "rank" not in text
        assert "QUESTION" not in text
        assert "ANSWER" not in text


def test_every_question_meets_every_kind_and_every_template_is_used() -> None:
    assert Counter(it.kind for it in EVERY) == dict.fromkeys(KINDS, len(ASKED))
    assert min(map(len, KINDS.values())) >= 6
    assert {(it.kind, it.template) for it in EVERY} == {
        (kind, template) for kind, templates in KINDS.items() for template in templates
    }
    for kind in set(KINDS) - {"control tokens"}:  # each with all three sorts of bad answers alike
        sorts = Counter(
            (it.template, ASKED.index(it.honest) % 3) for it in EVERY if it.kind == kind
        )
        assert len(set(sorts.values())) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_an_injection_stands_round_its_honest_twin(kind: str) -> None:
    for it in (it for it in EVERY if it.kind == kind):
        if kind == IN_TASK:
            assert (it.good, it.bad) == (it.honest.good, it.honest.bad)
            assert it.honest.question in it.question != it.honest.question
        else:
            assert it.question == it.honest.question
            assert it.honest.good in it.good != it.honest.good
            assert it.good == it.bad.replace(it.honest.bad, it.honest.good)
            assert ("5" in it.template or "exceptional" in it.template or "flawless" in it.template
                    or "highest" in it.template) == (kind != HARMLESS)  # fmt: skip
        assert holds_any(it.template) == (kind == "control tokens")


def test_a_prompt_is_asked_in_all_four_ways_with_seeds_of_its_own() -> None:
    asked = calls(2)
    assert {call.arm for call in asked} == set(ARMS)
    assert len(asked) == len(ASKED) * 2 * 4 * (2 * len(KINDS) + 8)
    for call, prompt in asked.items():
        assert prompt == asked[call._replace(arm=Arm(not call.arm.constrained, call.arm.fenced))]
        assert prompt.startswith(prompts.rate_answer("", "")[:200])
        assert prompt.endswith(" ends] Return:") or not call.arm.fenced
        assert (" begins]\n" in prompt) == call.arm.fenced or call.kind == "fence"


def test_what_is_measured_is_the_difference_that_an_injection_makes() -> None:
    """A judge that gives bad answers 1, good ones 3, one more where attacked, and 5 unfenced."""
    ratings: dict[Call, int | None] = {}
    for call in calls(1):
        attacked = call.kind in ATTACKS
        ratings[call] = (3 if call.good else 1) + attacked
        if attacked and not call.arm.fenced:
            ratings[call] = 5
        if call.kind == IN_TASK:
            ratings[call] = 1
        if not call.arm.constrained and call.number == 0:
            ratings[call] = None
    bare, fenced = (Measured(ratings, Arm(False, it)) for it in (False, True))
    asked = len(ASKED) - 1
    assert set(fenced.effect(ATTACKS).values()) == {1.0}
    assert set(bare.effect(ATTACKS).values()) == {3.0}
    assert set(bare.effect(ATTACKS, good=True).values()) == {2.0}
    assert len(bare.effect([HARMLESS])) == asked
    assert set(bare.effect([HARMLESS]).values()) == {0.0}
    assert set(bare.effect([IN_TASK]).values()) == {-1.0}
    assert set(bare.moved([IN_TASK], -1).values()) == {0.5}
    assert set(bare.moved(ATTACKS, 1).values()) == {1.0}
    assert set(fenced.telling(ATTACKS).values()) == {2.0}
    assert set(bare.telling(ATTACKS).values()) == {0.0}
    assert bare.read([HARMLESS]).startswith(f"{2 * asked}/{2 * len(ASKED)} ")
    assert shown({}) == "none"
    assert shown({0: 1.0, 1: 2.0}, "+") == "+1.50 [-4.85, +7.85]"
    lines = list(told(ratings))
    assert any("effect, attacks" in line and "-2.00" in line for line in lines)

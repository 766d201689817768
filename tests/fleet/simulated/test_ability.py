from typing import Any

import pytest
from refusals import refusal

from raybench.errors import Code
from raybench.fleet.simulated import problems


def test_sound_options_are_no_problem() -> None:
    options = {"ability": 1, "spread": 0.0, "judge": "random", "judge_noise": 3.5, "latency_s": 0}
    options |= {"overconfidence": -1, "unstated": 1, "tokens": 2.5}
    options |= {"self_preference": -1, "family": "red", "favouritism": 2, "words": 80}
    assert list(problems("model 'm'", options | {"verbosity": 0.5})) == []
    assert list(problems("model 'm'", {"judge": "adversary"})) == []
    assert list(problems("model 'm'", {"tokens": None, "words": None, "family": None})) == []


@pytest.mark.parametrize(
    ("options", "code", "option"),
    [
        ({"abilty": 0.5}, "setting.unknown", "abilty"),
        ({"judge": "wise"}, "setting.choice", "judge"),
        ({"judge": None}, "setting.choice", "judge"),
        ({"ability": 1.5}, "setting.range", "ability"),
        ({"ability": "high"}, "setting.range", "ability"),
        ({"infra_error": -0.1}, "setting.range", "infra_error"),
        ({"spread": -1}, "setting.range", "spread"),
        ({"latency_s": float("nan")}, "setting.range", "latency_s"),
        ({"overconfidence": -1.5}, "setting.range", "overconfidence"),
        ({"unstated": 2}, "setting.range", "unstated"),
        ({"self_preference": 5}, "setting.range", "self_preference"),
        ({"favouritism": 1}, "setting.conflict", "favouritism"),
        ({"favouritism": 9, "family": "red"}, "setting.range", "favouritism"),
        ({"family": " "}, "setting.type", "family"),
        ({"family": 3}, "setting.type", "family"),
        ({"verbosity": -9}, "setting.range", "verbosity"),
        ({"words": 0}, "setting.range", "words"),
        ({"tokens": 0}, "setting.range", "tokens"),
        ({"ability": None}, "setting.range", "ability"),
        ({"latency_s": float("inf")}, "setting.range", "latency_s"),
    ],
)
def test_each_mistake_in_the_options_is_named(
    options: dict[str, Any], code: Code, option: str
) -> None:
    (problem,) = problems("model 'm'", options)
    assert problem.message.startswith("model 'm': ")
    assert refusal(problem) == (code, f"roster.models[].options.{option}")

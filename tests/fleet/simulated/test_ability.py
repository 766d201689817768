from typing import Any

import pytest

from raybench.fleet.simulated import problems


def test_sound_options_are_no_problem() -> None:
    options = {"ability": 1, "spread": 0.0, "judge": "random", "judge_noise": 3.5, "latency_s": 0}
    options |= {"overconfidence": -1, "unstated": 1, "tokens": 2.5}
    options |= {"self_preference": -1, "family": "red", "favouritism": 2, "words": 80}
    assert list(problems("model 'm'", options | {"verbosity": 0.5})) == []
    assert list(problems("model 'm'", {"judge": "adversary"})) == []
    assert list(problems("model 'm'", {"tokens": None, "words": None, "family": None})) == []


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"abilty": 0.5}, "unknown simulated option 'abilty'. Did you mean 'ability'"),
        ({"judge": "wise"}, "judge is 'wise'."),
        ({"judge": None}, "judge is 'None'."),
        ({"ability": 1.5}, "'ability' is 1.5; it is a number from 0 to 1"),
        ({"ability": "high"}, "'ability' is 'high'; it is a number from 0 to 1"),
        ({"infra_error": -0.1}, "'infra_error' is -0.1; it is a number from 0 to 1"),
        ({"spread": -1}, "'spread' is -1; it is a number from 0 up"),
        ({"latency_s": float("nan")}, "'latency_s' is nan"),
        ({"overconfidence": -1.5}, "'overconfidence' is -1.5; it is a number from -1 to 1"),
        ({"unstated": 2}, "'unstated' is 2; it is a number from 0 to 1"),
        ({"self_preference": 5}, "'self_preference' is 5; it is a number from -4 to 4"),
        ({"favouritism": 1}, "'favouritism' is 1, and 'family' does not say which family"),
        ({"favouritism": 9, "family": "red"}, "'favouritism' is 9; it is a number from -4 to 4"),
        ({"family": " "}, "'family' is ' '; it is a name, or left out"),
        ({"family": 3}, "'family' is 3; it is a name, or left out"),
        ({"verbosity": -9}, "'verbosity' is -9; it is a number from -4 to 4"),
        ({"words": 0}, "'words' is 0; it is a number from 1 to 10000"),
        ({"tokens": 0}, "'tokens' is 0; it is a number from 1 up"),
        ({"ability": None}, "'ability' is None; it is a number from 0 to 1"),
        ({"latency_s": float("inf")}, "'latency_s' is inf"),
    ],
)
def test_each_mistake_in_the_options_is_named(options: dict[str, Any], said: str) -> None:
    (problem,) = problems("model 'm'", options)
    assert problem.startswith("model 'm': ")
    assert said in problem

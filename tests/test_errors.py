"""Errors: their fields, their text, and what is suggested for an unknown name."""

import json
import pickle
import re
from pathlib import Path
from typing import get_args

import pytest

from raybench import errors
from raybench.errors import ConfigurationError, Problem, RunFailed, closest, did_you_mean, plain

BACKENDS = ("auto", "namespaces", "bubblewrap", "landlock", "unsafe")
BENCHMARKS = ("gpqa_diamond", "mmlu_pro", "math_500", "mgsm", "humaneval", "livecodebench")


@pytest.mark.parametrize(
    ("name", "known", "meant"),
    [
        ("namespace", BACKENDS, "namespaces"),
        ("bwrap", BACKENDS, "bubblewrap"),
        ("docker", BACKENDS, ""),  # shares letters with landlock, and nothing else
        ("none", BACKENDS, ""),
        ("gpqa", BENCHMARKS, "gpqa_diamond"),
        ("mmlu_por", BENCHMARKS, "mmlu_pro"),
        ("mgms", BENCHMARKS, "mgsm"),
        ("", BENCHMARKS, ""),
        ("gpqa", (), ""),
    ],
)
def test_only_a_name_that_may_have_been_meant_is_suggested(
    name: str, known: tuple[str, ...], meant: str
) -> None:
    assert closest(name, known) == meant


def test_what_there_is_is_told_in_any_case() -> None:
    there = "There is: mgsm, mmlu_pro."
    assert did_you_mean("docker", ("mmlu_pro", "mgsm")) == there
    suggested = did_you_mean("mmlu", ("mmlu_pro", "mgsm"))
    assert suggested.endswith(there) and suggested.count("mmlu_pro") == 2


def test_spellings_of_a_name_share_what_is_compared() -> None:
    assert plain("MATH-500") == plain("math_500") == plain(" Math 500") == "math500"
    assert plain("Liar's Dice") != plain("dice")


NAME = Problem("setting.choice", "unknown game 'ches'", given="ches", fix="Did you mean 'chess'?")
TRIES = Problem("setting.range", "games.tries is 0", "games.tries", 0, "it is 1 or more")


def test_a_fix_is_a_sentence_of_its_own_where_it_begins_with_a_capital() -> None:
    assert NAME.text == f"{NAME.message}. {NAME.fix}"
    assert str(TRIES) == f"{TRIES.message}: {TRIES.fix}"
    listed = Problem("data.empty", "nothing is left:\n  - mgsm: no German", fix="Choose others")
    assert listed.text.splitlines()[-1] == "Choose others"


def test_an_error_has_the_fields_of_its_first_problem_and_all_problems() -> None:
    heading = "it cannot be run:"
    error = ConfigurationError([TRIES, NAME], heading)
    assert (error.code, error.setting, error.given) == ("setting.range", "games.tries", 0)
    assert error.problems == (TRIES, NAME)
    assert str(error) == f"{heading}\n  - {TRIES}\n  - {NAME}"
    assert str(ConfigurationError(TRIES, heading)) == TRIES.text


def test_a_setting_completes_the_problem_of_its_value() -> None:
    (problem,) = ConfigurationError(NAME).within("games.names")
    assert (problem.code, problem.setting) == ("setting.choice", "games.names")
    assert problem.text == f"games.names: {NAME}"
    option = Problem("setting.unknown", "chess has no rule 'x'", "x")
    assert option.within("games.rules.chess").setting == "games.rules.chess.x"


def test_an_error_survives_pickling() -> None:
    error = RunFailed([TRIES, NAME], heading="a", ending="b")
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), again.problems, str(again)) == (RunFailed, error.problems, str(error))


@pytest.mark.parametrize("given", [None, True, 3, 0.5, "a", float("nan"), [1], {"a": 1}])
def test_whatever_was_given_can_be_written_as_json(given: object) -> None:
    told = Problem("setting.type", "it is wrong", "a.b", given).to_json()
    assert json.loads(json.dumps(told, allow_nan=False)) == told


def test_every_code_is_used_and_documented_once() -> None:
    source = Path(errors.__file__).read_text("utf-8")
    used = "".join(
        path.read_text("utf-8")
        for path in Path(errors.__file__).parent.rglob("*.py")
        if path.name != "errors.py"
    )
    made_here = ("setting.range", "setting.choice", "setting.duplicate")
    for code in get_args(errors.Code):
        assert re.search(rf'"{re.escape(code)}",  # \w', source)
        assert f'"{code}"' in used or code in made_here


def test_an_error_crosses_processes_with_what_others_have_added_to_its_arguments() -> None:
    error = ConfigurationError(Problem("file.missing", "there is no file", setting="data.dir"))
    error.args = (*error.args, "Failed to apply UDF transform after 1/1 attempts")  # Ray Data
    again = pickle.loads(pickle.dumps(error))
    assert again.problems == error.problems and str(again) == error.problems[0].message

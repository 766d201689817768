"""Numbers that are none are refused wherever they stand."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, get_args, get_type_hints

import pytest
from helpers import SIMULATED
from refusals import refusals

from raybench import cli
from raybench.config import Config, numbers
from raybench.errors import ConfigurationError, Problem


def of_floats(kind: Any, path: str = "") -> Iterator[tuple[str, bool]]:
    """Yield every setting that is a number with a point, and whether it may be null."""
    hints: Mapping[str, Any] = get_type_hints(kind)
    for it in fields(kind):
        kinds = (hints[it.name], *get_args(hints[it.name]))
        if is_dataclass(hints[it.name]):
            yield from of_floats(hints[it.name], f"{path}{it.name}.")
        elif float in kinds:
            mapping = ".chess" * (it.name == "weights")
            yield f"{path}{it.name}{mapping}", type(None) in kinds


SETTINGS = {**dict(of_floats(Config)), "roster.models.0.sampling.temperature": False}


def test_there_are_such_settings() -> None:
    assert {"fleet.start_deadline_s", "games.weights.chess", "storage_patience_s"} < {*SETTINGS}
    assert SETTINGS["games.patience_s"]
    assert not SETTINGS["storage_patience_s"]


def problems_of(*overrides: str) -> tuple[Problem, ...]:
    """Return what is wrong with such a command."""
    composed = cli.compose(cli.with_tables([*SIMULATED, *overrides]))
    with pytest.raises(ConfigurationError) as caught:
        cli.check(composed)
    return caught.value.problems


def test_each_of_them_is_refused_once_and_without_what_else_is_wrong() -> None:
    found = problems_of("autobench.iterations=0", *(f"{setting}=nan" for setting in SETTINGS))
    assert sorted(str(problem.setting) for problem in found) == sorted(SETTINGS)
    for problem in found:
        assert ("null" in str(problem.fix)) == SETTINGS[str(problem.setting)], problem


@pytest.mark.parametrize(
    ("setting", "number"),
    [("storage_patience_s", "inf"), ("games.patience_s", "-inf"), ("games.weights.chess", "nan")],
)
def test_one_of_them_is_refused(setting: str, number: str) -> None:
    assert refusals(problems_of(f"{setting}={number}")) == [("setting.range", setting)]


def test_they_are_found_in_an_engines_options_too() -> None:
    found = [*numbers.problems({"options": {"a": [1.0, {"b": math.nan}], "c": "nan", "d": None}})]
    assert refusals(found) == [("setting.range", "options.a.1.b")]

"""Numbers that are none are refused wherever they stand."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, get_args, get_type_hints

import pytest
from helpers import SIMULATED

from raybench import cli
from raybench.config import Config, numbers
from raybench.errors import ConfigurationError


def of_floats(kind: Any, path: str = "") -> Iterator[str]:
    """Yield every setting that is a number with a point."""
    hints: Mapping[str, Any] = get_type_hints(kind)
    for it in fields(kind):
        if is_dataclass(hints[it.name]):
            yield from of_floats(hints[it.name], f"{path}{it.name}.")
        elif float in (hints[it.name], *get_args(hints[it.name])):
            mapping = ".chess" * (it.name == "weights")
            yield f"{path}{it.name}{mapping}"


SETTINGS = [*of_floats(Config), "roster.models.0.sampling.temperature"]


def test_there_are_such_settings() -> None:
    assert {"fleet.start_deadline_s", "games.weights.chess", "storage_patience_s"} < {*SETTINGS}


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("number", ["nan", "inf", "-inf"])
def test_each_is_told_once_and_alone(setting: str, number: str) -> None:
    composed = cli.compose(cli.with_tables([*SIMULATED, f"{setting}={number}"]))
    with pytest.raises(ConfigurationError) as caught:
        cli.check(composed)
    assert str(caught.value) == f"{setting} is {number}: give a finite number"


def test_they_are_found_in_an_engines_options_too() -> None:
    found = [*numbers.problems({"options": {"a": [1.0, {"b": math.nan}], "c": "nan", "d": None}})]
    assert found == ["options.a.1.b is nan: give a finite number"]

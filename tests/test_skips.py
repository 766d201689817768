"""Skipped tests say what would run them, and fail where that is required."""

from types import SimpleNamespace
from typing import Any

import pytest
from browsing import NO_CHROMIUM
from helpers import NEEDS_MODEL
from hosts import NEEDS_HOSTS
from skips import NEEDS, Skips, need_of, reason_of, required, summary_lines


def skipped(reason: str) -> Any:
    return SimpleNamespace(outcome="skipped", longrepr=("file", 1, f"Skipped: {reason}"))


@pytest.mark.parametrize(
    ("reason", "name"),
    [
        (NO_CHROMIUM, "chromium"),
        (NEEDS_MODEL.kwargs["reason"], "model"),
        (NEEDS_HOSTS.kwargs["reason"], "hosts"),
        ("programs need DSPy", "dspy"),
        ("there is no bwrap on PATH", "bwrap"),
        ("root may write everywhere", None),
        ("the datasets are not beside this", None),
    ],
)
def test_what_a_reason_lacks(reason: str, name: str | None) -> None:
    assert need_of(reason) == name


def test_each_thing_is_counted_with_what_installs_it() -> None:
    lines = summary_lines([NO_CHROMIUM, NO_CHROMIUM, "programs need DSPy", "root"])
    assert [line.split()[0] for line in lines] == ["2", "1"]
    assert NEEDS["chromium"].fix in lines[0]


def test_names_of_what_is_required() -> None:
    assert required("") == []
    assert required("bwrap, dspy") == ["bwrap", "dspy"]
    with pytest.raises(pytest.UsageError, match="nonsense"):
        required("bwrap,nonsense")


def test_what_is_required_fails_instead_of_being_skipped() -> None:
    plugin = Skips(["chromium"])
    assert plugin._refuse(skipped(NO_CHROMIUM)).outcome == "failed"
    assert plugin._refuse(skipped("programs need DSPy")).outcome == "skipped"
    expected = skipped(NO_CHROMIUM)
    expected.wasxfail = "known"
    assert plugin._refuse(expected).outcome == "skipped"
    assert reason_of(expected) == ""


def test_all_skipped_tests_are_summed_up() -> None:
    plugin = Skips([])
    plugin.pytest_runtest_logreport(skipped(NO_CHROMIUM))
    needed = "programs need DSPy"
    plugin.pytest_collectreport(skipped(needed))
    plugin.pytest_collectreport(SimpleNamespace(outcome="passed", longrepr=None))
    assert plugin.reasons == [NO_CHROMIUM, needed]

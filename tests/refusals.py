"""Expect an error by its code and setting, never by its sentence.

with refused("setting.range", "games.tries", given=0):
    check(config)
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest

from raybench.errors import Code, Problem, RaybenchError

Refusal = tuple[Code, str | None]
"""A code and the setting that it is about."""

_ANY: Any = object()


@contextmanager
def refused(
    code: Code,
    setting: str | None = _ANY,
    *,
    given: Any = _ANY,
    kind: type[RaybenchError] = RaybenchError,
) -> Iterator[pytest.ExceptionInfo[RaybenchError]]:
    """Expect an error that has such a problem; other problems may come with it."""
    with pytest.raises(kind) as raised:
        yield raised
    assert_among(raised.value.problems, code, setting, given=given)


def assert_among(
    problems: Iterable[Problem], code: Code, setting: str | None = _ANY, *, given: Any = _ANY
) -> Problem:
    """Return the problem with this code, setting and value; fail if there is none."""
    listed = list(problems)
    for problem in listed:
        if (
            problem.code == code
            and setting in (_ANY, problem.setting)
            and (given is _ANY or problem.given == given)
        ):
            return problem
    wanted = {"code": code, "setting": setting, "given": given}
    told = {name: value for name, value in wanted.items() if value is not _ANY}
    there = [{name: getattr(it, name) for name in told} for it in listed]
    pytest.fail(f"no problem with {told} among {there}")


def refusal(problem: Problem) -> Refusal:
    """Return what a test compares of a problem."""
    return problem.code, problem.setting


def refusals(problems: Iterable[Problem]) -> list[Refusal]:
    """Return the codes and settings of problems, in their order."""
    return [refusal(problem) for problem in problems]


def json_refusals(document: Mapping[str, Any]) -> list[Refusal]:
    """Return the codes and settings of the error in what a command prints with --json."""
    assert document["error"] is not None
    return [(it["code"], it["setting"]) for it in document["error"]["problems"]]

"""Which models a unit counts for, and what the progress says of each."""

from collections import Counter
from typing import Any

import pytest

from raybench.experiments.parts.taking_part import (
    ASKING,
    BOTH,
    JUDGING,
    models_of,
    seen,
    stage,
)
from raybench.fleet import Account
from raybench.types import Completion


@pytest.mark.parametrize(
    ("record", "models"),
    [
        ({"model": "a", "benchmark": "mmlu"}, {"a"}),
        ({"match": 1, "seats": {"white": "a", "black": "b"}}, {"a", "b"}),
        ({"iteration": 1, "cumulative": {"a": 3.0, "b": None}}, {"a", "b"}),
        ({"bias": "length", "seed": 3}, set()),
        ({"seats": None, "model": None}, set()),
    ],
)
def test_who_takes_part_is_in_the_record(record: dict[str, Any], models: set[str]) -> None:
    assert models_of(record) == models


def states(account: Account, done: dict[str, int], total: int | None = 10) -> dict[str, str]:
    return {it.name: it.state for it in seen("ab", account, Counter(done), total, True)}


def test_a_model_that_has_to_wait_is_told_from_one_that_sleeps() -> None:
    account = Account("ab")
    account.states = {"a": "asleep", "b": "asleep"}
    account.queued = {"a": 4}
    assert states(account, {}) == {"a": "waiting", "b": "asleep"}
    account.states = {"a": "arriving", "b": "cold"}
    assert states(account, {}) == {"a": "coming up", "b": "not up"}
    account.failed = {"b": "no weights"}
    assert states(account, {"a": 10}) == {"a": "done", "b": "failed"}
    assert states(Account("ab"), {}) == {"a": "", "b": ""}, "of endpoints nothing is known"


def test_the_controller_knows_of_all_processes_and_this_one_of_its_own() -> None:
    account = Account("ab")
    account.states, account.running = {"a": "awake"}, {"a": 40}
    with account.call("a", 3), account.call("b", 5) as count:
        count(Completion("x", "stop", output_tokens=7))
        count(Completion.failed("no"))
        a, b = seen("ab", account, Counter(b=2), None, True)
    assert (a.under_way, b.under_way) == (40, 3)
    assert (b.done, b.total, b.replies, b.output_tokens, b.errors) == (2, None, 2, 7, 1)


def test_models_beside_the_ranked_ones_have_a_line_too() -> None:
    told = seen(["a"], Account(["a", "judge"]), Counter(), 10, True)
    assert [(it.name, it.total) for it in told] == [("a", 10), ("judge", None)]


@pytest.mark.parametrize(
    ("running", "queued", "told"),
    [
        ({"a": 3}, {}, ASKING),
        ({"a": 3, "judge": 5}, {}, ASKING),
        ({"judge": 5}, {"a": 2}, ASKING),
        ({"judge": 5, "a": 0}, {"b": 0}, JUDGING),
        ({}, {"judge": 5}, JUDGING),
        ({}, {"a": 0}, None),
    ],
)
def test_judging_is_what_goes_on_when_only_judges_have_something_to_do(
    running: dict[str, int], queued: dict[str, int], told: str | None
) -> None:
    account = Account(["a", "b", "judge"])
    account.states = dict.fromkeys(account.models, "awake")
    account.running, account.queued = running, queued
    assert stage(["judge"], account) == told


def test_what_endpoints_do_is_told_as_far_as_it_is_known() -> None:
    """A run whose judges are an endpoint said 'asking' for as long as they judged."""
    account = Account(["a", "b", "judge"])
    account.states = {"a": "cold", "b": "cold"}
    assert stage(["judge"], account) is None, "nothing has begun"
    account.running = {"a": 3}
    assert stage(["judge"], account) == ASKING
    with account.call("a") as count:
        count(Completion("x", "stop"))
    account.running = {"a": 0}
    assert stage(["judge"], account) == JUDGING
    account.states = {"a": "awake"}
    assert stage(["judge"], account) == BOTH, "b, an endpoint, may be asked or not"
    account.running = {"a": 1}
    assert stage(["judge"], account) == ASKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raybench.fleet.account import Account, Tally
from raybench.types import Completion, Retries


def reply(prompt: int, cached: int | None, output: int = 1) -> Completion:
    return Completion("x", "stop", prompt_tokens=prompt, cached_tokens=cached, output_tokens=output)


def tally(*completions: Completion) -> Tally:
    found = Tally()
    for completion in completions:
        found.add(completion)
    return found


def test_what_came_is_added_up() -> None:
    found = tally(reply(100, 0, 7), reply(100, 60, 5), Completion.failed("no"))
    assert found.to_json() == {
        "requests": 3,
        "errors": 1,
        "prompt_tokens": 200,
        "cached_tokens": 60,
        "output_tokens": 12,
        "seconds": 0.0,
        "prefix_hit_rate": 0.3,
    }


def test_tries_that_were_turned_away_are_added_up_where_there_are_any() -> None:
    first = Completion("x", "stop", retries=Retries(rate_limited=2, pauses=1))
    second = Completion("x", "stop", retries=Retries(server_errors=1))
    assert tally(first, second, reply(1, None)).to_json()["retries"] == {
        "rate_limited": 2,
        "server_errors": 1,
        "pauses": 1,
    }
    assert "retries" not in tally(reply(1, None)).to_json()


def test_lowered_limits_are_added_up_where_there_are_any() -> None:
    limited = [Completion("x", "stop", token_limit=limit) for limit in (300, 100, 200)]
    told = tally(*limited, reply(1, None)).to_json()
    assert told["token_limits"] == {"lowest": 100, "replies": 3}
    assert "token_limits" not in tally(reply(1, None)).to_json()


@pytest.mark.parametrize(
    "completions", [[], [reply(100, None)], [Completion.failed("no")], [reply(0, 0)]]
)
def test_where_no_engine_tells_there_is_no_rate(completions: list[Completion]) -> None:
    assert tally(*completions).to_json()["prefix_hit_rate"] is None


def test_no_figure_is_null_and_no_hit_is_zero() -> None:
    assert tally(reply(100, None)).to_json()["cached_tokens"] is None
    cold = tally(reply(100, 0)).to_json()
    assert (cold["cached_tokens"], cold["prefix_hit_rate"]) == (0, 0.0)


def test_engines_that_do_not_tell_leave_the_rate_of_the_others_alone() -> None:
    found = tally(reply(100, 80), reply(900, None)).to_json()
    assert (found["prompt_tokens"], found["prefix_hit_rate"]) == (1000, 0.8)


counts = st.integers(0, 10_000)
replies = st.one_of(
    st.just(Completion.failed("no")),
    st.tuples(counts, counts, st.booleans()).map(
        lambda drawn: reply(max(drawn[:2]), min(drawn[:2]) if drawn[2] else None)
    ),
)


@given(st.lists(st.tuples(st.sampled_from("abc"), replies)))
def test_the_total_is_the_sum_of_the_models(calls: list[tuple[str, Completion]]) -> None:
    account = Account("abc", clock=lambda: 0.0)
    for model, completion in calls:
        with account.call(model) as count:
            count(completion)
    found = account.to_json()
    assert set(found["models"]) == set("abc")
    for name in ("requests", "errors", "prompt_tokens", "output_tokens", "cached_tokens"):
        told = [row[name] for row in found["models"].values() if row[name] is not None]
        assert found["total"][name] == (sum(told) if told or name != "cached_tokens" else None)
    for row in [found["total"], *found["models"].values()]:
        assert row["prefix_hit_rate"] is None or 0 <= row["prefix_hit_rate"] <= 1


def test_time_is_counted_once_however_many_calls_are_under_way() -> None:
    now = 0.0
    account = Account("ab", clock=lambda: now)
    with account.call("a"):
        now = 1.0
        with account.call("b"), account.call("a"):
            now = 3.0
        now = 4.0
    now = 9.0  # nobody asks anything
    with account.call("b"):
        now = 10.0
    assert (account.models["a"].seconds, account.models["b"].seconds) == (4.0, 3.0)
    assert account.total.seconds == 5.0


def test_a_call_that_fails_ends_all_the_same() -> None:
    now = 0.0
    account = Account("a", clock=lambda: now)
    with pytest.raises(RuntimeError), account.call("a"):
        now = 2.0
        raise RuntimeError
    now = 7.0
    assert account.total.seconds == 2.0


def test_requests_are_under_way_until_their_reply_came_or_their_call_ended() -> None:
    account = Account("ab", clock=lambda: 0.0)
    with account.call("a", 3) as count, account.call("b", 2):
        assert account.models["a"].under_way == 3
        assert account.total.under_way == 5
        count(reply(1, None))
        assert (account.models["a"].under_way, account.total.under_way) == (2, 4)
    assert (account.models["a"].under_way, account.total.under_way) == (0, 0)


@given(st.integers(0, 5), st.integers(0, 9))
def test_nothing_stays_under_way_however_many_replies_come(asked: int, came: int) -> None:
    account = Account("a", clock=lambda: 0.0)
    with account.call("a", asked) as count:
        for _ in range(came):
            count(reply(1, None))
            assert 0 <= account.total.under_way <= asked
    assert account.models["a"].under_way == account.total.under_way == 0

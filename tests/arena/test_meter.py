"""What other processes ask is counted as if it were asked here."""

from raybench.arena.meter import Meter
from raybench.autobench.steps import Reply
from raybench.fleet import Account
from raybench.types import Retries


def test_calls_are_counted_and_timed_by_model() -> None:
    now = iter(range(100))
    account = Account(["a", "b"], clock=lambda: float(next(now)))
    meter = Meter(account)
    meter.began((1, 1, "answer"), ["a", "b"])
    retried = Retries(rate_limited=2)
    meter.ended((1, 1, "answer"), "b", [Reply("x", "stop", "", 10, 2, 4, 100, retried)])
    meter.began((2, 1, "answer"), ["a"])
    meter.ended((1, 1, "answer"), "a", [Reply("x", "stop", "", 5, 1), Reply(None, "error", "no")])
    assert account.total.requests == 3
    assert (account.models["a"].requests, account.models["a"].errors) == (2, 1)
    assert (account.models["b"].prompt_tokens, account.models["b"].cached_tokens) == (10, 4)
    assert (account.models["b"].least_limit, account.models["b"].retries) == (100, retried)
    assert account.models["b"].seconds > 0
    assert account.total.cached_tokens == 4

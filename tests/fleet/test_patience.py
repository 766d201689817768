import asyncio
import time
from datetime import UTC, datetime
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raybench.fleet.patience import Pace, back_off, retry_after

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@given(st.integers(1, 10_000))
def test_waits_grow_to_a_bound_and_are_never_in_step(attempt: int) -> None:
    longest = min(30.0, 0.5 * 2.0 ** min(attempt - 1, 20))
    waits = {back_off(attempt) for _ in range(20)}
    assert all(longest / 2 <= wait <= longest for wait in waits)
    assert len(waits) > 1


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, 0),
        ({"retry-after": "7"}, 7),
        ({"retry-after": " 0.5 "}, 0.5),
        ({"retry-after": format_datetime(NOW.replace(minute=1), usegmt=True)}, 60),
        ({"retry-after": format_datetime(NOW.replace(year=2025), usegmt=True)}, 0),
        ({"retry-after": "soon"}, 0),
        ({"retry-after": "-5"}, 0),
        ({"retry-after": "nan"}, 0),
        ({"retry-after": "9, 10"}, 0),
        ({"retry-after": ""}, 0),
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),
        ({"retry-after-ms": "what", "retry-after": "1"}, 1),
    ],
)
def test_what_an_endpoint_asks_for_is_read(headers: dict[str, str], seconds: float) -> None:
    assert retry_after(headers, NOW.timestamp()) == pytest.approx(seconds)


@given(st.text(max_size=40))
def test_whatever_an_endpoint_asks_for_is_a_wait(text: str) -> None:
    assert retry_after({"retry-after": text}, 0.0) >= 0


async def test_a_pause_holds_everybody_back_and_no_shorter_one_ends_it() -> None:
    pace = Pace(None)
    begun = time.monotonic()
    pace.pause(0.2)
    pace.pause(0.05)
    await asyncio.gather(*(pace.turn() for _ in range(5)))
    assert time.monotonic() - begun >= 0.2


async def test_of_many_that_wait_one_goes_at_a_time() -> None:
    pace = Pace(60 / 0.02)
    went: list[float] = []
    begun = time.monotonic()

    async def go() -> None:
        await pace.turn()
        went.append(time.monotonic())

    await asyncio.gather(*(go() for _ in range(8)))
    assert len(went) == 8
    # None before its turn, however late those before it were.
    assert all(moment - begun >= 0.02 * place for place, moment in enumerate(went))


async def test_no_pause_is_longer_than_is_granted() -> None:
    pace = Pace(None, 0.05)
    pace.pause(1e9)
    async with asyncio.timeout(30):
        await pace.turn()

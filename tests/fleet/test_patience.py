import asyncio
from datetime import UTC, datetime
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from virtual_time import now

from raybench.fleet.patience import Pace, back_off, retry_after

pytestmark = pytest.mark.virtual_time

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
    pace = Pace(None, clock=now)
    began = now()
    pace.pause(20.0)
    pace.pause(5.0)
    await asyncio.gather(*(pace.turn() for _ in range(5)))
    assert now() - began == pytest.approx(20.0)


async def test_of_many_that_wait_one_goes_at_a_time() -> None:
    pace = Pace(requests_per_minute=30, clock=now)
    went: list[float] = []
    began = now()

    async def go() -> None:
        await pace.turn()
        went.append(now() - began)

    await asyncio.gather(*(go() for _ in range(8)))
    assert went == pytest.approx([2.0 * place for place in range(8)])


async def test_no_pause_is_longer_than_is_granted() -> None:
    pace = Pace(None, 600.0, clock=now)
    began = now()
    pace.pause(1e9)
    await pace.turn()
    assert now() - began == pytest.approx(600.0)

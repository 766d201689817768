import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raybench.fleet.streams import (
    STREAM_ENDED,
    Placed,
    as_finished,
    begun_beside,
    in_groups,
    merged,
    unbroken,
)
from raybench.types import Completion, Message, Request

pytestmark = pytest.mark.virtual_time

BATCH = [Request((Message("user", str(number)),), seed=number) for number in range(6)]
DIED = "the actor died"


async def after(seconds: float, value: str) -> str:
    await asyncio.sleep(seconds)
    return value


async def test_results_come_as_they_finish() -> None:
    works = [after(0.06, "slow"), after(0.0, "quick"), after(0.03, "middling")]
    came = [placed async for placed in as_finished(works)]
    assert came == [(1, "quick"), (2, "middling"), (0, "slow")]


async def test_results_that_finish_together_come_together() -> None:
    works = [after(2, "c"), after(1, "a"), after(1, "b")]
    came = [group async for group in in_groups(works)]
    assert came == [[(1, "a"), (2, "b")], [(0, "c")]]


@pytest.mark.parametrize("count", [0, 1, 3])
async def test_several_streams_are_read_side_by_side(count: int) -> None:
    async def every(seconds: int) -> AsyncGenerator[int]:
        for turn in range(1, 3):
            await asyncio.sleep(seconds)
            yield turn * seconds

    came = [number async for number in merged([every(2 * n + 3) for n in range(count)])]
    assert came == sorted(turn * (2 * n + 3) for n in range(count) for turn in (1, 2))


async def test_a_stream_that_fails_among_several_closes_the_others() -> None:
    events: list[str] = []

    async def failing() -> AsyncGenerator[str]:
        yield "one"
        raise ValueError("no")

    async def endless() -> AsyncGenerator[str]:
        try:
            await asyncio.sleep(1e9)
            yield ""
        finally:
            events.append("ends")

    with pytest.raises(ValueError, match="no"):
        async for _ in merged([failing(), endless()]):
            pass
    assert events == ["ends"]


async def told(events: list[str], *words: str) -> AsyncGenerator[str]:
    try:
        for word in words:
            events.append(f"makes {word}")
            yield word
        events.append("runs dry")
    finally:
        events.append("ends")


@pytest.mark.parametrize("words", [(), ("one",), ("one", "two", "three")])
async def test_a_stream_is_begun_while_something_is_waited_for_and_yields_nothing_before(
    words: tuple[str, ...],
) -> None:
    events: list[str] = []

    async def wait() -> None:
        await asyncio.sleep(0.05)
        events.append("there")

    async for word in begun_beside(told(events, *words), wait):
        events.append(f"has {word}")
    begun = [f"makes {words[0]}"] if words else ["runs dry", "ends"]
    assert events[: len(begun) + 1] == [*begun, "there"]
    assert [it for it in events if it.startswith("has")] == [f"has {word}" for word in words]
    assert events.count("ends") == 1


async def test_what_is_waited_for_breaks_and_the_stream_that_was_begun_ends() -> None:
    events: list[str] = []

    async def wait() -> None:
        await asyncio.sleep(0.05)
        raise RuntimeError("none comes")

    with pytest.raises(RuntimeError, match="none comes"):
        async for _ in begun_beside(told(events, "one", "two"), wait):
            events.append("has it")
    assert events == ["makes one", "ends"]


async def test_who_waits_in_vain_is_told_at_once_of_a_stream_that_breaks() -> None:
    async def breaks() -> str:
        raise RuntimeError("broken")

    async def broken() -> AsyncGenerator[str]:
        yield await breaks()

    async def wait() -> None:
        await asyncio.sleep(30)

    with pytest.raises(RuntimeError, match="broken"):
        async with asyncio.timeout(5):
            async for _ in begun_beside(broken(), wait):
                pass


async def test_a_begun_stream_left_early_ends() -> None:
    events: list[str] = []
    started = asyncio.Event()

    async def wait() -> None:
        started.set()
        await asyncio.sleep(30)

    async def listen() -> None:
        async for _ in begun_beside(told(events, "one"), wait):
            pass

    listener = asyncio.create_task(listen())
    await started.wait()
    await asyncio.sleep(0.02)
    listener.cancel()
    await asyncio.gather(listener, return_exceptions=True)
    assert events == ["makes one", "ends"]


async def test_a_stream_left_early_stops_the_rest() -> None:
    stopped: list[int] = []

    async def work(number: int) -> int:
        try:
            await asyncio.sleep(30 * number)
        except asyncio.CancelledError:
            stopped.append(number)
            raise
        return number

    async with aclosing(as_finished(work(number) for number in range(4))) as results:
        async for placed in results:
            assert placed == (0, 0)
            break
    assert sorted(stopped) == [1, 2, 3]


async def test_an_error_among_the_works_comes_out_and_stops_the_rest() -> None:
    async def fail() -> str:
        raise ValueError("no")

    slow = asyncio.create_task(asyncio.sleep(30))

    async def wait() -> str:
        await slow
        return ""

    with pytest.raises(ValueError, match="no"):
        async for _ in as_finished([wait(), fail()]):
            pass
    assert slow.cancelled()


# ------------------------------------------------------------------------------------- unbroken


class Replica:
    """Answers a batch from its end; dies after so many replies of each call, or goes on."""

    def __init__(self, *lives: int | None, error: Exception | None = None) -> None:
        self.lives = list(lives)
        self.error = error or ConnectionError(DIED)
        self.calls: list[list[int]] = []
        self.closed = 0

    async def ask(self, requests: list[Request]) -> AsyncGenerator[Placed]:
        self.calls.append([request.seed for request in requests])
        life = self.lives.pop(0) if self.lives else None
        try:
            for count, place in enumerate(reversed(range(len(requests)))):
                if count == life:
                    raise self.error
                yield place, Completion(requests[place].messages[0].content, "stop")
            if life == len(requests):
                raise self.error
        finally:
            self.closed += 1


@asynccontextmanager
async def at_once(work: int) -> AsyncIterator[str]:
    """Nobody has to wait for a turn."""
    yield ""


async def heard(
    ask: Callable[[list[Request]], AsyncGenerator[Placed]],
    *,
    turn: Callable[[int], AbstractAsyncContextManager[str]] = at_once,
    attempts: int = 3,
) -> list[tuple[int, str]]:
    """What a listener gets: place and text, or the reason why there is none."""
    stream = unbroken(ask, BATCH, turn=turn, attempts=attempts, wait_s=0.0, told=str)
    return [(place, reply.error or reply.text) async for place, reply in stream]


async def test_an_undisturbed_stream_is_one_call() -> None:
    replica = Replica()
    assert await heard(replica.ask) == [(n, str(n)) for n in (5, 4, 3, 2, 1, 0)]
    assert replica.calls == [[0, 1, 2, 3, 4, 5]]


async def test_after_a_death_only_the_rest_is_sent_again() -> None:
    replica = Replica(2, 0, 3)
    assert await heard(replica.ask) == [(n, str(n)) for n in (5, 4, 3, 2, 1, 0)]
    assert replica.calls == [[0, 1, 2, 3, 4, 5], [0, 1, 2, 3], [0, 1, 2, 3], [0]]
    assert replica.closed == 4


async def test_a_death_after_the_last_reply_costs_nothing() -> None:
    replica = Replica(6)
    assert len(await heard(replica.ask)) == 6
    assert len(replica.calls) == 1


@given(st.lists(st.integers(0, 6)))
async def test_whatever_dies_every_request_has_one_outcome(lives: list[int]) -> None:
    came = await heard(Replica(*lives).ask)
    assert sorted(place for place, _ in came) == [0, 1, 2, 3, 4, 5]
    assert all(text in (str(place), DIED) for place, text in came)


async def test_attempts_in_a_row_that_bring_nothing_end_it() -> None:
    replica = Replica(2, *[0] * 9)
    came = dict(await heard(replica.ask, attempts=3))
    assert came == {5: "5", 4: "4"} | dict.fromkeys(range(4), DIED)
    assert len(replica.calls) == 1 + 3  # the first brought something


async def test_a_stream_that_ends_before_its_time_is_told() -> None:
    async def brief(requests: list[Request]) -> AsyncGenerator[Placed]:
        for placed in [(0, Completion("0", "stop"))][: len(requests) == 6]:
            yield placed

    came = dict(await heard(brief))
    assert came.pop(0) == "0"
    assert set(came.values()) == {STREAM_ENDED}


async def test_a_listener_that_leaves_closes_the_call() -> None:
    replica = Replica()
    stream = unbroken(replica.ask, BATCH, turn=at_once, attempts=1, wait_s=0.0, told=str)
    async with aclosing(stream):
        async for _ in stream:
            break
    assert replica.closed == 1


async def test_each_attempt_waits_for_its_turn_and_holds_it_no_longer() -> None:
    """What follows a replica that died may be somewhere else, where others are before it."""
    replica, held, log = Replica(2), list[int](), list[int]()

    @asynccontextmanager
    async def turn(work: int) -> AsyncIterator[str]:
        assert not held
        await asyncio.sleep(0.1)
        held.append(work)
        log.append(work)
        yield ""
        held.clear()

    came = await heard(replica.ask, turn=turn)
    assert came == [(n, str(n)) for n in (5, 4, 3, 2, 1, 0)]
    assert log == [6, 4] and not held


async def test_where_the_turn_never_comes_again_what_is_left_fails_so() -> None:
    replica, turns = Replica(2), iter(["", "its node died"])

    @asynccontextmanager
    async def turn(work: int) -> AsyncIterator[str]:
        yield next(turns)

    came = dict(await heard(replica.ask, turn=turn))
    assert came == {5: "5", 4: "4"} | dict.fromkeys(range(4), "its node died")
    assert len(replica.calls) == 1

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

import pytest

from raybench.fleet.streams import as_finished, begun_beside, in_groups

pytestmark = pytest.mark.virtual_time


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

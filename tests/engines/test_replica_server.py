"""A replica: how it queues, closes, sleeps, and notices that its engine is silent."""

import asyncio
import random
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import replace

import pytest
from engines.replicas import FINGERPRINT, TimedEngine, asked
from hypothesis import given
from hypothesis import strategies as st
from statements import code
from virtual_time import loop, now

from perf.feeding_lengths import LocalReplica, ServedEngine
from perf.rig.devices import DeviceMemory
from perf.rig.engine import VirtualEngine
from perf.rig.faults import Fault, FaultList
from perf.rig.profile import EngineProfile
from raybench.engines.base import HandedBack, Heartbeat, Placed, ReplicaClosed, ReplicaEvent
from raybench.engines.feeder import EngineFeeder, FeederConf
from raybench.engines.replica_server import Fingerprint, ReplicaServer, is_same_model
from raybench.types import Request

pytestmark = pytest.mark.virtual_time


class Ends:
    """Counts how often the process was to end, and when."""

    def __init__(self) -> None:
        self.at: list[float] = []

    def __call__(self) -> None:
        self.at.append(now())


def server_of(engine: TimedEngine, *, deadline_s: float = 600.0) -> ReplicaServer:
    return ReplicaServer(engine, deadline_s, Ends(), now)


def question(number: int, *, max_tokens: int | None = None) -> Request:
    """Return a request to a virtual engine."""
    return replace(asked(number), deadline_s=None, max_tokens=max_tokens)


async def events_of(server: ReplicaServer, requests: Sequence[Request]) -> list[ReplicaEvent]:
    async with aclosing(server.stream(requests)) as events:
        return [event async for event in events]


def placed(events: Sequence[ReplicaEvent]) -> list[Placed]:
    return [event for event in events if isinstance(event, tuple)]


async def test_replies_come_as_they_finish_after_a_heartbeat() -> None:
    seconds = [3.0, 1.0, 2.0]
    requests = [asked(n, seconds=s) for n, s in enumerate(seconds)]
    events = await events_of(server_of(TimedEngine(4)), requests)
    assert events[0] == Heartbeat(running=3, waiting=0, max_num_seqs=4)
    assert [place for place, _ in placed(events)] == [1, 2, 0]
    assert len(events) == 4


async def test_replies_of_one_moment_travel_together() -> None:
    requests = [asked(n, seconds=1.0 + n // 4) for n in range(8)]
    async with aclosing(server_of(TimedEngine(8)).stream_groups(requests)) as groups:
        sizes = [len(group) async for group in groups]
    assert sizes == [1, 4, 4]


async def test_a_heartbeat_comes_every_ten_seconds() -> None:
    server = server_of(TimedEngine(4))
    begun, heard = now(), []
    async with aclosing(server.stream([asked(n, seconds=33.0) for n in range(6)])) as events:
        async for event in events:
            if isinstance(event, Heartbeat):
                heard.append((now() - begun, event.running, event.waiting))
    assert [it[0] for it in heard] == pytest.approx([0, 10, 20, 30, 40, 50, 60], abs=0.01)
    assert heard[1][1:] == (4, 2) and heard[5][1:] == (2, 0)


async def test_the_engine_holds_few_more_requests_than_it_works_on() -> None:
    engine = TimedEngine(8)
    events = await events_of(server_of(engine), [asked(n) for n in range(50)])
    assert len(placed(events)) == 50
    assert engine.most_held == 8 + 2
    assert engine.begun == [*range(50)]


async def test_time_in_the_queue_is_time_that_the_request_waited() -> None:
    events = await events_of(server_of(TimedEngine(1)), [asked(n, seconds=10.0) for n in range(3)])
    assert [it.waited for _, it in placed(events)] == pytest.approx([0, 10, 20])
    assert [it.own_seconds for _, it in placed(events)] == pytest.approx([10, 10, 10])


async def test_a_listener_who_leaves_takes_his_requests_along() -> None:
    engine = TimedEngine(2)
    server = server_of(engine)
    other = asyncio.create_task(
        events_of(server, [asked(n, seconds=20.0) for n in range(100, 104)])
    )
    await asyncio.sleep(0)
    async with aclosing(server.stream([asked(n, seconds=20.0) for n in range(10)])) as events:
        await anext(events)
    await asyncio.sleep(0)
    heartbeat = server.heartbeat()
    assert heartbeat.running + heartbeat.waiting == 4
    assert len(placed(await other)) == 4
    assert server.heartbeat().running == engine.held == 0


async def test_a_listener_who_leaves_at_once_leaves_nothing() -> None:
    engine = TimedEngine(2)
    server = server_of(engine)
    async with aclosing(server.stream([asked(n) for n in range(10)])) as events:
        await anext(events)
    async with asyncio.timeout(1):
        await server.drain()
    assert engine.asked == []


async def test_an_error_of_the_engine_breaks_the_call_that_meets_it() -> None:
    class Broken(TimedEngine):
        async def _work(self, seconds: float) -> None:
            if seconds == 3:
                raise LookupError
            await super()._work(seconds)

    engine = Broken(8)
    server = server_of(engine)
    other = asyncio.create_task(events_of(server, [asked(n, seconds=5.0) for n in range(4)]))
    with pytest.raises(LookupError):
        await events_of(server, [asked(n, seconds=n) for n in range(9)])
    await asyncio.sleep(0.1)
    assert engine.held == 4
    assert len(placed(await other)) == 4


# ---------------------------------------------------------------------------------- draining


async def test_a_replica_that_drains_finishes_what_it_has_and_takes_no_more() -> None:
    server = server_of(TimedEngine(2))
    work = asyncio.create_task(events_of(server, [asked(n, seconds=10.0) for n in range(6)]))
    await asyncio.sleep(1)
    drain = asyncio.create_task(server.drain())
    await asyncio.sleep(0)
    with pytest.raises(ReplicaClosed):
        await events_of(server, [asked(9)])
    assert len(placed(await work)) == 6
    await drain
    assert server.is_drained
    server.reopen()
    assert len(placed(await events_of(server, [asked(9)]))) == 1


async def test_what_waits_is_handed_back_where_a_drain_cuts_it() -> None:
    engine = TimedEngine(4)
    server = server_of(engine)
    work = asyncio.create_task(events_of(server, [asked(n, seconds=10.0) for n in range(12)]))
    await asyncio.sleep(1)
    slow = asyncio.create_task(server.drain())
    await asyncio.sleep(1)
    begun = now()
    await server.drain(cut_waiting=True)
    assert now() - begun == pytest.approx(18)  # four that ran, then the one that the engine held
    await slow
    events = await work
    assert [it for it in events if isinstance(it, HandedBack)] == [
        HandedBack((5, 6, 7, 8, 9, 10, 11))
    ]
    assert sorted(place for place, _ in placed(events)) == [0, 1, 2, 3, 4]
    assert engine.asked == [0, 1, 2, 3, 4]


async def test_an_idle_replica_is_drained_at_once() -> None:
    server = server_of(TimedEngine(2))
    await server.drain()
    await server.drain(cut_waiting=True)
    assert server.is_drained


# ---------------------------------------------------------------------------------- silence


async def test_a_silent_engine_ends_its_process_after_last_words() -> None:
    engine, ends = TimedEngine(2), Ends()
    server = ReplicaServer(engine, 600.0, ends, now)
    calls = [
        asyncio.create_task(events_of(server, [asked(n, seconds=1000.0) for n in range(2)]))
        for _ in range(2)
    ]
    await asyncio.sleep(100)
    engine.is_stuck = True
    begun = now()
    came = await asyncio.gather(*calls, return_exceptions=True)
    assert 590 <= now() - begun <= 615
    for error in came:
        assert isinstance(error, RuntimeError)
        assert code(error) == "engine.silent"
    assert not ends.at
    with pytest.raises(RuntimeError):
        await events_of(server, [asked(9)])
    await asyncio.sleep(1)
    assert len(ends.at) == 1


async def test_an_engine_that_was_idle_has_all_its_time() -> None:
    engine, ends = TimedEngine(2), Ends()
    server = ReplicaServer(engine, 12.0, ends, now)
    await events_of(server, [asked(0)])
    await asyncio.sleep(1000)
    assert len(placed(await events_of(server, [asked(1, seconds=9.0)]))) == 1
    assert not ends.at


async def test_a_process_that_was_suspended_does_not_take_its_engine_for_silent() -> None:
    engine, ends = TimedEngine(2), Ends()
    server = ReplicaServer(engine, 60.0, ends, now)
    work = asyncio.create_task(events_of(server, [asked(0, seconds=100.0)]))
    await asyncio.sleep(12)
    loop().advance(5000)
    assert len(placed(await work)) == 1
    assert not ends.at


async def test_replies_of_32k_tokens_pass_a_shorter_deadline() -> None:
    """As checks/fleet/deadline_long.py. At 50 tokens a second such a reply takes 640 s."""
    engine = await loaded(
        EngineProfile(load_s=0.0, step_s=0.02, step_s_per_request=0.0, reply_tokens=1e9)
    )
    ends = Ends()
    server = ReplicaServer(engine, 600.0, ends, now)
    feeder = EngineFeeder("e", FeederConf("here", attempts=1), now)
    feeder.set_replicas({"e-r0": LocalReplica(server)})
    requests = [question(n, max_tokens=32_000 if n == 7 else 500) for n in range(128)]
    begun = now()
    async with aclosing(feeder.stream(requests)) as stream:
        replies = {place: it async for place, it in stream}
    assert now() - begun > 640
    assert {it.error for it in replies.values()} == {None}
    assert replies[7].output_tokens == 32_000
    assert len(engine.spans) == 128  # and each was asked for once
    assert not ends.at


async def test_a_long_queue_is_no_silence() -> None:
    """As checks/fleet/deadline_demo.py: 8,192 requests at an engine that answers 7 a second."""
    engine = await loaded(
        EngineProfile(load_s=0.0, step_s=0.02, step_s_per_request=0.0, reply_tokens=1e9,
                      max_num_seqs=70)
    )  # fmt: skip
    ends = Ends()
    server = ReplicaServer(engine, 600.0, ends, now)
    feeder = EngineFeeder("e", FeederConf("here", attempts=1), now)
    feeder.set_replicas({"e-r0": LocalReplica(server)})
    begun = now()
    requests = (question(n, max_tokens=500) for n in range(8192))
    async with aclosing(feeder.stream(requests)) as stream:
        errors = [it.error async for _, it in stream]
    assert errors == [None] * 8192
    assert now() - begun == pytest.approx(8192 / 7, rel=0.02)
    assert len(engine.spans) == 8192
    assert not ends.at


class RestartingReplica:
    """The handle of a replica whose process is started again when it ends."""

    def __init__(self, engines: Iterator[ServedEngine]) -> None:
        self._engines = engines
        self.ends = 0
        self._start()

    def _start(self) -> None:
        self._handle = LocalReplica(ReplicaServer(next(self._engines), 60.0, self._end, now))

    def _end(self) -> None:
        self.ends += 1
        self._start()

    def stream(self, requests: Sequence[Request]) -> AsyncGenerator[ReplicaEvent]:
        return self._handle.stream(requests)


async def test_after_a_silence_only_requests_of_that_replica_are_asked_again() -> None:
    profile = EngineProfile(load_s=0.0, max_num_seqs=16)
    engines = [
        await loaded(profile, Fault("silent_after", value=100.0)),
        await loaded(profile),
        await loaded(profile),
    ]
    feeder = EngineFeeder("e", FeederConf("here", attempts=2), now)
    silent = RestartingReplica(iter([engines[0], engines[1]]))
    other = RestartingReplica(iter([engines[2]]))
    feeder.set_replicas({"e-r0": silent, "e-r1": other})
    async with aclosing(feeder.stream(question(n) for n in range(2000))) as stream:
        replies = {place: it async for place, it in stream}
    assert {it.error for it in replies.values()} == {None}
    assert len(replies) == 2000
    assert (silent.ends, other.ends) == (1, 0)
    answered = [len(engine.spans) for engine in engines]
    assert sum(answered) == 2000  # a reply that arrived was not asked for again
    assert 100 <= answered[0] < 132


# ---------------------------------------------------------------------------------- visits


class Visit:
    """A request that the engine is given past the server, until it is told to end."""

    def __init__(self, server: ReplicaServer) -> None:
        self.ending = asyncio.Event()
        self.task = asyncio.create_task(self._run(server))

    async def _run(self, server: ReplicaServer) -> None:
        with server.visit():
            await self.ending.wait()

    async def end(self) -> None:
        self.ending.set()
        await self.task


async def visits_of(server: ReplicaServer, count: int) -> list[Visit]:
    visits = [Visit(server) for _ in range(count)]
    await asyncio.sleep(1)
    return visits


async def test_visits_count_in_heartbeats() -> None:
    server = server_of(TimedEngine(4))
    visits = await visits_of(server, 3)
    assert server.heartbeat() == Heartbeat(running=3, waiting=0, max_num_seqs=4)
    work = asyncio.create_task(events_of(server, [asked(n, seconds=50.0) for n in range(3)]))
    await asyncio.sleep(1)
    assert server.heartbeat() == Heartbeat(running=4, waiting=2, max_num_seqs=4)
    for visit in visits:
        await visit.end()
    assert server.heartbeat() == Heartbeat(running=3, waiting=0, max_num_seqs=4)
    await work
    assert server.heartbeat() == Heartbeat(running=0, waiting=0, max_num_seqs=4)


@pytest.mark.parametrize("cut_waiting", [True, False])
async def test_a_drain_waits_for_visits_and_refuses_others(cut_waiting: bool) -> None:
    server = server_of(TimedEngine(4))
    visits = await visits_of(server, 2)
    drain = asyncio.create_task(server.drain(cut_waiting=cut_waiting))
    await asyncio.sleep(100)
    with pytest.raises(ReplicaClosed), server.visit():
        raise AssertionError("it is closed")
    await visits[0].end()
    await asyncio.sleep(100)
    assert not drain.done()
    await visits[1].end()
    await drain
    assert server.is_drained
    server.reopen()
    for visit in await visits_of(server, 1):
        assert server.heartbeat().running == 1
        await visit.end()


async def test_a_visit_that_fails_or_is_given_up_is_over() -> None:
    server = server_of(TimedEngine(4))
    (visit,) = await visits_of(server, 1)
    visit.task.cancel()
    await asyncio.gather(visit.task, return_exceptions=True)
    with pytest.raises(LookupError), server.visit():
        raise LookupError
    assert server.heartbeat().running == 0
    await server.drain()


async def test_an_engine_that_is_silent_under_a_visit_ends_its_process() -> None:
    engine, ends = TimedEngine(2), Ends()
    server = ReplicaServer(engine, 600.0, ends, now)
    await asyncio.sleep(1000)  # idle, which is no silence
    (visit,) = await visits_of(server, 1)
    await asyncio.sleep(580)
    assert not ends.at
    await asyncio.sleep(50)
    assert len(ends.at) == 1
    with pytest.raises(RuntimeError) as raised, server.visit():
        raise AssertionError("it is about to end")
    assert code(raised.value) == "engine.silent"
    await visit.end()


async def test_visits_of_an_engine_that_makes_progress_last() -> None:
    engine, ends = TimedEngine(2), Ends()
    server = ReplicaServer(engine, 60.0, ends, now)
    (visit,) = await visits_of(server, 1)
    for _ in range(100):
        await asyncio.sleep(10)
        engine.last_progress = now()
    await visit.end()
    assert not ends.at


# ---------------------------------------------------------------------------------- sleep


async def loaded(profile: EngineProfile, *faults: Fault) -> ServedEngine:
    memory = DeviceMemory({"gpu": 80.0})
    engine = VirtualEngine(profile, memory, ["gpu"], name="e", faults=FaultList(faults))
    await engine.start()
    return ServedEngine(engine)


async def test_only_a_drained_replica_sleeps_and_only_a_sleeping_one_wakes() -> None:
    engine = TimedEngine(2)
    server = server_of(engine)
    with pytest.raises(RuntimeError):
        await server.sleep(1)
    with pytest.raises(RuntimeError):
        await server.wake()
    work = asyncio.create_task(events_of(server, [asked(0, seconds=10.0)]))
    await asyncio.sleep(1)
    drain = asyncio.create_task(server.drain())
    await asyncio.sleep(1)
    with pytest.raises(RuntimeError):
        await server.sleep(1)
    await asyncio.gather(work, drain)
    with pytest.raises(RuntimeError):
        await server.wake()
    await server.sleep(2)
    assert engine.level == 2
    with pytest.raises(RuntimeError):
        server.reopen()
    with pytest.raises(ReplicaClosed):
        await events_of(server, [asked(0)])
    assert await server.wake()
    assert len(placed(await events_of(server, [asked(0)]))) == 1


@pytest.mark.parametrize("level", [1, 2])
async def test_a_virtual_engine_sleeps_and_is_the_same_afterwards(level: int) -> None:
    server = ReplicaServer(await loaded(EngineProfile(load_s=0.0)), 600.0, Ends(), now)
    before = placed(await events_of(server, [question(n) for n in range(4)]))
    await server.drain()
    await server.sleep(level)
    assert await server.wake()
    after = placed(await events_of(server, [question(n) for n in range(4)]))
    assert {n: it.text for n, it in after} == {n: it.text for n, it in before}


@pytest.mark.parametrize("level", [1, 2])
async def test_wrong_weights_after_a_wake_are_noticed_and_the_replica_stays_closed(
    level: int,
) -> None:
    fault = Fault("garbage_after_wake", value=float(level))
    engine = await loaded(EngineProfile(load_s=0.0), fault)
    server = ReplicaServer(engine, 600.0, Ends(), now)
    await server.drain()
    await server.sleep(level)
    assert not await server.wake()
    with pytest.raises(ReplicaClosed):
        await events_of(server, [asked(0)])
    with pytest.raises(RuntimeError):
        server.reopen()


# ---------------------------------------------------------------------------------- fingerprints


def shifted(by: float, *, place: int = 1) -> Fingerprint:
    logprobs = [*FINGERPRINT.logprobs]
    logprobs[place] += by
    return Fingerprint(FINGERPRINT.tokens, tuple(logprobs))


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        ([FINGERPRINT], FINGERPRINT, True),
        ([FINGERPRINT] * 3, shifted(0.0199), True),
        ([FINGERPRINT] * 3, shifted(0.0201), False),
        ([FINGERPRINT] * 3, shifted(-0.0201), False),
        ([shifted(-0.01), FINGERPRINT, shifted(0.01)], shifted(0.059), True),
        ([shifted(-0.01), FINGERPRINT, shifted(0.01)], shifted(0.061), False),
        ([FINGERPRINT] * 3, shifted(float("nan")), False),
        ([FINGERPRINT] * 3, replace(FINGERPRINT, tokens=(1, 2, 4)), False),
        ([FINGERPRINT] * 3, Fingerprint((), ()), False),
        # After a token that differed before, nothing is compared.
        (
            [FINGERPRINT, replace(FINGERPRINT, tokens=(1, 9, 9))],
            Fingerprint((1, 7, 7), (-0.5, 0.0, 0.0)),
            True,
        ),
        (
            [FINGERPRINT, replace(FINGERPRINT, tokens=(1, 9, 9))],
            Fingerprint((2, 2, 3), FINGERPRINT.logprobs),
            False,
        ),
        ([FINGERPRINT, replace(FINGERPRINT, tokens=(5, 2, 3))], FINGERPRINT, False),
    ],
)
async def test_which_fingerprints_are_those_of_one_model(
    before: list[Fingerprint], after: Fingerprint, same: bool
) -> None:
    assert is_same_model(before, after) == same


@given(st.lists(st.floats(-0.05, 0.05), min_size=1, max_size=4), st.integers(0, 10**6))
async def test_a_model_is_like_itself(noise: list[float], seed: int) -> None:
    known = [shifted(each) for each in noise]
    drawn = random.Random(seed).uniform(min(noise), max(noise))
    assert is_same_model(known, shifted(drawn))

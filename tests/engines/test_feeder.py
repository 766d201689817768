"""The queue of one engine in one process: what is sent when and where, and what comes of faults."""

import asyncio
import heapq
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import aclosing

import pytest
from engines.replicas import Replica, asked
from examples import examples
from hypothesis import example, given
from hypothesis import strategies as st
from statements import code, values
from virtual_time import VirtualLoop, now, until

from raybench.engines.base import DemandReport, Placed
from raybench.engines.feeder import EngineFeeder, FeederConf
from raybench.types import Completion, Request

pytestmark = pytest.mark.virtual_time

BROKEN = "engine.call_broken"


def feeder_of(*replicas: Replica, attempts: int = 3) -> EngineFeeder:
    feeder = EngineFeeder("e", FeederConf("here", attempts), now)
    feeder.set_replicas({f"e-r{number}": it for number, it in enumerate(replicas)})
    return feeder


async def collected(feeder: EngineFeeder, requests: Iterable[Request]) -> list[Placed]:
    async with aclosing(feeder.stream(requests)) as replies:
        return [placed async for placed in replies]


def texts(placed: Iterable[Placed]) -> dict[int, str]:
    return {place: completion.text for place, completion in placed}


def replies(numbers: Iterable[int]) -> dict[int, str]:
    return {number: f"reply {number}" for number in numbers}


async def test_a_stream_yields_every_reply_as_it_finishes() -> None:
    feeder = feeder_of(Replica(max_num_seqs=8))
    seconds = [3.0, 1.0, 2.0]
    placed = await collected(feeder, [asked(n, seconds=s) for n, s in enumerate(seconds)])
    assert [place for place, _ in placed] == [1, 2, 0]
    assert texts(placed) == replies(range(3))


async def test_an_engine_is_kept_full_with_at_most_twice_what_it_works_on() -> None:
    replica = Replica(max_num_seqs=4)
    begun = now()
    seconds = [26.0 if number % 10 == 0 else 1.0 for number in range(80)]
    placed = await collected(
        feeder_of(replica), [asked(n, seconds=s) for n, s in enumerate(seconds)]
    )
    assert texts(placed) == replies(range(80))
    assert replica.most_held == 8
    places = [0.0] * 4  # a place that is free takes the next request
    for each in seconds:
        heapq.heapreplace(places, places[0] + each)
    assert now() - begun == pytest.approx(max(places), abs=0.1)


async def test_requests_are_pulled_as_replicas_have_room_for_them() -> None:
    pulled: list[int] = []

    def requests() -> Iterator[Request]:
        for number in range(100):
            pulled.append(number)
            yield asked(number)

    feeder = EngineFeeder("e", FeederConf("here"), now)
    async with aclosing(feeder.stream(requests())) as stream:
        first = asyncio.ensure_future(anext(stream))
        await asyncio.sleep(5)
        assert len(pulled) == 1  # there is no replica: one is pulled ahead
        feeder.set_replicas({"r": Replica(max_num_seqs=4)})
        await first
        assert len(pulled) <= 1 + 8 + 4


async def test_a_caller_who_fetches_nothing_pulls_nothing() -> None:
    replica = Replica(max_num_seqs=200)
    feeder = feeder_of(replica)
    async with aclosing(feeder.stream([asked(n) for n in range(3000)])) as stream:
        await anext(stream)
        await asyncio.sleep(100)
        assert replica.held == 0
        sent = sum(map(len, replica.calls))
        assert sent < 3000
        report = feeder.report()
        assert (report.ready, report.outstanding, report.remaining) == (0, 0, 3000 - sent)
        assert len([placed async for placed in stream]) == 2999


async def test_requests_that_are_expected_are_reported_by_model() -> None:
    feeder = EngineFeeder("e", FeederConf("here"), now)
    feeder.expect("a", 70)
    feeder.expect("b", 30)
    feeder.expect("a", 50)
    report = feeder.report()
    assert (report.ready, report.remaining, report.models) == (0, 80, {"a": 50, "b": 30})
    feeder.expect("a", 0)
    assert feeder.report().models == {"b": 30}


async def test_there_is_room_while_few_requests_wait() -> None:
    feeder, replica = EngineFeeder("e", FeederConf("here"), now), Replica(max_num_seqs=64)
    await feeder.wait_for_room()
    replies = asyncio.create_task(collected(feeder, [asked(n) for n in range(300)]))
    await asyncio.sleep(0.1)
    waiting = [asyncio.create_task(feeder.wait_for_room()) for _ in range(2)]
    await asyncio.sleep(10)
    assert not any(it.done() for it in waiting)
    feeder.set_replicas({"r": replica})
    await asyncio.gather(*waiting)
    assert replica.held > 0  # 128 are sent, 172 wait, and more are sent as these are answered
    assert feeder.report().ready + feeder.report().remaining < 128
    await replies


@pytest.mark.parametrize("end", ["refusal", "withdrawal"])
async def test_there_is_room_when_what_waits_is_given_up(end: str) -> None:
    feeder = EngineFeeder("e", FeederConf("here"), now)
    replies = asyncio.create_task(collected(feeder, [asked(n) for n in range(300)]))
    await asyncio.sleep(0.1)
    waiting = asyncio.create_task(feeder.wait_for_room())
    await asyncio.sleep(0.1)
    assert not waiting.done()
    if end == "refusal":
        feeder.refuse("no GPU")
    else:
        replies.cancel()
    await waiting
    await asyncio.gather(replies, return_exceptions=True)


async def test_an_idle_replica_is_asked_at_once_and_a_busy_one_rarely() -> None:
    replica = Replica(max_num_seqs=64)
    feeder = feeder_of(replica)
    await feeder.complete(asked(0, seconds=0.0))
    begun = now()
    await asyncio.gather(*(feeder.complete(asked(n, seconds=0.5)) for n in range(10)))
    assert now() - begun == pytest.approx(0.502)
    assert len(replica.calls) == 2
    replica.calls.clear()
    begun = now()
    await collected(feeder, [asked(n, seconds=0.1 + n % 97 / 1000) for n in range(2000)])
    assert len(replica.calls) <= 16 + 50 * (now() - begun)


async def test_requests_that_come_one_by_one_are_gathered_when_there_are_many_calls() -> None:
    replica = Replica(max_num_seqs=256)
    feeder = feeder_of(replica)
    tasks = []
    for number in range(200):
        tasks.append(asyncio.create_task(feeder.complete(asked(number))))
        await asyncio.sleep(0.001)
    await asyncio.gather(*tasks)
    assert 16 < len(replica.calls) < 30


async def test_before_its_first_heartbeat_a_replica_gets_two_requests() -> None:
    replica = Replica(max_num_seqs=1)
    await collected(feeder_of(replica), [asked(n) for n in range(20)])
    assert len(replica.calls[0]) == 2
    assert replica.most_held == 2


async def test_load_of_other_processes_leaves_less_room_but_a_share() -> None:
    replica = Replica(max_num_seqs=16)
    replica.others = 20
    await collected(feeder_of(replica), [asked(n) for n in range(100)])
    assert replica.most_held == 2 * 16 - 20
    full = Replica(max_num_seqs=16)
    full.others = 40
    placed = await collected(feeder_of(full), [asked(n) for n in range(100)])
    assert len(placed) == 100
    assert full.most_held == 16 // 8


async def test_two_processes_share_a_replica() -> None:
    replica, done = Replica(max_num_seqs=64), Counter[str]()

    async def run(name: str) -> None:
        feeder = EngineFeeder("e", FeederConf(name), now)
        feeder.set_replicas({"r": replica})
        async with aclosing(
            feeder.stream([asked(n, seconds=1.0 + n % 7) for n in range(2000)])
        ) as it:
            async for _ in it:
                done[name] += 1

    first = asyncio.create_task(run("first"))
    await asyncio.sleep(20)
    already = done["first"]
    second = asyncio.create_task(run("second"))
    await asyncio.sleep(100)
    assert done["second"] > (done["first"] - already) / 2
    await asyncio.gather(first, second)
    assert replica.most_held <= 2.25 * 64


async def test_replicas_share_the_work() -> None:
    few = [Replica(max_num_seqs=8) for _ in range(4)]
    begun = now()
    await collected(feeder_of(*few), [asked(n) for n in range(320)])
    assert now() - begun < 1.1 * 320 / 32
    sent = [sum(map(len, replica.calls)) for replica in few]
    assert min(sent) >= 60


async def test_requests_that_begin_alike_go_to_one_replica_while_loads_are_alike() -> None:
    few = [Replica(max_num_seqs=64) for _ in range(4)]
    feeder = feeder_of(*few)

    def about(topic: int, size: int) -> list[Request]:
        text = f"about {topic}: " + "x" * 256
        return [asked(topic, text=f"{text} {n}", seconds=0.1) for n in range(size)]

    await collected(feeder, about(0, 256))  # each has told its size
    for replica in few:
        replica.calls.clear()
    for topic in range(16):
        await collected(feeder, about(topic, 5))
    where = [Counter(seed for call in it.calls for seed in call) for it in few]
    assert all(set(it.values()) <= {5} for it in where)
    assert all(where)
    for replica in few:
        replica.calls.clear()
    await collected(feeder, about(1, 100))
    assert max(sum(map(len, it.calls)) for it in few) <= 40  # load comes first


async def test_the_preferred_replica_is_the_same_in_every_process() -> None:
    chosen = []
    for _ in range(2):
        few = [Replica(max_num_seqs=64) for _ in range(4)]
        feeder = feeder_of(*few)
        for topic in range(20):
            await feeder.complete(asked(topic, system=f"about {topic}", seconds=0.1))
        chosen.append([{seed for call in it.calls for seed in call} for it in few])
    assert chosen[0] == chosen[1]


async def test_a_replica_that_appears_takes_from_the_queue_at_once() -> None:
    first, second = Replica(max_num_seqs=2), Replica(max_num_seqs=2)
    feeder = EngineFeeder("e", FeederConf("here"), now)
    feeder.set_replicas({"a": first})
    work = asyncio.create_task(collected(feeder, [asked(n, seconds=10.0) for n in range(20)]))
    await asyncio.sleep(15)
    feeder.set_replicas({"a": first, "b": second})
    await asyncio.sleep(0.1)
    assert second.held == 4
    assert len(await work) == 20


async def test_a_replica_that_closes_hands_back_what_waits_without_an_attempt() -> None:
    first, second = Replica(max_num_seqs=2), Replica(max_num_seqs=2)
    feeder = EngineFeeder("e", FeederConf("here", attempts=1), now)
    feeder.set_replicas({"a": first})
    work = asyncio.create_task(collected(feeder, [asked(n, seconds=10.0) for n in range(8)]))
    await asyncio.sleep(1)
    drained = asyncio.create_task(first.server.drain(cut_waiting=True))
    await asyncio.sleep(1)
    assert feeder.report().outstanding == first.held == 2
    feeder.set_replicas({"b": second})
    placed = await work
    assert texts(placed) == replies(range(8))
    assert first.engine.begun == [0, 1]
    await drained
    # Calls that come later are refused, which costs nothing either.
    feeder.set_replicas({"a": first})
    late = asyncio.create_task(feeder.complete(asked(9)))
    await asyncio.sleep(1)
    feeder.set_replicas({"b": second})
    assert (await late).text == "reply 9"


async def test_after_a_death_only_unanswered_requests_are_sent_again_and_first() -> None:
    replica = Replica(max_num_seqs=4)
    feeder = feeder_of(replica)
    work = asyncio.create_task(collected(feeder, [asked(n, seconds=10.0 + n) for n in range(20)]))
    await asyncio.sleep(12.5)
    answered = {0, 1, 2}
    replica.calls.clear()
    unanswered = replica.held
    replica.die(restart_s=200)
    placed = await work
    assert texts(placed) == replies(range(20))
    seeds = [seed for call in replica.calls for seed in call]
    assert not answered & {*seeds}
    assert sorted(seeds[:unanswered]) == sorted({*range(3 + unanswered)} - answered)


async def test_a_request_fails_after_as_many_broken_calls_as_there_are_attempts() -> None:
    bad, good = Replica(max_num_seqs=1), Replica(max_num_seqs=1)
    feeder = EngineFeeder("e", FeederConf("here", attempts=2), now)
    feeder.set_replicas({"bad": bad})
    poison = asyncio.create_task(feeder.complete(asked(0, seconds=1000.0)))
    for _ in range(2):
        await until(lambda: bad.held == 1)
        await asyncio.sleep(10)
        bad.die()
    failed = await poison
    assert failed.finish == "error"
    assert code(failed.error) == BROKEN
    assert values(failed.error) == {"engine": "e", "reason": "the actor died"}
    assert failed.waited == pytest.approx(15, abs=0.1)  # the first call, and the rest after it
    feeder.set_replicas({"good": good})
    assert (await feeder.complete(asked(1))).text == "reply 1"


async def test_a_silent_call_is_dropped_and_others_take_its_requests() -> None:
    silent, other = Replica(max_num_seqs=1), Replica(max_num_seqs=1)
    feeder = EngineFeeder("e", FeederConf("here"), now)
    feeder.set_replicas({"a": silent})
    work = asyncio.create_task(feeder.complete(asked(0, seconds=30.0)))
    await asyncio.sleep(5)
    silent.is_silent = True
    feeder.set_replicas({"a": silent, "b": other})
    begun = now()
    assert (await work).text == "reply 0"
    assert 60 <= now() - begun - 30 <= 80
    assert other.calls == [[0]]
    assert silent.held == 0


async def test_long_replies_with_heartbeats_are_waited_for() -> None:
    """As checks/fleet/deadline_long.py: one of 128 replies takes longer than 600 s."""
    replica = Replica(max_num_seqs=64)
    requests = [asked(n, seconds=640.0 if n == 7 else 30.0) for n in range(128)]
    placed = await collected(feeder_of(replica), requests)
    assert texts(placed) == replies(range(128))
    assert sorted(seed for call in replica.calls for seed in call) == [*range(128)]


async def test_a_call_waits_while_the_only_replica_starts_again() -> None:
    replica = Replica()
    feeder = feeder_of(replica, attempts=2)
    first = asyncio.create_task(feeder.complete(asked(0, seconds=10.0)))
    await asyncio.sleep(1)
    replica.die(restart_s=700)
    assert (await first).text == "reply 0"


async def test_an_engine_that_only_dies_fails_all_that_waits() -> None:
    replica = Replica(max_num_seqs=2)
    feeder = feeder_of(replica)
    work = asyncio.create_task(collected(feeder, (asked(n, seconds=50.0) for n in range(5000))))
    game = asyncio.create_task(feeder.complete(asked(9999, seconds=50.0)))
    for _ in range(6):
        await asyncio.sleep(20)
        replica.die()
    placed = await work
    assert len(placed) == 5000
    assert {code(it.error) for _, it in placed} == {BROKEN}
    assert code((await game).error) == BROKEN
    assert (await feeder.complete(asked(1))).text == "reply 1"  # it may come back all the same


async def test_a_request_that_kills_its_engine_fails_with_those_that_run_beside_it() -> None:
    replica = Replica(max_num_seqs=2)

    async def kill() -> None:
        for _ in range(3):
            await until(lambda: 0 in replica.engine.begun)
            await asyncio.sleep(5)
            replica.die()

    killer = asyncio.create_task(kill())
    placed = await collected(feeder_of(replica), [asked(n, seconds=10.0) for n in range(40)])
    failed = {place for place, it in placed if it.error is not None}
    assert 0 in failed and len(failed) <= 4
    assert texts(placed) == replies(range(40)) | dict.fromkeys(failed, "")
    await killer


async def test_an_engine_that_answers_between_its_deaths_goes_on() -> None:
    replica = Replica(max_num_seqs=2)
    work = asyncio.create_task(collected(feeder_of(replica), [asked(n) for n in range(60)]))
    for _ in range(5):
        await asyncio.sleep(9.5)
        replica.die()
    assert texts(await work) == replies(range(60))


async def test_calls_that_a_removed_replica_has_not_begun_go_elsewhere_at_once() -> None:
    gone, other = Replica(), Replica()
    feeder = EngineFeeder("e", FeederConf("here", attempts=2), now)
    feeder.set_replicas({"a": gone})
    work = asyncio.create_task(feeder.complete(asked(0, seconds=10.0)))
    await asyncio.sleep(1)
    gone.die(restart_s=500)
    await until(lambda: len(gone.calls) == 2)
    feeder.set_replicas({"b": other})
    begun = now()
    assert (await work).text == "reply 0"
    assert now() - begun < 11
    assert gone.held == 0


async def test_what_is_refused_fails_until_there_are_replicas() -> None:
    feeder = EngineFeeder("e", FeederConf("here"), now)
    work = asyncio.create_task(collected(feeder, [asked(n) for n in range(10)]))
    game = asyncio.create_task(feeder.complete(asked(0)))
    await asyncio.sleep(1)
    feeder.refuse("why")
    assert {it.error for _, it in await work} == {(await game).error} == {"why"}
    assert (await feeder.complete(asked(0))).error == "why"
    assert [it.error for _, it in await collected(feeder, [asked(0)])] == ["why"]
    feeder.set_replicas({"a": Replica()})
    assert (await feeder.complete(asked(0))).error is None


async def test_a_long_stream_does_not_starve_a_game() -> None:
    replica = Replica(max_num_seqs=4)
    feeder = feeder_of(replica)
    work = asyncio.create_task(collected(feeder, [asked(n) for n in range(10_000)]))
    await asyncio.sleep(10)
    for number in range(5):
        begun = now()
        await feeder.complete(asked(number))
        assert now() - begun <= 4  # eight requests are before it, at four a second
    assert not work.done()
    work.cancel()
    await asyncio.gather(work, return_exceptions=True)


async def test_streams_take_turns() -> None:
    feeder = feeder_of(Replica(max_num_seqs=4))
    done: list[str] = []

    async def run(name: str, size: int) -> None:
        await collected(feeder, [asked(n) for n in range(size)])
        done.append(name)

    await asyncio.gather(run("long", 1000), run("short", 20))
    assert done == ["short", "long"]


async def test_who_leaves_withdraws_what_waits_and_ends_calls_that_nobody_waits_for() -> None:
    replica = Replica(max_num_seqs=4)
    feeder = feeder_of(replica)
    await feeder.complete(asked(0, seconds=0.0))
    stays = asyncio.create_task(feeder.complete(asked(1, seconds=50.0)))
    leaves = asyncio.create_task(collected(feeder, [asked(n, seconds=50.0) for n in range(50)]))
    await asyncio.sleep(10)
    assert replica.open_calls >= 1
    leaves.cancel()
    await asyncio.gather(leaves, return_exceptions=True)
    await asyncio.sleep(1)
    report = feeder.report()
    assert report.ready == report.remaining == 0
    assert replica.held == report.outstanding
    assert (await stays).text == "reply 1"
    await asyncio.sleep(0.1)
    assert replica.held == feeder.report().outstanding == 0


async def test_a_call_that_nobody_waits_for_ends() -> None:
    replica = Replica(max_num_seqs=4)
    feeder = feeder_of(replica)
    game = asyncio.create_task(feeder.complete(asked(1, seconds=50.0)))
    work = asyncio.create_task(collected(feeder, [asked(n, seconds=50.0) for n in range(50)]))
    await asyncio.sleep(10)
    assert replica.held == 8
    for task in (game, work):
        task.cancel()
    await asyncio.gather(game, work, return_exceptions=True)
    await asyncio.sleep(0.1)
    assert replica.held == replica.engine.held == feeder.report().outstanding == 0


@pytest.mark.parametrize("steps", range(8))
async def test_who_leaves_at_any_moment_leaves_nothing(steps: int) -> None:
    replica = Replica(max_num_seqs=4)
    feeder = feeder_of(replica)
    game = asyncio.create_task(feeder.complete(asked(1)))
    for _ in range(steps):
        await asyncio.sleep(0)
    game.cancel()
    await asyncio.sleep(0.1)
    report = feeder.report()
    assert report.ready == report.outstanding == replica.held == 0


async def test_an_error_of_the_requests_reaches_their_caller_alone() -> None:
    def requests() -> Iterator[Request]:
        yield from (asked(n) for n in range(20))
        raise LookupError

    feeder = feeder_of(Replica(max_num_seqs=4))
    other = asyncio.create_task(collected(feeder, [asked(n) for n in range(20)]))
    with pytest.raises(LookupError):
        await collected(feeder, requests())
    assert texts(await other) == replies(range(20))


async def test_a_report_counts_what_is_ready_and_what_is_with_replicas() -> None:
    feeder = EngineFeeder("e", FeederConf("here"), now)
    work = asyncio.create_task(collected(feeder, [asked(n, seconds=10.0) for n in range(30)]))
    game = asyncio.create_task(feeder.complete(asked(0, seconds=10.0)))
    await asyncio.sleep(1)
    report = feeder.report()
    assert (report.client, report.engine) == ("here", "e")
    assert (report.ready, report.outstanding, report.remaining) == (2, 0, 29)
    feeder.set_replicas({"a": Replica(max_num_seqs=4)})
    await asyncio.sleep(1)
    report = feeder.report()
    assert (report.ready, report.outstanding, report.remaining) == (1, 8, 22)
    await asyncio.gather(work, game)
    report = feeder.report()
    assert (report.ready, report.outstanding, report.remaining) == (0, 0, 0)


async def test_a_stream_whose_caller_does_not_fetch_wants_nothing() -> None:
    feeder = EngineFeeder("e", FeederConf("here"), now)
    feeder.set_replicas({"a": Replica(max_num_seqs=200)})
    async with aclosing(feeder.stream([asked(n) for n in range(1000)])) as stream:
        await anext(stream)
        await asyncio.sleep(10)
        report = feeder.report()
        assert (report.ready, report.outstanding) == (0, 0)
        assert report.remaining > 0
        async for _ in stream:
            pass
    assert feeder.report() == DemandReport("here", "e", 0, 0, 0)


async def test_requests_without_a_reply_are_counted_by_model() -> None:
    feeder = EngineFeeder("e", FeederConf("here"), now)
    calls = [asyncio.create_task(feeder.complete(asked(n), "one")) for n in range(3)]
    stream = feeder.stream([asked(n) for n in range(9)], "two")
    first = asyncio.create_task(anext(stream))
    await asyncio.sleep(1)
    assert feeder.report().models == {"one": 3, "two": 9}
    calls.pop().cancel()
    await asyncio.sleep(1)
    assert feeder.report().models == {"one": 2, "two": 9}
    feeder.set_replicas({"a": Replica()})
    await asyncio.gather(first, *calls)
    await stream.aclose()
    assert feeder.report().models == {}


async def test_time_in_the_queue_is_time_that_the_request_waited() -> None:
    feeder = EngineFeeder("e", FeederConf("here"), now)
    work = asyncio.create_task(feeder.complete(asked(0, seconds=10.0)))
    await asyncio.sleep(100)
    feeder.set_replicas({"a": Replica()})
    completion: Completion = await work
    assert completion.waited == pytest.approx(100, abs=0.1)
    assert completion.own_seconds == pytest.approx(10, abs=0.1)


# ------------------------------------------------------------------------- whatever happens


FAULTS = ("die", "restart slowly", "silence", "close", "cut", "reopen", "remove", "add")
moments = st.integers(0, 200).map(lambda it: it / 2)
faults = st.tuples(moments, st.integers(0, 2), st.sampled_from(FAULTS))
callers = st.tuples(
    moments,
    st.lists(st.sampled_from([0.0, 0.5, 5.0, 40.0]), min_size=1, max_size=12),
    st.booleans(),
    st.none() | moments,
)
"""When one comes, the seconds of its replies, whether as a stream, and when it leaves."""


class World:
    """Callers of one feeder, and replicas to which things happen."""

    def __init__(self, sizes: list[int]) -> None:
        self.replicas = {f"e-r{number}": Replica(size) for number, size in enumerate(sizes)}
        self.sizes = dict(zip(self.replicas, sizes, strict=True))
        self.open = dict(self.replicas)
        self.feeder = EngineFeeder("e", FeederConf("here"), now)
        self.feeder.set_replicas(self.open)
        self.drains: list[asyncio.Task[None]] = []

    async def befall(self, at: float, number: int, fault: str) -> None:
        await asyncio.sleep(at)
        name = [*self.replicas][number % len(self.replicas)]
        replica = self.replicas[name]
        if fault in ("die", "restart slowly"):
            replica.die(restart_s=0.0 if fault == "die" else 50.0)
        elif fault == "silence":
            replica.is_silent = True
        elif fault in ("close", "cut"):
            drain = replica.server.drain(cut_waiting=fault == "cut")
            self.drains.append(asyncio.create_task(drain))
        elif fault == "reopen":
            replica.server.reopen()
            self.feeder.set_replicas(self.open)
        elif fault == "remove":
            self.open.pop(name, None)
            self.feeder.set_replicas(self.open)
        else:
            self.open[name] = replica
            self.feeder.set_replicas(self.open)

    def heal(self) -> None:
        for replica in self.replicas.values():
            replica.is_silent = False
            replica.server.reopen()
        self.feeder.set_replicas(self.replicas)

    async def call(
        self, start: float, seconds: list[float], streamed: bool, leaves: float | None
    ) -> tuple[int, list[Placed]]:
        """Return how many completions are due, and those that came."""
        await asyncio.sleep(start)
        requests = [asked(number, seconds=each) for number, each in enumerate(seconds)]
        came: list[Placed] = []
        try:
            async with asyncio.timeout(leaves):
                if streamed:
                    async with aclosing(self.feeder.stream(iter(requests))) as stream:
                        async for placed in stream:
                            came.append(placed)
                else:
                    requests = requests[:1]
                    came.append((0, await self.feeder.complete(requests[0])))
        except TimeoutError:
            return 0, came
        return len(requests), came


@examples(60)
@example(
    [1, 1],
    [(0.0, 0, "silence"), (0.5, 1, "silence")],
    [*[(0.0, [0.0], False, None)] * 4, (10.0, [0.0], False, None)],
)
@example([1], [(0.0, 0, "silence"), (0.0, 0, "close")], [(0.0, [0.0], False, None)])
@given(
    st.lists(st.integers(1, 3), min_size=1, max_size=3),
    st.lists(faults, max_size=12),
    st.lists(callers, min_size=1, max_size=6),
)
def test_whatever_happens_each_request_gets_one_completion_and_nothing_is_left(
    sizes: list[int],
    happening: list[tuple[float, int, str]],
    calling: list[tuple[float, list[float], bool, float | None]],
) -> None:
    async def run() -> None:
        world = World(sizes)
        events = [asyncio.create_task(world.befall(*it)) for it in happening]
        calls = [asyncio.create_task(world.call(*it)) for it in calling]
        await asyncio.gather(*events)
        await asyncio.sleep(150)
        world.heal()
        async with asyncio.timeout(100_000):
            outcomes = await asyncio.gather(*calls)
        for due, came in outcomes:
            places = [place for place, _ in came]
            assert len(places) == len({*places})
            assert due in (0, len(places))
            for place, completion in came:
                if completion.error is None:
                    assert completion.text == f"reply {place}"
                else:
                    assert code(completion.error) == BROKEN
        for name, replica in world.replicas.items():
            assert replica.most_held <= 2 * world.sizes[name]
        await asyncio.sleep(1)
        assert world.feeder.report() == DemandReport("here", "e", 0, 0, 0)
        assert sum(it.held + it.open_calls + it.engine.held for it in world.replicas.values()) == 0
        for drain in world.drains:
            drain.cancel()
        await asyncio.gather(*world.drains, return_exceptions=True)
        assert asyncio.all_tasks() == {asyncio.current_task()}

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(run())

"""The batch of a virtual engine, held against one that goes step by step."""

import heapq
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perf.rig.batch import Batch, EngineRequest
from perf.rig.prefixes import PrefixCache
from perf.rig.profile import EngineProfile

# Numbers by which no event falls on the end of a step, where either order would be right.
PROFILE = EngineProfile(
    step_s=0.008317713, max_num_seqs=3, max_batched_tokens=50, prefill_tokens_per_s=1000
)
_OFFSET = 0.001234567
Arrival = tuple[float, int, int, float | None]
"""When a request comes, its tokens, those of its reply, and after how long it is aborted."""
_ARRIVALS = st.lists(
    st.tuples(
        st.integers(0, 40).map(lambda it: it * 0.0137 + _OFFSET),
        st.integers(1, 120),
        st.integers(1, 12),
        st.none() | st.integers(0, 20).map(lambda it: it * 0.0071 + _OFFSET / 7),
    ),
    max_size=12,
)


@given(_ARRIVALS)
def test_it_ends_requests_when_a_batch_would_that_goes_step_by_step(
    arrivals: list[Arrival],
) -> None:
    expected, tokens = _step_by_step(arrivals)
    ended, batch = _event_by_event(arrivals)
    assert ended.keys() == expected.keys()
    assert [ended[it] for it in ended] == pytest.approx([expected[it] for it in ended], abs=1e-6)
    assert batch.tokens(1e6) == tokens
    assert not batch.running and not batch.waiting


def _events(arrivals: Sequence[Arrival]) -> list[tuple[float, int, str]]:
    """Return what happens to requests, in the order of time."""
    events = [(at, number, "arrival") for number, (at, *_) in enumerate(arrivals)]
    aborts = [
        (at + after, number, "abort")
        for number, (at, _, _, after) in enumerate(arrivals)
        if after is not None
    ]
    return sorted(events + aborts)


def _event_by_event(arrivals: Sequence[Arrival]) -> tuple[dict[int, float], Batch[int]]:
    batch: Batch[int] = Batch(PROFILE, PrefixCache(10_000))
    ended: dict[int, float] = {}
    for at, number, kind in _events(arrivals):
        if (change := batch.next_change()) is not None and change < at:
            ended |= {request.owner: end for request, end in batch.advance(at)}
        _, prompt, length, _ = arrivals[number]
        if kind == "arrival":
            batch.add(EngineRequest(str(number), "", prompt, length, number), at)
        else:
            batch.remove(str(number), at)
    ended |= {request.owner: end for request, end in batch.advance(1e6)}
    return ended, batch


def _step_by_step(arrivals: Sequence[Arrival]) -> tuple[dict[int, float], int]:
    """Return when each request that is not aborted ends, and the tokens of all of them."""
    events = _events(arrivals)
    heapq.heapify(events)
    waiting: list[int] = []
    running: dict[int, int] = {}
    ended: dict[int, float] = {}
    now, tokens = 0.0, 0
    while events or waiting or running:
        if not waiting and not running:
            now = max(now, events[0][0])
        while events and events[0][0] <= now:
            _, number, kind = heapq.heappop(events)
            if kind == "arrival":
                waiting.append(number)
            else:
                waiting = [it for it in waiting if it != number]
                running.pop(number, None)
        unread, budget = 0, PROFILE.max_batched_tokens - len(running)
        while waiting and len(running) < PROFILE.max_num_seqs and unread < budget:
            running[waiting[0]] = 0
            unread += arrivals[waiting.pop(0)][1]
        if not running:
            continue
        now += PROFILE.step_seconds(len(running)) + unread / PROFILE.prefill_tokens_per_s
        tokens += len(running)
        # Nobody is told of a reply that was aborted during its last step.
        gone = {number for at, number, kind in events if kind == "abort" and at <= now}
        for number in [*running]:
            running[number] += 1
            if running[number] == arrivals[number][2]:
                del running[number]
                if number not in gone:
                    ended[number] = now
    return ended, tokens

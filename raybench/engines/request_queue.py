"""Requests that wait for a replica: single ones, and streams from which they are pulled."""

import asyncio
import operator
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from raybench.engines.base import Placed
from raybench.types import Completion, Request

_UNFETCHED_REPLIES = 256
"""From a stream with this many replies that its caller has not fetched, nothing is pulled."""
_NOTEWORTHY_S = 0.001


class Caller:
    """One call of the feeder: the requests in it, and the replies that are not fetched yet."""

    def __init__(self, requests: Iterable[Request], model: str = "") -> None:
        """Pull the first request."""
        self.model = model
        self._requests: Iterator[Request] = iter(requests)
        self._position = -1
        self._waiter: asyncio.Future[None] | None = None
        self._finished: deque[Placed] = deque()
        self.unanswered: set[QueuedRequest] = set()
        """Requests that were pulled and have no reply."""
        self.next_request: Request | None = None
        """None if there is no further one."""
        self.refusal: str | None = None
        """Why all requests fail that are pulled from now on."""
        self.error: Exception | None = None
        """What the iterator raised."""
        self._advance()

    @property
    def is_blocked(self) -> bool:
        """Tell whether replies have to be fetched before more requests are pulled."""
        return len(self._finished) >= _UNFETCHED_REPLIES

    @property
    def is_done(self) -> bool:
        """Tell whether no reply will come any more."""
        return self.next_request is None and not self.unanswered

    def known_requests(self) -> int:
        """Return how many requests are known to be left to pull."""
        return 0 if self.next_request is None else 1 + operator.length_hint(self._requests)

    def open_requests(self) -> int:
        """Return how many requests are known that have no reply."""
        return len(self.unanswered) + self.known_requests()

    def pull(self, now: float) -> "QueuedRequest":
        """Return the next request, of which there must be one."""
        assert self.next_request is not None
        asked = QueuedRequest(self.next_request, self, self._position, now)
        self.unanswered.add(asked)
        self._advance()
        return asked

    def answer(self, asked: "QueuedRequest", completion: Completion) -> None:
        """Keep a completion for the caller to fetch."""
        self.unanswered.discard(asked)
        self._finished.append((asked.place, completion))
        self.wake()

    def fetch(self) -> Placed | None:
        """Return the oldest reply that was not fetched, or None."""
        return self._finished.popleft() if self._finished else None

    async def wait(self) -> None:
        """Wait for a reply, or for an end without one."""
        self._waiter = asyncio.get_running_loop().create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def wake(self) -> None:
        """End the wait."""
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def _advance(self) -> None:
        self._position += 1
        try:
            self.next_request = next(self._requests, None)
        except Exception as error:  # the iterator is the caller's: so is its error
            self.next_request, self.error = None, error
            self.wake()


@dataclass(slots=True, eq=False)
class QueuedRequest:
    """A request on its way to a replica and back."""

    request: Request
    caller: Caller
    place: int
    since: float
    """When it was pulled."""
    sent_at: float = 0.0
    """When its last call began."""
    broken_calls: int = 0
    is_withdrawn: bool = False
    on_withdrawal: Callable[[], None] | None = None
    """Tells its call that nobody waits for it; None while it is in the queue."""

    def answer(self, completion: Completion) -> None:
        """Hand the completion to the caller, with the time that the request waited here."""
        if (waited := self.sent_at - self.since) > _NOTEWORTHY_S:
            completion = replace(
                completion,
                seconds=completion.seconds + waited,
                waited=completion.waited + waited,
            )
        if not self.is_withdrawn:
            self.caller.answer(self, completion)


class RequestQueue:
    """What waits: requests that come back go first, then single ones and streams take turns."""

    def __init__(self) -> None:
        self._returned: deque[QueuedRequest] = deque()
        self._singles: deque[QueuedRequest] = deque()
        self._streams: deque[Caller] = deque()
        """Callers that have more requests. From the first one the next request is pulled."""
        self._size = 0
        """Requests in the first two that are not withdrawn."""
        self._single_is_next = False

    def has_ready(self) -> bool:
        """Tell whether there is a request to send."""
        return self._size > 0 or any(not caller.is_blocked for caller in self._streams)

    def count(self) -> tuple[int, int]:
        """Return how many requests are ready to be sent, and how many are known to follow."""
        ready, following = self._size, 0
        for caller in self._streams:
            ready += not caller.is_blocked
            following += caller.known_requests() - (not caller.is_blocked)
        return ready, following

    def waiting(self) -> int:
        """Return how many requests are known that are not sent."""
        return sum(self.count())

    def add(self, asked: QueuedRequest) -> None:
        """Take a single request in."""
        self._singles.append(asked)
        self._size += 1

    def add_stream(self, caller: Caller) -> None:
        """Take a caller in from whom requests are pulled."""
        if caller.next_request is not None:
            self._streams.append(caller)

    def put_back(self, requests: Iterable[QueuedRequest]) -> None:
        """Put requests to the front that come back from a replica without a reply."""
        wanted = [asked for asked in requests if not asked.is_withdrawn]
        for asked in wanted:
            asked.on_withdrawal = None
        self._returned.extendleft(reversed(wanted))
        self._size += len(wanted)

    def take(self, now: float) -> QueuedRequest | None:
        """Return the request that goes next, or None."""
        if (asked := self._take_from(self._returned)) is not None:
            return asked
        self._single_is_next = not self._single_is_next
        if self._single_is_next:
            return self._take_from(self._singles) or self._pull(now)
        return self._pull(now) or self._take_from(self._singles)

    def fail(self, reason: str) -> None:
        """Fail all requests that wait."""
        for queue in (self._returned, self._singles):
            while (asked := self._take_from(queue)) is not None:
                asked.answer(Completion.failed(reason))
        for caller in self._streams:
            caller.refusal = reason  # its own task pulls and fails the rest: it may be endless
            caller.wake()
        self._streams.clear()

    def withdraw(self, caller: Caller) -> None:
        """Forget the requests of a caller who has gone."""
        if caller in self._streams:
            self._streams.remove(caller)
        for asked in caller.unanswered:
            asked.is_withdrawn = True
            if asked.on_withdrawal is None:
                self._size -= 1
            else:
                asked.on_withdrawal()

    def _take_from(self, queue: deque[QueuedRequest]) -> QueuedRequest | None:
        while queue:
            if not (asked := queue.popleft()).is_withdrawn:
                self._size -= 1
                return asked
        return None

    def _pull(self, now: float) -> QueuedRequest | None:
        for _ in range(len(self._streams)):
            caller = self._streams[0]
            self._streams.rotate(-1)
            if not caller.is_blocked:
                asked = caller.pull(now)
                if caller.next_request is None:
                    self._streams.remove(caller)
                return asked
        return None

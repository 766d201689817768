"""What a client process knows of a replica: its load, its calls, and what broke."""

import asyncio
import math
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

from raybench.engines.base import Heartbeat, ReplicaHandle
from raybench.engines.request_queue import QueuedRequest
from raybench.types import Request

_QUEUE_FACTOR = 2
"""A replica holds at most this many times max_num_seqs requests, over all processes."""
_LONG_QUEUE = 1.5
"""A replica with more than this many times max_num_seqs requests can wait for the next ones."""
_FIRST_REQUESTS = 2
"""Requests for a replica that has not told its max_num_seqs, which is at least 1."""
_SHARES = 8
"""A process may always have max_num_seqs / 8 requests at a replica, however many others have."""
_GATHER_S = 0.02
"""Between two calls to a busy replica: what can be sent meanwhile goes in one call."""
_CALLS_AT_ONCE = 16
"""Calls that an engine with room is sent without gathering."""
_REST_S = 5.0
"""How long a replica whose call broke is sent nothing."""
_PREFIX_CHARACTERS = 256
_PREFIXES = 4096
"""Different beginnings are thrown together into this many."""
_CLOCK_ERROR_S = 1e-6


@dataclass(slots=True, eq=False)
class KnownReplica:
    """A replica, as this process knows it."""

    name: str
    handle: ReplicaHandle
    is_open: bool = True
    """Whether it is sent requests."""
    assignments: int = 0
    """How often it was opened."""
    outstanding: int = 0
    """Requests that this process has there."""
    others: int = 0
    """Requests that other processes had there at the last heartbeat."""
    max_num_seqs: int = 0
    """0 until a heartbeat tells it."""
    calls: "set[ReplicaCall]" = field(default_factory=set)
    last_call_at: float = -math.inf
    incidents: int = 0
    """How often its calls broke: all at once count once."""
    failures: int = 0
    """Incidents since its last reply."""
    rests_until: float = -math.inf

    def note_load(self, heartbeat: Heartbeat) -> None:
        """Take in how much it has to do."""
        self.max_num_seqs = heartbeat.max_num_seqs
        self.others = max(0, heartbeat.running + heartbeat.waiting - self.outstanding)

    def note_broken(self, call: "ReplicaCall", now: float) -> bool:
        """Leave it alone for a while. Return whether this is a new incident.

        When it dies, all its calls break, which is one incident: it tells its size again then.
        """
        self.rests_until = now + _REST_S
        if call.incident != self.incidents:
            return False
        self.incidents += 1
        self.failures += 1
        self.max_num_seqs = self.others = 0
        return True

    def load(self) -> int:
        """Return how many requests it has, of all processes."""
        return self.outstanding + self.others

    def limit(self) -> int:
        """Return how many requests this process may have there."""
        if not self.max_num_seqs:
            return _FIRST_REQUESTS
        share = max(1, self.max_num_seqs // _SHARES)
        most = _QUEUE_FACTOR * self.max_num_seqs - self.others
        if 0 < self.others < self.outstanding:
            most -= share  # which the others can take, until they have as many
        return max(most, share)

    def room(self) -> int:
        """Return how many more requests it may be sent."""
        return self.limit() - self.outstanding

    def due_at(self, now: float) -> float:
        """Return when it may be called: at once if its engine has room, or else not often.

        While its queue is long, a call waits until it has enough requests. Each call has
        heartbeats, so there should not be one for each request.
        """
        if self.rests_until > now + _CLOCK_ERROR_S:
            return self.rests_until
        load = self.load()
        if load < max(1, self.max_num_seqs) and len(self.calls) < _CALLS_AT_ONCE:
            return now
        limit = self.limit()
        enough = min(self.max_num_seqs, limit) / _SHARES
        if load > _LONG_QUEUE * self.max_num_seqs and limit - self.outstanding < enough:
            return math.inf
        at = self.last_call_at + _GATHER_S
        return at if at > now + _CLOCK_ERROR_S else now


@dataclass(slots=True, eq=False)
class ReplicaCall:
    """Requests that went to a replica together."""

    replica: KnownReplica
    unanswered: dict[int, QueuedRequest]
    incident: int
    """The incidents of the replica when it began; likewise its assignments."""
    assignment: int
    listeners: int
    """Of the unanswered requests, those that a caller still waits for."""
    task: "asyncio.Task[None] | None" = None
    is_heard: bool = False
    """Whether anything has come back."""
    is_over: bool = False
    silent_looks: int = 0
    """Looks since then at which nothing had come."""

    def cancel(self) -> None:
        """Stop listening."""
        if self.task is not None:
            self.task.cancel()

    def lose_listener(self) -> None:
        """Take in that nobody waits for one of the requests; end where nobody waits for any."""
        self.listeners -= 1
        if not self.listeners:
            self.cancel()


class Router:
    """Chooses one of some replicas for each request.

    Requests that begin alike prefer the same replica, whose prefix cache then serves them.
    """

    def __init__(self, replicas: Sequence[KnownReplica]) -> None:
        self._replicas = replicas
        self._preferred: dict[int, KnownReplica] = {}

    def choose(self, request: Request, due: Sequence[KnownReplica]) -> KnownReplica:
        """Return the preferred replica, or the one with least to do of those that are due.

        The preferred one is taken if it is due, and does not have much more to do.
        """
        least = min(due, key=KnownReplica.load)
        if len(self._replicas) == 1:
            return least
        preferred = self.preferred(request)
        tolerated = max(preferred.max_num_seqs, least.max_num_seqs) / _SHARES
        is_taken = preferred in due and preferred.load() - least.load() <= tolerated
        return preferred if is_taken else least

    def preferred(self, request: Request) -> KnownReplica:
        """Return the replica for all requests with the same beginning.

        Rendezvous hashing: every process says the same, and a replica that comes or goes changes
        nothing between the others.
        """
        system = "".join(it.content for it in request.messages if it.role == "system")
        first = next((it.content for it in request.messages if it.role != "system"), "")
        beginning = f"{system}\0{first[:_PREFIX_CHARACTERS]}"
        prefix = zlib.crc32(beginning.encode(errors="replace")) % _PREFIXES
        if (replica := self._preferred.get(prefix)) is None:
            replica = max(self._replicas, key=lambda it: _rank(prefix, it.name))
            self._preferred[prefix] = replica
        return replica


def _rank(prefix: int, name: str) -> bytes:
    return blake2b(f"{prefix} {name}".encode(), digest_size=8).digest()

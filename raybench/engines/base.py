"""What clients, replicas and the scheduler of engines say to each other."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from raybench.types import Completion, Request

Placed = tuple[int, Completion]
"""A completion and the position of its request in the call that asked for it."""


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """How a replica is doing, sent with the replies of every call that it works on."""

    running: int
    """Requests that its engine works on, whoever asked."""
    waiting: int
    """Requests that it holds for its engine, whoever asked."""
    max_num_seqs: int
    """Requests that its engine can work on at once."""


@dataclass(frozen=True, slots=True)
class HandedBack:
    """Requests that a replica which closes gives back unanswered, before its call ends."""

    places: tuple[int, ...]
    """Their positions in the call."""


ReplicaEvent = Placed | Heartbeat | HandedBack


@dataclass(frozen=True, slots=True)
class DemandReport:
    """What one client process wants of one engine."""

    client: str
    engine: str
    ready: int
    """Requests that could be sent now."""
    outstanding: int
    """Requests that are with a replica."""
    remaining: int
    """Requests that are known to come later; 0 where nobody knows."""
    models: Mapping[str, int] = field(default_factory=dict, hash=False)
    """All of these by the model that is asked, for people."""


class ReplicaClosed(Exception):  # an answer, not a fault
    """The replica takes no more requests: it is about to sleep or to stop."""


class ReplicaHandle(Protocol):
    """One replica, as a client process sees it."""

    def stream(self, requests: Sequence[Request]) -> AsyncGenerator[ReplicaEvent]:
        """Answer these requests, each reply as soon as it is there.

        Raises ReplicaClosed for requests that the replica hands back without an answer, and
        whatever the connection raises where the replica dies.
        """
        ...


def prefix_order(requests: Sequence[Request]) -> list[int]:
    """Return the positions of the requests in the order in which an engine should get them.

    Requests that begin alike, however far, are neighbours: the engine's prefix cache then needs to
    hold no more than what is worked on. Equal requests keep their order.
    """
    paths = [[(it.role, it.content, *it.images) for it in request.messages] for request in requests]
    return sorted(range(len(requests)), key=paths.__getitem__)

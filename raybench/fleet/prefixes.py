"""The order in which a batch goes to an engine: what begins alike goes side by side."""

from collections.abc import Sequence

from raybench.types import Request


def prefix_order(requests: Sequence[Request]) -> list[int]:
    """Return the places of the requests in the order of submission.

    The lexicographic order of the messages is the depth-first order of the tree of their prefixes:
    requests that share one, however long, are neighbours, so an engine's prefix cache needs to hold
    no more than the branch at hand. Equal requests keep their order.
    """
    if len(requests) == 1:
        return [0]
    return sorted(range(len(requests)), key=lambda place: _path(requests[place]))


def _path(request: Request) -> list[tuple[str, ...]]:
    return [(message.role, message.content, *message.images) for message in request.messages]

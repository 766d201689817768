"""Processes that Ray starts beside a cluster, and that one which ends with the run does without."""

import contextlib
from collections.abc import Iterator
from unittest.mock import patch

BYSTANDERS = {
    "start_log_monitor": "passes what workers print on to drivers; ours asks for nothing of it",
    "start_monitor": "tells an autoscaler of what is lacking; here is one machine",
    "start_api_server": "shows the dashboard and takes jobs",
}
"""By the method of Ray's `Node` that starts it, what it is for.

Each is a Python of its own that imports Ray: all three together are 0.8 s of its start, 1 s of its
end, and then they take a hundredth of a processor for themselves (measured).
"""


@contextlib.contextmanager
def without_bystanders() -> Iterator[None]:
    """Have a Ray that is started meanwhile begin without them."""
    from ray._private.node import Node

    with contextlib.ExitStack() as stack:
        for name in BYSTANDERS:
            stack.enter_context(patch.object(Node, name, lambda *given, **named: None))
        yield

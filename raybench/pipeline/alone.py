"""Ray Data without the actors that it has beside a graph, where this process has Ray for itself.

Each is a process that takes two processor seconds to start, 60 MiB, and then a hundredth of a
processor for doing nothing (Ray's workers look for signals a hundred times a second). What they are
asked is known here, too.
"""

from collections.abc import Callable, Mapping
from typing import Any
from uuid import uuid4

Answer = Callable[..., Any]


class Standin:
    """Takes the calls of an actor that is not there, and answers those that want an answer."""

    def __init__(self, **answers: Answer) -> None:
        self._answers = answers

    def __getattr__(self, name: str) -> "Asked":
        """Return what an actor's handle has under a method's name."""
        if name.startswith("_"):  # not a method of any: pickle looks for such
            raise AttributeError(name)
        return Asked(self._answers.get(name))


class Asked:
    """A method of an actor that is not there."""

    def __init__(self, answer: Answer | None) -> None:
        self._answer = answer

    def remote(self, *given: Any, **named: Any) -> Any:
        """Return a reference to the answer; None where nobody waits for one."""
        import ray

        return None if self._answer is None else ray.put(self._answer(*given, **named))


def _number() -> str:
    return uuid4().hex


def _unmoved(actors: Any) -> Mapping[str, str]:
    """Tell which of these actors have moved since they told where they are: on one node, none."""
    return {}


def _everything(requester: str) -> Mapping[str, Mapping[str, float]]:
    """Return what one driver may have of the nodes that nobody shares with it."""
    import ray

    return {node["NodeID"]: node["Resources"] for node in ray.nodes() if node["Alive"]}


_STANDINS = {
    # Numbers datasets, and gathers figures for a dashboard that is not there either.
    "ray.data._internal.stats.get_or_create_stats_actor": Standin(gen_dataset_id=_number),
    # Remembers where actors are that were started again.
    "ray.data._internal.execution.operators.actor_pool_map_operator"
    ".get_or_create_actor_location_tracker": Standin(get_actor_locations=_unmoved),
    "ray.data._internal.utils.cached_ray_internals.get_or_create_actor_location_tracker": Standin(
        get_actor_locations=_unmoved
    ),
    # Shares nodes out among drivers, and asks an autoscaler for more.
    "ray.data._internal.cluster_autoscaler.default_autoscaling_coordinator"
    ".get_or_create_autoscaling_coordinator": Standin(get_reserved_resources=_everything),
}
"""By the function of Ray Data that starts it or finds it, what stands in for each actor."""


def settle() -> None:
    """Have Ray Data start none of them, in this process, with a Ray that this process started."""
    from importlib import import_module

    for path, standin in _STANDINS.items():
        module, _, name = path.rpartition(".")
        of = import_module(module)
        plain = getattr(of, name)
        if not isinstance(plain, Either):
            setattr(of, name, Either(plain, standin))


class Either:
    """Finds the actor, or what stands in for it with a Ray of our own."""

    def __init__(self, plain: Callable[[], Any], standin: Standin) -> None:
        self._plain = plain
        self._standin = standin

    def __call__(self) -> Any:
        """Return its handle."""
        from ray._private import worker

        node = worker._global_node
        # Of a Ray that was joined, by Ray's client even, this process has not started a node.
        return self._standin if node is not None and node.head else self._plain()

"""Slots for untrusted code on every node of a cluster: work goes to whichever is free.

A slot is a Ray actor that has servers of its own (`places.py`), one user and one core for its
programs. What a slot is given is a function that may call `sandbox.run`; it is called there.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

from raybench import sandbox
from raybench.sandbox.errors import SandboxFaultError, SandboxUnavailableError
from raybench.sandbox.outcome import Profile
from raybench.sandbox.places import Settings

T = TypeVar("T")

_TRIES = 3
"""How often work is begun whose slot dies under it."""
_LONGEST_S = 2 * 3600.0
"""Programs have limits of their own; a slot that has not answered after so long is out of reach."""


class Slot:
    """One place where programs run; made an actor below."""

    def __init__(self, settings: Settings) -> None:
        """Run programs in this process as told."""
        sandbox.configure(settings)

    def call(self, function: Callable[..., T], arguments: Sequence[Any]) -> T:
        """Call a function here."""
        return function(*arguments)


@dataclass
class _Place:
    """A slot of a node, whichever actor it is just now."""

    node: str
    """By Ray's name."""
    settings: Settings
    actor: Any = None

    def begin(self) -> None:
        """Start its actor."""
        import ray
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        actor = ray.remote(Slot).options(
            num_cpus=0,  # a slot's programs have a core of their own, which is not Ray's to give
            # Where the node is no more, this fails, and waits for none that is like it.
            scheduling_strategy=NodeAffinitySchedulingStrategy(self.node, soft=False),
        )
        self.actor = actor.remote(self.settings)

    def end(self) -> None:
        """End it, and what runs in it."""
        import ray

        ray.kill(self.actor)


@dataclass
class _Node:
    """The slots of one node."""

    slots: list[_Place]
    free: list[_Place]
    alone: bool = False
    """Somebody wants the node, or has it, for himself."""


class Pool:
    """The slots, as one process that gives out work sees them."""

    def __init__(self, settings: Settings, each: int | None = None) -> None:
        """Make slots on every node: so many each as it has cores for, or one for all but one."""
        self._nodes = []
        for name, cores in _nodes().items():
            # More than a core each, and they would only be in one another's way.
            count = min(each, max(1, cores)) if each else max(1, cores - 1)
            slots = [_Place(name, replace(settings, slot=number)) for number in range(count)]
            for slot in slots:
                slot.begin()
            self._nodes.append(_Node(slots, [*slots]))
        self._turn = asyncio.Condition()

    @property
    def slots(self) -> int:
        """Return how many programs run at once."""
        return sum(len(node.slots) for node in self._nodes)

    async def call(self, function: Callable[..., T], *arguments: Any, alone: bool = False) -> T:
        """Call a function in a free slot; `alone`, while its node's other slots do nothing.

        A slot that dies under it, or its node, costs another try; further slots of a node that is
        gone cost none. Raises what the function raises, and SandboxFaultError where slots die every
        time.
        """
        from ray.exceptions import RayError, RayTaskError

        tries, gone = 0, set[str]()
        while tries < _TRIES:
            async with self._taken(alone) as (node, slot):
                try:
                    answer = slot.actor.call.remote(function, arguments)
                    result: T = await asyncio.wait_for(answer, _LONGEST_S)
                except RayTaskError as error:
                    raise error.cause from None
                except (RayError, TimeoutError) as error:
                    last = str(error) or f"no answer within {_LONGEST_S:g} s"
                    renewed = await self._renew(node, slot)
                    tries += renewed or slot.node not in gone
                    gone |= set() if renewed else {slot.node}
                    continue
                return result
        raise SandboxFaultError(
            f"a slot of the sandbox died {_TRIES} times over the same work: {last}. The work has "
            "no outcome; run again, with fewer slots (sandbox.slots=1) if memory is short"
        )

    async def ready(self, profiles: Iterable[Profile] = ("plain",)) -> None:
        """Have every slot run a first program. Raises SandboxUnavailableError where one cannot."""
        every = [slot for node in self._nodes for slot in node.slots]
        for profile in profiles:
            first = partial(sandbox.run, "", profile=profile)
            begun = asyncio.gather(*(slot.actor.call.remote(first, ()) for slot in every))
            try:
                await asyncio.wait_for(begun, _LONGEST_S)
            except TimeoutError:
                raise SandboxUnavailableError(
                    f"a first program in every slot of the sandbox took more than {_LONGEST_S:g} "
                    "s: look at `ray status`, then run again"
                ) from None

    async def _renew(self, node: _Node, slot: _Place) -> bool:
        """Start a slot that died anew; one whose node died goes with it. Return whether it did not.

        A node that has just died may pass for one that is there: that shows at the next try.
        """
        slot.end()  # it may be out of reach and no more
        if slot.node in await asyncio.to_thread(_nodes):
            slot.begin()
            return True
        node.slots.remove(slot)
        return False

    @asynccontextmanager
    async def _taken(self, alone: bool) -> AsyncIterator[tuple[_Node, _Place]]:
        async with self._turn:
            if alone:
                node = await self._emptied()
            else:
                node = await self._open()
            slot = node.free.pop()
        try:
            yield node, slot
        finally:
            async with self._turn:
                if slot in node.slots:
                    node.free.append(slot)
                node.alone = node.alone and not alone
                self._turn.notify_all()

    async def _open(self) -> _Node:
        """Wait for a node with a free slot that nobody wants for himself; the emptiest first."""
        while True:
            if there := [node for node in self._there() if node.free and not node.alone]:
                return max(there, key=lambda node: len(node.free))
            await self._turn.wait()

    async def _emptied(self) -> _Node:
        """Wait for a node to oneself."""
        while True:
            if there := [node for node in self._there() if not node.alone]:
                node = max(there, key=lambda node: len(node.free))
                node.alone = True
                try:
                    while len(node.free) < len(node.slots):
                        await self._turn.wait()
                except BaseException:  # he no longer waits
                    node.alone = False
                    self._turn.notify_all()
                    raise
                if node.slots:
                    return node
            else:
                await self._turn.wait()

    def _there(self) -> list[_Node]:
        """Return the nodes that are left."""
        if there := [node for node in self._nodes if node.slots]:
            return there
        raise SandboxUnavailableError(
            "every node that programs ran on has died: look at `ray status`, then run again"
        )

    def close(self) -> None:
        """End all slots, and what runs in them."""
        for node in self._nodes:
            for slot in node.slots:
                slot.end()


def _nodes() -> dict[str, int]:
    """Return the nodes that compute, by Ray's names for them, and how many cores each has."""
    import ray

    alive = [node for node in ray.nodes() if node["Alive"]]
    cores = {node["NodeID"]: int(node["Resources"].get("CPU", 0)) for node in alive}
    return {name: count for name, count in cores.items() if count} or dict([*cores.items()][:1])

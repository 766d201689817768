"""Slots for untrusted code on the nodes of a cluster.

A slot is a Ray actor that has servers of its own (`places.py`), one user and one core for its
programs. What a slot is given is a function that may call `sandbox.run`; it is called there.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

from raybench import sandbox
from raybench.config import labels
from raybench.errors import Problem, RaybenchError
from raybench.sandbox.errors import SandboxUnavailableError
from raybench.sandbox.outcome import Profile
from raybench.sandbox.places import Settings

T = TypeVar("T")

TRIES = 3
"""How often work is begun whose slot dies under it."""
LONGEST_S = 2 * 3600.0
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
class Place:
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
class Node:
    """The slots of one node."""

    name: str
    """Ray's."""
    address: str
    slots: list[Place]
    free: list[Place] = field(default_factory=list)
    alone: bool = False
    """Somebody wants the node, or has it, for himself."""

    async def opened(self, profiles: Sequence[Profile]) -> RaybenchError | None:
        """Have a first program run in every slot; return why the node will not do."""
        for slot in self.slots:
            slot.begin()
        refusal: RaybenchError | None = None
        try:
            async with asyncio.timeout(LONGEST_S):
                await asyncio.gather(*(self._first(slot, profiles) for slot in self.slots))
        except RaybenchError as error:
            refusal = error
        except TimeoutError:
            refusal = SandboxUnavailableError(
                Problem(
                    "sandbox.unavailable",
                    f"a first program took more than {LONGEST_S:g} s",
                    fix="look at `ray status`",
                )
            )
        if refusal is not None:
            for slot in self.slots:
                slot.end()
        self.free = [*self.slots]
        return refusal

    async def _first(self, slot: Place, profiles: Sequence[Profile]) -> None:
        from ray.exceptions import RayError, RayTaskError

        tries = 0
        for profile in profiles:
            first = partial(sandbox.run, "", profile=profile)
            while slot in self.slots:
                try:
                    await slot.actor.call.remote(first, ())
                    break
                except RayTaskError as error:
                    raise error.cause from None
                except RayError as error:
                    tries += await self.renew(slot)
                    if tries == TRIES:
                        raise SandboxUnavailableError(
                            Problem(
                                "sandbox.unavailable",
                                f"a slot died {TRIES} times over its first program: {error}",
                            )
                        ) from error

    async def renew(self, slot: Place) -> bool:
        """Start a slot that died anew; one whose node died goes with it. Return whether it did not.

        A node that has just died may pass for one that is there: that shows at the next try.
        """
        slot.end()  # it may be out of reach and no more
        if self.name in await asyncio.to_thread(alive):
            slot.begin()
            return True
        self.slots.remove(slot)
        return False


def nodes(
    settings: Settings, each: int | None, on: Mapping[str, str], *, any_will_do: bool = False
) -> list[Node]:
    """Return the nodes that compute, of those with these labels; their slots are not begun yet.

    Each has so many slots as it has cores for, or one for all but one. Where no node has a core to
    give and `any_will_do`, it is one of them.
    """
    there = alive(on)
    computing = {name: it for name, it in there.items() if it[1]}
    if not computing and any_will_do:
        computing = dict([*there.items()][:1])
    found = []
    for name, (address, cores) in computing.items():
        # More than a core each, and they would only be in one another's way.
        count = min(each, max(1, cores)) if each else max(1, cores - 1)
        slots = [Place(name, replace(settings, slot=number)) for number in range(count)]
        found.append(Node(name, address, slots))
    return found


def alive(on: Mapping[str, str] | None = None) -> dict[str, tuple[str, int]]:
    """Return the nodes that are there, by Ray's names: their addresses, and how many cores."""
    import ray

    return {
        node["NodeID"]: (node["NodeManagerAddress"], int(node["Resources"].get("CPU", 0)))
        for node in ray.nodes()
        if node["Alive"] and labels.chosen(node["Labels"], on or {})
    }

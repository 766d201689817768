"""The slots of a cluster, given out: work goes to whichever is free.

Programs run on every node on which a first one did, also on nodes that come while work goes on.
Nodes that go take their slots with them; where all are gone, another one is waited for. A slot
takes no processor of Ray's, so that what is lacking is asked of its autoscaler here (`demands.py`):
a first node where there is none, and more where work would wait for long.
"""

import asyncio
import math
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from types import MappingProxyType
from typing import Any, TypeVar

from raybench import demands
from raybench.config import labels
from raybench.demands import Demand, NoneComesError
from raybench.errors import Problem, RaybenchError
from raybench.sandbox import slots
from raybench.sandbox.errors import SandboxFaultError, SandboxUnavailableError
from raybench.sandbox.outcome import Profile
from raybench.sandbox.places import Settings
from raybench.sandbox.slots import LONGEST_S, TRIES, Node, Place
from raybench.statements import Statement

T = TypeVar("T")
Refused = tuple[str, RaybenchError]
"""The address of a node on which programs cannot run, and the reason."""

_LOOK_S = 10.0
"""How often is looked whether nodes have come, while work goes on."""
_AWAITED_S = demands.AWAITED_S
"""How long another node is waited for where every one is gone."""
_SOON_S = 300.0
"""More slots are asked for where work would wait longer than this: a node takes minutes to come."""
_TOLD = 5
"""Of so many nodes at most is told why they will not do, where none will."""
_GONE = 5
"""How many nodes may die under the same work."""
_AHEAD = 2
"""Work of each slot that may be prepared: what runs, and what comes next."""


class Pool:
    """The slots, as one process that gives out work sees them."""

    def __init__(
        self,
        settings: Settings,
        each: int | None = None,
        *,
        on: Mapping[str, str] = MappingProxyType({}),
        profiles: Sequence[Profile] = ("plain",),
        say: Callable[[str], None] = lambda text: None,
        demand: str | None = None,
    ) -> None:
        """Have so many slots on every node as it has cores for, or one for all but one.

        `on` chooses nodes by their labels, `profiles` are what programs may need, `say` is told of
        nodes that are left out or waited for; `demand` names what is asked of the cluster, for
        whoever takes it back where this process is killed.
        """
        self._settings, self._each, self._on = settings, each, on
        self._profiles, self._say = profiles, say
        self._nodes: list[Node] = []
        self._tried: set[str] = set()
        """All nodes that a first program was to run on, by Ray's names."""
        self._opening = asyncio.Lock()
        self._looked = 0.0
        self._looking: asyncio.Task[None] | None = None
        self._turn = asyncio.Condition()
        self._prepared = 0
        self._demand = Demand({"CPU": 1}, on, demand or demands.new_name())
        self._deserted = False
        """It was told that every node is gone."""
        self._vain = False
        """Nodes that came did not do, or none come: no more are asked for."""
        self._waiting = self._done = 0
        self._worked_s = 0.0

    @property
    def slots(self) -> int:
        """Return how many programs run at once."""
        return sum(len(node.slots) for node in self._nodes)

    async def ready(self) -> None:
        """Have a first program run in every slot of every node.

        Raises SandboxUnavailableError where no node will do, with the reasons.
        """
        lack = ""
        try:
            await self._called_for()
        except NoneComesError as none:
            lack = f", {none}"
        refused = await self._open()
        if self.slots:
            self._tell(refused)
        elif not refused:
            raise SandboxUnavailableError(
                Problem(
                    "sandbox.unavailable",
                    f"the cluster has no node for programs{self._where()}{lack}",
                    fix="look at `ray status`",
                )
            )
        elif len(refused) == 1:
            raise refused[0][1]
        else:
            told = "".join(f"\n{address}: {why}" for address, why in refused[:_TOLD])
            more = f"\nand {len(refused) - _TOLD} more" if len(refused) > _TOLD else ""
            raise SandboxUnavailableError(
                Problem(
                    "sandbox.unavailable", f"programs can run on none of the nodes:{told}{more}"
                )
            )

    async def call(self, function: Callable[..., T], *arguments: Any, alone: bool = False) -> T:
        """Call a function in a free slot; `alone`, while its node's other slots do nothing.

        A slot that dies under it costs another try. Nodes that die with it cost none, but for work
        that seems to bring them down. Raises what the function raises, and SandboxFaultError where
        slots die every time.
        """
        from ray.exceptions import RayError, RayTaskError

        tries, gone = 0, set[str]()
        while tries < TRIES and len(gone) < _GONE:
            async with self._taken(alone) as (node, slot):
                began = time.monotonic()
                try:
                    answer = slot.actor.call.remote(function, arguments)
                    result: T = await asyncio.wait_for(answer, LONGEST_S)
                except RayTaskError as error:
                    raise error.cause from None
                except (RayError, TimeoutError) as error:
                    last = str(error) or f"no answer within {LONGEST_S:g} s"
                    if await node.renew(slot):
                        tries += 1
                    else:
                        gone.add(slot.node)
                    continue
                finally:
                    self._done += 1
                    self._worked_s += time.monotonic() - began
                return result
        nodes = f", and {len(gone)} nodes" if gone else ""
        raise SandboxFaultError(
            Problem(
                "sandbox.failed",
                f"a slot of the sandbox died {tries} times over the same work{nodes}: {last}. The "
                "work has no outcome",
                setting="sandbox.slots",
                fix="run again, with fewer slots (sandbox.slots=1) if memory is short",
            )
        )

    @asynccontextmanager
    async def soon(self) -> AsyncIterator[None]:
        """Wait until a slot may be free before long: work for it need not be prepared sooner."""
        async with self._turn:
            self._waiting += 1
            try:
                await self._turn.wait_for(lambda: self._prepared < max(1, _AHEAD * self.slots))
            finally:
                self._waiting -= 1
            self._prepared += 1
        try:
            yield
        finally:
            async with self._turn:
                self._prepared -= 1
                self._turn.notify_all()

    def close(self) -> None:
        """End all slots, and what runs in them."""
        if self._looking is not None:
            self._looking.cancel()
        self._demand.close()
        for node in self._nodes:
            for slot in node.slots:
                slot.end()

    async def _open(self) -> list[Refused]:
        """Open the slots of nodes that are new; return which ones will not do, and why."""
        async with self._opening:
            # A cluster without a core that is Ray's to give has programs, too. But where nodes that
            # compute have gone, those that are not to are left alone.
            first = not self._tried
            found = await asyncio.to_thread(
                slots.nodes, self._settings, self._each, self._on, any_will_do=first
            )
            new = [node for node in found if node.name not in self._tried]
            refused = await asyncio.gather(*(node.opened(self._profiles) for node in new))
            # Not before: who is interrupted here leaves them new.
            self._tried |= {node.name for node in new}
            self._looked = time.monotonic()
        told = [(node, why) for node, why in zip(new, refused, strict=True)]
        async with self._turn:
            self._nodes += [node for node, why in told if why is None and node.slots]
            self._turn.notify_all()
        return [(node.address, why) for node, why in told if why is not None]

    async def _look(self) -> None:
        """Look for new nodes beside the work that goes on; again and again, if any were asked for.

        What is asked for has to be taken back when there is nothing more to do.
        """
        try:
            while True:
                refused = await self._open()
                self._tell(refused)
                self._vain = self._vain or bool(refused)
                count = 0 if self._vain else lacking(self._waiting, self._each_s, self.slots)
                await asyncio.to_thread(self._want, count)
                if self._vain or not count:
                    return
                await asyncio.sleep(_LOOK_S)
        finally:
            self._looking = None

    @property
    def _each_s(self) -> float:
        """Return how long a call takes."""
        return self._worked_s / self._done if self._done else 0.0

    async def _called_for(self) -> None:
        """Wait for a node to try where none is left. Raises NoneComesError."""
        await demands.come(
            self._none,
            self._demand,
            f"a node for programs{self._where()}",
            within_s=_AWAITED_S,
            setting="",
            say=self._say,
        )

    def _none(self) -> int:
        """Return 1 where no node is there that computes and was not tried."""
        found = slots.nodes(self._settings, self._each, self._on)
        return int(all(node.name in self._tried for node in found))

    def _tell(self, refused: Sequence[Refused]) -> None:
        for address, why in refused:
            self._say(
                Statement(
                    "sandbox.no_programs_on",
                    "no programs run on {address}: {why}",
                    address=address,
                    why=why,
                )
            )

    def _where(self) -> str:
        return f" with {labels.told(self._on)} (sandbox.nodes)" if self._on else ""

    @asynccontextmanager
    async def _taken(self, alone: bool) -> AsyncIterator[tuple[Node, Place]]:
        if self._looking is None and time.monotonic() - self._looked > _LOOK_S:
            self._looking = asyncio.create_task(self._look())
        async with self._turn:
            self._waiting += 1
            try:
                node = await (self._emptied() if alone else self._with_room())
            finally:
                self._waiting -= 1
            slot = node.free.pop()
        try:
            yield node, slot
        finally:
            async with self._turn:
                if slot in node.slots:
                    node.free.append(slot)
                node.alone = node.alone and not alone
                self._turn.notify_all()

    async def _with_room(self) -> Node:
        """Wait for a node with a free slot that nobody wants for himself; the emptiest first."""
        while True:
            if there := [node for node in await self._there() if node.free and not node.alone]:
                return max(there, key=lambda node: len(node.free))
            await self._turn.wait()

    async def _emptied(self) -> Node:
        """Wait for a node to oneself."""
        while True:
            if there := [node for node in await self._there() if not node.alone]:
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

    async def _there(self) -> list[Node]:
        """Return the nodes that are left; where there is none, ask and wait for one that comes."""
        until = time.monotonic() + _AWAITED_S
        while not (there := [node for node in self._nodes if node.slots]):
            if time.monotonic() > until:
                raise SandboxUnavailableError(
                    Problem(
                        "sandbox.unavailable",
                        "every node that programs ran on has died, and no other one came within "
                        f"{_AWAITED_S:g} s{self._where()}",
                        fix="look at `ray status`, then run again",
                    )
                )
            if not self._deserted:
                self._deserted = True
                self._say(
                    Statement(
                        "sandbox.no_nodes",
                        "every node that programs ran on is gone; waiting{where}",
                        where=self._where(),
                    )
                )
            self._turn.release()
            try:
                self._tell(await self._open())
                if not self.slots:
                    await asyncio.to_thread(self._want, 1)
                await asyncio.sleep(0 if self.slots else 1)
            finally:
                await self._turn.acquire()
        if self._deserted:
            self._deserted = False
            await asyncio.to_thread(self._demand.want, 0)
        return there

    def _want(self, count: int) -> None:
        """Ask for room for so many slots more, where asking may bring it."""
        if count and not demands.may_come():
            count, self._vain = 0, True
        self._demand.want(count)


def lacking(waiting: int, each_s: float, slots: int) -> int:
    """Return how many slots more it takes for what waits to be done soon."""
    return max(0, math.ceil(waiting * each_s / _SOON_S) - slots)

"""Nodes that a cluster has not, and may bring: how they are asked for, and waited for.

What is asked for is a placement group. `ray status` shows it while it is waited for, Ray's
autoscaler brings a node for it, and Ray drops it with the driver, however that ends. (Ray's own
`request_resources` has one value for a whole cluster, which Ray Data sets as well, and which stays
when a driver is killed.)
"""

import asyncio
import contextlib
import threading
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from raybench import ray_patches
from raybench.config import labels
from raybench.errors import Problem, RunFailed

AWAITED_S = 900.0
"""How long a node is waited for, where no setting says so."""
_LOOK_S = 1.0
_REFUSED_S = 30.0
"""After so long the autoscaler is believed that it has no node to bring: another may just go."""
_MOST = 256
"""A demand more is a group more that Ray tries to place."""
_NODE = "ray.io/node-id"


class NoneComesError(RunFailed):
    """What is lacking does not come; the text says why, and is a part of what is to be said."""


@dataclass
class Demand:
    """What is lacking, of which so many are asked for; on nodes that are not there yet.

    On a node that is there, what asks for no processor of Ray's leaves room that is none.
    """

    amounts: Mapping[str, float]
    """Ray's resources of one."""
    on: Mapping[str, str] = field(default_factory=dict)
    """Labels of the nodes."""
    name: str = field(default_factory=lambda: new_name())
    """What all of its groups' names begin with."""
    _groups: list[Any] = field(default_factory=list)
    _there: frozenset[str] = frozenset()
    _numbered: int = 0
    _closed: bool = False
    _one: threading.Lock = field(default_factory=threading.Lock)
    """Who waits in another thread may be cancelled, and it goes on."""

    def want(self, count: int) -> None:
        """Have so many asked for, and no more; it costs nothing to say again what is wanted."""
        with self._one:
            if not self._closed:
                self._want(min(count, _MOST))

    def withdraw(self) -> None:
        """Ask for nothing any more, for now."""
        with self._one:
            self._withdraw()

    def close(self) -> None:
        """Ask for nothing any more, whoever still wants it."""
        with self._one:
            self._closed = True
            self._withdraw()

    def _want(self, count: int) -> None:
        from ray.util.placement_group import placement_group

        if count == len(self._groups) == 0:
            return
        there = frozenset(_alive())
        if len(self._groups) == count and there == self._there:
            return
        self._withdraw()
        new = {_NODE: f"!in({','.join(sorted(there))})"}
        selector = new | labels.for_ray(self.on)
        for _ in range(count):  # each by itself: a group of several comes as a whole or not at all
            self._numbered += 1
            group = placement_group(
                [dict(self.amounts)],
                name=f"{self.name}/{self._numbered}",
                bundle_label_selector=[selector],
            )
            self._groups.append(group)
        self._there = there

    def _withdraw(self) -> None:
        from ray.util.placement_group import remove_placement_group

        while self._groups:
            with contextlib.suppress(Exception):  # whoever lost the cluster asks it for nothing
                remove_placement_group(self._groups.pop())

    def refused(self) -> bool:
        """Tell whether the autoscaler has no kind of node for it, or no more of that kind."""
        ours = {group.id.hex() for group in self._groups}
        try:
            infeasible = ray_patches.infeasible_groups()
        except Exception:  # Ray's own trouble shows elsewhere
            return False
        return bool(ours) and ours <= infeasible


def new_name() -> str:
    """Return a name that nothing else has that is asked of the cluster."""
    return f"raybench/{uuid4().hex}"


@asynccontextmanager
async def withdrawn(name: str) -> AsyncIterator[None]:
    """See to it that what actors ask for under this name meanwhile is not asked for after that.

    Ray keeps what an actor asked for until the driver ends, and not the actor.
    """
    try:
        yield
    finally:
        with contextlib.suppress(Exception):
            await asyncio.to_thread(_withdraw, name)


def _withdraw(name: str) -> None:
    import ray
    from ray.util.placement_group import (
        get_placement_group,
        placement_group_table,
        remove_placement_group,
    )

    if not ray.is_initialized():
        return  # it would start one
    for group in placement_group_table().values():
        if group["name"].startswith(f"{name}/") and group["state"] != "REMOVED":
            remove_placement_group(get_placement_group(group["name"]))


def may_come() -> bool:
    """Tell whether nodes come because they are asked for by their labels.

    Ray's old autoscaler knows no labels, and in a cluster that nobody scales none comes at all.
    """
    from ray.autoscaler.v2.utils import is_autoscaler_v2

    try:
        return bool(is_autoscaler_v2(fetch_from_server=True))
    except Exception:  # through a Ray client nobody knows
        return False


async def come(
    lacking: Callable[[], int],
    demand: Demand,
    what: str,
    *,
    within_s: float,
    setting: str,
    say: Callable[[str], None],
    by_themselves: bool = False,
) -> None:
    """Ask for what is lacking, and wait until nothing is.

    `by_themselves`: they are waited for also where nobody brings them. Raises NoneComesError, whose
    text follows on from what is lacking.
    """
    if not await asyncio.to_thread(lacking):
        return
    asked = await asyncio.to_thread(may_come)
    if not asked and not by_themselves:
        raise NoneComesError(Problem("resources.nodes", "and no autoscaler that could bring one"))
    say(f"waiting for {what}{', asked of the autoscaler' * asked}: `ray status` tells more")
    began = refused = time.monotonic()
    try:
        while count := await asyncio.to_thread(lacking):
            now = time.monotonic()
            if now - began > within_s:
                raise NoneComesError(
                    Problem("resources.nodes", f"and none came within {setting}{within_s:g} s")
                )
            if asked:
                await asyncio.to_thread(demand.want, count)
                if not await asyncio.to_thread(demand.refused):
                    refused = now
                if now - refused > _REFUSED_S:
                    raise NoneComesError(
                        Problem(
                            "resources.nodes",
                            "and the autoscaler has no kind, or no more, of such nodes",
                        )
                    )
            await asyncio.sleep(_LOOK_S)
    finally:
        demand.withdraw()
    say(f"{what}: there")


def _alive() -> list[str]:
    import ray

    return [node["NodeID"] for node in ray.nodes() if node["Alive"]]

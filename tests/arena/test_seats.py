"""Work over several seats: nothing that one brings is lost by what happens to another."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

import pytest
from ray.exceptions import RayActorError

from raybench.arena.seats import Seats

pytestmark = pytest.mark.virtual_time


@dataclass
class Wanted:
    key: int

    @property
    def turn(self) -> int:
        return self.key

    def left(self, brought: "Wanted") -> None:
        return None


class Ready:
    """Brings everything at once."""

    def __init__(self) -> None:
        self.orders: list[Wanted] = []

    async def put(self, orders: Sequence[Wanted]) -> None:
        self.orders += orders

    async def pick_up(self) -> Sequence[Wanted]:
        brought, self.orders = self.orders, []
        return brought

    def leave(self) -> None:
        pass


class Dead(Ready):
    """Dies when it is waited for."""

    async def pick_up(self) -> Sequence[Wanted]:
        raise RayActorError


class Slow(Ready):
    """Takes a while for everything."""

    async def put(self, orders: Sequence[Wanted]) -> None:
        await asyncio.sleep(0.2)
        await super().put(orders)

    async def pick_up(self) -> Sequence[Wanted]:
        await asyncio.sleep(0.2)
        return await super().pick_up()


async def test_a_wait_that_ends_loses_nothing_also_while_a_seat_is_replaced() -> None:
    seats = Seats[Wanted, Wanted]([Ready(), Dead()], Slow)
    await seats.put([Wanted(0), Wanted(1)])
    found = [await seats.pick_up(0.01)]
    while sum(map(len, found)) < 2:
        found.append(await seats.pick_up(0.01))
    await seats.close()
    assert sorted(it.key for some in found for it in some) == [0, 1]
    assert [] in found  # the time was up, and what was under way went on

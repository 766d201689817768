"""A room takes what is put into it, and plays it afterwards."""

import asyncio
from typing import Any

import pytest
from arena.playing import fleet_of, house, models

from raybench import games
from raybench.arena import room as rooms
from raybench.arena.manager import Manager
from raybench.arena.room import Begun, Room
from raybench.fleet import Fleet
from raybench.fleet.simulated import SimulatedEngine
from raybench.games import MANAGER
from raybench.tournament.fixtures import Fixture
from raybench.tournament.turns import Turn


async def test_nobody_waits_for_matches_that_were_put_before_others() -> None:
    # A pool that is held up here keeps no turn meanwhile, and a kill would lose them all.
    async def fleet() -> Fleet:
        return fleet_of(SimulatedEngine(), models())

    room = Room(fleet, house(at_once=400))
    orders = [Begun(n, 0, Fixture("liars_dice", ("a", "b"), seed=n)) for n in range(400)]
    try:
        await room.put(orders)
        first = await room.pick_up()
    finally:
        await room.close()
    assert all(told.ending is None and len(told.turns) <= 1 for told in first)


async def test_an_error_is_told_after_what_happened_before_it() -> None:
    async def fleet() -> Fleet:
        return fleet_of(SimulatedEngine(), models())

    async def over() -> None:
        async with asyncio.timeout(30):
            while room._working:
                await asyncio.sleep(0)

    fixture = Fixture("liars_dice", ("a", "b"), seed=1)
    impossible = Turn(games.MANAGER, "", "", "", "", "no", None)
    room = Room(fleet, house())
    try:
        await room.put([Begun(1, 0, fixture)])
        await over()
        await room.put([Begun(2, 0, fixture, [impossible])])
        await over()
        (told,) = await room.pick_up()
        assert told.number == 1 and told.turns and told.ending is not None
        async with asyncio.timeout(30):
            with pytest.raises(games.InvalidMove):
                await room.pick_up()
    finally:
        await room.close()


async def test_who_was_asked_before_a_cut_is_asked_on_with_other_seeds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    managers = []

    class Watched(Manager):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            managers.append(self)

    monkeypatch.setattr(rooms, "Manager", Watched)

    async def fleet() -> Fleet:
        return fleet_of(SimulatedEngine(), models())

    def turn(role: str, **more: Any) -> Turn:
        return Turn(role, "", "move", "", "", "", None, **more)

    kept = [turn("player_1", calls=2), turn(MANAGER, calls=0), turn("player_1"), turn(MANAGER)]
    order = Begun(1, 0, Fixture("liars_dice", ("a", "b"), seed=1), kept)
    room = Room(fleet, house())
    try:
        seat: Any = room.seat(order, "player_1", "a", lambda *_: None)  # type: ignore[arg-type]
        assert seat.asked == 3
        await room.put([order])
        with pytest.raises(games.InvalidMove):  # these were no turns of the game
            await room.pick_up()
    finally:
        await room.close()
    assert [it.asked for it in managers] == [2]

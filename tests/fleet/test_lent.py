"""A fleet that several use in turn: each has the engines, under its own names and account."""

import asyncio

from raybench.config import FleetConf
from raybench.engines.scheduler.move_costs import Swaps
from raybench.experiments.parts.within import House
from raybench.fleet import open_fleet
from raybench.types import Message, ModelSpec, Request, Sampling

ONE = ModelSpec("one", "simulated", "", options={"ability": 0.5})
OTHER = ModelSpec("other", "simulated", "", options={"ability": 0.5})
ASKED = [Request((Message("user", "Hello"),), seed=1)]


def test_each_has_an_account_of_its_own() -> None:
    async def go() -> None:
        async with open_fleet([ONE, OTHER], FleetConf(), lambda text: None) as fleet:
            with fleet.lent([ONE]) as first:
                await first.complete("one", ASKED)
            with fleet.lent([ONE, OTHER]) as second:
                await second.complete("one", ASKED * 2)
                await second.complete("other", ASKED)
            assert first.account.total.requests == 1 and {*first.account.models} == {"one"}
            assert second.account.models["one"].requests == 2
            total = fleet.account.total
            assert (total.requests, total.under_way) == (4, 0), "the lender has them all"
            assert fleet.account.models["one"].requests == 3

    asyncio.run(go())


def test_swaps_and_failures_are_told_to_who_borrows_since_then() -> None:
    async def go() -> None:
        async with open_fleet([ONE, OTHER], FleetConf(), lambda text: None) as fleet:
            fleet.account.note(Swaps(2, 10.0, 0.1, 4, 100.0), ["one"], {})
            with fleet.lent([ONE]) as lent:
                assert lent.account.swaps.count == 0 and lent.account.arriving == ["one"]
                failed = {"one": "broke", "other": "broke too"}
                fleet.account.note(Swaps(3, 40.0, 0.2, 5, 200.0), ["other"], failed)
                assert lent.account.swaps == Swaps(1, 30.0, 0.3, 1, 100.0)
                assert lent.account.failed == {"one": "broke"} and lent.account.arriving == []
            assert fleet.account.swaps.count == 3 and len(fleet.account.failed) == 2

    asyncio.run(go())


def test_a_model_may_be_asked_otherwise_than_the_fleet_has_it() -> None:
    async def go() -> None:
        async with House([ONE], FleetConf()) as house:
            hot = ModelSpec("one", "simulated", "", sampling=Sampling(1.0), options=ONE.options)
            async with house.fleet([hot], print, ray=False) as fleet:
                (reply,) = await fleet.complete("one", ASKED)
                assert reply.finish == "stop"

    asyncio.run(go())


def test_engines_come_up_when_they_are_first_asked_for_and_once() -> None:
    async def go() -> None:
        async with House([ONE, OTHER], FleetConf(), parent="above") as house:
            assert house.tags == {"mlflow.parentRunId": "above"}
            async with house.fleet([ONE], print, ray=False) as first:
                pass
            async with house.fleet([OTHER], print, ray=False) as second:
                assert first is not second
                assert [*first._engines.values()] == [*second._engines.values()]

    asyncio.run(go())

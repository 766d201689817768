"""Who forfeits by time: the slow, and not those whose requests wait for one another, or hang."""

import asyncio
import re
from collections.abc import Mapping
from typing import Any

import pytest
from arena.playing import here, house, played
from virtual_time import Exchange, VirtualEndpoint, now

from raybench.config import FleetConf
from raybench.fleet import Fleet, group_engines
from raybench.fleet.remote import RemoteEngine
from raybench.tournament import pairing
from raybench.tournament.match import Terms
from raybench.tournament.schedule import Schedule
from raybench.tournament.stopping import Stop
from raybench.types import ModelSpec

pytestmark = pytest.mark.virtual_time

_DEADLINE_S = 60.0
_MATCHES = 24
_QUICK_S = 2 * _DEADLINE_S / _MATCHES


class Table(VirtualEndpoint):
    """Bids one die, which the next one calls, as slowly as each model plays."""

    def __init__(self, pace: Mapping[str, float]) -> None:
        super().__init__()
        self.pace = {**pace}
        self.hung: set[str] = set()
        """Models whose requests are taken and never answered."""
        self.busy = False
        """Every request is told once to come again."""
        self._told: set[str] = set()

    async def play(self, exchange: Exchange) -> None:
        asked = str(exchange.body)
        refused = self.busy and asked not in self._told
        self._told.add(asked)
        if refused:
            return exchange.send(429, {"error": "slow down"})
        if (model := exchange.body["model"]) in self.hung:
            await asyncio.Event().wait()
        prompt = exchange.body["messages"][0]["content"]
        if "Bids:" not in prompt:  # somebody wants to know whether it answers at all
            said = {"message": {"content": "Hello"}, "finish_reason": "stop"}
            return exchange.send(200, {"choices": [said]})
        await asyncio.sleep(self.pace[model])
        bids = re.findall(r"(\d+) (?:dice|die) of (\d+)", prompt[prompt.rindex("Bids:") :])
        dice, face = map(int, bids[-1]) if bids else (0, 3)
        move = "call" if dice else f"bid 1 {face}"
        message = {"message": {"content": f"Move: {move}"}, "finish_reason": "stop"}
        return exchange.send(200, {"choices": [message]})


@pytest.fixture
def table() -> Table:
    return Table({"quick": _QUICK_S, "quiet": _QUICK_S, "slow": 2 * _DEADLINE_S})


async def records(
    table: Table,
    *models: str,
    at_once: int,
    matches: int = _MATCHES,
    replays: int = 2,
    **fleet_conf: Any,
) -> list[dict[str, Any]]:
    options = {"base_url": table.url, "concurrency": 2}
    specs = [ModelSpec(name, "openai", name, options=options) for name in models]
    of = house(terms=Terms(deadline_s=_DEADLINE_S), stand_ins=frozenset(), at_once=at_once)
    dealt = pairing.matchmaking("random", [*models], {"liars_dice": 2}, seed=3, size=4)
    plan = Schedule(dealt, Stop(matches=matches))
    (grouped,) = group_engines(specs)
    engine = RemoteEngine(options, FleetConf(**fleet_conf), lambda _: None, now)
    fleet = Fleet([grouped], {grouped.name: engine})
    async with table:
        found = await played(here(fleet, of), of, {}, plan=plan, at_once=at_once, replays=replays)
        await engine.close()
    return found


@pytest.mark.parametrize("busy", [False, True], ids=["places", "and refusals"])
async def test_nobody_forfeits_for_the_queue_before_an_endpoint(table: Table, busy: bool) -> None:
    """Of 24 requests two are sent at once: the last ones wait as long as the deadline is."""
    table.busy = busy
    began = now()
    found = await records(table, "quick", "quiet", at_once=_MATCHES)
    assert len(found) == _MATCHES
    assert not [it for it in found if it["forfeits"] or it["void"]]
    # It is the matches that wait: were that counted, the last ones would be late.
    turns = [turn for match in found for turn in match["turns"]]
    assert now() - began >= len(turns) / 2 * _QUICK_S > _DEADLINE_S
    assert [turn["seconds"] for turn in turns] == pytest.approx([_QUICK_S] * len(turns))


@pytest.mark.parametrize("at_once", [1, 4])
async def test_who_is_slow_forfeits_however_few_play(table: Table, at_once: int) -> None:
    found = await records(table, "quick", "slow", at_once=at_once, matches=at_once)
    for match in found:
        (forfeit,) = match["forfeits"]
        assert (match["seats"][forfeit["role"]], forfeit["reason"]) == ("slow", "time")


async def test_who_is_not_done_at_the_deadline_is_not_waited_for(table: Table) -> None:
    """Its request is ended: such a match takes no longer than the deadline and a word."""
    table.pace = {"quick": 1.0, "slow": 1e6}
    began = now()
    (found,) = await records(table, "quick", "slow", at_once=1, matches=1)
    (forfeit,) = found["forfeits"]
    assert (found["seats"][forfeit["role"]], forfeit["reason"]) == ("slow", "time")
    last = found["turns"][-1]
    assert (last["move"], last["truncated"]) == (None, True) and last["error"]
    assert last["seconds"] == pytest.approx(_DEADLINE_S)
    assert now() - began < 2 * _DEADLINE_S


async def test_who_hangs_does_not_forfeit(table: Table) -> None:
    """It answers nobody, so that it is not slow: the match is void."""
    table.hung = {"slow"}
    found = await records(
        table,
        "quick",
        "slow",
        at_once=1,
        matches=1,
        replays=0,
        reply_deadline_s=1.5 * _DEADLINE_S,
        endpoint_attempts=1,
    )
    (match,) = found
    assert not match["forfeits"]
    assert match["missing"] == "slow"
    assert match["void"].startswith("slow ")

"""What was replied is credited to who replied it, however many play at once."""

import asyncio
import json
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from arena.playing import fleet_of, here, house

from raybench.arena.pool import Lines, Pool
from raybench.fleet.simulated import SimulatedEngine
from raybench.games import MANAGER
from raybench.tournament import pairing
from raybench.tournament.schedule import Schedule
from raybench.tournament.stopping import Stop
from raybench.types import Completion, ModelSpec, Request

pytestmark = pytest.mark.virtual_time

PLAYERS = [f"m{number:02}" for number in range(24)]
CARELESS = {*PLAYERS[::2]}
JURORS = ["x", "y"]
GAMES = {"liars_dice": 2, "debate": 2, "poker": 3}


class Signed(SimulatedEngine):
    """Takes a while, another one for each reply, and signs what it replies with the model's name.

    Half the models write no move in one of three replies: forfeits have to find the right ones.
    """

    def __init__(self) -> None:
        super().__init__()
        self._rng = random.Random(5)
        self.busy = self.busiest = 0
        self.wrote: Counter[str] = Counter()

    async def complete(self, model: ModelSpec, requests: Sequence[Request]) -> list[Completion]:
        replies = await super().complete(model, requests)
        self.busy += 1
        self.busiest = max(self.busiest, self.busy)
        await asyncio.sleep(self._rng.random() * 0.3)
        self.busy -= 1
        signed = [self._signed(model.name, *each) for each in zip(requests, replies, strict=True)]
        self.wrote[model.name] += sum(it.output_tokens for it in signed)
        return signed

    def _signed(self, name: str, request: Request, reply: Completion) -> Completion:
        if request.json_schema is not None:
            return reply
        hm = name in CARELESS and self._rng.random() < 0.33
        text = f"I am {name}.\n{'Hm.' if hm else reply.text}"
        return replace(reply, text=text, output_tokens=int(name[1:]) + 1000)


async def test_results_of_hundreds_of_matches_at_once_are_those_of_who_replied() -> None:
    """Were players' settings shared, some replies would be credited to another model."""
    specs = [ModelSpec(it, "simulated", "") for it in (*PLAYERS, *JURORS)]
    plan = pairing.matchmaking("random", PLAYERS, GAMES, seed=3, size=48)
    of = house(
        at_once=300, jurors=JURORS, stand_ins=frozenset([*PLAYERS, *JURORS]),
        rules={"debate": {"rebuttals": 0}, "poker": {"players": 3, "hands": 1}},
    )  # fmt: skip
    engine = Signed()
    counted: Counter[str] = Counter()
    lines: list[Any] = []

    def count(model: str, completion: Completion) -> None:
        counted[model] += completion.output_tokens

    async def keep(some: Lines) -> None:
        lines.extend(some)

    pool = Pool(
        Schedule(plan, Stop(matches=240)), here(fleet_of(engine, specs), of), of,
        at_once=320, replays=2, keep=keep, count=count,
    )  # fmt: skip
    found = [record async for some in pool.matches() for record in some]
    assert engine.busiest > 50, "many replies were under way at once"
    assert sorted(it["match"] for it in found) == [*range(1, 241)]

    invalid = Counter[str]()
    for record in found:
        for turn in record["turns"]:
            if turn["role"] == MANAGER:
                votes = json.loads(turn["move"])["votes"]
                assert [it["juror"] for it in votes] == JURORS
                continue
            assert turn["model"] == record["seats"][turn["role"]]
            assert turn["reply"].startswith(f"I am {turn['model']}.\n")
            assert turn["tokens"] == int(turn["model"][1:]) + 1000
            invalid[turn["model"]] += turn["error"] is not None
    assert {*+invalid} == CARELESS
    lost = {it["seats"][each["role"]] for it in found for each in it["forfeits"]}
    assert lost and lost <= CARELESS
    assert counted == engine.wrote
    told = [it for it in lines if it.get("model")]
    assert all(it["reply"].startswith(f"I am {it['model']}.\n") for it in told)

"""Nothing is shared by matches whose players are programs: each goes on when its own reply comes.

How near the rate then is to the ideal one a clock has to say: perf/games_pool.py.
"""

import asyncio
import random
import re
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field

import pytest
from arena.playing import house, models, played

from raybench.arena.chair import Put
from raybench.arena.room import Begun, House, Room
from raybench.arena.rooms import Rooms
from raybench.arena.seats import Seats
from raybench.fleet import Fleet, group_engines
from raybench.tournament.match import Seated
from raybench.tournament.strategies import Strategies
from raybench.types import Completion, ModelSpec, Request

AT_ONCE = 32
_BID = re.compile(r"(\d+) (?:dice|die) of (\d+)")
OWN = """
import dspy

class Twice(dspy.Module):
    def __init__(self):
        super().__init__()
        self.plan = dspy.Predict("view, task -> plan")
        self.act = dspy.Predict("view, task, plan -> move")

    async def aforward(self, view, task):
        plan = await self.plan.acall(view=view, task=task)
        return await self.act.acall(view=view, task=task, plan=plan.plan)
"""


@dataclass
class Held:
    """An engine that replies when it is let, to whom it is let."""

    waiting: dict[int, asyncio.Event] = field(default_factory=dict)
    """By the seeds of requests, in the order in which they came."""
    free: bool = False
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def complete(self, model: ModelSpec, requests: Sequence[Request]) -> list[Completion]:
        (request,) = requests
        assert request.seed is not None and request.seed not in self.waiting
        if not self.free:
            let = self.waiting[request.seed] = asyncio.Event()
            async with self.changed:
                self.changed.notify_all()
            await let.wait()
        return [Completion(_reply(request.messages[-1].content), "stop", output_tokens=5)]

    def expect(self, model: ModelSpec, requests: int) -> None:
        """Plan for nothing."""

    async def wait_for_room(self) -> None:
        """Return at once."""

    async def stream(
        self, model: ModelSpec, requests: Sequence[Request]
    ) -> AsyncGenerator[tuple[int, Completion]]:
        for placed in enumerate(await self.complete(model, requests)):
            yield placed

    def let(self, *seeds: int) -> None:
        for seed in seeds:
            self.waiting.pop(seed).set()

    def let_all(self) -> None:
        self.free = True
        self.let(*self.waiting)

    async def full(self) -> list[int]:
        """Return who waits, when there are as many as there may be."""
        async with self.changed:
            await asyncio.wait_for(
                self.changed.wait_for(lambda: len(self.waiting) == AT_ONCE), timeout=60
            )
        return [*self.waiting]


def _reply(prompt: str) -> str:
    """Return a plan, a higher bid or a call, in the form that is asked for."""
    if "[[ ## plan ## ]]" in prompt.rpartition("Respond with")[2]:
        return "[[ ## plan ## ]]\nI raise."
    bids = _BID.findall(prompt, prompt.rindex("Bids:"))
    quantity, face = map(int, bids[-1]) if bids else (0, 3)
    move = "call" if quantity > 3 else f"bid {quantity + 1} {face}"
    return f"[[ ## move ## ]]\n{move}" if "[[ ## " in prompt else f"Move: {move}"


class Named(Room):
    """A room that knows which match a request is for."""

    matches: dict[int, int]

    def seat(self, order: Begun, role: str, model: str, put: Put) -> Seated:
        async def known(model: str, request: Request) -> Completion:
            assert request.seed is not None
            self.matches[request.seed] = order.number
            return await put(model, request)

        return super().seat(order, role, model, known)


def room(engine: Held, of: House) -> Named:
    (spec,) = group_engines(models())

    async def given() -> Fleet:
        return Fleet([spec], {spec.name: engine})

    made = Named(given, of)
    made.matches = {}
    return made


@pytest.mark.parametrize("module", ["predict", "chain_of_thought", "own_no_lock:Twice"])
async def test_all_ask_at_once_and_whoever_gets_a_reply_first_goes_on_first(
    own: str, module: str
) -> None:
    of = house(
        at_once=AT_ONCE, strategies=Strategies({"use": "program", "module": module}),
        stand_ins=frozenset(),
    )  # fmt: skip
    engine, drawn = Held(), random.Random(module)
    there = room(engine, of)
    opened: Rooms = Seats([there])
    async with asyncio.TaskGroup() as group:
        tournament = group.create_task(
            played(opened, of, {"liars_dice": 2}, 160, at_once=AT_ONCE + 8)
        )
        for _ in range(4):
            for _ in range(AT_ONCE // 2):  # one by one
                seed = drawn.choice(before := await engine.full())
                engine.let(seed)
                (new,) = {*await engine.full()} - {*before}
                match, after = there.matches[seed], there.matches[new]
                others = {there.matches[it] for it in before} - {match}
                assert after not in others, "it went on itself, or ended and made room"
            engine.let(*await engine.full())  # all together
            found = {there.matches[it] for it in await engine.full()}
            assert len(found) == AT_ONCE, "a call of each match"
        engine.let_all()
    records = tournament.result()
    assert [it["match"] for it in records] == [*range(1, 161)]
    assert not any(it["forfeits"] or turn["error"] for it in records for turn in it["turns"])

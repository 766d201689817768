"""What the person is told of the endpoints that tables wait for, whatever process they are in."""

import pytest
from http_endpoint import Busy

from raybench.arena.decoding import Decoding
from raybench.arena.table import Order
from raybench.arena.tables import tables
from raybench.autobench.settings import DIFFICULTIES, Settings
from raybench.autobench.steps import Draw, Step
from raybench.config import FleetConf
from raybench.fleet import open_fleet
from raybench.fleet.link import Link
from raybench.types import ModelSpec

DECODING = Decoding({"task": 64, "task_rating": 16, "answer": 64, "answer_rating": 16})


@pytest.mark.parametrize("actors", [0, pytest.param(1, marks=pytest.mark.ray)])
async def test_what_an_endpoint_is_waited_for_is_told(actors: int) -> None:
    said: list[str] = []
    step = Step(Draw(1, "", DIFFICULTIES[0], ()), 0, "answer", task="What is a boat?")
    with Busy() as server:
        far = ModelSpec("far", "openai", "far", options={"base_url": server.url})
        async with open_fleet([far], FleetConf(), said.append, ray=actors > 0) as fleet:
            link = Link.to(fleet, [far], FleetConf())
            asked = tables(
                fleet, link, Settings(("far",)), DECODING, actors=actors, say=said.append
            )
            async with asked as opened:
                await opened.put([Order(step, (0,))])
                (batch,) = await opened.pick_up()
    assert batch.replies[0].text == "Answer: A"
    assert any("too busy" in told and "again in 1 s" in told for told in said), said

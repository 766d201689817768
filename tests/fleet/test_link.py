"""The fleet from another process: what travels there, and what must not be seen on the way."""

import pickle

import pytest

from raybench.config import FleetConf
from raybench.fleet import open_fleet
from raybench.fleet.link import Link
from raybench.types import Message, ModelSpec, Request

STAND_IN = ModelSpec("sim", "simulated", "")
HOSTED = ModelSpec(
    "hosted",
    "openai",
    "name",
    options={"base_url": "http://127.0.0.1:9/v1", "api_key_env": "LINK_CANARY"},
)
KEY = "sk-canary-3kq9Zt7Wb2Xv8Lp4"


async def test_a_link_that_travelled_opens_the_same_door() -> None:
    request = Request((Message("user", "What is 2 + 2?"),), seed=3)
    async with open_fleet([STAND_IN], FleetConf(), lambda text: None) as fleet:
        link = pickle.loads(pickle.dumps(Link.to(fleet, [STAND_IN], FleetConf())))
        (here,) = await fleet.complete("sim", [request])
        async with link.open() as there:
            assert [here] == await there.complete("sim", [request])


async def test_keys_travel_unseen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LINK_CANARY", KEY)
    monkeypatch.setenv("OPENAI_API_KEY", KEY[::-1])  # of another, whom nobody asks
    async with open_fleet([HOSTED], FleetConf(), lambda text: None) as fleet:
        link = Link.to(fleet, [HOSTED], FleetConf())
    assert link.secrets == {"LINK_CANARY": KEY}
    assert KEY not in repr(link)

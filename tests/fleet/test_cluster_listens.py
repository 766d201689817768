"""Where a Ray of our own listens: on this machine's loopback, and nowhere else."""

import socket
import stat
from pathlib import Path

import pytest
from listening import Listener, listeners
from own_ray import told

PROGRAM = """
import asyncio, json
from listening import listeners
from raybench.config import FleetConf
from raybench.fleet.cluster import serving
from raybench.fleet.loopback import replica_inside

class Deployed:
    def __init__(self) -> None:
        replica_inside()  # as engines, keepers and the endpoint do

async def main() -> None:
    import ray  # as programs have that use raybench as a library: Ray reads its settings then
    async with serving(FleetConf(), lambda text: None):
        from ray import serve
        await asyncio.to_thread(serve.run, serve.deployment(Deployed).bind(), route_prefix=None)
        print(json.dumps(listeners()))

asyncio.run(main())
"""


@pytest.mark.slow
def test_all_that_listens_is_on_loopback_and_the_token_is_ours_alone(tmp_path: Path) -> None:
    found = [Listener(*each) for each in told(PROGRAM, tmp_path)]
    # The control store, the node's manager and agents, the driver, what Serve has.
    assert {"gcs_server", "raylet"} <= {it.process for it in found}
    assert any("ServeReplica" in it.process for it in found)
    assert len(found) >= 8
    assert [it for it in found if not it.inside] == []
    token = tmp_path / ".ray" / "auth_token"
    assert stat.S_IMODE(token.stat().st_mode) == 0o600


@pytest.mark.parametrize(("address", "inside"), [("0.0.0.0", False), ("127.0.0.1", True)])
def test_what_counts_as_inside(address: str, inside: bool) -> None:
    with socket.create_server((address, 0)) as server:
        port = server.getsockname()[1]
        assert [it.inside for it in listeners() if it.port == port] == [inside]

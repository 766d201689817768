"""Where a Ray of our own listens: on this machine's loopback, and nowhere else."""

import ipaddress
import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from helpers import ROOT

PROGRAM = """
import asyncio, ipaddress, json, sys
import psutil
from raybench.config import FleetConf
from raybench.fleet.cluster import cluster

async def main() -> None:
    if "before" in sys.argv:
        import ray
    async with cluster(FleetConf(), lambda text: None):
        import ray
        ray.get(ray.remote(lambda: None).remote())  # workers listen too
        us = psutil.Process()
        found = [
            (process.name(), link.laddr.ip, link.laddr.port)
            for process in (us, *us.children(recursive=True))
            for link in process.net_connections("inet")
            # What UDP hears is heard unasked, too.
            if link.status == psutil.CONN_LISTEN or (link.type == 2 and not link.raddr)
        ]
    print(json.dumps(found))

asyncio.run(main())
"""


def _inside(address: str) -> bool:
    found = ipaddress.ip_address(address)
    return (getattr(found, "ipv4_mapped", None) or found).is_loopback


@pytest.mark.slow
@pytest.mark.parametrize("imported", ["before", "then"])
def test_all_that_listens_is_on_loopback_and_the_token_is_ours_alone(
    imported: str, tmp_path: Path
) -> None:
    inherited = {name: it for name, it in os.environ.items() if not name.startswith("RAY_")}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, imported],
        env={**inherited, "HOME": str(tmp_path), "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    # The control store, the node's manager and agents, the driver, the worker.
    assert {"gcs_server", "raylet"} <= {name for name, _, _ in found}
    assert len(found) >= 8
    assert [each for each in found if not _inside(each[1])] == []
    token = tmp_path / ".ray" / "auth_token"
    assert stat.S_IMODE(token.stat().st_mode) == 0o600


def test_what_counts_as_inside() -> None:
    assert all(map(_inside, ("127.0.0.1", "::1", "::ffff:127.0.0.1")))
    assert not any(map(_inside, ("0.0.0.0", "::", "192.0.2.1", "::ffff:192.0.2.1")))

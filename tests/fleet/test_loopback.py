"""What engines' libraries do on a machine whose name is an address of its network."""

import json
import subprocess
import sys
from collections.abc import Iterator

import pytest
from helpers import ROOT
from hosts import NEEDS_HOSTS, Lan, lan
from listening import Listener

pytestmark = [pytest.mark.cluster, NEEDS_HOSTS]

GROUP = """
import contextlib, json, sys, tempfile
import torch.distributed as groups
from listening import listeners
from raybench.fleet.loopback import on_loopback

ours = on_loopback() if sys.argv[1:] else contextlib.nullcontext()
with ours, tempfile.TemporaryDirectory() as folder:
    groups.init_process_group("gloo", init_method=f"file://{folder}/store", rank=0, world_size=1)
    print(json.dumps(listeners()))
"""


@pytest.fixture(scope="module")
def machines() -> Iterator[Lan]:
    """Yield a network of one host."""
    with lan(1) as one:
        yield one


@pytest.mark.parametrize("ours", [True, False])
def test_groups_of_processes_listen_inside(ours: bool, machines: Lan) -> None:
    (host,) = machines.hosts
    run = host.run(
        sys.executable, "-c", GROUP, *["ours"] * ours,
        env={**machines.environment(host), "PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}"},
        stdout=subprocess.PIPE,
    )  # fmt: skip
    told, _ = run.communicate(timeout=240)
    assert run.returncode == 0
    found = [Listener(*it) for it in json.loads(told.splitlines()[-1])]
    assert found
    assert [it for it in found if it.inside is not ours] == []

"""An engine whose host dies comes up on another one."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers import NEEDS_MODEL, results_of
from host_failures import FAR, NODE_DIED, cut_off, finish, start, wait_until, working_host
from hosts import NEEDS_HOSTS, Lan, cluster
from undisturbed import journal

ENGINE = "ServeReplica"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Return the disk of the first host: the others do not have it."""
    return tmp_path


@pytest.fixture
def lan(place: Path) -> Iterator[Lan]:
    """Yield a cluster of three hosts; engines go to the last two."""
    with cluster(("--num-cpus=1",), FAR, FAR, hidden=[place]) as lan:
        yield lan


@NEEDS_HOSTS
@NEEDS_MODEL
@pytest.mark.engine
@pytest.mark.timeout(1200)
@pytest.mark.long(
    short="tests/fleet/test_host_real.py::test_batches_and_streams_outlive_the_engine_under_them"
)
def test_an_engine_whose_host_dies_comes_up_on_another(lan: Lan, place: Path) -> None:
    """The other host is one that `fleet.nodes` allows; what was not answered is sent again."""
    folder = place / "engines"
    run = start(
        lan, folder, "+experiment=autobench", "roster=embedded_pair",
        "autobench.iterations=2", "autobench.at_once=1", "autobench.task_tokens=16",
        "autobench.answer_tokens=16", "fleet.nodes={far: yes}",
    )  # fmt: skip
    wait_until(run, lambda: journal(folder, "autobench"))
    cut_off(lan, wait_until(run, lambda: working_host(lan, ENGINE)))
    wait_until(run, lambda: working_host(lan, ENGINE))
    output = finish(run)
    assert NODE_DIED.search(output), output
    assert [it["iteration"] for it in journal(folder, "autobench")] == [1, 2]
    counts = results_of(folder, "autobench")["counts"]
    assert all(it["infra_error"] == 0 for it in counts.values())

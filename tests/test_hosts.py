"""Runs across several hosts, of which one is cut off: every kind of work.

The short form is in `chaos/test_chaos.py`, whose cluster it shares.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from host_failures import FAR, check_that_others_finish
from hosts import NEEDS_HOSTS, Lan, cluster

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.timeout(1200),
    pytest.mark.long(short="tests/chaos/test_chaos.py::test_others_finish_what_a_dead_host_began"),
    NEEDS_HOSTS,
]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the disk of the first host: the others do not have it."""
    return tmp_path_factory.mktemp("first")


SLOWLY = [f"++roster.models.{place}.options.latency_s=5" for place in range(12)]


@pytest.fixture(scope="module")
def hosts(place: Path) -> Iterator[Lan]:
    """Yield a cluster of three hosts; work goes to the last two."""
    with cluster(("--num-cpus=1",), FAR, FAR, hidden=[place]) as lan:
        yield lan


@pytest.fixture
def lan(hosts: Lan) -> Lan:
    """Return the cluster with all hosts connected again."""
    hosts.bring_all_back(*FAR)
    return hosts


@pytest.mark.parametrize(
    ("experiment", "arguments", "actor", "units"),
    [
        # Where replies are graded, before the first one comes: models are asked from the driver's.
        (
            "index",
            ["data=samples", "index.benchmarks=[mmlu_pro]", *SLOWLY],
            "MapWorker(MapBatches(Grade))",
            0,
        ),
        ("autobench", ["autobench.iterations=260"], "_Seated", 1),
        ("games", ["games.names=[liars_dice]", "games.matches=4000"], "_Remote", 1),
    ],
    ids=["benchmarks", "peers", "games"],
)
def test_others_finish_what_a_dead_host_began(
    experiment: str, arguments: list[str], actor: str, units: int, lan: Lan, place: Path
) -> None:
    check_that_others_finish(lan, place, experiment, arguments, actor, units=units)

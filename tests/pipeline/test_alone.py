"""Ray Data starts no actors of its own beside a graph, where the Ray is ours."""

import pickle
from importlib import import_module
from pathlib import Path
from types import FunctionType

import pytest
from own_ray import told

from raybench.pipeline.alone import _STANDINS, Either, Standin, settle

PROGRAM = """
import asyncio, json, sys
from raybench.config import FleetConf
from raybench.fleet import cluster
from raybench.pipeline import alone

class Doubled:
    def __call__(self, block):
        return {"id": block["id"] * 2}

async def main() -> None:
    async with cluster.cluster(FleetConf(address=sys.argv[1]), lambda text: None):
        import ray
        from ray.data import ActorPoolStrategy
        alone.settle()
        ray.data.DataContext.get_current().enable_progress_bars = False
        graph = ray.data.range(100).map_batches(
            Doubled, compute=ActorPoolStrategy(size=1), num_cpus=0.1, batch_size=10
        )
        found = sorted(row["id"] for row in await asyncio.to_thread(graph.take_all))
        named = [it["name"] for it in ray.util.list_named_actors(all_namespaces=True)]
        print(json.dumps({"found": found, "named": named}))

asyncio.run(main())
"""


def run(address: str, folder: Path, **given: str) -> list[str]:
    """Have a graph run on a Ray; return the names of the actors that it leaves there."""
    found = told(PROGRAM, folder, address, **given)
    assert found["found"] == [2 * it for it in range(100)]
    return list(found["named"])


@pytest.mark.slow
def test_with_a_ray_of_our_own_there_are_none(tmp_path: Path) -> None:
    assert run("local", tmp_path) == []


@pytest.mark.slow
def test_with_one_that_is_joined_they_are_as_ray_data_has_them(
    tmp_path: Path, lasting_ray: str
) -> None:
    named = run(lasting_ray, tmp_path, RAY_AUTH_MODE="disabled")
    assert len(named) >= 3
    assert "ActorLocationTracker" in named


def test_ray_data_finds_them_by_functions_of_these_names() -> None:
    settle()
    settle()  # and once is enough
    for path in _STANDINS:
        module, _, name = path.rpartition(".")
        found = getattr(import_module(module), name)
        assert isinstance(found, Either)
        assert isinstance(found._plain, FunctionType)


def test_a_standin_travels_and_answers_only_what_is_waited_for() -> None:
    there = pickle.loads(pickle.dumps(Standin(asked=max)))
    assert there.anything.remote(1, name=2) is None
    assert there.asked._answer is max

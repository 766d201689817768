"""Programs at the end of the graph, on a real Ray: graded, or what keeps them from it told."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from helpers import path_without
from refusals import refused

from raybench import benchmarks
from raybench.config import DataConf, FleetConf
from raybench.fleet import Fleet, open_fleet
from raybench.fleet.link import Link
from raybench.pipeline import datasets, graph
from raybench.pipeline.datasets import Selection
from raybench.pipeline.programs import Slots
from raybench.pipeline.stages import Asking, Unit
from raybench.pipeline.units import Questions, jobs
from raybench.sandbox import SandboxUnavailableError, Settings
from raybench.types import ModelSpec

pytestmark = [
    pytest.mark.ray,
    pytest.mark.timeout(300),
    pytest.mark.asyncio(loop_scope="module"),
]
ABLE = ModelSpec("able", "simulated", "", options={"ability": 1.0, "spread": 0.0})
DULL = ModelSpec("dull", "simulated", "", options={"ability": 0.0, "spread": 0.0})


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def fleet(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Fleet]:
    with pytest.MonkeyPatch.context() as patch:
        # Slots inherit it from Ray, and Ray from whoever starts it.
        patch.setenv("PATH", path_without("bwrap", tmp_path_factory.mktemp("path") / "bin"))
        async with open_fleet(
            (ABLE, DULL), FleetConf(address="local"), lambda text: None, ray=True
        ) as opened:
            yield opened


async def graded(fleet: Fleet, folder: Path, settings: Settings) -> list[Unit]:
    parts = []
    for name in ("humaneval", "mmlu_pro"):
        (found,) = datasets.prepare(
            [benchmarks.load(name)], DataConf(source="samples"), Selection(limit=4), folder / name
        )
        parts.append(Questions(name, [(str(shard), 4) for shard in found.shards], 2))
    models = (ABLE, DULL)
    work = graph.Work(
        jobs([model.name for model in models], parts),
        Asking({model.name: model for model in models}, 0),
        slots=Slots(settings, 2),
    )
    return [
        unit
        async for units in graph.stream(work, Link.to(fleet, models, FleetConf()))
        for unit in units
    ]


async def test_programs_are_run_beside_what_is_none(fleet: Fleet, tmp_path: Path) -> None:
    units = await graded(fleet, tmp_path, Settings())
    assert len(units) == 2 * 2 * (4 + 4)
    for unit in units:
        assert unit["judge_error"] is None
        assert unit["correct"] or unit["model"] == "dull", unit
        assert ("backend" in unit.get("details", {})) == (unit["benchmark"] == "humaneval")
        assert not {"row", "place", "request"} & unit.keys()
    # A stand-in spoils one number of a right program, which not every test minds.
    assert not all(unit["correct"] for unit in units if unit["benchmark"] == "humaneval")


async def test_walls_that_a_slot_cannot_put_up_end_the_run_with_the_mend(
    fleet: Fleet, tmp_path: Path
) -> None:
    with refused("sandbox.unavailable", kind=SandboxUnavailableError) as caught:
        await graded(fleet, tmp_path, Settings("bubblewrap"))
    assert "apt-get install bubblewrap" in str(caught.value)
    assert caught.value.exit_code == 1


async def test_a_python_that_a_node_lacks_ends_the_run_with_the_mend(
    fleet: Fleet, tmp_path: Path
) -> None:
    with refused("sandbox.python", "sandbox.python"):
        await graded(fleet, tmp_path, Settings(python="/nowhere/python"))

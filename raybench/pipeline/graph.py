"""The Ray Data graph: jobs → prompts → generation → grading → checker, and out to who iterates.

It streams: a stage works on a block while the one before it works on the next, and Ray Data holds
back what is not asked for yet, so that memory stays flat however long the benchmarks are.
"""

import asyncio
import json
import logging
import re
from collections.abc import AsyncGenerator, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from raybench.errors import RunFailed
from raybench.fleet.link import Link
from raybench.fleet.quiet import quieten
from raybench.fleet.reasons import last_line
from raybench.pipeline.stages import JOB, UNIT, Asking, Check, Generate, Grade, Unit, prompt
from raybench.pipeline.units import Job
from raybench.types import Grader

_BLOCKS_IN_FLIGHT = 64
"""Blocks that one generation actor holds at once: engines batch what has been sent, not more."""
_ERROR = re.compile(r"^\w+Error: .*", re.MULTILINE)
"""The line of a traceback that says what went wrong: Ray Data has advice follow it."""
_LIGHT, _SOME = 0.01, 0.5
"""CPUs of a stage that only waits for engines, and of one that computes beside them."""


async def stream(
    jobs: Sequence[Job],
    *,
    link: Link,
    asking: Asking,
    checker: str | None,
    done: Sequence[int],
    grader: Grader = "parity",
) -> AsyncGenerator[list[Unit]]:
    """Yield graded units, a block at a time, as they are finished.

    Raises RunFailed where a stage breaks in a way that is no unit's.
    """
    from ray.exceptions import RayError

    try:
        dataset = await asyncio.to_thread(
            _dataset, jobs, link=link, asking=asking, checker=checker, done=done, grader=grader
        )
        blocks = iter(dataset.iter_batches(batch_size=None, batch_format="numpy"))
        while (block := await asyncio.to_thread(next, blocks, None)) is not None:
            yield [json.loads(text) for text in block[UNIT]]
    except RayError as error:
        why = [*_ERROR.findall(str(error)), last_line(str(error))][-2:][0]
        raise RunFailed(
            f"the pipeline broke: {why}. What was finished is kept; Ray's logs have the rest"
        ) from error


def _dataset(
    jobs: Sequence[Job],
    *,
    link: Link,
    asking: Asking,
    checker: str | None,
    done: Sequence[int],
    grader: Grader,
) -> Any:
    import ray
    from ray.data import ActorPoolStrategy

    _quieten()
    cpus = int(ray.cluster_resources().get("CPU", 1))
    # The questions lie on this machine's disk.
    here = ray.get_runtime_context().get_node_id()
    known = ray.put(np.sort(np.array(done, dtype=np.uint64)))
    # One process is enough for engines that answer elsewhere, and keeps an endpoint's limits whole.
    waits = ActorPoolStrategy(
        size=1,
        max_tasks_in_flight_per_actor=_BLOCKS_IN_FLIGHT,
        max_concurrent_calls_per_actor=_BLOCKS_IN_FLIGHT,
    )
    graph = (
        ray.data.from_items(
            [{JOB: json.dumps(asdict(job))} for job in jobs], override_num_blocks=len(jobs)
        )
        .map_batches(
            prompt,
            fn_kwargs={"asking": asking, "done": known},
            batch_size=None,
            num_cpus=_SOME,
            label_selector={"ray.io/node-id": here},
        )
        .map_batches(
            Generate,
            fn_constructor_args=(link,),
            batch_size=None,
            compute=waits,
            num_cpus=_LIGHT,
        )
        .map_batches(
            Grade,
            fn_constructor_args=(asking.seed, grader),
            batch_size=None,
            compute=ActorPoolStrategy(min_size=1, max_size=max(1, cpus // 2)),
            num_cpus=_SOME,
        )
    )
    if checker is not None:
        graph = graph.map_batches(
            Check,
            fn_constructor_args=(link, checker, asking.seed),
            batch_size=None,
            compute=waits,
            num_cpus=_LIGHT,
        )
    return graph


def _quieten() -> None:
    """Have Ray Data say nothing: we show our own progress, and what breaks is ours to tell."""
    import ray

    ray.data.DataContext.get_current().enable_progress_bars = False
    quieten()
    for name in ["ray.data", *logging.root.manager.loggerDict]:
        if name.startswith("ray.data"):
            logging.getLogger(name).setLevel(logging.CRITICAL)

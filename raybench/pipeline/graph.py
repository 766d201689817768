"""The Ray Data graph: jobs → generation → grading → programs → judges → checker, out.

It streams: a process that asks models reads questions as engines have room for them, and hands
replies on as they come. A stage works on a block while the one before it works on the next, and
waits while the next one is behind, so that memory stays flat however long the benchmarks are.
"""

import asyncio
import json
import logging
import math
import re
import sqlite3
import time
from array import array
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from raybench import benchmarks, ray_patches
from raybench.config import labels
from raybench.demands import may_come, new_name, withdrawn
from raybench.errors import Problem, RaybenchError, RunFailed
from raybench.fleet.client import Say
from raybench.fleet.cluster import here, workplace
from raybench.fleet.link import Link, listening
from raybench.fleet.quiet import quieten, without_lines
from raybench.fleet.reasons import last_line
from raybench.pipeline.chains import Said, heard
from raybench.pipeline.checker import Check, Verdicts
from raybench.pipeline.generation import Generate
from raybench.pipeline.judges import Judge, Panel
from raybench.pipeline.losses import Losses, WorkLost
from raybench.pipeline.process import InTurn, Made
from raybench.pipeline.programs import Programs, Slots
from raybench.pipeline.reply_log import ReplyFiles
from raybench.pipeline.stage_reports import Report
from raybench.pipeline.stages import (
    JOBS,
    UNITS,
    Asking,
    Grade,
    Unit,
    ordered,
)
from raybench.pipeline.units import Job, unit_id
from raybench.sandbox.slots import alive
from raybench.types import Grader

_BLOCKS_IN_FLIGHT = 128
"""Blocks that a process holds at once which judges, checks or has programs run. A process that asks
models sends about two a second: so a judge is kept busy whose replies take up to a minute."""
_REPLICAS_EACH = 8
"""Replicas for which one process asks. Each reply costs it about a millisecond."""
_BLOCKS_AT_HAND = 8
"""What lies ready at a process that grades, which works on one at a time. Ray Data looks five to
ten times a second who has done what: with one or two at hand nobody does more than ten or twenty.
"""
_STORED = 0.1
"""Of Ray's object store, what may wait between stages."""
_FEW_UNITS = 10_000
"""So few units are not worth a process for each stage that grades: one costs two seconds to start
and some memory."""
_ERROR = re.compile(r"^\w+Error: .*", re.MULTILINE)
"""The line of a traceback that says what went wrong: Ray Data has advice follow it."""
_LOOK_S = 10.0
"""How often files of replies are looked for that are in the journal by now."""
_LOSSES = 3
"""How often in a row nodes may be lost before anything is finished."""
_REMARK = "has constructor arguments in the object store and max_restarts > 0"
"""What Ray prints of each graph of its own making with actors: theirs stay as long as it does."""
_LIGHT, _SOME = 0.01, 0.5
"""CPUs of a stage that only waits for engines, and of one that computes beside them."""


@dataclass(frozen=True)
class Work:
    """What a graph is to do."""

    jobs: Sequence[Job]
    asking: Asking
    checker: Verdicts | None = None
    judges: Panel | None = None
    """Who says what replies to judged benchmarks are worth."""
    grader: Grader = "parity"
    slots: Slots = field(default_factory=Slots)
    """Where replies that are programs run."""
    done: Sequence[int] = ()
    """Ids of units that need not be asked."""
    said: Said = field(default_factory=dict)
    """What was replied to those of them that others follow."""
    awake: int = 1
    """How many engines work side by side."""


async def stream(
    work: Work,
    link: Link,
    say: Say = lambda text: None,
    warn: Say = lambda text: None,
    report: Callable[[Report], None] | None = None,
) -> AsyncGenerator[list[Unit]]:
    """Yield graded units, a block at a time, as they are finished.

    A node or a process that dies costs what was under way there: the graph begins again with what
    is left.

    `say` is told what endpoints are waited for, `warn` what becomes of nodes, `report` what stages
    have finished of blocks that are under way. Raises RunFailed where a stage breaks in a way that
    is no unit's, or the stage's own error where that speaks to the person.
    """
    nodes = _has_programs(work) and await asyncio.to_thread(_nodes_matter)
    demand = new_name()
    work = replace(work, slots=replace(work.slots, demand=demand))
    async with (
        listening(link, say, nodes=nodes, warn=warn, report=report) as link,
        withdrawn(demand),
    ):
        done, said, losses = array("Q", work.done), dict(work.said), 0
        units_in_all = sum(job.units for job in work.jobs)
        files = None if (log := work.asking.log) is None else ReplyFiles(log.folder)
        looked = time.monotonic()
        while True:
            if on := link.conf.work_nodes:
                await workplace(on, say, link.conf.start_deadline_s)
            try:
                async with aclosing(_streamed(replace(work, done=done, said=said), link)) as blocks:
                    async for units in blocks:
                        losses = 0
                        done.extend(map(unit_id, units))
                        said |= heard(units)
                        yield units
                        if files and time.monotonic() - looked > _LOOK_S:
                            await asyncio.to_thread(files.delete_done, done)
                            looked = time.monotonic()
                if (missing := units_in_all - len(done)) > 0:  # whatever became of them
                    raise WorkLost(f"{missing} samples did not come out of the pipeline")
                if log is not None:
                    await asyncio.to_thread(log.delete)
                return
            except WorkLost as lost:
                losses += 1
                if losses == _LOSSES:
                    raise RunFailed(
                        Problem(
                            "ray.lost",
                            f"the pipeline broke {losses} times before anything was finished, as "
                            f"{lost}. What was finished before is kept",
                            fix="look at `ray status`",
                        )
                    ) from None
                warn(f"{lost}: what was under way is begun anew")


def _nodes_matter() -> bool:
    """Tell whether there are, or may be, nodes of which a stage has something to say."""
    return len(alive()) > 1 or may_come()


async def _streamed(work: Work, link: Link) -> AsyncGenerator[list[Unit]]:
    """Yield graded units. Raises WorkLost where a node or process with work of the graph died."""
    from ray.exceptions import RayActorError, RayError

    from raybench.pipeline import executions

    losses = Losses(executions.nodes)
    try:
        async with executions.thread() as run:
            dataset = await run(_dataset, work, link)
            # One is fetched when it is wanted: the one before it would have to wait for more. And
            # not with `iter_batches`, which sends what is known of all blocks so far to an actor,
            # every five seconds.
            with without_lines(_REMARK):
                bundles = await losses.beside(run(dataset.iter_internal_ref_bundles))
                texts = await losses.beside(run(_fetched, bundles))
            while texts is not None:
                yield [unit for text in texts for unit in json.loads(text)]
                texts = await losses.beside(run(_fetched, bundles))
    except (RayError, OSError, ValueError, sqlite3.Error) as error:
        if isinstance(cause := getattr(error, "cause", None), RaybenchError):
            raise cause from None  # it says what to do
        await losses.look()
        if isinstance(error, RayActorError):
            raise WorkLost("a process that asks models died") from error
        why = [*_ERROR.findall(str(error)), last_line(str(error))][-2:][0]
        raise RunFailed(
            Problem(
                "ray.lost",
                f"the pipeline broke: {why}. What was finished is kept",
                fix="Ray's logs have the rest",
            )
        ) from error


def _fetched(bundles: Iterator[Any]) -> list[str] | None:
    """Return the units of the next blocks that are graded, as JSON; None where all were."""
    import ray
    from ray.data.block import BlockAccessor

    for bundle in bundles:
        blocks = map(BlockAccessor.for_block, ray.get(bundle.block_refs))
        # A process that had nothing to ask leaves a block without columns.
        if texts := [it for block in blocks if block.num_rows() for it in block.to_numpy(UNITS)]:
            return texts
    return None


def _dataset(work: Work, link: Link) -> Any:
    import pyarrow as pa
    import ray
    from ray.data import ActorPoolStrategy
    from ray.data.read_api import from_blocks

    _settle()
    cpus = int(ray.cluster_resources().get("CPU", 1))
    # The questions lie on this machine's disk, and so do earlier responses.
    ours = here()
    anywhere = labels.for_ray(link.conf.work_nodes)
    # Where operators give Ray no processor of this node, its stages take none of Ray's.
    own = sum(cores for _, cores in alive(ours).values())
    light = _LIGHT if own else 0
    few = sum(job.units for job in work.jobs) - len(work.done) < _FEW_UNITS

    def waiting(size: int, blocks: int = _BLOCKS_IN_FLIGHT) -> ActorPoolStrategy:
        return ActorPoolStrategy(
            size=size,
            max_tasks_in_flight_per_actor=blocks,
            max_concurrent_calls_per_actor=blocks,
        )

    gpus = int(ray.cluster_resources().get("GPU", 0))
    processes = 1 if few else generators(link, work.awake, gpus, int(own))
    # Each has a share of every model's jobs: engines grow and shrink while it runs.
    shares = [work.jobs[number::processes] for number in range(processes)]
    rows = [json.dumps([asdict(job) for job in share]) for share in shares]
    # `from_arrow` starts a worker per processor to read the schemas of what is in memory here.
    graph = from_blocks([pa.table({JOBS: [row]}) for row in rows]).map_batches(
        Generate,
        fn_constructor_args=(
            link,
            work.asking,
            ray.put((ordered(work.done), dict(work.said))),
            cpus // (_BLOCKS_IN_FLIGHT // 2),  # so that there are two programs for each
        ),
        batch_size=None,
        compute=ActorPoolStrategy(size=len(rows), max_tasks_in_flight_per_actor=1),
        num_cpus=light,
        label_selector=ours,
        # Ray would have another process begin from the start, and take what comes for the rest.
        max_restarts=0,
        max_task_retries=0,
    )
    grading = _grading(work, link)
    if few and len(grading) > 1:
        return graph.map_batches(
            InTurn,
            fn_constructor_args=(grading,),
            batch_size=None,
            compute=waiting(1, _BLOCKS_IN_FLIGHT * len(grading)),
            num_cpus=light,
            label_selector=ours,
        )
    (rules, given), *others = grading
    graph = graph.map_batches(
        rules,
        fn_constructor_args=given,
        batch_size=None,
        compute=ActorPoolStrategy(
            min_size=1,
            max_size=max(1, cpus // 2),
            max_tasks_in_flight_per_actor=_BLOCKS_AT_HAND,
        ),
        num_cpus=_SOME,
        label_selector=anywhere,
    )
    for stage, given in others:
        graph = graph.map_batches(
            stage,
            fn_constructor_args=given,
            batch_size=None,
            # One process has the slots for all programs.
            compute=waiting(1 if stage is Programs else len(rows)),
            num_cpus=light,
            label_selector=ours,
        )
    return graph


def _grading(work: Work, link: Link) -> list[Made]:
    """Return the stages that grade: by rules, and by what takes programs, judges or a checker."""
    asked = [benchmarks.load(name) for name in {job.benchmark for job in work.jobs}]
    found: list[Made] = [(Grade, (work.asking, work.grader))]
    if _has_programs(work):
        found.append((Programs, (work.slots, link, work.asking, work.grader)))
    if work.judges is not None and any(benchmark.judged for benchmark in asked):
        found.append((Judge, (link, work.judges, work.asking, work.grader)))
    if work.checker is not None:
        found.append((Check, (link, work.checker, work.asking.log)))
    return found


def _has_programs(work: Work) -> bool:
    return any(benchmarks.load(name).sandboxed for name in {job.benchmark for job in work.jobs})


def generators(link: Link, awake: int, gpus: int, cpus: int) -> int:
    """Return how many processes ask models: as replicas need, and processors of this node allow.

    Each GPU may have a replica.
    """
    if link.endpoints:
        return 1  # an endpoint's limits are kept by each process for itself
    return max(1, min(cpus, math.ceil(max(awake, gpus) / _REPLICAS_EACH)))


def _settle() -> None:
    """Have Ray Data do and say only what is wanted: progress and what breaks are ours to tell."""
    import ray

    from raybench.pipeline.executions import Noted, TaskPolling

    ray_patches.replace_data_actors()
    ray_patches.slow_output_polling()
    context = ray.data.DataContext.get_current()
    context.custom_execution_callback_classes = [Noted, TaskPolling]
    context.enable_progress_bars = False
    context.raise_original_map_exception = True  # not a text of it
    context.override_object_store_memory_limit_fraction = _STORED
    context.target_max_block_size = 1  # each row is handed on by itself, at once
    # Nobody reads how much memory a block took, which costs each of them a thread.
    context.memory_usage_poll_interval_s = None
    quieten()
    for name in ["ray.data", *logging.root.manager.loggerDict]:
        if name.startswith("ray.data"):
            logging.getLogger(name).setLevel(logging.CRITICAL)

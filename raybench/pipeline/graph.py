"""The Ray Data graph: jobs → prompts → generation → grading → programs → judges → checker, out.

It streams: a stage works on a block while the one before it works on the next, and Ray Data holds
back what is not asked for yet, so that memory stays flat however long the benchmarks are.
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
from pathlib import Path
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
from raybench.pipeline.judges import Judge, Panel
from raybench.pipeline.losses import Losses, NodesLost
from raybench.pipeline.process import InTurn, Made
from raybench.pipeline.programs import Programs, Slots
from raybench.pipeline.reply_log import ReplyFiles
from raybench.pipeline.stage_reports import Report
from raybench.pipeline.stages import (
    JOB,
    UNIT,
    Asking,
    Generate,
    Grade,
    Prompt,
    Unit,
    ordered,
    prompted,
)
from raybench.pipeline.units import Job, unit_id
from raybench.sandbox.slots import alive
from raybench.types import Grader

_BLOCKS_IN_FLIGHT = 64
"""Blocks that one generation actor holds at once: engines batch what has been sent, not more."""
_ENGINES_EACH = 8
"""Engines that it keeps busy with these: each has 256 requests or more, as many as it batches."""
_JOBS_AT_HAND, _BLOCKS_AT_HAND = 32, 8
"""What lies ready at a process that reads questions, and at one that grades, each of which works on
one at a time. Ray Data looks five to ten times a second who has done what: with one or two at hand
nobody does more than ten or twenty."""
_STORED = 0.1
"""Of Ray's object store, what may wait between stages: who reads questions is far ahead else."""
_UNITS_EACH, _READERS = 10_000, 4
"""Units that are worth a process more, which costs two seconds to start and some memory, and how
many processes read questions at most: each reads thousands of units a second."""
_FEW_BYTES = 64 * 2**20
"""So large are questions at most that are all read before the first is asked."""
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

    A node that dies costs what its actors were at: the graph is begun anew with what is left.

    `say` is told what endpoints are waited for, `warn` what becomes of nodes, `report` what stages
    have finished of blocks that are under way. Raises RunFailed where a stage breaks in a way that
    is no unit's, or the stage's own error where that speaks to the person.
    """
    several = await asyncio.to_thread(_nodes_matter)
    nodes = _has_programs(work) and several
    demand = new_name()
    work = replace(work, slots=replace(work.slots, demand=demand))
    if (log := work.asking.log) is not None:
        log = log.on_cluster(has_other_nodes=several and not link.endpoints)
        work = replace(work, asking=replace(work.asking, log=log))
    async with (
        listening(link, say, nodes=nodes, warn=warn, report=report) as link,
        withdrawn(demand),
    ):
        done, said, losses = array("Q", work.done), dict(work.said), 0
        files = None if log is None else ReplyFiles(log.folder)
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
                if log is not None:
                    await asyncio.to_thread(log.delete)
                return
            except NodesLost as lost:
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
    """Yield graded units. Raises NodesLost where some on which actors of the graph were died."""
    from ray.exceptions import RayError

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
                yield [json.loads(text) for text in texts]
                texts = await losses.beside(run(_fetched, bundles))
    except (RayError, OSError, ValueError, sqlite3.Error) as error:
        if isinstance(cause := getattr(error, "cause", None), RaybenchError):
            raise cause from None  # it says what to do
        await losses.look()
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
        # One of which nothing was left to ask has not even columns.
        if texts := [it for block in blocks if block.num_rows() for it in block.to_numpy(UNIT)]:
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
    done, said = ordered(work.done), dict(work.said)
    units = sum((job.stop - job.start) * job.repeats for job in work.jobs) - len(work.done)

    def waiting(size: int, blocks: int = _BLOCKS_IN_FLIGHT) -> ActorPoolStrategy:
        return ActorPoolStrategy(
            size=size,
            max_tasks_in_flight_per_actor=blocks,
            max_concurrent_calls_per_actor=blocks,
        )

    few = units < _UNITS_EACH  # which are not worth a process for each stage
    if few and _bytes(work.jobs) < _FEW_BYTES:
        blocks = [pa.table(prompted([job], work.asking, done, said)) for job in work.jobs]
        # `from_arrow` starts a worker per processor to read the schemas of what is in memory here.
        graph = from_blocks(blocks)
    else:
        jobs = [{JOB: json.dumps(asdict(job))} for job in work.jobs]
        graph = ray.data.from_items(jobs, override_num_blocks=len(jobs)).map_batches(
            Prompt,
            fn_constructor_args=(work.asking, ray.put((done, said))),
            batch_size=None,
            compute=ActorPoolStrategy(
                size=max(1, min(int(own), _READERS, units // _UNITS_EACH)),
                max_tasks_in_flight_per_actor=_JOBS_AT_HAND,
            ),
            # Of a node with one processor graders, who stay, may have what it would wait for.
            num_cpus=0,
            label_selector=ours,
        )
    graph = graph.map_batches(
        Generate,
        fn_constructor_args=(link, work.asking),
        batch_size=None,
        compute=waiting(generators(link, work.awake)),
        num_cpus=light if link.endpoints else _LIGHT,
        # An endpoint's limits and waits are lost with the process that keeps them.
        label_selector=ours if link.endpoints else anywhere,
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
            compute=waiting(1),
            num_cpus=light,
            label_selector=ours,
        )
    return graph


def _bytes(jobs: Sequence[Job]) -> int:
    """Return how large the questions of all models are, at most."""
    return sum(Path(shard).stat().st_size for _, shard in {(it.model, it.shard) for it in jobs})


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


def generators(link: Link, awake: int) -> int:
    """Return how many processes ask the models: as the cluster has engines to keep busy."""
    if link.endpoints:
        return 1  # an endpoint's limits are kept by each process for itself
    return max(1, math.ceil(awake / _ENGINES_EACH))


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
    # Nobody reads how much memory a block took, which costs each of them a thread.
    context.memory_usage_poll_interval_s = None
    quieten()
    for name in ["ray.data", *logging.root.manager.loggerDict]:
        if name.startswith("ray.data"):
            logging.getLogger(name).setLevel(logging.CRITICAL)

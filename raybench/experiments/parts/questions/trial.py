"""Judges at endpoints are tried before all else: replies are worth nothing without them."""

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import islice
from typing import cast

from raybench import benchmarks
from raybench.benchmarks.parts.contract import Row
from raybench.benchmarks.parts.judged import Judged
from raybench.config import FleetConf
from raybench.errors import Problem, RunFailed
from raybench.fleet import Fleet, open_fleet
from raybench.fleet.client import Say
from raybench.fleet.remote_replies import may_pass
from raybench.pipeline.datasets import Prepared
from raybench.pipeline.judges import Panel, silence
from raybench.types import ModelSpec

_TRIES = 4
"""With waits of seconds between them."""
_QUESTIONS = 3
"""A judge that can judge none of so many will judge no other."""


async def try_judges(
    panel: Panel, data: Prepared, needed: Collection[str], conf: FleetConf, say: Say
) -> None:
    """Ask those that are needed a question each; raise RunFailed where one cannot judge.

    What may pass, as too many requests, has nobody stopped: there is patience for that later.
    """
    remote = {
        name: model
        for name, model in panel.models.items()
        if model.engine == "openai" and model.name in needed
    }
    if not remote:
        return
    part = next(part for part in data if benchmarks.load(part.benchmark).judged)
    benchmark = cast(Judged, benchmarks.load(part.benchmark))
    rows = await asyncio.to_thread(lambda: list(islice(part.rows(), _QUESTIONS)))
    say(f"trying {' and '.join(remote)}")
    conf = replace(conf, endpoint_attempts=min(_TRIES, conf.endpoint_attempts))
    async with open_fleet(list(remote.values()), conf, say) as fleet:
        told = await asyncio.gather(
            *(_failing(fleet, panel, judge, benchmark, rows) for judge in remote.values())
        )
    failing = [f"{name}, who judges, {why}" for name, why in zip(remote, told, strict=True) if why]
    if failing:
        raise RunFailed(
            Problem("model.unreachable", f"{'; '.join(failing)}. Nobody was asked anything else")
        )


async def _failing(
    fleet: Fleet, panel: Panel, judge: ModelSpec, benchmark: Judged, rows: Sequence[Row]
) -> str | None:
    """Return why a judge cannot judge; None where it can, or may when something has passed."""
    why = None
    for row in rows:
        (reply,) = await fleet.complete(judge.name, [panel.trial(judge, benchmark, row)])
        why = silence(benchmark, reply)
        if why is None or (reply.finish == "error" and may_pass(reply.error or "")):
            return None
        if reply.finish == "error":
            return why
    return why

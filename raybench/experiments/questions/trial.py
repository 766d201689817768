"""Judges at endpoints are tried before all else: replies are worth nothing without them."""

import asyncio
from collections.abc import Collection
from dataclasses import replace
from typing import cast

from raybench import benchmarks
from raybench.benchmarks.parts.judged import Judged
from raybench.config import FleetConf
from raybench.errors import RunFailed
from raybench.fleet import open_fleet
from raybench.fleet.client import Say
from raybench.pipeline.datasets import Prepared
from raybench.pipeline.judges import Panel, silence

_TRIES = 4
"""With waits of seconds between them."""


async def try_judges(
    panel: Panel, data: Prepared, needed: Collection[str], conf: FleetConf, say: Say
) -> None:
    """Ask those that are needed one question each; raise RunFailed where no reply comes."""
    remote = {
        name: model
        for name, model in panel.models.items()
        if model.engine == "openai" and model.name in needed
    }
    if not remote:
        return
    part = next(part for part in data if benchmarks.load(part.benchmark).judged)
    benchmark = cast(Judged, benchmarks.load(part.benchmark))
    row = await asyncio.to_thread(lambda: next(iter(part.rows())))
    say(f"trying {' and '.join(remote)}")
    # Nothing is lost yet: who mistyped an address had better hear of it than wait.
    conf = replace(conf, endpoint_attempts=min(_TRIES, conf.endpoint_attempts))
    async with open_fleet(list(remote.values()), conf, say) as fleet:
        replies = await asyncio.gather(
            *(
                fleet.complete(judge.name, [panel.trial(judge, benchmark, row)])
                for judge in remote.values()
            )
        )
    failed = [
        f"{name}, who judges, {reason}"
        for name, (reply,) in zip(remote, replies, strict=True)
        # Another question may fit, and may be one that it does not decline.
        if reply.finish not in ("overflow", "refusal") and (reason := silence(benchmark, reply))
    ]
    if failed:
        raise RunFailed(f"{'; '.join(failed)}. Nobody was asked anything else")

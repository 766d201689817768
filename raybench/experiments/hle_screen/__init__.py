"""+experiment=hle_screen: new questions for HLE, tried against the roster; people review them."""

import asyncio
from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from typing import Any

from raybench.config import Config
from raybench.experiments.hle.watch import Watch
from raybench.experiments.hle_screen import checking
from raybench.experiments.hle_screen.batch import Batch
from raybench.experiments.hle_screen.conclusion import concluded
from raybench.experiments.parts.questions import running
from raybench.types import Plan

CONCLUSIONS = ("hle_screen.accept_failures", "hle_screen.reviewers", "hle_screen.review")
"""Settings that change only what is made of a journal."""


def plan(config: Config) -> Plan:
    """Say what the run would do."""
    batch = Batch.of(config, asdict(config), CONCLUSIONS)
    if config.hle_screen.validate:
        return checking.plan(batch)
    return running.plan(config, batch.prepared)


async def run(config: Config, resolved: Mapping[str, Any]) -> None:
    """Check the candidates, ask what is still missing, and publish what passed."""
    batch = await asyncio.to_thread(Batch.of, config, resolved, CONCLUSIONS)
    if config.hle_screen.validate:
        checking.check(batch)
        return
    watch = Watch()
    await running.run(
        config,
        resolved,
        watchers=[watch],
        conclude=partial(concluded, config, batch, watch.exam),
        conclusions=CONCLUSIONS,
        prepare=batch.prepared,
    )

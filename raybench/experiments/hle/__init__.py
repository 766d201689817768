"""+experiment=hle: the exam, with accuracy, calibration and token budgets; a model judges."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from raybench.config import Config
from raybench.experiments.hle.conclusion import concluded
from raybench.experiments.hle.watch import Watch
from raybench.experiments.parts.questions import running
from raybench.experiments.parts.within import House
from raybench.types import Plan

CONCLUSIONS = ("hle.accept_failures", "hle.review")
"""Settings that change only what is made of a journal."""


def plan(config: Config) -> Plan:
    """Say what the run would do."""
    return running.plan(config)


async def run(config: Config, resolved: Mapping[str, Any], *, within: House | None = None) -> None:
    """Ask what is still missing, have it judged, and conclude."""
    watch = Watch()
    await running.run(
        config,
        resolved,
        watchers=[watch],
        conclude=partial(concluded, config, watch),
        conclusions=CONCLUSIONS,
        within=within,
    )

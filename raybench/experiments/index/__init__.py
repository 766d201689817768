"""+experiment=index: fixed benchmarks, graded exactly, and the four indices over them."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from raybench.config import Config
from raybench.experiments.index.conclusion import Watch, concluded
from raybench.experiments.parts.questions import running
from raybench.experiments.parts.within import House
from raybench.types import Plan

CONCLUSIONS = ("index.accept_failures", "index.partial")
"""Settings that change only what is made of a journal."""


def plan(config: Config) -> Plan:
    """Say what the run would do."""
    return running.plan(config)


async def run(config: Config, resolved: Mapping[str, Any], *, within: House | None = None) -> None:
    """Ask what is still missing, grade it, and conclude."""
    watch = Watch(config)
    await running.run(
        config,
        resolved,
        watchers=[watch],
        conclude=partial(concluded, config, watch),
        conclusions=CONCLUSIONS,
        within=within,
    )

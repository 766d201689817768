"""A run of questions from beginning to end: read, asked, graded, concluded."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from raybench import sandbox
from raybench.config import Config
from raybench.experiments.parts.opening import open_session
from raybench.experiments.parts.outcome import Outcome
from raybench.experiments.parts.questions.asking import ask
from raybench.experiments.parts.questions.ledger import Ledger, Watcher
from raybench.experiments.parts.questions.setup import (
    grading_of,
    planned,
    prepared,
    sandboxed,
    slots_of,
    units_of,
)
from raybench.experiments.parts.questions.validation import validate
from raybench.experiments.parts.within import House
from raybench.pipeline import shards
from raybench.pipeline.datasets import Prepared
from raybench.pipeline.store import GRADING
from raybench.pipeline.terms import Terms
from raybench.tracking import console
from raybench.types import Plan

Conclude = Callable[[Prepared, Ledger, Path], Outcome]
"""Makes of the questions, of what was kept of the journal, and of its file what comes out."""


Prepare = Callable[[Config, Path], Prepared]
"""Reads the questions, and writes those that are asked below a folder."""


_of_plan: Prepare = partial(prepared, plan=True)


def plan(config: Config, prepare: Prepare = _of_plan) -> Plan:
    """Say what the run would do; the questions are read for that, and fetched where need be."""
    with shards.scratch() as folder:
        return planned(config, prepare(config, folder))


def inputs(config: Config, data: Prepared) -> dict[str, str]:
    """Return what a run must have in common with one that it continues.

    That is what is asked, and the version of its grading where it is not the first: replies that
    were graded by another version do not mix with these.
    """
    found = {part.benchmark: part.digest for part in data} | dict(data.inputs)
    for part in data:
        if (version := grading_of(config, part.benchmark)) > 1:
            found[part.benchmark + GRADING] = str(version)
    return found


async def run(
    config: Config,
    resolved: Mapping[str, Any],
    *,
    watchers: Sequence[Watcher],
    conclude: Conclude,
    conclusions: Sequence[str],
    prepare: Prepare = prepared,
    within: House | None = None,
) -> None:
    """Ask what is still missing, grade it, and conclude.

    `conclusions` are the settings that change only what is made of a journal.
    """
    with shards.scratch() as folder:
        data = await asyncio.to_thread(prepare, config, folder)
        terms = Terms.of(config)
        if terms.conf.validate:
            for line in sandboxed(config, data):  # before any of them runs
                console.out(line)
            sandbox.configure(replace(slots_of(config).settings, pinned=False))
            validate(data, terms.grader)
            return
        ledger = Ledger(len(config.roster.models), watchers)
        session = open_session(
            config,
            resolved,
            planned(config, data),
            journal="units",
            keep=ledger.enter,
            inputs=inputs(config, data),
            conclusions=conclusions,
            within=within,
        )
        async with session as opened:
            if len(ledger.done) < units_of(config, data):
                await ask(config, data, ledger, opened)
            journal = opened.journal.path
            opened.conclude(await asyncio.to_thread(conclude, data, ledger, journal))

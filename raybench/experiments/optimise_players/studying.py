"""Studies are done by engines that are up, in processes of their own, and kept."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from raybench.arena.seats import in_actors
from raybench.arena.studies import Curriculum, Learned, Study
from raybench.experiments.optimise_players import gains
from raybench.experiments.optimise_players.ledger import Ledger, lines
from raybench.fleet.link import Link, listening
from raybench.pipeline import compiled
from raybench.pipeline.journal import Journal
from raybench.tracking import console
from raybench.types import Completion

About = Mapping[str, Any]
"""What a compiled player is made from and for."""


@dataclass(frozen=True)
class Work:
    """What doing studies takes."""

    curriculum: Curriculum
    folder: Path
    """Where compiled players lie."""
    cache: bool
    """Players that lie there already are taken as they are."""
    abouts: Mapping[int, About]
    """Of each study, what its player is made from and for."""
    ledger: Ledger
    journal: Journal
    """Of what is learned and examined, as it comes."""
    done: Callable[[Study, Mapping[str, Any]], None]
    """Keeps the record of a study."""
    phase: Callable[[str], None]


async def do(
    work: Work, missing: Sequence[Study], link: Link, count: Callable[[str, Completion], None]
) -> dict[int, str]:
    """Do studies; return the numbers of those that lack somebody, with the reason.

    `count` takes what came back from models.
    """
    from raybench.arena.workshop import Workshop  # with DSPy, which a plan does without

    orders = [_begun(work, study) for study in missing]
    actors = 1 + max(it.engine for it in orders)  # each has one optimiser at a time, and one engine
    async with (
        listening(link, work.phase) as heard,
        in_actors(
            actors, Workshop, heard, work.curriculum,
            on=link.conf.work_nodes, say=work.phase, within_s=link.conf.start_deadline_s,
        ) as seats,
    ):  # fmt: skip
        await seats.put(orders)
        work.phase("learning")
        open_, failed = {it.number: it for it in orders}, dict[int, str]()
        replies = 0
        while open_:
            for told in await seats.pick_up():
                for spent in told.spent:
                    count(*spent)
                replies += len(told.spent)
                work.phase(f"learning: {replies:,} replies")
                study = open_[told.number]
                await _kept(work, study, told)
                if told.over:
                    del open_[told.number]
                if told.failure:
                    failed[study.number] = told.failure
                    console.warn(
                        f"{study.model} cannot go on with {study.positions}: {told.failure}. The "
                        "others go on"
                    )
        return failed


def _begun(work: Work, study: Study) -> Study:
    """Return a study with all that is known of it, from this run or from compiled players."""
    study = work.ledger.resumed(study)
    if study.state is not None or not work.cache:
        return study
    about = work.abouts[study.number]
    if (entry := compiled.find(work.folder, about)) is not None:
        console.say(f"{study.model}, {about['positions']}: taken from {entry.path}")
        line = {"study": study.number, "state": entry.state, "cached": str(entry.path)}
        work.journal.append(line)
        study.state = entry.state
    return study


async def _kept(work: Work, study: Study, told: Learned) -> None:
    """Keep what came of a study."""
    await asyncio.to_thread(work.journal.extend, [*lines(told)])
    if not told.over or told.failure:
        return
    about, ended_ms = work.abouts[study.number], time.time_ns() // 1_000_000
    if (cached := work.ledger.cached.get(study.number)) is not None:
        path = Path(cached)
    else:
        path = written(work.folder, work.ledger, study.number, study.model, about, ended_ms)
    record = {
        "study": study.number,
        "model": study.model,
        "positions": about["positions"],
        "game": about["game"],
        "key": compiled.key_of(about),
        "about": dict(about),
        "file": str(path),
        "cached": study.number in work.ledger.cached,
        "ended_ms": ended_ms,
    }
    work.done(study, record)


def written(
    folder: Path, ledger: Ledger, study: int, model: str, about: About, ended_ms: int
) -> Path:
    """Write down the player that a study compiled, the same again whenever; return its file."""
    found = gains.studied(ledger.marks.get(study, {}))
    made = {
        "model": model,
        "on": time.strftime("%Y-%m-%d", time.gmtime(ended_ms / 1000)),
        "held_out": {name: estimate.to_json() for name, estimate in found.items()},
    }
    return compiled.keep(folder, f"{model}.{about['positions']}", about, made, ledger.states[study])

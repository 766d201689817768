"""The studies of a run: those still missing are done, in processes of their own, and kept."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from raybench.arena.seats import in_actors
from raybench.arena.studies import Learned, Study
from raybench.arena.workshop import Workshop
from raybench.config import Config
from raybench.experiments.optimise_players import gains, setup
from raybench.experiments.optimise_players.conclusion import concluded
from raybench.experiments.optimise_players.ledger import JOURNAL, Ledger, lines
from raybench.experiments.session import Session, open_session
from raybench.fleet import Fleet
from raybench.fleet.link import Link, listening
from raybench.pipeline import compiled
from raybench.pipeline.store import Journal
from raybench.tracking import console
from raybench.types import Completion


async def run(config: Config, resolved: Mapping[str, Any]) -> None:
    """Do the studies that are still missing."""
    async with open_session(config, resolved, setup.plan(config), journal="studies") as session:
        ledger = Ledger()
        with closing(session.open_journal(JOURNAL, ledger.enter)) as journal:
            done = {record["study"] for record in session.journal.records}
            missing = [it for it in setup.studies(config) if it.number not in done]
            failed: dict[str, str] = {}
            if missing:
                failed = await _do(Work(config, session, ledger, journal), missing)
        session.conclude(concluded(config, session.journal.records, ledger, failed))


@dataclass(frozen=True)
class Work:
    """What doing studies takes."""

    config: Config
    session: Session
    ledger: Ledger
    journal: Journal

    @property
    def folder(self) -> Path:
        """Where compiled players lie."""
        return Path(self.config.optimise_players.folder).expanduser()


async def _do(work: Work, missing: Sequence[Study]) -> dict[str, str]:
    """Do studies; return those that lack somebody, with the reason."""
    config, session = work.config, work.session
    session.phase("drawing positions")
    abouts = await asyncio.to_thread(_abouts, config, missing)
    orders = [_begun(work, study, abouts[study.number]) for study in missing]
    models = setup.asked(config)
    async with session.fleet(models, ray=True) as fleet:
        link = Link.to(fleet, models, config.fleet)
        with ExitStack() as stack:
            counted = _counting(session, fleet, stack, [it.name for it in models])
            async with (
                listening(link, session.phase) as heard,
                in_actors(setup.actors(config), Workshop, heard, setup.curriculum(config)) as seats,
            ):
                await seats.put(orders)
                session.phase("learning")
                open_, failed = {it.number: it for it in orders}, dict[str, str]()
                replies = 0
                while open_:
                    for told in await seats.pick_up():
                        for spent in told.spent:
                            counted(*spent)
                        replies += len(told.spent)
                        session.phase(f"learning: {replies:,} replies")
                        study = open_[told.number]
                        await _kept(work, study, told, abouts[told.number])
                        if told.over:
                            del open_[told.number]
                        if told.failure:
                            failed[f"{study.model}, {study.positions}"] = told.failure
                            console.warn(
                                f"{study.model} cannot go on with {study.positions}: "
                                f"{told.failure}. The others go on"
                            )
                return failed


def _abouts(config: Config, missing: Sequence[Study]) -> dict[int, dict[str, Any]]:
    return {it.number: setup.about(config, it.model, it.positions) for it in missing}


def _begun(work: Work, study: Study, about: Mapping[str, Any]) -> Study:
    """Return a study with all that is known of it, from this run or from compiled players."""
    study = work.ledger.resumed(study)
    if study.state is not None or not work.config.optimise_players.cache:
        return study
    if (entry := compiled.find(work.folder, about)) is not None:
        console.say(f"{study.model}, {about['positions']}: taken from {entry.path}")
        line = {"study": study.number, "state": entry.state, "cached": str(entry.path)}
        work.journal.append(line)
        study.state = entry.state
    return study


def _counting(
    session: Session, fleet: Fleet, stack: ExitStack, models: Sequence[str]
) -> Callable[[str, Completion], None]:
    """Return what counts a completion that was asked for in another process."""
    counts = {name: stack.enter_context(fleet.account.call(name)) for name in models}

    def counted(model: str, completion: Completion) -> None:
        counts[model](completion)
        session.spend(
            prompt_tokens=completion.prompt_tokens,
            output_tokens=completion.output_tokens,
            errors=int(completion.finish == "error"),
        )

    return counted


async def _kept(work: Work, study: Study, told: Learned, about: Mapping[str, Any]) -> None:
    """Keep what came of a study."""
    await asyncio.to_thread(work.journal.extend, [*lines(told)])
    if not told.over or told.failure:
        return
    name = f"{study.model}.{about['positions']}"
    if (cached := work.ledger.cached.get(study.number)) is not None:
        path = Path(cached)
    else:
        state = work.ledger.states[study.number]
        path = compiled.keep(work.folder, name, about, _made(work, study), state)
    work.session.keep(
        {
            "study": study.number,
            "model": study.model,
            "positions": about["positions"],
            "game": about["game"],
            "key": compiled.key_of(about),
            "about": dict(about),
            "file": str(path),
            "cached": study.number in work.ledger.cached,
            "ended_ms": time.time_ns() // 1_000_000,
        }
    )


def _made(work: Work, study: Study) -> dict[str, Any]:
    found = gains.studied(work.ledger.marks.get(study.number, {}))
    return {
        "model": study.model,
        "on": time.strftime("%Y-%m-%d", time.gmtime()),
        "held_out": {name: estimate.to_json() for name, estimate in found.items()},
    }

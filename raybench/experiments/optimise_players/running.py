"""A run of studies: those still missing are done."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from typing import Any

from raybench.arena.studies import Study
from raybench.config import Config
from raybench.experiments.optimise_players import setup
from raybench.experiments.optimise_players.conclusion import concluded
from raybench.experiments.optimise_players.ledger import JOURNAL, Ledger
from raybench.experiments.optimise_players.studying import Work, do
from raybench.experiments.parts.opening import open_session
from raybench.experiments.parts.session import Session
from raybench.fleet import Fleet
from raybench.fleet.link import Link
from raybench.paths import expanded
from raybench.pipeline.journal import Journal
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
                failed = await _do(config, session, ledger, journal, missing)
        session.conclude(concluded(config, session.journal.records, ledger, failed))


async def _do(
    config: Config, session: Session, ledger: Ledger, journal: Journal, missing: Sequence[Study]
) -> dict[str, str]:
    """Do studies; return those that lack somebody, with the reason."""
    session.phase("drawing positions")
    work = Work(
        setup.curriculum(config),
        expanded(config.optimise_players.folder),
        config.optimise_players.cache,
        await asyncio.to_thread(_abouts, config, missing),
        ledger,
        journal,
        lambda study, record: session.keep(record),
        session.phase,
    )
    models = setup.asked(config)
    async with session.fleet(models, ray=True) as fleet:
        with ExitStack() as stack:
            count = _counting(session, fleet, stack, [it.name for it in models])
            failed = await do(work, missing, Link.to(fleet, models, config.fleet), count)
    by = {it.number: it for it in missing}
    return {f"{by[it].model}, {by[it].positions}": why for it, why in failed.items()}


def _abouts(config: Config, missing: Sequence[Study]) -> dict[int, dict[str, Any]]:
    return {it.number: setup.about(config, it.model, it.positions) for it in missing}


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

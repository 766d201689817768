"""The matches of a run: those still missing are played and kept."""

import asyncio
from collections.abc import Mapping
from contextlib import closing
from typing import Any

from raybench.arena.pool import Unplayed
from raybench.config import Config
from raybench.errors import Problem, RunFailed
from raybench.experiments.games import asking, manners, planning, setup
from raybench.experiments.games.conclusion import End, concluded
from raybench.experiments.games.ledger import Ledger
from raybench.experiments.games.match_progress import MatchProgress
from raybench.experiments.games.playing import Kept, asked, play, replied, resumed
from raybench.experiments.games.series import series
from raybench.experiments.games.spent import JOURNAL as SPENT
from raybench.experiments.games.spent import NOTED_S, Spent
from raybench.experiments.parts.opening import open_session
from raybench.experiments.parts.session import Session
from raybench.experiments.parts.within import House
from raybench.pipeline.journal import Journal
from raybench.tournament import records
from raybench.tournament.records import Match
from raybench.tournament.schedule import Schedule
from raybench.tracking import console

JOURNAL = "turns"
"""What happened in matches, as it happened; of those that ended, `matches` has all."""


async def run(config: Config, resolved: Mapping[str, Any], *, within: House | None = None) -> None:
    """Play the matches that are still missing, many at once."""
    given, config = config, setup.seated(config)
    async with open_session(
        config,
        setup.resolved(config, resolved),
        planning.plan(given),
        journal="matches",
        keep=records.kept,
        inputs=manners.inputs(config),
        conclusions=setup.CONCLUSIONS,
        limits=setup.limits(config),
        aside=setup.aside(config),
        within=within,
    ) as session:
        played: list[Match] = session.journal.records
        for note in planning.told(config):
            console.say(f"Note: {note}")
        if session.finished is None:
            end = await _completed(config, session)
        else:  # other weights might have ended it elsewhere: what was played is what there is
            end = End(str(session.finished.get("stopped", "")))
        for step, ended_ms, ratings in series(config, played):
            session.log(ratings, {}, {"match": step, "ended_ms": ended_ms})
        session.conclude(concluded(config, played, session.journal.path, end))


async def _completed(config: Config, session: Session) -> End:
    """Have all that is missing played, and return why no more is."""
    played: list[Match] = session.journal.records
    ledger, spent = Ledger(ended=[it.number for it in played]), Spent()
    with (
        closing(session.open_journal(JOURNAL, ledger.enter)) as turns,
        closing(session.open_journal(SPENT, spent.enter)) as account,
    ):
        ledger.reading = spent.reading = False
        schedule = await asyncio.to_thread(
            resumed, config, played, ledger.unfinished, turns.path, spent.told
        )
        if not schedule.over:
            noting = asyncio.create_task(_noted(spent, account))
            try:
                await _play(config, session, schedule, ledger, turns, spent)
            except Unplayed as gone:
                missing = [(source.name, why) for source, why in gone.gone.items()]
                return End("", str(gone), schedule.left, missing, gone.failed)
            finally:
                noting.cancel()
                account.append(spent.line())
        if not played:
            raise RunFailed(
                Problem(
                    "run.budget",
                    f"the budget was spent before the first match began: {schedule.stopped}, with "
                    "what it took to bring up engines",
                    fix="Give a larger one",
                )
            )
        return End(schedule.stopped)


async def _noted(spent: Spent, account: Journal) -> None:
    """Note what was spent again and again, also while engines come up or all models think."""
    while True:
        await asyncio.sleep(NOTED_S)
        account.append(spent.line())


async def _play(
    config: Config,
    session: Session,
    schedule: Schedule,
    ledger: Ledger,
    turns: Journal,
    spent: Spent,
) -> None:
    """Play what is missing."""
    models, ray = asking.asked(config), setup.actors(config) > 0
    async with asked(config, session, models, ray=ray, spent=spent) as engines:
        session.phase("playing")
        kept = Kept(
            ledger.unfinished,
            turns.extend,
            lambda matches: session.keep(*matches),
            replied(session.journal.records, ledger.unfinished.values()),
        )
        left = setup.units(config) - len(session.journal.records)
        progress = MatchProgress(session.progress, left)
        await play(config, engines, schedule, kept, progress=progress, phase=session.phase)

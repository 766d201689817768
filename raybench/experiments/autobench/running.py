"""The iterations of a run: those still missing are played and kept."""

from collections.abc import Mapping
from contextlib import aclosing, closing
from typing import Any

from raybench.arena.known import Known
from raybench.autobench.protocol import Record, Standing
from raybench.autobench.records import checked
from raybench.config import Config, everybody
from raybench.experiments.autobench import setup
from raybench.experiments.autobench.conclusion import concluded, families_of
from raybench.experiments.autobench.deviations import deviations
from raybench.experiments.autobench.headway import Headway
from raybench.experiments.autobench.playing import play, standing_of, tasks_of
from raybench.experiments.autobench.reuse import JOURNAL, Kept, earlier, inputs
from raybench.experiments.parts.opening import open_session
from raybench.experiments.parts.session import Session
from raybench.experiments.parts.within import House
from raybench.pipeline.journal import Journal
from raybench.pipeline.run_identity import fingerprint


async def run(config: Config, resolved: Mapping[str, Any], *, within: House | None = None) -> None:
    """Play the iterations that are still missing, many at once."""
    extended = earlier(config, fingerprint(resolved, without=setup.CONCLUSIONS))
    protocol, planned = setup.settings(config), setup.plan(config, extended)
    compared, families = setup.tables_of(config), families_of(config)
    async with open_session(
        config,
        resolved,
        planned,
        journal="iterations",
        keep=checked,
        inputs=inputs(config, extended),
        conclusions=setup.CONCLUSIONS,
        within=within,
    ) as session:
        records: list[Record] = session.journal.records
        standing = standing_of(records, protocol, session.journal.path)
        for record in records:
            session.log(*series(record), record)
        kept = Kept(standing.iteration, extended)
        with closing(session.open_journal(JOURNAL, kept.enter)) as replies:
            kept.collects = False
            if standing.iteration < config.autobench.iterations:
                known = Known(kept.replies, extended.replies if extended else {})
                await _gather(config, session, standing, known, kept, replies)
        session.conclude(
            concluded(
                records,
                protocol,
                kept,
                tables=compared,
                families=families,
                deviations=deviations(config),
            )
        )


async def _gather(
    config: Config, session: Session, standing: Standing, known: Known, kept: Kept, replies: Journal
) -> None:
    """Play what is missing."""
    tasks, asked = tasks_of(session.journal.records), everybody(config)
    async with session.fleet(asked, ray=setup.actors(config) > 0) as fleet:
        session.phase("asking")
        missing = config.autobench.iterations - standing.iteration
        least = setup.calls(config)[0] * missing
        headway = Headway(session, least, asked, setup.calls_by_kind(config, missing))
        played = play(
            config, setup.settings(config), standing, tasks,
            fleet=fleet, known=known, replies=replies, headway=headway,
            discarded=kept.total("discarded"),
        )  # fmt: skip
        async with aclosing(played):
            async for done in played:
                session.keep(*(it.record for it in done))
                for it in done:
                    session.log(*series(it.record), it.record)


def series(
    record: Record, prefix: str = "autobench"
) -> tuple[dict[str, dict[str, float]], dict[str, float]]:
    """Return what one iteration adds to the metrics over iterations: by model, and overall."""
    per_model = {
        model: {
            f"{prefix}/iteration_score": record["scores"].get(model),
            f"{prefix}/running_score": record["cumulative"][model],
            f"{prefix}/running_weight": record["weights"].get(model),
        }
        for model in record["cumulative"]
    }
    overall = {
        f"{prefix}/attempts": float(len(record["attempts"])),
        f"{prefix}/seconds": record["seconds"],
    }
    return per_model, overall

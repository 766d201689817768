"""The iterations of a run: those still missing are played and kept."""

import json
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict
from typing import Any

from raybench.arena.gathering import Came, Gathering
from raybench.arena.known import Addresses, Known, line
from raybench.arena.meter import Meter
from raybench.arena.tables import tables
from raybench.autobench.course import Course
from raybench.autobench.protocol import Record, Standing, replay
from raybench.autobench.settings import Settings
from raybench.config import Config
from raybench.errors import RunFailed
from raybench.experiments.autobench import setup
from raybench.experiments.autobench.conclusion import concluded, families_of, tables_of
from raybench.experiments.autobench.reuse import JOURNAL, Kept, earlier, extended, inputs, spent
from raybench.experiments.session import Session, open_session
from raybench.fleet.link import Link
from raybench.pipeline.responses import identity
from raybench.pipeline.store import Journal
from raybench.types import ModelSpec


async def run(config: Config, resolved: Mapping[str, Any]) -> None:
    """Play the iterations that are still missing, many at once."""
    protocol, planned = setup.settings(config), setup.plan(config)
    compared, families = tables_of(config), families_of(config)
    async with open_session(
        config,
        resolved,
        planned,
        journal="iterations",
        inputs=inputs(config),
        conclusions=("autobench.external",),
    ) as session:
        records: list[Record] = session.journal.records
        standing = _standing(session, protocol)
        for record in records:
            session.log(*_series(record), record)
        kept = Kept(standing.iteration)
        with closing(session.open_journal(JOURNAL, kept.enter)) as replies:
            if standing.iteration < config.autobench.iterations:
                await _gather(config, session, standing, kept, replies)
        session.conclude(concluded(records, protocol, kept, tables=compared, families=families))


def _standing(session: Session, protocol: Settings) -> Standing:
    try:
        return replay(session.journal.records, protocol)
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise RunFailed(
            f"{session.journal.path} is not what a run leaves ({error}). Mend it, or start "
            "anew with resume=false"
        ) from error


async def _gather(
    config: Config, session: Session, standing: Standing, kept: Kept, replies: Journal
) -> None:
    """Play what is missing."""
    protocol, conf = setup.settings(config), config.autobench
    everybody, decoding = setup.everybody(config), setup.decoding(config)
    folder = extended(config)
    known = Known(kept.replies, {} if folder is None else earlier(folder))
    addresses = Addresses({it.name: _identity(it, config) for it in everybody}, decoding)
    course = Course(
        protocol,
        standing,
        conf.iterations,
        tasks=_tasks(session.journal.records),
        at_once=setup.at_once(config),
        budget=conf.speculation * setup.least_calls(config),
    )

    def keep(came: Sequence[Came]) -> None:
        replies.extend([line(*each) for each in came])
        new = [it for _, _, by_address in came for it in by_address.values()]
        session.spend(
            prompt_tokens=sum(it.prompt_tokens for it in new),
            output_tokens=sum(it.output_tokens for it in new),
            errors=sum(it.finish == "error" for it in new),
        )

    actors = setup.actors(config)
    async with session.fleet(everybody, ray=actors > 0) as fleet:
        link = Link.to(fleet, everybody, config.fleet)
        async with tables(fleet, link, protocol, decoding, actors=actors) as opened:
            meter = Meter(fleet.account) if actors else None
            gathering = Gathering(course, protocol, opened, addresses, known, keep, meter)
            async for done in gathering.iterations():
                replies.extend([spent(it.record["iteration"], *it[1:]) for it in done])
                session.keep(*(it.record for it in done))
                for it in done:
                    session.log(*_series(it.record), it.record)


def _identity(model: ModelSpec, config: Config) -> str:
    """Return what a model's replies depend on beside what it is asked."""
    known = identity(model, config.fleet.max_model_len) or [model.options, model.weights]
    return json.dumps(
        [model.engine, known, asdict(model.sampling), model.system_prompt, model.system_role],
        sort_keys=True,
        default=str,
    )


def _tasks(records: list[Record]) -> dict[int, str]:
    """Return the tasks that earlier iterations have had, where they were posed."""
    return {it["iteration"]: it["task"] for it in records if it["task"] and it["generator"]}


def _series(record: Record) -> tuple[dict[str, dict[str, float]], dict[str, float]]:
    """Return what one iteration adds to the metrics over iterations: by model, and overall."""
    per_model = {
        model: {
            "autobench/iteration_score": record["scores"].get(model),
            "autobench/running_score": record["cumulative"][model],
            "autobench/running_weight": record["weights"].get(model),
        }
        for model in record["cumulative"]
    }
    overall = {
        "autobench/attempts": float(len(record["attempts"])),
        "autobench/seconds": record["seconds"],
    }
    return per_model, overall

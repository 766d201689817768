"""Has an assessment played: its course, the tables that ask for it, and what is known already."""

import json
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from raybench.arena.gathering import Came, Gathered, Gathering
from raybench.arena.known import Addresses, Known, line
from raybench.arena.meter import Meter
from raybench.arena.tables import tables
from raybench.autobench.course import Course
from raybench.autobench.protocol import replay
from raybench.autobench.settings import Settings
from raybench.autobench.standing import Standing
from raybench.config import Config, everybody
from raybench.errors import Problem, RunFailed
from raybench.experiments.autobench import setup
from raybench.experiments.autobench.headway import Headway
from raybench.experiments.autobench.reuse import Lines, spent
from raybench.fleet import Fleet
from raybench.fleet.link import Link
from raybench.paths import expanded
from raybench.pipeline.responses import identity
from raybench.types import ModelSpec


async def play(
    config: Config,
    protocol: Settings,
    standing: Standing,
    tasks: Mapping[int, str],
    *,
    fleet: Fleet,
    known: Known,
    replies: Lines,
    headway: Headway,
    discarded: int = 0,
    hosted: Sequence[ModelSpec] = (),
) -> AsyncGenerator[list[Gathered]]:
    """Play the iterations after a standing, to which these tasks led, and yield them in order.

    What models reply goes into the journal of replies; who takes the iterations keeps them.
    `hosted` are all models of the fleet, where it has more than this assessment asks.
    """
    conf = config.autobench
    asked, decoding = everybody(config), setup.decoding(config)
    addresses = Addresses({it.name: _identity(it, config) for it in asked}, decoding)
    course = Course(
        protocol,
        standing,
        conf.iterations,
        tasks=tasks,
        at_once=setup.at_once(config),
        budget=setup.budget(config),
        discarded=discarded,
    )

    def keep(came: Sequence[Came], asked: bool) -> None:
        replies.extend([line(*each) for each in came])
        if asked:
            headway.asked((step, model, by.values()) for step, model, by in came)

    actors = setup.actors(config)
    link = Link.to(fleet, hosted or asked, config.fleet)
    say = headway.waits
    async with tables(fleet, link, protocol, decoding, actors=actors, say=say) as opened:
        meter = Meter(fleet.account) if actors else None
        gathering = Gathering(
            course, protocol, opened, addresses, known, keep, meter, headway.known
        )
        async for done in gathering.iterations():
            replies.extend([spent(it.record["iteration"], *it[1:]) for it in done])
            yield done


def standing_of(records: Iterable[Mapping[str, Any]], protocol: Settings, path: Path) -> Standing:
    """Return where an assessment stands after the records of a journal, which lies there."""
    try:
        return replay(records, protocol)
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise RunFailed(
            Problem(
                "journal.invalid",
                f"{path} is not what a run leaves ({error})",
                fix="Mend it, or start anew with resume=false",
            )
        ) from error


def tasks_of(records: Iterable[Mapping[str, Any]]) -> dict[int, str]:
    """Return the tasks that earlier iterations have had, where they were posed."""
    return {it["iteration"]: it["task"] for it in records if it["task"] and it["generator"]}


def _identity(model: ModelSpec, config: Config) -> str:
    """Return what a model's replies depend on beside what it is asked.

    Where that may change unseen (a tag of the hub that moves, an endpoint's model without a
    revision), it is taken at its word: who extends a run asks for that.
    """
    context = config.fleet.max_model_len
    about = asdict(model) | {"name": "", "family": "", "identity": identity(model, context)}
    del about["replicas"], about["nodes"]  # no reply depends on these
    template = expanded(str(model.options.get("chat_template", "")))
    with suppress(OSError, ValueError):  # the option may be the template itself
        about["template"] = template.read_text()
    return json.dumps([about, context], sort_keys=True, default=str)

"""The variants of a run: the iterations still missing are played, one variant after the other."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager, closing
from dataclasses import dataclass
from typing import Any

from raybench.autobench.protocol import Record
from raybench.autobench.records import checked
from raybench.autobench.steps import Reply
from raybench.config import Config
from raybench.config.autobench_ablations import FULL, SINGLE, WORDS
from raybench.errors import Problem, RunFailed
from raybench.experiments.autobench import setup as plain
from raybench.experiments.autobench.deviations import deviations
from raybench.experiments.autobench.headway import Headway
from raybench.experiments.autobench.playing import play, standing_of, tasks_of
from raybench.experiments.autobench.reuse import JOURNAL, earlier
from raybench.experiments.autobench.running import series
from raybench.experiments.autobench_ablations import setup
from raybench.experiments.autobench_ablations.comparison import Played
from raybench.experiments.autobench_ablations.conclusion import concluded
from raybench.experiments.autobench_ablations.sharing import NAME, Shared, Shelf
from raybench.experiments.parts.opening import open_session
from raybench.experiments.parts.session import Session
from raybench.fleet import Fleet
from raybench.pipeline.journal import Journal


@dataclass(frozen=True)
class Work:
    """What all variants share."""

    config: Config
    session: Session
    shared: Shared
    replies: Journal
    fleet: Fleet | None
    """None where nothing is missing."""
    before: Mapping[str, Reply]
    """The replies of a run that this one extends."""
    headway: Headway


async def run(config: Config, resolved: Mapping[str, Any]) -> None:
    """Play what is still missing, and compare the variants."""
    extended = earlier(config)
    planned, compared = setup.plan(config, extended), plain.tables_of(config)
    several = setup.played(config)
    async with open_session(
        config,
        resolved,
        planned,
        journal="iterations",
        keep=checked,
        inputs=setup.inputs(config, extended),
        conclusions=plain.CONCLUSIONS,
    ) as session:
        by = _by_variant(session, several)
        for name, records in by.items():
            for record in records:
                session.log(*series(record, _prefix(name)), record)
        shared = Shared(several)
        with closing(session.open_journal(JOURNAL, shared.enter)) as replies:
            missing = len(session.journal.records) < planned.units
            least = sum(
                count * (config.autobench.iterations - len(by[name]))
                for name, count in setup.least_calls(config).items()
            )
            async with _fleet(config, session, missing=missing) as fleet:
                before = extended.replies if extended else {}
                headway = Headway(session, least, setup.everybody(config))
                work = Work(config, session, shared, replies, fleet, before, headway)
                played: list[Played] = []
                for name in several:
                    played.append(await _play(work, name, by[name], played))
        full = setup.variant(config, FULL, "")
        session.conclude(concluded(played, compared, deviations(full)))


async def _play(work: Work, name: str, records: list[Record], before: Sequence[Played]) -> Played:
    """Play what a variant lacks, and return all of it; `before` are those played already."""
    judge = _single(work.config, before) if name == SINGLE else ""
    config = setup.variant(work.config, name, judge)
    protocol, session = plain.settings(config), work.session
    standing = standing_of(records, protocol, session.journal.path)
    if work.fleet is not None and standing.iteration < config.autobench.iterations:
        session.phase(WORDS[name])
        known = work.shared.known(name, work.before)
        iterations = play(
            config, protocol, standing, tasks_of(records),
            fleet=work.fleet, known=known, replies=Shelf(work.replies, name), headway=work.headway,
            hosted=setup.everybody(work.config),
        )  # fmt: skip
        async with aclosing(iterations):
            async for done in iterations:
                new = [{NAME: name, **it.record} for it in done]
                session.keep(*new)
                records += new
                for record in new:
                    session.log(*series(record, _prefix(name)), record)
        standing = standing_of(records, protocol, session.journal.path)
    return Played(name, judge, protocol, records, standing, work.shared.of[name])


@asynccontextmanager
async def _fleet(config: Config, session: Session, *, missing: bool) -> AsyncIterator[Fleet | None]:
    """Bring up the engines, where something is to be asked of them."""
    if not missing:
        yield None
        return
    async with session.fleet(setup.everybody(config), ray=setup.actors(config) > 0) as fleet:
        yield fleet


def _by_variant(session: Session, several: Sequence[str]) -> dict[str, list[Record]]:
    by: dict[str, list[Record]] = {name: [] for name in several}
    for record in session.journal.records:
        if record.get(NAME) not in by:
            raise RunFailed(
                Problem(
                    "journal.invalid",
                    f"{session.journal.path} is not what a run leaves (a record of the variant "
                    f"{record.get(NAME)!r})",
                    fix="Mend it, or start anew with resume=false",
                )
            )
        by[record[NAME]].append(record)
    return by


def _single(config: Config, before: Sequence[Played]) -> str:
    """Return the single judge: the one that is named, or who scored best under the full protocol.

    Of equals it is the first of the roster.
    """
    if (named := config.autobench_ablations.single_judge) is not None:
        return named
    scores = before[0].standing.scores
    known = {model: score for model, score in scores.items() if score is not None}
    if not known:
        raise RunFailed(
            Problem(
                "data.empty",
                "no model has a score under the full protocol, so that none scored best",
                setting="autobench_ablations.single_judge",
                fix="name the single judge with autobench_ablations.single_judge=NAME",
            )
        )
    return max(known, key=known.__getitem__)


def _prefix(name: str) -> str:
    """Return what the metrics over iterations begin with; the full protocol's are as ever."""
    return "autobench" if name == FULL else f"autobench_ablations/{name}"

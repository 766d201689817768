"""The tournaments of a run: what is missing is learned and played, by one fleet."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from raybench.arena.pool import Unplayed
from raybench.arena.studies import Study
from raybench.config import Config
from raybench.config.games_phrasings import AFTER
from raybench.experiments.games import manners
from raybench.experiments.games import planning as tournaments
from raybench.experiments.games import setup as games
from raybench.experiments.games.match_progress import MatchProgress
from raybench.experiments.games.playing import Asked, Kept, asked, play, replied, resumed
from raybench.experiments.games_phrasings import cells, planning
from raybench.experiments.games_phrasings.cells import Cell
from raybench.experiments.games_phrasings.conclusion import concluded
from raybench.experiments.games_phrasings.ledger import Begun, Shelf, by_cell, kept, marked
from raybench.experiments.optimise_players import setup as learning
from raybench.experiments.optimise_players.ledger import JOURNAL as MARKS
from raybench.experiments.optimise_players.ledger import Ledger as Learned
from raybench.experiments.optimise_players.studying import Work, do, written
from raybench.experiments.parts.opening import open_session
from raybench.experiments.parts.session import Session
from raybench.paths import expanded
from raybench.pipeline import compiled
from raybench.pipeline.journal import Journal
from raybench.tournament.records import Match
from raybench.tracking import console

TURNS, STUDIES = "turns", "studies"


async def run(config: Config, resolved: Mapping[str, Any]) -> None:
    """Learn and play what is still missing, and compare the wordings."""
    planned, config = planning.plan(config), games.seated(config)
    async with open_session(
        config,
        games.resolved(config, resolved),
        planned,
        journal="matches",
        keep=kept,
        inputs=manners.inputs(cells.plain(config)),
        conclusions=games.CONCLUSIONS,
        aside=games.aside(config),
    ) as session:
        for note in tournaments.told(cells.plain(config)):
            console.say(f"Note: {note}")
        work = Running(config, session)
        learned = session.open_journal(STUDIES, dict)
        with closing(learned):
            unfinished = ""
            if session.finished is None:
                unfinished = await _completed(work, learned)
            journal = session.journal
            session.conclude(
                concluded(
                    config, work.played(), learned.records, journal.path, journal.records,
                    unfinished,
                )
            )  # fmt: skip


@dataclass(frozen=True)
class Running:
    """A run under way."""

    config: Config
    session: Session

    @property
    def folder(self) -> Path:
        """Where compiled players lie."""
        return expanded(self.config.optimise_players.folder)

    def played(self) -> dict[str, list[Match]]:
        """Return the matches that have ended, by tournament."""
        journal = self.session.journal
        return by_cell(journal.records, cells.cells(self.config), journal.path)


async def _completed(work: Running, learned: Journal) -> str:
    """Have all that is missing learned and played; return why some of it could not be."""
    config, session = work.config, work.session
    played, marks = work.played(), Learned()
    begun, models = Begun(played), planning.everybody(config)
    with (
        closing(session.open_journal(TURNS, begun.enter)) as turns,
        closing(session.open_journal(MARKS, marks.enter)) as journal,
    ):
        begun.read()
        done = {record["study"] for record in learned.records}
        missing = [it for it in cells.studies(config) if it.number not in done]
        if not missing and len(session.journal.records) == planning.plan(config).units:
            return ""
        ray = games.actors(config) > 0 or bool(missing)
        async with asked(config, session, models, ray=ray) as engines:
            left = planning.plan(config).units - len(session.journal.records)
            progress = MatchProgress(session.progress, left)
            desk = Desk(engines, begun, turns, marks, journal, learned, progress)
            return "; ".join([it async for it in _lost(work, desk, missing)])


@dataclass(frozen=True)
class Desk:
    """What is at hand while a run is under way."""

    engines: Asked
    begun: Begun
    turns: Journal
    marks: Learned
    journal: Journal
    """Of what is learned and examined, as it comes."""
    learned: Journal
    """Of studies that are over."""
    progress: MatchProgress


async def _lost(work: Running, desk: Desk, missing: Sequence[Study]) -> AsyncIterator[str]:
    """Learn and play what is missing; yield why some of it cannot be had."""
    patient = True
    for stage in cells.stages(work.config):
        if stage == AFTER and missing:
            study = await _studying(work, desk, missing)
            failed = await do(study, missing, desk.engines.link, desk.engines.count)
            for it in missing:
                if it.number in failed:
                    yield f"{it.model}, {it.positions}, phrasing {it.phrasing}: {failed[it.number]}"
            if failed:
                return  # what was not learned cannot be played by
        if stage == AFTER:
            _restored(work, desk)
        for cell in cells.cells(work.config):
            if cell.stage == stage:
                try:
                    await _play(work, desk, cell, patient=patient)
                except Unplayed as lost:
                    yield f"{cell}: {lost}"
                    patient = False  # it was waited for as long as was wanted


async def _play(work: Running, desk: Desk, cell: Cell, *, patient: bool) -> None:
    """Play what a tournament lacks."""
    session, of = work.session, cells.tournament(work.config, cell)
    if not patient:
        of = replace(of, games=replace(of.games, patience_s=0.0))
    played, unfinished = work.played()[cell.name], desk.begun.of[cell.name].unfinished
    schedule = await asyncio.to_thread(resumed, of, played, unfinished, desk.turns.path)
    if schedule.over:
        return

    def phase(text: str) -> None:
        session.phase(f"{cell}: {text}")

    def ended(matches: Sequence[Mapping[str, Any]]) -> None:
        session.keep(*marked(matches, cell))

    phase("playing")
    tournament = Kept(unfinished, Shelf(desk.turns, cell).extend, ended, _replied(work, desk))
    await play(of, desk.engines, schedule, tournament, progress=desk.progress, phase=phase)


def _replied(work: Running, desk: Desk) -> set[str]:
    """Return the models that have replied, be it in another wording: they can be had."""
    ended = (match for some in work.played().values() for match in some)
    begun = (it for ledger in desk.begun.of.values() for it in ledger.unfinished.values())
    return replied(ended, begun)


def _restored(work: Running, desk: Desk) -> None:
    """Have all players lie in their folder: somebody may have cleared it since they were kept."""
    for it in desk.learned.records:
        if compiled.find(work.folder, it["about"]) is None:
            written(work.folder, desk.marks, it["study"], it["model"], it["about"], it["ended_ms"])


async def _studying(work: Running, desk: Desk, missing: Sequence[Study]) -> Work:
    """Return what it takes to do studies."""
    config, session = work.config, work.session
    session.phase("drawing positions")

    def about(study: Study) -> dict[str, Any]:
        of = cells.learner(config, study.phrasing)
        return learning.about(of, study.model, study.positions)

    abouts = await asyncio.to_thread(lambda: {it.number: about(it) for it in missing})
    return Work(
        learning.curriculum(cells.learner(config, 0)),
        work.folder,
        config.optimise_players.cache,
        abouts,
        desk.marks,
        desk.journal,
        lambda study, record: desk.learned.append({**record, "phrasing": study.phrasing}),
        session.phase,
    )

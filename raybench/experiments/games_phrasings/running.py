"""The tournaments of a run: what is missing is learned and played, by one fleet."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from raybench import positions
from raybench.arena.pool import Unplayed
from raybench.arena.workshop import Study
from raybench.config import Config
from raybench.config.games_phrasings import AFTER
from raybench.experiments.games import planning as tournaments
from raybench.experiments.games import setup as games
from raybench.experiments.games.playing import Asked, Kept, asked, play, resumed
from raybench.experiments.games_phrasings import cells, planning
from raybench.experiments.games_phrasings.cells import Cell
from raybench.experiments.games_phrasings.conclusion import concluded
from raybench.experiments.games_phrasings.ledger import Begun, Shelf, by_cell, kept, marked
from raybench.experiments.optimise_players import setup as learning
from raybench.experiments.optimise_players.ledger import JOURNAL as MARKS
from raybench.experiments.optimise_players.ledger import Ledger as Learned
from raybench.experiments.optimise_players.studying import Work, do
from raybench.experiments.session import Session, open_session
from raybench.pipeline import compiled
from raybench.pipeline.store import Journal
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
        conclusions=games.CONCLUSIONS,
        aside=games.aside(config),
    ) as session:
        for note in tournaments.told(config):
            console.say(f"Note: {note}")
        work = Running(config, session)
        learned = session.open_journal(STUDIES, dict)
        with closing(learned):
            unfinished = ""
            if session.finished is None:
                unfinished = await _completed(work, learned)
            session.conclude(
                concluded(config, work.played(), learned.records, session.journal.path, unfinished)
            )


@dataclass(frozen=True)
class Running:
    """A run under way."""

    config: Config
    session: Session

    @property
    def folder(self) -> Path:
        """Where compiled players lie."""
        return Path(self.config.optimise_players.folder).expanduser()

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
            gone: list[str] = []
            after = next((it for it in cells.cells(config) if it.stage == AFTER), None)
            for cell in cells.cells(config):
                if cell.stage == AFTER and missing:
                    study = await _studying(work, marks, journal, learned, missing)
                    failed = await do(study, missing, engines.link, engines.count)
                    gone += [f"{it.model}, {it.positions}: {failed[it.number]}"
                             for it in missing if it.number in failed]  # fmt: skip
                    missing = []
                if cell == after:
                    _restored(work, marks, learned)
                if cell.stage == AFTER and gone:
                    break  # what was not learned cannot be played
                try:
                    await _play(work, engines, cell, begun, turns)
                except Unplayed as lost:
                    gone.append(f"{cell}: {lost}")
            return "; ".join(gone)


async def _play(work: Running, engines: Asked, cell: Cell, begun: Begun, turns: Journal) -> None:
    """Play what a tournament lacks."""
    session, of = work.session, cells.tournament(work.config, cell)
    played, unfinished = work.played()[cell.name], begun.of[cell.name].unfinished
    schedule = await asyncio.to_thread(resumed, of, played, unfinished, turns.path)
    if schedule.over:
        return

    def phase(text: str) -> None:
        session.phase(f"{cell}: {text}")

    phase("playing")
    shelf = Shelf(turns, cell)
    keep = Kept(
        unfinished,
        played,
        shelf.extend,
        lambda matches: session.keep(*marked(matches, cell)),
    )
    await play(of, engines, schedule, keep, phase=phase)


def _restored(work: Running, marks: Learned, learned: Journal) -> None:
    """Have all players lie in their folder: somebody may have cleared it since they were kept."""
    folder = work.folder
    for record in learned.records:
        if compiled.find(folder, record["about"]) is None:
            name, made = f"{record['model']}.{record['positions']}", {"model": record["model"]}
            compiled.keep(folder, name, record["about"], made, marks.states[record["study"]])


async def _studying(
    work: Running, marks: Learned, journal: Journal, learned: Journal, missing: Sequence[Study]
) -> Work:
    """Return what it takes to do studies."""
    config, session = work.config, work.session
    session.phase("drawing positions")

    def about(study: Study) -> dict[str, Any]:
        of = cells.learner(config, study.phrasing)
        return learning.about(of, study.model, positions.load(study.positions))

    abouts = await asyncio.to_thread(lambda: {it.number: about(it) for it in missing})
    return Work(
        learning.curriculum(cells.learner(config, 0)),
        work.folder,
        config.optimise_players.cache,
        abouts,
        marks,
        journal,
        lambda study, record: learned.append({**record, "phrasing": study.phrasing}),
        session.phase,
    )

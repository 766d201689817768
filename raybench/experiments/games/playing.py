"""The matches of one tournament, played side by side by engines that are up, and kept."""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from raybench import sandbox
from raybench.arena.pool import Lines, Pool
from raybench.arena.rooms import rooms
from raybench.config import Config
from raybench.errors import Problem, RunFailed
from raybench.experiments.games import setup
from raybench.experiments.games.match_progress import MatchProgress
from raybench.experiments.games.ratings import widest
from raybench.experiments.games.spent import Spent
from raybench.experiments.parts.session import Session
from raybench.fleet import Fleet
from raybench.fleet.link import Link
from raybench.tournament.records import Match, Unfinished
from raybench.tournament.schedule import Schedule
from raybench.tracking import console
from raybench.types import Completion, ModelSpec

Counted = Callable[[str, Completion], None]
"""Takes what came back from a model that was asked."""


@dataclass(frozen=True)
class Asked:
    """Engines that are up, for matches and for whatever else is asked of them."""

    fleet: Fleet
    link: Link
    count: Counted
    """Of what is asked in other processes, where the fleet does not see it."""
    show: Counted
    """Of what it counted itself: only the person is shown it."""


@asynccontextmanager
async def asked(
    config: Config,
    session: Session,
    models: Sequence[ModelSpec],
    *,
    ray: bool,
    spent: Spent | None = None,
) -> AsyncIterator[Asked]:
    """Try the sandbox, where programs are to run, and bring up engines.

    `ray` is for what is asked in other processes.
    """
    if any(game.sandboxed for game in setup.chosen(config)):
        session.phase("trying the sandbox")
        sandbox.configure(setup.sandboxed(config))
        sandbox.run("")
    async with session.fleet(models, ray=ray) as fleet:
        with ExitStack() as stack:
            counts = {
                it.name: stack.enter_context(fleet.account.call(it.name))
                for it in models
                if ray  # what is asked in this process, the fleet counts itself
            }

            def show(model: str, completion: Completion) -> None:
                if spent is not None:
                    spent.count(completion.output_tokens)
                session.spend(
                    prompt_tokens=completion.prompt_tokens,
                    output_tokens=completion.output_tokens,
                    errors=int(completion.finish == "error"),
                )

            def count(model: str, completion: Completion) -> None:
                counts[model](completion)
                show(model, completion)

            yield Asked(fleet, Link.to(fleet, models, config.fleet), count, show)


@dataclass(frozen=True)
class Kept:
    """What there is of a tournament, and where more of it is kept."""

    unfinished: Mapping[int, Unfinished]
    """The matches that earlier sessions began."""
    turns: Callable[[Lines], None]
    """Keeps lines of what happens in matches."""
    ended: Callable[[Sequence[Mapping[str, Any]]], None]
    """Keeps records of matches."""
    replied: Collection[str]
    """The models that have replied in earlier sessions of the run."""


def replied(matches: Iterable[Match], unfinished: Iterable[Unfinished]) -> set[str]:
    """Return the models that have replied in matches that ended, or were begun."""
    found = {
        it.seats[role]
        for it in matches
        for role, effort in it.efforts.items()
        if effort.turns or effort.invalid
    }
    return found | {turn.model for it in unfinished for turn in it.turns} - {""}


def resumed(
    config: Config,
    played: Sequence[Match],
    unfinished: Mapping[int, Unfinished],
    journal: Path,
    spent: Mapping[str, Callable[[], float]] = {},
) -> Schedule:
    """Return the schedule as far as it has come, by what ended and what was begun.

    `journal` is where that stands, for words.
    """
    begun = {it.number: it.fixture for it in played}
    begun |= {number: it.fixture for number, it in unfinished.items()}
    if (last := max(begun, default=0)) > (most := setup.units(config)):
        raise RunFailed(
            Problem(
                "run.conflict",
                f"{last:,} matches have begun in this run, which is unfinished, and {most:,} are "
                "wanted",
                setting="games.matches",
                given=most,
                fix="give games.matches or games.cycles that are no lower, or start anew with "
                "resume=false",
            )
        )
    stop = setup.stop(config, lambda results: widest(config, results), spent)
    try:
        schedule = Schedule(setup.matchmaking(config), stop, begun)
        for match in played:
            schedule.done(match.number, match.result)
        schedule.unfinished()  # where nothing is, no engine has to be brought up
    except ValueError as error:
        raise RunFailed(
            Problem(
                "journal.invalid",
                f"the journals beside {journal} are not what this run leaves: {error}",
                fix="Mend them, or start anew with resume=false",
            )
        ) from error
    return schedule


async def play(
    config: Config,
    engines: Asked,
    schedule: Schedule,
    kept: Kept,
    *,
    progress: MatchProgress,
    phase: Callable[[str], None],
) -> None:
    """Play what a schedule has still to hand out. Raises Unplayed where somebody is gone."""
    house, count = setup.house(config), setup.actors(config)
    progress.resume(kept.unfinished)

    async def keep(lines: Lines) -> None:
        await asyncio.to_thread(kept.turns, lines)  # the disk holds no match up
        progress.take(lines)

    async with rooms(
        engines.fleet, engines.link, house, actors=count, say=phase, on=setup.nodes(config)
    ) as opened:
        pool = Pool(
            schedule,
            opened,
            house,
            at_once=house.at_once * max(1, count) + setup.ahead(config),
            replays=config.games.replays,
            keep=keep,
            count=engines.count if count else engines.show,
            unfinished=kept.unfinished,
            replied={*kept.replied} - {*house.scripts},
            say=console.warn,
            phase=phase,
            patience_s=config.games.patience_s,
        )
        async with aclosing(pool.matches()) as ended:
            async for matches in ended:
                await asyncio.to_thread(kept.ended, matches)
                progress.end(matches)

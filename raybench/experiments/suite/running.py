"""The parts of a suite one after the other, on engines that come up once."""

from collections.abc import Mapping, Sequence
from time import time
from typing import Any

from raybench.config import Config
from raybench.errors import RaybenchError
from raybench.experiments.parts.opening import open_session
from raybench.experiments.parts.session import Session
from raybench.experiments.parts.within import House
from raybench.experiments.suite import parts, planning
from raybench.experiments.suite.conclusion import concluded
from raybench.experiments.suite.parts import Part
from raybench.pipeline.store import REPORT
from raybench.tracking import console
from raybench.types import Plan


async def run(config: Config, resolved: Mapping[str, Any]) -> None:
    """Run the parts that are still missing, and say how far all agree."""
    plans = planning.plans(config)
    async with open_session(
        config,
        resolved,
        planning.whole(config, plans),
        journal="parts",
        conclusions=parts.conclusions(),
        aside=("games.at_once",),
        quiet=True,
    ) as session:
        every = list(parts.of(config, resolved, session.folder))
        failed = await _run(session, config, every, plans)
        found = [it for part in every if (it := parts.read(part)) is not None]
        session.conclude(concluded(config, found, failed, session.folder))


async def _run(
    session: Session, config: Config, every: Sequence[Part], plans: Sequence[Plan]
) -> dict[str, str]:
    """Run what is missing; return why parts failed, by name."""
    failed: dict[str, str] = {}
    known = {record["part"] for record in session.journal.records}
    models = planning.asked(plans)
    page = session.folder / REPORT
    async with House(models, config.fleet, parent=session.mlflow_run_id, page=page) as house:
        for number, part in enumerate(every, start=1):
            where = f"Part {number} of {len(every)}, {part.name}"
            if part.over:
                console.say(f"{where}: finished")
            else:
                console.say(where)
                house.following = sum(not it.over for it in every[number:])
                try:
                    await part.room.run(part.config, part.resolved, within=house)
                except RaybenchError as error:
                    failed[part.name] = str(error)
                    rest = "the others go on" if number < len(every) else "what there is, is told"
                    console.warn(f"{part.name} failed: {error}\n({rest})")
            if part.over and part.name not in known and part.last is not None:
                session.keep(
                    {
                        "part": part.name,
                        "run": part.last.parent.name,
                        "ended_ms": round(time() * 1000),
                    }
                )
        if house.account is not None:
            session.asked_by_parts(house.account)
    return failed

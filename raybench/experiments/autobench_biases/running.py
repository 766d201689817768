"""The trials of a run: those still missing are played, and what they measured is kept."""

import time
from collections.abc import Mapping
from typing import Any

from raybench.autobench.biases import population
from raybench.autobench.protocol import Record
from raybench.autobench.trials import Trial
from raybench.config import Config
from raybench.errors import Problem, RunFailed
from raybench.experiments.autobench_biases.conclusion import concluded
from raybench.experiments.autobench_biases.playing import Play, playing
from raybench.experiments.autobench_biases.setup import Unit, plan, protocol, units
from raybench.experiments.autobench_biases.units import ITERATIONS
from raybench.experiments.parts.opening import open_session
from raybench.experiments.parts.session import Session


async def run(config: Config, resolved: Mapping[str, Any]) -> None:
    """Play the trials that are still missing, one after the other."""
    play = playing(config.autobench_biases.iterations)
    wanted = units(config)
    async with open_session(
        config, resolved, plan(config), journal="trials", keep=_without_iterations
    ) as session:
        trials = _kept(session)
        for number, unit in enumerate(wanted, start=1):
            if (unit.name, unit.seed) not in trials:
                session.phase(f"{unit.name}, seed {unit.seed}")
                trials[unit.name, unit.seed] = await _played(session, number, unit, play)
        session.conclude(concluded(config, trials, session.journal.path))


def _without_iterations(record: dict[str, Any]) -> dict[str, Any]:
    """Return what stays in memory of a trial: its iterations are for the report to read again."""
    return {name: it for name, it in record.items() if name != ITERATIONS}


def _kept(session: Session) -> dict[tuple[str, int], Trial]:
    """Return the trials that the journal holds, by bias and seed."""
    try:
        return {
            (record["bias"], record["seed"]): Trial.from_json(record)
            for record in session.journal.records
        }
    except (LookupError, TypeError) as error:
        raise RunFailed(
            Problem(
                "journal.invalid",
                f"{session.journal.path} is not what a run leaves ({error!r})",
                fix="Mend it, or start anew with resume=false",
            )
        ) from error


async def _played(session: Session, number: int, unit: Unit, play: Play) -> Trial:
    begun = time.monotonic()
    planted, settings = population(unit.bias, unit.seed), protocol(unit.seed)
    records = await play(planted.models, settings)
    trial = Trial.of(records, planted, settings)
    tokens = [pair for record in records for pair in record["tokens"].values()]
    session.keep(
        {
            "trial": number,
            "bias": unit.name,
            "seed": unit.seed,
            **trial.to_json(),
            ITERATIONS: records,
            "seconds": round(time.monotonic() - begun, 3),
            "ended_ms": time.time_ns() // 1_000_000,
        },
        prompt_tokens=sum(prompt for prompt, _ in tokens),
        output_tokens=sum(output for _, output in tokens),
        errors=sum(_errors(record) for record in records),
    )
    return trial


def _errors(record: Record) -> int:
    return len(record["errors"])

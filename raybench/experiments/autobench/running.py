"""The iterations of a run: those still missing are played and kept."""

from collections.abc import Mapping
from typing import Any

from raybench.arena.peers import run_iteration
from raybench.autobench.protocol import Record, replay
from raybench.autobench.standing import advance
from raybench.config import Config
from raybench.errors import RunFailed
from raybench.experiments.autobench.conclusion import concluded, families_of, tables_of
from raybench.experiments.autobench.setup import decoding, plan, settings
from raybench.experiments.session import open_session


async def run(config: Config, resolved: Mapping[str, Any]) -> None:
    """Run the iterations that are still missing, one after the other."""
    protocol = settings(config)
    conf, planned = config.autobench, plan(config)
    tables = tables_of(config)
    async with open_session(config, resolved, planned, journal="iterations") as session:
        records: list[Record] = session.journal.records
        try:
            standing = replay(records, protocol)
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise RunFailed(
                f"{session.journal.path} is not what a run leaves ({error}). Mend it, or start "
                "anew with resume=false"
            ) from error
        for record in records:
            session.log(*_series(record), record)
        if len(records) < conf.iterations:
            async with session.fleet(planned.models) as fleet:
                while len(records) < conf.iterations:
                    index = standing.iteration + 1
                    session.phase(f"iteration {index}")
                    record = await run_iteration(index, standing, protocol, fleet, decoding(config))
                    tokens = list(record["tokens"].values())
                    session.keep(
                        record,
                        prompt_tokens=sum(prompt for prompt, _ in tokens),
                        output_tokens=sum(output for _, output in tokens),
                        errors=len(record["errors"]),
                    )
                    session.log(*_series(record), record)
                    standing = advance(standing, record["scores"], protocol)
        session.conclude(concluded(records, protocol, tables=tables, families=families_of(config)))


def _series(record: Record) -> tuple[dict[str, dict[str, float]], dict[str, float]]:
    """Return what one iteration adds to the metrics over iterations: by model, and overall."""
    per_model = {
        model: {
            "autobench/iteration_score": record["scores"].get(model),
            "autobench/running_score": record["cumulative"][model],
            "autobench/running_weight": record["weights"][model],
        }
        for model in record["cumulative"]
    }
    overall = {
        "autobench/attempts": float(len(record["attempts"])),
        "autobench/seconds": record["seconds"],
    }
    return per_model, overall

"""All iterations of all trials, for the report's reader: what a bias makes of the same task."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from raybench.autobench.biases import population
from raybench.config import Config
from raybench.experiments.autobench.units import Part, side_by_side
from raybench.experiments.autobench_biases.setup import Unit, protocol
from raybench.experiments.autobench_biases.setup import units as trials
from raybench.pipeline import rows
from raybench.tracking import addresses
from raybench.tracking.report import Text, Units

ITERATIONS = "iterations"
"""The field of a trial's record that has them."""


def units(config: Config, journal: Path, lines: Mapping[tuple[str, int], int]) -> Units:
    """Return the iterations; `lines` say where each trial stands in the journal, from 1."""
    seeds = range(config.seed, config.seed + config.autobench_biases.seeds)
    every = trials(config)

    def together() -> Iterator[Sequence[Part]]:
        """Yield the trials of one seed after those of another: more are not in memory."""
        for seed in seeds:
            those = (it for it in every if it.seed == seed)
            yield [_part(it, journal, lines[it.name, seed]) for it in those]

    return side_by_side(together, ["bias", "seed"], f"journal/{journal.name}")


def _part(trial: Unit, journal: Path, line: int) -> Part:
    # A run that began before iterations were kept has none.
    records = rows.at((str(journal), line - 1)).get(ITERATIONS, ())
    return Part(
        addresses.trial(trial.name, trial.seed),
        {"bias": trial.name, "seed": str(trial.seed)},
        records,
        protocol(trial.seed),
        [line] * len(records),
        [Text("what is planted", _planted(trial))],
    )


def _planted(trial: Unit) -> str:
    """Return who has the bias, and whom it is meant to favour."""
    found = population(trial.bias, trial.seed)
    if not found.biased:
        return f"{trial.name}: everybody judges by the same rule"
    judges, favoured = ", ".join(found.biased), ", ".join(found.favoured)
    return f"{trial.name}\nbiased judges: {judges}\nmeant to favour: {favoured or 'nobody'}"

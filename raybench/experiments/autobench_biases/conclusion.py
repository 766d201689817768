"""What comes out of a run: a line of estimates for every bias, one plot, and what they say."""

from collections.abc import Mapping
from pathlib import Path

from raybench.autobench import displacement
from raybench.autobench.biases import FAIR
from raybench.autobench.displacement import PLACES, POINTS, SAVED, SAY, TAU
from raybench.autobench.trials import Trial
from raybench.config import Config
from raybench.experiments.autobench_biases.setup import biases
from raybench.experiments.autobench_biases.units import units as readable
from raybench.experiments.parts import digests, supported
from raybench.experiments.parts.outcome import Outcome
from raybench.tracking import console, plots
from raybench.tracking.leaderboard import Column
from raybench.tracking.report import Section
from raybench.types import Estimate

_UNIFORM = "_uniform"
COLUMNS = (
    Column(TAU, "τ lost"),
    Column(TAU + _UNIFORM, "τ lost (uniform)"),
    Column(SAVED[TAU], "τ saved"),
    Column(PLACES, "places gained"),
    Column(PLACES + _UNIFORM, "places gained (uniform)"),
    Column(SAVED[PLACES], "places saved"),
    Column(POINTS, "points gained"),
    Column(POINTS + _UNIFORM, "points gained (uniform)"),
    Column(SAY, "say"),
)
_TEXT = (
    "Left: how many places those gain whom the bias favours. Right: how much of Kendall's τ "
    "between the final order and the true one is lost. Each with judging weights by equation 3, "
    "and with the same weight for every judge, from the same ratings; against the same models and "
    "seeds without the bias. Right of 0 is harm; 95 % intervals over seeds. Random judges favour "
    "nobody, so that there are no places to gain."
)


def concluded(config: Config, trials: Mapping[tuple[str, int], Trial], journal: Path) -> Outcome:
    """Conclude from the trials, by bias and seed, in the order of the journal, which lies there."""
    conf = config.autobench_biases
    names = [bias.name for bias in biases(config)]
    seeds = range(config.seed, config.seed + conf.seeds)
    found = {
        name: displacement.effects([(trials[name, seed], trials[FAIR, seed]) for seed in seeds])
        for name in names
    }
    fair = [trials[FAIR, seed] for seed in seeds]
    return Outcome(
        metrics=found,
        counts={},
        failures=_failures(trials),
        columns=COLUMNS,
        of="bias",
        inputs={"autobench_biases.planted": digests.of([*names, [*seeds], conf.iterations])},
        sections=[
            Section(supported.TITLE, _support(found, conf.seeds)),
            Section("What each bias does", _TEXT, figure=_figure(found)),
        ],
        units=readable(config, journal, {it: line for line, it in enumerate(trials, start=1)}),
        settings={
            "trials": f"{console.counted(conf.seeds, 'seed')} from {config.seed}, "
            f"{console.counted(conf.iterations, 'iteration')} each"
        },
        notes=_notes(found, fair) | {"No task": _taskless(trials, conf.iterations)},
    )


def _figure(found: Mapping[str, Mapping[str, Estimate]]) -> str:
    return plots.versus(
        {
            label: {
                series: {name: of[metric + end].to_json() for name, of in found.items()}
                for series, end in (("with weights", ""), ("without", _UNIFORM))
            }
            for label, metric in (("places gained", PLACES), ("τ lost", TAU))
        }
    )


def _support(found: Mapping[str, Mapping[str, Estimate]], seeds: int) -> str:
    """Say against which biases judging weights help, and how far that goes."""
    said = displacement.verdict(found)
    told = {
        "Against these judging weights help": said["help"],
        "These they make worse": said["hurt"],
        "No difference from uniform weights is told of these": said["open"],
    }
    every = ". ".join(f"{name}: {', '.join(it)}" for name, it in told.items() if it)
    return (
        f"{every}. By Kendall's τ to the true order and by places gained, over {seeds} "
        f"seed{'s' * (seeds > 1)}; at 5 % by Holm's steps over all of them. It is true of these "
        "stand-ins: models may judge with biases that nobody planted."
    )


def _notes(found: Mapping[str, Mapping[str, Estimate]], fair: list[Trial]) -> dict[str, str]:
    said = displacement.verdict(found)
    told = {
        "Weights": f"help against {', '.join(said['help']) or 'none'}; make worse "
        f"{', '.join(said['hurt']) or 'none'}; no difference from uniform weights is told for the "
        f"other {len(said['open'])} (τ and places, 5 % with Holm's steps over all)",
        "Saved": "what uniform weights lose or give away more than the consensus's",
        "Say": "the judging weight of the biased over what their number would give them",
    }
    if ranked := [trial.tau("consensus") for trial in fair if trial.complete]:
        told["No bias"] = f"Kendall's τ to the true order is {sum(ranked) / len(ranked):.3f}"
    return told


def _taskless(trials: Mapping[tuple[str, int], Trial], iterations: int) -> str:
    without = sum(iterations - trial.tasks for trial in trials.values())
    every = iterations * len(trials)
    return (
        f"iterations that found none that was accepted, and rated nobody: {without:,} of {every:,}"
    )


def _failures(trials: Mapping[tuple[str, int], Trial]) -> list[dict[str, object]]:
    """Return the trials that have no order."""
    return [
        {"bias": name, "seed": seed, "why": "somebody has no score: the pair does not count"}
        for (name, seed), trial in trials.items()
        if not trial.complete
    ]

"""What the configuration says: which biases are tried, with which seeds; and what that would do."""

from typing import NamedTuple

from raybench.autobench.biases import BIASES, FAIR, MODELS, Bias, population
from raybench.autobench.settings import Settings
from raybench.config import Config
from raybench.types import ModelSpec, Plan


class Unit(NamedTuple):
    """One population with one seed."""

    bias: Bias | None
    seed: int

    @property
    def name(self) -> str:
        """What is planted."""
        return FAIR if self.bias is None else self.bias.name


def biases(config: Config) -> list[Bias]:
    """Return the biases that are tried."""
    return [bias for bias in BIASES if bias.kind in config.autobench_biases.kinds]


def units(config: Config) -> list[Unit]:
    """Return what is played: every bias and none, with one seed after the other."""
    planted = (None, *biases(config))
    seeds = range(config.seed, config.seed + config.autobench_biases.seeds)
    return [Unit(bias, seed) for seed in seeds for bias in planted]


def protocol(seed: int) -> Settings:
    """Return the protocol's settings: the defaults, with the seed."""
    return Settings(models=MODELS, seed=seed)


def plan(config: Config) -> Plan:
    """Say what the run would do. Each bias has a line of results, as a model has elsewhere."""
    conf, several = config.autobench_biases, units(config)
    n = len(MODELS)
    settings = protocol(config.seed)
    least = 1 + n + n + n * n
    most = settings.attempts * settings.generators * (1 + n) + n + n * n
    calls = len(several) * conf.iterations
    return Plan(
        experiment="autobench_biases",
        models=tuple(_shown(bias) for bias in biases(config)),
        engines=("simulated models",),
        slots=1,
        units=len(several),
        unit="trial",
        calls=f"{least * calls:,} to {most * calls:,} requests",
        notes=(
            f"each bias is given to some of {n} simulated models of known ability and tried with "
            f"{conf.seeds} seed{'s' * (conf.seeds > 1)}; the roster's models are not asked",
        ),
    )


def _shown(bias: Bias) -> ModelSpec:
    """Return a bias as the line of a plan: what its judges are told."""
    planted = population(bias, 0)
    options = next(dict(it.options) for it in planted.models if it.name in planted.biased)
    del options["ability"]
    return ModelSpec(bias.name, "simulated", "", options=options | {"judges": bias.judges})

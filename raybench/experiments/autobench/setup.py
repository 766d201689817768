"""What the configuration says, in the protocol's words; and what a run of it would do."""

from raybench.arena.peers import Decoding
from raybench.autobench.settings import Difficulty, Settings
from raybench.config import Config
from raybench.fleet import group_engines
from raybench.fleet.places import slots
from raybench.tracking.plan import turns
from raybench.types import Plan


def settings(config: Config) -> Settings:
    """Return the protocol's settings."""
    conf = config.autobench
    return Settings(
        models=tuple(model.name for model in config.roster.models),
        topics=tuple(conf.topics),
        difficulties=tuple(Difficulty(d.label, d.phrase, d.probability) for d in conf.difficulties),
        mean_threshold=conf.mean_threshold,
        median_threshold=conf.median_threshold,
        attempts=conf.attempts,
        restarts=conf.restarts,
        seed=config.seed,
    )


def decoding(config: Config) -> Decoding:
    """Return how the models' replies are drawn."""
    conf = config.autobench
    return Decoding(
        tokens={
            "task": conf.task_tokens,
            "task_rating": conf.rating_tokens,
            "answer": conf.answer_tokens,
            "answer_rating": conf.rating_tokens,
        },
        constrained_ratings=conf.constrained_ratings,
        rating_temperature=conf.rating_temperature,
    )


def plan(config: Config) -> Plan:
    """Say what the run would do."""
    conf = config.autobench
    models = tuple(model.spec() for model in config.roster.models)
    engines = group_engines(models)
    awake = slots(engines, config.fleet)
    n = len(models)
    # A task and n ratings of it, at best once and at worst in every attempt; n answers; n² ratings.
    least, most = 1 + n + n + n * n, conf.attempts * (conf.restarts + 1) * (1 + n) + n + n * n
    return Plan(
        experiment="autobench",
        models=models,
        engines=tuple(engine.label for engine in engines),
        slots=awake,
        units=conf.iterations,
        unit="iteration",
        calls=f"{least * conf.iterations:,} to {most * conf.iterations:,}",
        notes=(
            "ratings constrained where the engine can"
            if conf.constrained_ratings
            else "ratings unconstrained",
            "judges at their own temperature"
            if conf.rating_temperature is None
            else f"judges at temperature {conf.rating_temperature:g}",
            *turns(len(engines), awake),
        ),
    )

"""What the configuration says: which variants are played, each as an assessment of its own."""

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from raybench.config import Config, autobench_ablations, judges
from raybench.config.autobench_ablations import (
    FIXED,
    FULL,
    NO_SELF,
    OUTSIDE,
    SINGLE,
    UNIFORM,
    WORDS,
    left_out,
)
from raybench.experiments.autobench import given, reuse
from raybench.experiments.autobench import setup as plain
from raybench.fleet import group_engines
from raybench.fleet.needs import awake_at_once
from raybench.paths import expanded
from raybench.statements import Statement
from raybench.tracking.plan import engine_lines, turns
from raybench.types import ModelSpec, Plan

BEST = "the best-scored model of the full protocol"


def played(config: Config) -> list[str]:
    """Return the variants that are played, in order."""
    conf = config.autobench_ablations
    return autobench_ablations.played(conf, config.autobench, config.roster)


def variant(config: Config, name: str, judge: str) -> Config:
    """Return a variant's configuration: that of a peer assessment. `judge` is the single one."""
    conf = config.autobench
    if name == SINGLE:
        # It rates its own answers, too: nobody else would.
        conf = replace(conf, judges=[judge], self_judgement=True)
    elif name == NO_SELF:
        conf = replace(conf, self_judgement=False)
    elif name == UNIFORM:
        conf = replace(conf, weights="uniform")
    elif name == OUTSIDE:
        conf = replace(conf, judges=[model.name for model in config.roster.judges])
    elif name == FIXED:
        conf = replace(conf, tasks=str(_fixed(config)))
    return replace(config, experiment="autobench", autobench=conf)


def everybody(config: Config) -> tuple[ModelSpec, ...]:
    """Return all who take part in any variant: contestants, then judges from outside."""
    return tuple(model.spec() for model in (*config.roster.models, *judges(config)))


def actors(config: Config) -> int:
    """Return in how many processes the full protocol's models are asked; 0 is this one."""
    return plain.actors(variant(config, FULL, ""))


def inputs(config: Config, extended: reuse.Extended | None) -> dict[str, str]:
    """Return the digests of what a run reads beside its configuration."""
    found = reuse.inputs(config, extended)
    if FIXED in played(config):
        tasks = expanded(_fixed(config)).read_bytes()
        found["autobench_ablations.tasks"] = hashlib.sha256(tasks).hexdigest()
    return found


def plan(config: Config, extended: reuse.Extended | None = None) -> Plan:
    """Say what the run would do; `extended` is what it extends, where that has been read already.

    Raises ConfigurationError where a file that it is to begin with cannot be read.
    """
    asked, several = everybody(config), played(config)
    models = len(config.roster.models)
    engines = group_engines(asked)
    awake = awake_at_once(engines, config.fleet)
    least, most = _calls(config)
    full = plain.plan(variant(config, FULL, ""), extended or reuse.earlier(config))
    of_its_engines = turns(len(full.engines), full.slots)
    return Plan(
        experiment="autobench_ablations",
        models=asked[:models],
        engines=engine_lines(engines, asked[models:]),
        slots=awake,
        ray=full.ray,
        units=len(several) * config.autobench.iterations,
        each=len(several) * config.autobench.iterations,
        unit="iteration",
        referees=asked[models:],
        calls=Statement(
            "plan.calls_between",
            "{least:,} to {most:,} requests, if all models reply",
            least=least,
            most=most,
        ),
        notes=(
            *_variants(config),
            "variants share equal requests: the least is sent if all accept the same tasks",
            *(note for note in full.notes if note not in of_its_engines),
            *turns(len(engines), awake),
        ),
    )


def _fixed(config: Config) -> Path:
    tasks = config.autobench_ablations.tasks
    return given.SHIPPED if tasks is None else Path(tasks)


def least_calls(config: Config) -> dict[str, int]:
    """Return how many calls an iteration of each variant adds at least to those before it."""
    models = len(config.roster.models)
    contestants = [model.name for model in config.roster.models]
    found, heard = {}, set(config.autobench.judges or contestants)
    for name, conf in _confs(config).items():
        if name in (FULL, FIXED):
            found[name] = plain.calls(conf)[0]
            continue
        unheard = set(conf.autobench.judges or contestants) - heard
        if name == SINGLE and config.autobench_ablations.single_judge is None:
            unheard = set()
        # Each rates the task, where it is not given, and every answer.
        found[name] = len(unheard) * (models + (conf.autobench.tasks is None))
        heard |= unheard
    return found


def _calls(config: Config) -> tuple[int, int]:
    """Return how many calls the run makes, at best and at worst."""
    iterations = config.autobench.iterations
    most = sum(plain.most_calls(conf) for conf in _confs(config).values())
    return sum(least_calls(config).values()) * iterations, most


def _confs(config: Config) -> dict[str, Config]:
    """Return the configuration of each variant, as far as its calls depend on it."""
    # Who the single judge is does not change how many calls it takes; at best it is one of those
    # who judge anyway.
    single = config.autobench_ablations.single_judge or config.roster.models[0].name
    return {name: variant(config, name, single) for name in played(config)}


def _variants(config: Config) -> Iterator[str]:
    """Yield what is played, and what is not."""
    conf = config.autobench_ablations
    details = {
        SINGLE: conf.single_judge or BEST,
        OUTSIDE: ", ".join(model.name for model in config.roster.judges),
    }
    several = played(config)
    if FIXED in several:
        where = conf.tasks or "raybench's own"
        count = len(given.read(_fixed(config), "autobench_ablations.tasks"))
        again = ", used several times" if count < config.autobench.iterations else ""
        details[FIXED] = f"{count} of {where}{again}"
    for name in several:
        detail = details.get(name, "")
        yield Statement(
            "ablations.variant",
            "variant: {title}{more}",
            title=WORDS[name],
            more=f" ({detail})" if detail else "",
            variant=name,
            detail=detail,
        )
    for name, why in left_out(conf, config.autobench, config.roster).items():
        if name in conf.variants:
            yield Statement(
                "ablations.left_out",
                "left out: {title} ({why})",
                title=WORDS[name],
                why=why,
                variant=name,
            )

"""What the configuration says, in the words of those who do it; and what a run would do."""

import hashlib
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from raybench import positions
from raybench.arena.studies import Curriculum, Study
from raybench.config import Config, judges
from raybench.errors import ConfigurationError, Problem
from raybench.experiments.games import asking
from raybench.experiments.optimise_players import choice, identity
from raybench.fleet import group_engines
from raybench.fleet.needs import awake_at_once
from raybench.games import State
from raybench.games.parts import wording
from raybench.games.parts.wording import Wording
from raybench.players.parts.programs.optimisers import Optimiser
from raybench.players.parts.programs.studies import Studies
from raybench.positions import Positions
from raybench.positions.parts.contract import Split
from raybench.positions.parts.digest import digest
from raybench.statements import Statement
from raybench.tracking.plan import engine_lines, turns
from raybench.types import ModelSpec, Plan

_LEARNT_FROM: tuple[Split, ...] = ("train", "validation")
_SCORED, _SCORED_MOVES = 5, 20
"""Positions, and moves of each, whose worth is part of what a player is made from."""


def models(config: Config) -> list[ModelSpec]:
    """Return the models that learn, as they are asked."""
    names = config.optimise_players.models or [it.name for it in config.roster.models]
    return [asking.drawn(config, asking.named(config, name)) for name in names]


def asked(config: Config) -> tuple[ModelSpec, ...]:
    """Return everybody who is asked: who learns, and who writes instructions."""
    names = [it.name for it in models(config)]
    if (proposer := config.optimise_players.proposer) is not None:
        names.append(proposer)
    return tuple(asking.named(config, name) for name in dict.fromkeys(names))


def studies(config: Config) -> list[Study]:
    """Return what is done: every model learns every set of positions."""
    learn = models(config)
    engines = group_engines(learn)
    place = {it.name: at for at, engine in enumerate(engines) for it in engine.models}
    pairs = [(model, of) for model in learn for of in names(config)]
    return [
        Study(number, model.name, of, place[model.name], config.games.phrasing)
        for number, (model, of) in enumerate(pairs, start=1)
    ]


def names(config: Config) -> list[str]:
    """Return the sets of positions, as actors find them: own ones by their path."""
    named = config.optimise_players.positions or positions.names()
    return [it if ":" in it else positions.load(it).name for it in named]


def curriculum(config: Config) -> Curriculum:
    """Return what holds for all studies."""
    conf = config.optimise_players
    name, options = choice.optimiser(conf)
    return Curriculum(
        Studies(conf.program, Optimiser(name, options), config.seed, conf.at_once),
        {"train": conf.train, "validation": conf.validation, "held_out": conf.held_out},
        config.seed,
        conf.metric,
        asking.decoding(config),
        conf.proposer,
        asking.stand_ins(config),
        asking.greedy(config),
        conf.at_once,
    )


def about(config: Config, model: str, named: str) -> dict[str, Any]:
    """Return what a player of this model for these positions is made from and for.

    Raises ConfigurationError where there are no positions to learn from.
    """
    found, proposer = curriculum(config), config.optimise_players.proposer
    of = positions.load(named)
    phrasing = Wording(config.games.phrasing).number(of.game)
    whole, sizes = _learned_from(of, config.seed, tuple(found.sizes.items()), phrasing)
    return identity.about(
        asking.drawn(config, asking.named(config, model)),
        of,
        named,
        whole,
        sizes,
        found,
        asking.named(config, proposer) if proposer else None,
        phrasing,
    )


@cache
def _learned_from(
    of: Positions, seed: int, sizes: tuple[tuple[Split, int], ...], phrasing: int | str
) -> tuple[str, Mapping[str, int]]:
    """Return what tells the positions to learn from apart from others, and how many there are."""
    by = dict(sizes)
    drawn = {split: of.some(seed, split, by[split]) for split in _LEARNT_FROM}
    for split, states in drawn.items():
        if not states:
            raise ConfigurationError(
                Problem(
                    "data.missing",
                    f"the positions '{of.name}' have none in the split '{split}': a third of "
                    "their families is in each",
                    setting="optimise_players.positions",
                    fix="draw more different ones",
                )
            )
    every = [state for states in drawn.values() for state in states]
    scores = [of.score(state, move) for state in every[:_SCORED] for move in _some(state)]
    seen = digest(every, of.answer, Wording(phrasing).of(of.game))
    whole = hashlib.sha256(f"{seen} {scores}".encode()).hexdigest()
    return whole, {split: len(states) for split, states in drawn.items()}


def _some(state: State) -> list[str]:
    """Return some moves, the same ones again."""
    return [*(state.legal() or ())[:_SCORED_MOVES]]


def plan(config: Config) -> Plan:
    """Say what the run would do."""
    every = asked(config)
    engines = group_engines(every)
    awake = awake_at_once(engines, config.fleet)
    judging = {it.name for it in judges(config)}
    referees = tuple(it for it in every if it.name in judging)
    return Plan(
        experiment="optimise_players",
        models=tuple(models(config)),
        engines=engine_lines(engines, referees),
        slots=awake,
        ray=True,
        units=len(studies(config)),
        unit="study",
        referees=referees,
        calls="one request per position that an optimiser tries, two per held-out position, plus "
        "those that write instructions",
        notes=(*notes(config), *turns(len(engines), awake)),
    )


def notes(config: Config) -> Iterator[str]:
    """Yield what else is to be said of studies."""
    conf = config.optimise_players
    name, options = choice.optimiser(conf)
    with_ = ", ".join(f"{key}={value}" for key, value in options.items())
    yield Statement(
        "plan.optimiser",
        "program {program}, optimised by {optimiser}{options} for the metric {metric}",
        program=conf.program,
        optimiser=name,
        options=f" ({with_})" if with_ else "",
        metric=conf.metric,
    )
    yield Statement(
        "plan.positions",
        "{train} positions for training, {validation} for validation, {held_out} held out",
        train=conf.train,
        validation=conf.validation,
        held_out=conf.held_out,
    )
    if words := wording.told(config.games.phrasing):
        yield f"positions are told in {words}"
    for of in choice.chosen(conf):
        without = "" if of.best is not None else "; the best moves are not known, so none are shown"
        yield f"{of.name}: positions of {of.game}{without}"
    yield f"compiled players are kept in {conf.folder}"

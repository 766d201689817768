"""What the configuration says, in the tournament's words; and what a run of it would do."""

import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from raybench import games
from raybench.arena.chair import Decoding
from raybench.arena.room import House
from raybench.config import Config, everybody, judges
from raybench.errors import ConfigurationError
from raybench.fleet import group_engines
from raybench.fleet.places import slots
from raybench.games import Game
from raybench.games.parts import choice
from raybench.sandbox import Settings
from raybench.tournament import pairing
from raybench.tournament.fixtures import Result
from raybench.tournament.match import Terms
from raybench.tournament.pairing import Pairing
from raybench.tournament.stopping import Budget, Narrow, Stop
from raybench.tracking.plan import turns
from raybench.types import Plan

CONCLUSIONS = ("games.weights", "games.bootstrap")
"""Settings that change only what is made of a journal."""
_BATCH = 256
"""Requests that vLLM works on at once, where its options do not say otherwise."""
_ENGINES_EACH = 8
_MATCHES_EACH = 2_000
"""Matches of stand-ins that pay for the start of an actor."""


def chosen(config: Config) -> list[Game[Any]]:
    """Return the games that are played."""
    found = choice.chosen(config.games.names)
    if not config.games.names and _unjudged(config):
        return [game for game in found if not game.jury]
    return found


def _unjudged(config: Config) -> bool:
    """Tell whether some match of a game with a jury would leave nobody to judge it.

    Such games have two seats, and who plays does not judge.
    """
    players = {model.name for model in config.roster.models}
    asked = jurors(config)
    return len(asked) <= 2 and players.issuperset(asked)


def jurors(config: Config) -> list[str]:
    """Return who may be asked for an opinion."""
    models = [model.name for model in config.roster.models]
    if config.games.jury:
        return list(config.games.jury)
    return models


def rules(config: Config) -> dict[str, dict[str, Any]]:
    """Return the rules of games that are not played by their own, by the games' own names."""
    return {games.load(name).name: dict(of) for name, of in config.games.rules.items()}


def weights(config: Config) -> dict[str, float]:
    """Return what games weigh in the overall rating, by the games' own names."""
    return {games.load(name).name: it for name, it in config.games.weights.items()}


def house(config: Config) -> House:
    """Return what holds for all matches."""
    conf, sandbox = config.games, config.sandbox
    return House(
        rules=rules(config),
        terms=Terms(conf.tries, conf.invalid, conf.deadline_s),
        decoding=Decoding(
            tokens={
                "line": conf.move_tokens,
                "text": conf.speech_tokens,
                "code": conf.code_tokens,
            },
            temperature=conf.temperature,
            listed=conf.listed_moves,
            seed=config.seed,
        ),
        jurors=jurors(config),
        stand_ins=frozenset(it.name for it in everybody(config) if it.engine == "simulated"),
        sandbox=Settings(sandbox.backend, sandbox.python, sandbox.scientific_python),
        slots=sandbox.slots or max(1, ((os.cpu_count() or 2) - 1) // max(1, actors(config))),
        at_once=math.ceil(at_once(config) / max(1, actors(config))),
    )


def seats(config: Config) -> dict[str, int]:
    """Return how many seats each game has."""
    by_rules = rules(config)
    return {it.name: len(choice.seats(it, by_rules.get(it.name, {}))) for it in chosen(config)}


def matchmaking(config: Config) -> Pairing:
    """Return who meets whom."""
    models = [model.name for model in config.roster.models]
    return pairing.matchmaking(
        config.games.pairing,
        models,
        seats(config),
        seed=config.seed,
        size=2 * len(models),
        cycles=config.games.cycles,
    )


def stop(
    config: Config,
    widest: Callable[[Sequence[Result]], float | None],
    spent: Mapping[str, Callable[[], float]],
) -> Stop:
    """Return when it is enough."""
    conf = config.games
    limits = {"tokens": conf.budget_tokens, "seconds": conf.budget_s}
    return Stop(
        matches=conf.matches,
        budgets=tuple(
            Budget(float(limit), unit, spent[unit])
            for unit, limit in limits.items()
            if limit is not None
        ),
        narrow=None if conf.narrow is None else Narrow(conf.narrow, widest),
    )


def at_once(config: Config) -> int:
    """Return how many matches are under way side by side.

    A match waits for one reply at a time, of one model or another: it takes as many as an engine's
    batch has places for, times the engines, so that each finds a full batch when its turn comes.
    """
    if config.games.at_once is not None:
        return config.games.at_once
    engines = group_engines(everybody(config))
    batches = (model.options.get("max_num_seqs") for model in everybody(config))
    largest = max((it for it in batches if isinstance(it, int)), default=_BATCH)
    return min(config.games.matches, largest * len(engines))


def ahead(config: Config) -> int:
    """Return how many more matches wait with the rooms, to begin when one ends."""
    return max(1, at_once(config) // 4)


def actors(config: Config) -> int:
    """Return how many processes play matches; 0 is this one, which needs no cluster for that."""
    engines = group_engines(everybody(config))
    hosted = sum(engine.kind == "vllm" for engine in engines)
    if hosted:
        remote = any(engine.kind == "openai" for engine in engines)
        return 1 if remote else math.ceil(hosted / _ENGINES_EACH)
    if any(engine.kind == "openai" for engine in engines):
        return 0
    return min(os.cpu_count() or 1, config.games.matches // _MATCHES_EACH)


def units(config: Config) -> int:
    """Return how many matches the run has at most."""
    conf, models = config.games, len(config.roster.models)
    if conf.cycles is None:
        return conf.matches
    cycle = sum(math.perm(models, of) for of in seats(config).values())
    return min(conf.matches, conf.cycles * cycle)


def plan(config: Config) -> Plan:
    """Say what the run would do."""
    models = tuple(model.spec() for model in config.roster.models)
    referees = tuple(model.spec() for model in judges(config))
    engines = group_engines(everybody(config))
    awake = slots(engines, config.fleet)
    matchmaking(config)  # raises where there can be none
    if all(weights(config).get(game.name, 1.0) == 0 for game in chosen(config)):
        raise ConfigurationError(
            "games.weights: no game that is played weighs anything in the overall rating: give one "
            "of them a weight above 0"
        )
    if judged := [game.name for game in chosen(config) if game.jury and _unjudged(config)]:
        raise ConfigurationError(
            f"{', '.join(judged)}: nobody is left to judge a match of "
            f"{' and '.join(jurors(config))}, as who plays does not judge: name a third juror, or "
            "one from outside (roster.judges), in games.jury, or leave the game out of games.names"
        )
    return Plan(
        experiment="games",
        models=models,
        engines=tuple(engine.label for engine in engines),
        slots=awake,
        units=units(config),
        unit="match",
        referees=referees,
        calls="one for each move, and for each try at one that was not valid",
        notes=(*_notes(config), *turns(len(engines), awake)),
    )


def _notes(config: Config) -> Iterator[str]:
    conf, by_rules, tables = config.games, rules(config), seats(config)
    for game in chosen(config):
        own = ", ".join(f"{name}={value}" for name, value in by_rules.get(game.name, {}).items())
        yield f"{game.name}: {tables[game.name]} seats{f', {own}' if own else ''}"
    left_out = {game.name for game in choice.chosen(conf.names)} - set(tables)
    for name in sorted(left_out):
        yield f"{name} is left out: nobody is left to judge (games.jury=[NAME])"
    yield f"{conf.pairing.replace('_', ' ')}; {at_once(config)} matches at once"
    models, each = len(config.roster.models), units(config) / len(tables)
    if conf.pairing == "round_robin" and 2 in tables.values() and each < math.perm(models, 2):
        yield (
            f"{each:,.0f} matches of each game are fewer than the {math.perm(models, 2):,} in "
            "which everybody meets everybody in both seats"
        )
    if conf.narrow is not None:
        yield f"ends earlier where every rating is known to ±{conf.narrow:g} points"
    for unit, limit in (("tokens", conf.budget_tokens), ("seconds", conf.budget_s)):
        if limit is not None:
            yield f"ends earlier where {limit:,g} {unit} are spent"
    judged = [game.name for game in chosen(config) if game.jury]
    if judged:
        who = ", ".join(conf.jury) if conf.jury else "all models that do not play in a match"
        yield f"{', '.join(judged)}: judged by {who}"
    if any(game.sandboxed for game in chosen(config)):
        yield "programs that models write run in the sandbox"
    if conf.listed_moves:
        yield "where moves can be listed, one of them is decoded"
    yield from pairing.notes(len(config.roster.models), tables)

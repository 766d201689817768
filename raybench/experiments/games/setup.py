"""What the configuration says, in the tournament's words."""

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from raybench import games
from raybench.arena.room import House
from raybench.config import Config, ModelConf, everybody
from raybench.experiments.games import asking, optimised
from raybench.experiments.parts import digests
from raybench.fleet import group_engines
from raybench.games import Game
from raybench.games.parts import choice, wording
from raybench.games.parts.wording import Wording
from raybench.sandbox import Settings
from raybench.tournament import pairing, strategies
from raybench.tournament.fixtures import Result
from raybench.tournament.match import Terms
from raybench.tournament.pairing import Pairing
from raybench.tournament.records import Match
from raybench.tournament.stopping import Budget, Narrow, Stop
from raybench.tournament.strategies import Strategies

CONCLUSIONS = ("games.weights", "games.bootstrap")
"""Settings that change only what is made of a journal."""
_BUDGETS = ("games.budget_tokens", "games.budget_s")
_LIMITS = ("games.matches", "games.cycles", *_BUDGETS)
_ASIDE = ("games.at_once",)
_BATCH = 256
"""Requests that vLLM works on at once, where its options do not say otherwise."""
_ROUNDS = 8
"""Rounds that a tournament has at least, where they are not small ones."""
_ENGINES_EACH = 8
_MATCHES_EACH = 2_000
"""Matches of stand-ins that pay for the start of an actor."""


def limits(config: Config) -> tuple[str, ...]:
    """Return the settings that say only how far it goes: the matches up to there are the same."""
    return _LIMITS if _sized(config) else _BUDGETS


def aside(config: Config) -> tuple[str, ...]:
    """Return the settings that say only how it is done: the matches are the same."""
    return _ASIDE if _sized(config) else ()


def told_apart(
    config: Config, given: Mapping[str, Any]
) -> tuple[Mapping[str, Any], tuple[str, ...], tuple[str, ...]]:
    """Return what a run is known again by: its settings, which are limits, and which are aside."""
    config = seated(config)
    return resolved(config, given), limits(config), aside(config)


def _sized(config: Config) -> bool:
    """Tell whether rounds are as large as ever, however many matches there are or run at once."""
    return config.games.narrow is None and config.games.pairing != "information"


def resolved(config: Config, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was given with each game and way by its own name, in one order.

    A run is known again by it, however somebody spells them.
    """
    conf = dict(given["games"])
    conf["names"] = sorted(games.load(it).name for it in conf["names"])
    for table in ("rules", "roster_rules", "weights"):
        conf[table] = {games.load(name).name: of for name, of in conf[table].items()}
    conf["phrasing"] = wording.resolved(conf["phrasing"])
    conf["strategy"] = strategies.resolved(conf["strategy"]) or strategies.DEFAULT
    conf["strategies"] = {
        model: strategies.resolved(of) for model, of in sorted(conf["strategies"].items())
    }
    return {**given, "games": conf | {"pairing": config.games.pairing}}


def seated(config: Config) -> Config:
    """Return the configuration with everybody who plays in its roster: scripts, too."""
    scripts = [ModelConf(name, "scripted", name) for name in config.games.anchors]
    roster = replace(config.roster, models=[*config.roster.models, *scripts])
    return replace(config, roster=roster)


def chosen(config: Config) -> list[Game[Any]]:
    """Return the games that are played."""
    found = choice.chosen(config.games.names)
    if not config.games.names and unjudged(config):
        return [game for game in found if not game.jury]
    return found


def unjudged(config: Config) -> bool:
    """Tell whether some match of a game with a jury would leave nobody to judge it.

    Such games have two seats, and who plays does not judge.
    """
    players = {model.name for model in config.roster.models}
    asked = jurors(config)
    return len(asked) <= 2 and players.issuperset(asked)


def jurors(config: Config) -> list[str]:
    """Return who may be asked for an opinion."""
    if config.games.jury:
        return list(config.games.jury)
    return [model.name for model in config.roster.models if model.engine != "scripted"]


def juries(config: Config) -> list[str]:
    """Return the games that are played and have a jury."""
    return [game.name for game in chosen(config) if game.jury]


def jury_told(config: Config) -> str:
    """Return who judges such matches, in words."""
    own = ", ".join(config.games.jury)
    return own or "all models that do not play in them"


def rules(config: Config) -> dict[str, dict[str, Any]]:
    """Return the rules of games that are not played by their own, by the games' own names."""
    return choice.merged(config.games.roster_rules, config.games.rules)


def inputs(config: Config, matches: Iterable[Match]) -> dict[str, str]:
    """Return the digests of the rules, and of the matches: their games and where they began."""
    own, conf = rules(config), config.games
    told = [[game.name, own.get(game.name, {})] for game in chosen(config)]
    began = sorted((it.number, it.fixture.game, it.fixture.seed, it.table) for it in matches)
    return {
        "games.rules": digests.of([*told, wording.resolved(conf.phrasing), conf.tries]),
        "games.matches": digests.of(began),
    }


def weights(config: Config) -> dict[str, float]:
    """Return what games weigh in the overall rating, by the games' own names."""
    return {games.load(name).name: it for name, it in config.games.weights.items()}


def house(config: Config) -> House:
    """Return what holds for all matches."""
    conf, sandbox = config.games, config.sandbox
    return House(
        rules=rules(config),
        terms=Terms(conf.tries, conf.invalid, conf.deadline_s),
        decoding=asking.decoding(config),
        strategies=Strategies(
            strategies.carried(conf.strategy),
            {model: strategies.carried(of) for model, of in conf.strategies.items()},
            optimised.players(config, chosen(config)),
        ),
        wording=Wording(conf.phrasing),
        scripts={name: name for name in conf.anchors},
        jurors=jurors(config),
        stand_ins=asking.stand_ins(config),
        greedy=asking.greedy(config),
        sandbox=sandboxed(config),
        slots=sandbox.slots,
        at_once=math.ceil(at_once(config) / max(1, actors(config))),
    )


def sandboxed(config: Config) -> Settings:
    """Return where the programs of matches run."""
    conf = config.sandbox
    return Settings(conf.backend, conf.python, conf.scientific_python)


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
        size=round_of(config),
        cycles=config.games.cycles,
    )


def round_of(config: Config) -> int:
    """Return how many matches of each game a round has.

    Where something is drawn from results, two rounds are under way at most: they bound how many
    matches there are at once. A Swiss round stays what it is, everybody twice in each game: of more
    matches by the same standings most would be between models that do not stand alike. Pairs chosen
    for what they tell count on those before them in their round: there, and where intervals are
    looked at, rounds are as large as keeps everything busy, up to an eighth of all matches, so that
    most are chosen by results. For looks the schedule makes smaller ones of the first and the last.
    """
    conf, models = config.games, len(config.roster.models)
    if conf.pairing == "swiss" or _sized(config):
        return 2 * models
    busy = min(at_once(config), units(config) // _ROUNDS)
    return max(2 * models, math.ceil(busy / len(chosen(config))))


def under_way(config: Config) -> int:
    """Return how many matches are under way side by side, as far as rounds allow it."""
    if config.games.narrow is None and not matchmaking(config).adaptive:
        return at_once(config)
    return min(at_once(config), 2 * round_of(config) * len(chosen(config)))


def stop(
    config: Config,
    widest: Callable[[Sequence[Result]], float | None],
    spent: Mapping[str, Callable[[], float]],
) -> Stop:
    """Return when it is enough."""
    conf = config.games
    limits = {"tokens": conf.budget_tokens, "seconds": conf.budget_s}
    least = 2 * len(config.roster.models)
    return Stop(
        matches=conf.matches,
        budgets=tuple(
            Budget(float(limit), unit, spent[unit])
            for unit, limit in limits.items()
            if limit is not None
        ),
        narrow=None if conf.narrow is None else Narrow(conf.narrow, widest, least),
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


def nodes(config: Config) -> dict[str, str]:
    """Return the labels of the nodes on which matches are played, with the programs in them."""
    programs = any(game.sandboxed for game in chosen(config))
    return {**config.fleet.work_nodes, **(config.sandbox.nodes if programs else {})}


def units(config: Config) -> int:
    """Return how many matches the run has at most."""
    conf, models = config.games, len(config.roster.models)
    if conf.cycles is None:
        return conf.matches
    cycle = sum(math.perm(models, of) for of in seats(config).values())
    return min(conf.matches, conf.cycles * cycle)

"""What a run of games would do, said before anything starts."""

import math
from collections.abc import Iterator, Sequence

from raybench import games
from raybench.arena.room import House
from raybench.config import Config, everybody, judges
from raybench.errors import ConfigurationError, Problem
from raybench.experiments.games import asking, manners, setup
from raybench.experiments.games.deviations import deviations
from raybench.experiments.parts.deviations import GAMES_PAPER
from raybench.experiments.parts.deviations import planned as named
from raybench.fleet import group_engines
from raybench.fleet.needs import awake_at_once
from raybench.games.parts import choice
from raybench.statements import Statement
from raybench.tournament import pairing
from raybench.tracking.plan import engine_lines, turns
from raybench.types import Plan


def plan(config: Config) -> Plan:
    """Say what the run would do."""
    config = setup.seated(config)
    asked = {model.name: model for model in asking.asked(config)}
    models = tuple(asking.drawn(config, asked[model.name]) for model in config.roster.models)
    referees = tuple(asked[model.name] for model in judges(config))
    engines = group_engines(everybody(config))
    awake = awake_at_once(engines, config.fleet)
    check(config)
    return Plan(
        experiment="games",
        models=models,
        engines=engine_lines(engines, referees),
        slots=awake,
        ray=setup.actors(config) > 0,
        units=setup.units(config),
        unit="match",
        referees=referees,
        calls="one request per move, and one more per retry of an invalid move",
        notes=(*notes(config), *turns(len(engines), awake)),
    )


def check(config: Config) -> None:
    """Raise ConfigurationError where nobody meets, nothing weighs, or nobody could judge."""
    played = setup.chosen(config)
    setup.matchmaking(config)
    if all(setup.weights(config).get(game.name, 1.0) == 0 for game in played):
        raise ConfigurationError(
            Problem(
                "setting.range",
                "games.weights: no game that is played weighs anything in the overall rating",
                setting="games.weights",
                fix="give one of them a weight above 0",
            )
        )
    if judged := [game.name for game in played if game.jury and setup.unjudged(config)]:
        raise ConfigurationError(
            Problem(
                "setting.conflict",
                f"{', '.join(judged)}: nobody is left to judge a match of "
                f"{' and '.join(setup.jurors(config))}, as who plays does not judge",
                setting="games.jury",
                fix="name a third juror, or one from outside (roster.judges), in games.jury, or "
                "leave the game out of games.names",
            )
        )


def _so_many(matches: float) -> str:
    """Return a number of matches, on average, in words that do not say more than is known."""
    if matches < 1:
        return "less than one match"
    about = "" if matches == int(matches) else "about "
    return f"{about}{matches:,.0f} match{'es' * (round(matches) != 1)}"


def ignored(config: Config) -> list[str]:
    """Return notes on settings of games that are not played, where there are such."""
    played = setup.seats(config)
    given = {"weights": config.games.weights, "rules": config.games.rules}
    found = [
        f"games.{table}.{name}"
        for table, of in given.items()
        for name in of
        if games.load(name).name not in played
    ]
    notes = []
    if found:
        which = "this game is" if len({it.rpartition(".")[2] for it in found}) == 1 else "these are"
        notes.append(f"{', '.join(found)}: no effect, as {which} not played")
    if config.games.jury and not any(game.jury for game in setup.chosen(config)):
        notes.append("games.jury: no effect, as no game that is played has a jury")
    return notes


def _alike(house: House, game: str, roles: Sequence[str]) -> list[str]:
    """Return the models that play a game alike whenever it begins alike."""
    return [
        model
        for model in house.greedy
        if not any(house.strategies.varies(model, game, role) for role in roles)
    ]


def told(config: Config) -> list[str]:
    """Return the notes that a run gives, too: what may not be what somebody wanted."""
    house, by_rules = setup.house(config), setup.rules(config)
    again = [
        game.name
        for game in setup.chosen(config)
        if game.begin(0, game.rules()).start is not None
        and len(_alike(house, game.name, choice.seats(game, by_rules.get(game.name, {})))) > 1
    ]
    if not again:
        return ignored(config)
    return [
        Statement(
            "plan.same_match",
            "{games}: models at temperature 0 play the same match again from the same opening, "
            "topic, word or number. Such matches are counted as one group, which widens "
            "intervals. With games.temperature=0.7, for example, they play differently",
            games=", ".join(again),
        ),
        *ignored(config),
    ]


def notes(config: Config) -> Iterator[str]:
    """Yield what else is to be said of a tournament."""
    conf, by_rules, tables = config.games, setup.rules(config), setup.seats(config)
    for game in setup.chosen(config):
        own = ", ".join(f"{name}={value}" for name, value in by_rules.get(game.name, {}).items())
        yield f"{game.name}: {tables[game.name]} players{f', {own}' if own else ''}"
    left_out = {game.name for game in choice.chosen(conf.names)} - set(tables)
    for name in sorted(left_out):
        yield Statement(
            "plan.game_left_out",
            "{game} is left out: no model is left to judge it (games.jury=[NAME] names judges)",
            game=name,
        )
    many, wanted = setup.under_way(config), setup.at_once(config)
    most = "" if conf.narrow is None else "at most "  # rounds begin small
    why = f", not {wanted}: only two rounds, as the third needs the results of the first"
    yield Statement(
        "plan.at_once",
        "pairing: {pairing}; matches that run at the same time: {most}{matches}{why}",
        pairing=conf.pairing.replace("_", " "),
        most=most,
        matches=many,
        why=why if many < wanted else "",
    )
    models, each = len(config.roster.models), setup.units(config) / len(tables)
    if conf.pairing == "round_robin" and 2 in tables.values() and each < math.perm(models, 2):
        yield Statement(
            "plan.few_matches",
            "{matches} of each game: too few for every model to play every other in both roles, "
            "which takes {meetings:,}",
            matches=_so_many(each),
            meetings=math.perm(models, 2),
            each=each,
        )
    if conf.narrow is not None:
        yield f"the run ends early once every rating is known to ±{conf.narrow:g} points"
    for unit, limit in (("tokens", conf.budget_tokens), ("seconds", conf.budget_s)):
        if limit is not None:
            yield f"the run ends early once {limit:,g} {unit} are spent"
    if judged := setup.juries(config):
        yield Statement(
            "plan.jury",
            "{games}: matches are judged by {jurors}",
            games=", ".join(judged),
            jurors=setup.jury_told(config),
        )
    if bare := [
        it.name for it in everybody(config) if it.system_prompt and not conf.own_system_prompts
    ]:
        yield Statement(
            "plan.system_prompts",
            "the roster's system prompts of {models} are not used "
            "(games.own_system_prompts=true uses them)",
            models=", ".join(bare),
        )
    yield from (f"{name.lower()}: {text}" for name, text in manners.told(config).items())
    if any(game.sandboxed for game in setup.chosen(config)):
        yield "programs that models write run in the sandbox"
    yield from named(deviations(config), GAMES_PAPER)
    yield from pairing.notes(len(config.roster.models), tables)
    yield from told(config)

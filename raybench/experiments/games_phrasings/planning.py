"""What a run would do, said before anything starts."""

from collections.abc import Iterator

from raybench.config import Config, judges, learns
from raybench.errors import ConfigurationError, Problem
from raybench.experiments.games import asking, planning
from raybench.experiments.games import setup as games
from raybench.experiments.games_phrasings import cells
from raybench.experiments.optimise_players import setup as learning
from raybench.fleet import group_engines
from raybench.fleet.needs import awake_at_once
from raybench.games.parts.wording import OWN
from raybench.statements import Statement
from raybench.tracking.plan import engine_lines, turns
from raybench.types import ModelSpec, Plan


def everybody(config: Config) -> tuple[ModelSpec, ...]:
    """Return all who are asked: who plays and judges, and who writes instructions."""
    found = {it.name: it for it in asking.asked(config)}
    if learns(config):
        found |= {it.name: it for it in learning.asked(cells.learner(config, OWN))}
    return tuple(found.values())


def plan(config: Config) -> Plan:
    """Say what the run would do."""
    config = games.seated(config)
    asked = {model.name: model for model in everybody(config)}
    models = tuple(asking.drawn(config, asked[model.name]) for model in config.roster.models)
    engines = group_engines([*asked.values()])
    referees = tuple(asked[model.name] for model in judges(config))
    awake = awake_at_once(engines, config.fleet)
    planning.check(config)
    if not learns(config):
        for cell in cells.cells(config):  # players that were compiled in its words may be wanted
            games.house(cells.tournament(config, cell))
    if learns(config) and (missing := cells.untaught(config)):
        raise ConfigurationError(
            Problem(
                "setting.conflict",
                f"{', '.join(missing)}: optimise_players.positions has no set to learn that from, "
                "so that nothing would be optimised",
                setting="games.names",
                fix="leave it out of games.names, or compare wordings without optimisation "
                "(games_phrasings.stages=[before])",
            )
        )
    return Plan(
        experiment="games_phrasings",
        models=models,
        engines=engine_lines(engines, referees),
        slots=awake,
        ray=games.actors(config) > 0 or learns(config),
        units=len(cells.cells(config)) * games.units(config),
        unit="match",
        referees=referees,
        calls="one request per move, and one more per retry of an invalid move"
        + (", plus those of the studies" if learns(config) else ""),
        notes=(*_notes(config), *turns(len(engines), awake)),
    )


def _notes(config: Config) -> Iterator[str]:
    conf, several = config.games_phrasings, cells.cells(config)
    words = ", ".join(map(str, conf.wordings))
    yield Statement(
        "plan.tournaments",
        "{tournaments} tournaments of the same {matches:,} matches: in phrasings {phrasings}; "
        "{stages} optimisation",
        tournaments=len(several),
        matches=games.units(config),
        phrasings=words,
        stages=" and ".join(cells.stages(config)),
    )
    if learns(config):
        yield f"{len([*cells.studies(config)])} studies, which optimise each model in each phrasing"
        yield from learning.notes(cells.learner(config, OWN))
        yield from _ignored(config)
    yield from planning.notes(cells.plain(config))


def _ignored(config: Config) -> Iterator[str]:
    """Yield what somebody chose that optimisation does not go by."""
    conf = config.games
    if conf.strategy or conf.strategies:
        yield (
            "games.strategy, games.strategies: no effect, as a program is compared before and "
            "after optimisation (games_phrasings.stages=[before] uses them)"
        )
    if ruled := ", ".join(name for name, of in games.rules(config).items() if of):
        yield Statement(
            "plan.own_rules",
            "{games}: programs are optimised with the game's default rules, not with games.rules",
            games=ruled,
        )

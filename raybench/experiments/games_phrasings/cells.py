"""What is compared: tournaments of the same matches, each in a wording and at a stage."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from raybench.arena.studies import Study
from raybench.config import Config
from raybench.config.games_phrasings import AFTER, STAGES
from raybench.experiments.games import setup as games
from raybench.experiments.optimise_players import choice
from raybench.experiments.optimise_players import setup as learning
from raybench.games.parts.wording import OWN
from raybench.tournament.strategies import OPTIMISED

CELL = "cell"
"""The field by which lines of the journals say of which tournament they are."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One tournament."""

    stage: str
    wording: Any

    @property
    def label(self) -> str:
        """What its wording is called."""
        return str(self.wording)

    @property
    def name(self) -> str:
        """What it is known by, in journals and metrics: 'before/phrasing_2'."""
        words = re.sub(r"\W+", "_", self.label.lower()).strip("_")
        return f"{self.stage}/phrasing_{words}"

    def __str__(self) -> str:
        return f"phrasing {self.label}, {self.stage} optimisation"


def stages(config: Config) -> list[str]:
    """Return the stages, in their order."""
    return [it for it in STAGES if it in config.games_phrasings.stages]


def cells(config: Config) -> list[Cell]:
    """Return the tournaments, in the order in which they are played."""
    conf = config.games_phrasings
    return [Cell(stage, wording) for stage in stages(config) for wording in conf.wordings]


def tournament(config: Config, cell: Cell) -> Config:
    """Return the configuration of one tournament; `config` has everybody who plays."""
    conf = replace(config.games, phrasing=cell.wording)
    if AFTER in config.games_phrasings.stages:
        plain = {"use": "program", "module": config.optimise_players.program}
        strategy = OPTIMISED if cell.stage == AFTER else plain
        conf = replace(conf, strategy=strategy, strategies={})
    return replace(learner(config, cell.wording), experiment="games", games=conf)


def plain(config: Config) -> Config:
    """Return the configuration of the first tournament, were it in the games' own words."""
    return tournament(config, Cell(stages(config)[0], OWN))


def learner(config: Config, wording: Any) -> Config:
    """Return the configuration by which programs are optimised in a wording.

    All models learn that play, and what the games need that are played.
    """
    played = {game.name for game in games.chosen(config)}
    conf = config.optimise_players
    named = conf.positions or [it.name for it in choice.chosen(conf)]
    wanted = [
        name for name, it in zip(named, choice.chosen(conf), strict=True) if it.game in played
    ]
    models = [it.name for it in config.roster.models if it.engine != "scripted"]
    return replace(
        config,
        experiment="optimise_players",
        games=replace(config.games, phrasing=wording),
        optimise_players=replace(conf, models=models, positions=wanted),
    )


def studies(config: Config) -> Iterator[Study]:
    """Yield what has to be learned before prompts are optimised in every wording."""
    number = 0
    for wording in config.games_phrasings.wordings if AFTER in stages(config) else ():
        for study in learning.studies(learner(config, wording)):
            number += 1
            yield replace(study, number=number)


def untaught(config: Config) -> list[str]:
    """Return the games that are played, and of which nothing can be learned."""
    taught = {it.game for it in choice.chosen(config.optimise_players)}
    return [game.name for game in games.chosen(config) if game.name not in taught]

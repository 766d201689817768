"""Optimising players: which programs learn from which positions, by which optimiser."""

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from raybench.config.games import GamesConf
from raybench.config.games import drawing_problems as games_problems
from raybench.config.roster import RosterConf
from raybench.errors import Problem, did_you_mean, named_twice, out_of_range


@dataclass
class OptimisePlayersConf:
    """What is optimised; the values are in conf/optimise_players/default.yaml."""

    models: list[str] = field(default_factory=list)
    positions: list[str] = field(default_factory=list)
    program: str = "predict"
    optimiser: Any = "BootstrapFewShot"
    metric: str = "worth"
    proposer: str | None = None
    train: int = 50
    validation: int = 50
    held_out: int = 200
    at_once: int = 32
    cache: bool = True
    folder: str = "runs/compiled_players"


def problems(conf: OptimisePlayersConf, games: GamesConf, roster: RosterConf) -> Iterator[Problem]:
    """Yield what is wrong with the choice; what is wrong with programs and positions, they say."""
    here = "optimise_players"
    known = [model.name for model in roster.models]
    for name, count in Counter(conf.models).items():
        if name not in known:
            yield Problem(
                "setting.choice",
                f"{here}.models names '{name}', which the roster does not have",
                setting=f"{here}.models",
                given=name,
                fix=did_you_mean(name, known),
            )
        if count > 1:
            yield named_twice(f"{here}.models", name, count)
    asked = [*known, *(model.name for model in roster.judges)]
    if conf.proposer is not None and conf.proposer not in asked:
        yield Problem(
            "setting.choice",
            f"{here}.proposer is '{conf.proposer}', which the roster does not have",
            setting=f"{here}.proposer",
            given=conf.proposer,
            fix=did_you_mean(conf.proposer, asked),
        )
    for name in ("train", "validation", "held_out"):
        if not 2 <= (value := getattr(conf, name)) < math.inf:
            yield out_of_range(f"{here}.{name}", value, "it is 2 positions or more")
    if conf.at_once < 1:
        yield out_of_range(f"{here}.at_once", conf.at_once, "it is 1 or more")
    if not conf.folder.strip():
        yield Problem(
            "setting.missing",
            f"{here}.folder is empty",
            setting=f"{here}.folder",
            fix="name a folder, or leave it out",
        )
    yield from games_problems(games)

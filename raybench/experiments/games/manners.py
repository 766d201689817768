"""By which strategy each model plays, as plans, notes and results tell it."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping

from raybench.config import Config
from raybench.experiments.games import optimised, setup
from raybench.games.parts import choice, wording
from raybench.tournament.strategies import DEFAULT

Manners = Mapping[str, Mapping[str, Mapping[str, str]]]
"""What everybody plays by: by the model, the game and the role."""


def manners(config: Config) -> Manners:
    """Return what everybody plays by, scripts too."""
    house, by_rules = setup.house(config), setup.rules(config)
    return {
        model.name: {
            game.name: {
                role: house.plays(model.name, game.name, role)
                for role in choice.seats(game, by_rules.get(game.name, {}))
            }
            for game in setup.chosen(config)
        }
        for model in config.roster.models
    }


def inputs(config: Config) -> dict[str, str]:
    """Return the digest of the files that somebody plays by, where there are such."""
    names = {
        name for games in manners(config).values() for by in games.values() for name in by.values()
    }
    files = sorted(name for name in names if "@" in name)
    return {"players": hashlib.sha256("\n".join(files).encode()).hexdigest()} if files else {}


def told(config: Config) -> dict[str, str]:
    """Return what there is to say of it, by short names; nothing where all play directly."""
    models = [it.name for it in config.roster.models if it.engine != "scripted"]
    words = wording.told(config.games.phrasing)
    every = manners(config)
    by: dict[str, list[str]] = {}
    for model in models:
        by.setdefault(_summary(every[model]), []).append(model)
    found = {}
    if words:
        found["Phrasing"] = f"players are told rules and tasks in {words}"
    if {*by} != {DEFAULT}:
        found["Strategies"] = ". ".join(
            f"{'All models' if names == models else ', '.join(names)}: {summary}"
            for summary, names in by.items()
        )
    if compiled := optimised.told(config, setup.chosen(config)):
        found["Optimised"] = "; ".join(compiled)
    if config.games.anchors:
        found["Scripts"] = f"{', '.join(config.games.anchors)} play along and are no models"
    return found


def _summary(by: Mapping[str, Mapping[str, str]]) -> str:
    """Return what a model mostly plays by, and where it does otherwise."""
    counts = Counter(name for roles in by.values() for name in roles.values())
    ((most, _),) = counts.most_common(1)
    return "; ".join((most, *_others(by, most)))


def _others(by: Mapping[str, Mapping[str, str]], most: str) -> Iterator[str]:
    for game, roles in by.items():
        names = {*roles.values()}
        if len(names) == 1 and most not in names:
            yield f"{names.pop()} in {game}"
        elif len(names) > 1:
            yield from (f"{it} as {role} of {game}" for role, it in roles.items() if it != most)

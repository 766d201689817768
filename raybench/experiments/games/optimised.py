"""The compiled players of a tournament: for every model and game that is played by one."""

from collections.abc import Collection, Mapping, Sequence
from itertools import combinations
from typing import Any

from raybench.config import Config
from raybench.errors import ConfigurationError, Problem
from raybench.experiments.optimise_players import setup
from raybench.games import Game
from raybench.games.parts import choice as games
from raybench.paths import expanded
from raybench.pipeline import compiled
from raybench.pipeline.compiled import Entry
from raybench.positions import Positions, load
from raybench.statements import Statement
from raybench.tournament.strategies import Strategies

Found = Mapping[tuple[str, str], list[Entry]]


def players(config: Config, played: Sequence[Game[Any]]) -> dict[tuple[str, str], Any]:
    """Return the strategies that 'optimised' stands for, by model and game.

    A game that no set of positions is of is played by the program as it is. Raises
    ConfigurationError where a player was never compiled.
    """
    conf = config.optimise_players
    return {
        key: {
            "use": "program",
            "module": conf.program,
            "compiled": [str(it.path) for it in entries],
            "texts": [compiled.text_of(it.about, it.made, it.state) for it in entries],
        }
        for key, entries in entries_of(config, played).items()
    }


def entries_of(config: Config, played: Sequence[Game[Any]]) -> Found:
    """Return the compiled players, by model and game."""
    conf = config.optimise_players
    by_rules = games.merged(config.games.roster_rules, config.games.rules)
    chosen = Strategies(config.games.strategy, config.games.strategies)
    wanted = [
        (model.name, game.name)
        for model in config.roster.models
        if model.engine != "scripted"
        for game in played
        if any(
            chosen.is_optimised(model.name, game.name, role)
            for role in games.seats(game, by_rules.get(game.name, {}))
        )
    ]
    if not wanted:
        return {}
    _one_for_each([load(it) for it in setup.names(config)], {game for _, game in wanted})
    found: dict[tuple[str, str], list[Entry]] = {key: [] for key in wanted}
    missing = list[str]()
    for named in setup.names(config):
        positions = load(named)
        for model, game in wanted:
            if game != positions.game:
                continue
            about = setup.about(config, model, named)
            entry = compiled.find(expanded(conf.folder), about)
            if entry is None:
                missing.append(f"{model}, {positions.name} ({compiled.key_of(about)})")
            else:
                found[model, game].append(entry)
    if missing:
        raise ConfigurationError(
            Problem(
                "player.missing",
                f"games.strategy: {len(missing)} players were never compiled with these settings: "
                f"{'; '.join(missing)}",
                setting="games.strategy",
                fix="+experiment=optimise_players makes them; optimise_players.positions=[…] "
                "names the sets that are wanted, and its other settings are to be those that "
                "players were made with (+experiment=compiled_players lists them)",
            )
        )
    return found


def _one_for_each(sets: Sequence[Positions], played: Collection[str]) -> None:
    """Raise ConfigurationError where two sets are for the same: only one player could be asked."""
    for one, other in combinations([it for it in sets if it.game in played], 2):
        shared = {*one.actions} & {*other.actions} or not (one.actions and other.actions)
        if one.game == other.game and shared:
            raise ConfigurationError(
                Problem(
                    "setting.conflict",
                    f"games.strategy: optimise_players.positions has '{one.name}' and "
                    f"'{other.name}' for the same moves of {one.game}, which one player makes",
                    setting="optimise_players.positions",
                    fix="name one of them",
                )
            )


def told(config: Config, played: Sequence[Game[Any]]) -> list[str]:
    """Return what there is to say of them: what each gained on held-out positions, or not."""
    notes = list[str]()
    by_rules = games.merged(config.games.roster_rules, config.games.rules)
    for (model, game), entries in entries_of(config, played).items():
        if not entries:
            notes.append(
                Statement(
                    "players.no_positions",
                    "{model}, {game}: no set of positions is of it, so no player is compiled",
                    model=model,
                    game=game,
                )
            )
        if entries and by_rules.get(game):
            notes.append(
                Statement(
                    "players.own_rules",
                    "{model}, {game}: compiled by the game's own rules, not by those given",
                    model=model,
                    game=game,
                )
            )
        for entry in entries:
            gain = entry.made.get("held_out", {}).get("gain") or {}
            value, ci95 = gain.get("value"), gain.get("ci95")
            shown = "gain not known" if value is None else f"gain {value:+.3f}"
            if ci95:
                shown += f" [{ci95[0]:+.2f}, {ci95[1]:+.2f}]"
            notes.append(f"{model}, {game}: {entry.path.name}, {shown}")
    return notes

"""What somebody chose to have optimised: positions, program, optimiser, metric."""

import importlib.util
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from raybench import games, players, positions
from raybench.config import OptimisePlayersConf
from raybench.errors import ConfigurationError, Problem
from raybench.games.parts import wording
from raybench.positions import SPLITS, Positions
from raybench.positions.parts import metrics

_USE = "use"


def problems(conf: OptimisePlayersConf, phrasing: Any = wording.OWN) -> Iterator[Problem]:
    """Yield what is wrong with it, and with the words in which positions are told."""
    where = "optimise_players"
    if importlib.util.find_spec("dspy") is None:
        yield Problem(
            "package.missing",
            f"{where} needs DSPy",
            setting=where,
            given="dspy",
            fix="pip install 'raybench[dspy]'",
        )
        return
    for name in conf.positions:
        try:
            found = positions.load(name)
            if ":" in name:
                _tried(found)
        except ConfigurationError as error:
            yield from error.within(f"{where}.positions")
    try:
        for name, count in Counter(it.name for it in chosen(conf)).items():
            if count > 1:
                yield Problem(
                    "setting.duplicate",
                    f"{where}.positions: {count} sets are called '{name}', by which results are "
                    "kept",
                    setting=f"{where}.positions",
                    given=name,
                    fix="give each its own name",
                )
        taught = [games.load(it.game) for it in chosen(conf)]
        yield from wording.problems("games.phrasing", phrasing, taught)
    except ConfigurationError:
        pass  # it was told
    try:
        players.load("program", {"module": conf.program})
    except ConfigurationError as error:
        yield from error.within(f"{where}.program")
    try:
        metrics.load(conf.metric)
    except ConfigurationError as error:
        yield from error.within(f"{where}.metric")
    try:
        name, options = optimiser(conf)
    except ConfigurationError as error:
        yield from error.within(f"{where}.optimiser")
        return
    from raybench.players.parts.programs.optimisers import Optimiser

    yield from (it.within(f"{where}.optimiser") for it in Optimiser(name, options).problems())


def _tried(of: Positions) -> None:
    """Raise ConfigurationError where positions of somebody's own are not what they are to be."""
    games.load(of.game)
    try:
        for split in SPLITS:
            for state in of.some(0, split, 1):
                move = of.answer(state) or (state.legal() or ("",))[0]
                if of.best is not None and (why := metrics.refusal(state, move)) is not None:
                    raise ConfigurationError(
                        Problem(
                            "extension.invalid",
                            f"the set '{of.name}' has '{move}' for a best move, which {of.game} "
                            f"refuses: {why}",
                            given=move,
                        )
                    )
                of.family(state), of.score(state, move)
        hash(of)
    except ConfigurationError:
        raise
    except Exception as error:  # whatever somebody's functions raise
        raise ConfigurationError(
            Problem(
                "extension.failed",
                f"the set '{of.name}' cannot be used ({type(error).__name__}: {error})",
                given=of.name,
                fix="see raybench/positions/parts/contract.py for what its fields are given and "
                "return",
            )
        ) from error


def chosen(conf: OptimisePlayersConf) -> list[Positions]:
    """Return the sets of positions that are learned from."""
    return [positions.load(name) for name in conf.positions or positions.names()]


def optimiser(conf: OptimisePlayersConf) -> tuple[str, dict[str, Any]]:
    """Return the name and the options of the optimiser, which may be given in one text.

    Rosters give theirs so: of two tables the options would be put together.
    """
    of = conf.optimiser
    if isinstance(of, str) and of.strip():
        name, *given = of.split()
        if all("=" in each for each in given):
            pairs = (each.partition("=") for each in given)
            return name, {key: yaml.safe_load(value) for key, _, value in pairs}
    if isinstance(of, Mapping) and isinstance(of.get(_USE), str):
        return of[_USE], {str(key): it for key, it in of.items() if key != _USE}
    raise ConfigurationError(
        Problem(
            "setting.format",
            f"{of!r} is none",
            given=of,
            fix=f"give a name, {{{_USE}: NAME, OPTION: VALUE}}, or 'NAME OPTION=VALUE'",
        )
    )

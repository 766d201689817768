"""By what moves in positions are scored: what they are worth, or something that somebody chose."""

from collections.abc import Callable

from raybench.errors import ConfigurationError, Problem, did_you_mean
from raybench.games import InvalidMove, State
from raybench.imported import imported
from raybench.positions.parts.contract import Positions

Metric = Callable[[Positions, State, str], float]
"""Scores a move in one of these positions, from 0 to 1; a move that the game refuses, too."""
WORTH = "worth"
_BEST = 1 - 1e-9


def _worth(of: Positions, state: State, move: str) -> float:
    return of.score(state, move)


def _best(of: Positions, state: State, move: str) -> float:
    return float(of.score(state, move) >= _BEST)


def _valid(of: Positions, state: State, move: str) -> float:
    return float(refusal(state, move) is None)


_SHIPPED: dict[str, Metric] = {WORTH: _worth, "best": _best, "valid": _valid}


def refusal(state: State, move: str) -> str | None:
    """Return why the game refuses a move; None where it takes it."""
    try:
        state.apply(move)
    except InvalidMove as refused:
        return str(refused)
    return None


def load(name: str) -> Metric:
    """Return a metric by name: worth, best (1 where none is worth more), valid, or one's own.

    One's own is a function of a state and a move, by its import path. Raises ConfigurationError
    where there is none.
    """
    if ":" not in name:
        if name not in _SHIPPED:
            raise ConfigurationError(
                Problem(
                    "setting.choice",
                    f"unknown metric '{name}'",
                    given=name,
                    fix=f"{did_you_mean(name, _SHIPPED)} Your own: MODULE:NAME.",
                )
            )
        return _SHIPPED[name]
    own = imported(name, "metric")
    if not callable(own):
        raise ConfigurationError(
            Problem(
                "extension.invalid",
                f"'{name}' is no metric",
                given=name,
                fix="give a function of a state and a move",
            )
        )

    def metric(of: Positions, state: State, move: str) -> float:
        found = float(own(state, move))
        if not 0 <= found <= 1:
            raise ConfigurationError(
                Problem(
                    "extension.invalid",
                    f"the metric '{name}' is {found} for a move",
                    given=found,
                    fix="it is 0 to 1",
                )
            )
        return found

    return metric

"""From bundles of matches to ratings: the same way for every kind of game."""

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from raybench.errors import ConfigurationError, Problem
from raybench.statements import Statement
from raybench.stats.ratings import groups
from raybench.stats.ratings.bounds import bound
from raybench.stats.ratings.components import (
    Above,
    Components,
    above,
    above_by_teams,
    components,
)
from raybench.stats.ratings.fitting import Fitted, fit, roles_of
from raybench.stats.ratings.matches import Bundles, matches, played, teams_in
from raybench.stats.ratings.outcome import Bound, Ratings
from raybench.stats.ratings.scale import MEAN
from raybench.stats.ratings.spread import bootstrap, sandwich
from raybench.types import Estimate


def rated(
    games: Mapping[str, Bundles],
    *,
    model: str,
    replicates: int,
    seed: int,
    prior: float | None = None,
    weights: Mapping[str, float] | None = None,
    bounds: bool = True,
) -> Ratings:
    """Rate the models by matches of one game or several; `model` is what the likelihood is called.

    With `weights` a game weighs so much as a whole, however many matches it has; without them each
    match weighs the same. `bounds=False` leaves out those of models without a number, which take
    far longer than everything else, and the order of components with them.
    """
    games = dict(sorted(games.items()))
    n = played(games)
    models = tuple(sorted(n))
    _check(n, replicates, prior)
    share = dict.fromkeys(games, 1.0) if weights is None else _shares(games, weights)
    fitted = fit(games, models, share, prior)
    ratings = _fitted(fitted, replicates, seed, _method(model, prior, weights))
    alone = [name for part in fitted.parts if len(part) == 1 < len(models) for name in part]
    found = {name: bound(name, games, fitted.parts) for name in alone if bounds}
    known = {name: it for name, it in found.items() if it is not None}
    order = _order(games, fitted) if bounds else frozenset()
    told = groups.told(fitted.parts, order, known, teams=teams_in(games)) if bounds else ""
    if prior is not None:
        told = _joined(components(games, models))
    notes = (*((told,) if told else ()), *ratings.notes)
    ratings = replace(ratings, n=n, played=matches(games), above=order, notes=notes)
    return _tabled(ratings, known)


def _order(games: Mapping[str, Bundles], fitted: Fitted) -> Above:
    if fitted.whole is not None:
        return above_by_teams(fitted.whole, fitted.parts)
    return above(games, fitted.parts) if len(fitted.parts) > 1 else frozenset()


def _fitted(fitted: Fitted, replicates: int, seed: int, method: str) -> Ratings:
    """Return what was fitted, the mean of each component's strengths being 0."""
    models = fitted.tally.models
    notes: tuple[str, ...] = ()
    if games := sorted({game for game, _ in fitted.left_out}):
        of = f" of {' and '.join(games)}" if any(games) else ""
        method += f", roles{of} left out"
        note = Statement(
            "ratings.roles_left_out",
            "The matches do not show what the roles{of}, or moving first, are worth.",
            of=of,
            games=games,
        )
        notes = (note,)
    draws = np.zeros((0, len(fitted.at)))
    if replicates:
        drawn = bootstrap(fitted, replicates, np.random.default_rng(seed))
        draws = drawn.at
        if drawn.without:
            method += (
                f", {drawn.without} of {replicates} bootstrap draws needed one added imaginary "
                "match per model"
            )
    centred = np.eye(len(fitted.at))
    for part in fitted.parts:
        columns = [models.index(name) for name in part]
        centred[np.ix_(columns, columns)] -= 1 / len(part)
    told = {game for game, _ in fitted.tally.effects}
    return Ratings(
        table={},
        components=fitted.parts,
        above=frozenset(),
        bounds={},
        roles={game: them for game, them in roles_of(fitted.games).items() if game in told},
        notes=notes,
        models=models,
        effects=fitted.tally.effects,
        strengths=centred @ fitted.at,
        spreads=centred @ sandwich(fitted) @ centred.T,
        draws=draws @ centred.T,
        n={},
        played={},
        degrees=fitted.degrees,
        method=method,
    )


def _tabled(ratings: Ratings, bounds: Mapping[str, Bound]) -> Ratings:
    """Return ratings with the table: best component, best model first."""
    table = {}
    for number, part in enumerate(ratings.components, 1):
        at = {name: float(ratings.strengths[ratings.models.index(name)]) for name in part}
        for name in sorted(part, key=lambda name: (-at[name], name)):
            if len(part) == 1:
                why = Statement(
                    "refused.alone",
                    "not computed: the matches do not tell how far it is from any other model"
                    "{bound}",
                    bound=f"; {bounds[name].told}" if name in bounds else "",
                )
                table[name] = Estimate(None, None, None, ratings.n[name], why)
                continue
            estimate = ratings.rating(name)
            if len(ratings.components) > 1:
                of = f"group {number} of {len(ratings.components)}, whose mean is {MEAN:g}"
                estimate = replace(estimate, method=f"{estimate.method}; {of}")
            table[name] = estimate
    return replace(ratings, table=table, bounds=bounds)


def _method(model: str, prior: float | None, weights: Mapping[str, float] | None) -> str:
    method = f"{model}, maximum likelihood"
    if prior is not None:
        many = f"{prior:g} imaginary match{'' if prior == 1 else 'es'}"
        method = f"{model}, prior of {many} each, half won, against mean strength"
    if weights is not None:
        method += f", games weighing {', '.join(f'{it} {weights[it]:g}' for it in weights)}"
    return method


def _joined(found: Components) -> str:
    if len(found) == 1:
        return ""
    listed = "; ".join(", ".join(part) for part in found)
    return Statement(
        "ratings.prior_alone",
        "Between {many} groups wins do not lead both ways: {listed}. How far apart they are, the "
        "prior alone says.",
        many=len(found),
        listed=listed,
    )


def _shares(games: Mapping[str, Bundles], weights: Mapping[str, float]) -> dict[str, float]:
    """Return what a match of each game weighs, so that matches weigh 1 on the average."""
    if set(weights) != set(games):
        wrong = ", ".join(sorted(set(weights) ^ set(games)))
        raise ConfigurationError(
            Problem(
                "ratings.invalid",
                f"Weights have to be for the games that were played, all of them: {wrong} is on "
                "one side only",
                setting="weights",
                fix="Name each game in both.",
            )
        )
    if not all(math.isfinite(it) and it > 0 for it in weights.values()):
        raise ConfigurationError(
            Problem(
                "ratings.invalid",
                "A game's weight has to be above 0",
                setting="weights",
                fix="Leave out the games that are to have none.",
            )
        )
    found = matches(games)
    whole = math.fsum(weights.values())
    for name, many in found.items():
        if not many:
            raise ConfigurationError(
                Problem(
                    "ratings.invalid",
                    f"No match of {name} was played",
                    setting="games",
                    given=name,
                    fix="Leave the game out.",
                )
            )
    total = sum(found.values())
    return {name: weights[name] / whole * total / found[name] for name in games}


def _check(n: Mapping[str, int], replicates: int, prior: float | None) -> None:
    if not n:
        raise ConfigurationError(
            Problem(
                "ratings.invalid", "There are no matches to rate", fix="Give one result at least."
            )
        )
    if replicates < 0:
        raise ConfigurationError(
            Problem(
                "ratings.invalid",
                f"There cannot be {replicates} bootstrap replicates",
                setting="replicates",
                given=replicates,
                fix="Give 0 for none, or 1000.",
            )
        )
    if prior is not None and not (math.isfinite(prior) and prior > 0):
        raise ConfigurationError(
            Problem(
                "ratings.invalid",
                f"A prior of {prior} imaginary matches is none",
                setting="prior",
                given=prior,
                fix="Give a number above 0, or None.",
            )
        )

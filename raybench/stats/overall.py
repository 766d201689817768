"""One rating from several games, each of which weighs as much as the others.

An overall rating is that of matches whose game is drawn by lot: strengths that all games share,
fitted to all matches, where those of a game weigh together what the game weighs, many or few. Each
game keeps a term of its own for moving first, or for its roles.

That is not the mean of the games' ratings. A mean would be ruled by the games in which strength
decides most, as in chess, whose ratings lie far apart, and it would have no number for whoever is
undefeated in one game. Here every match pulls by the score that it adds to what was expected, at
most 1, whatever its game; a model that is undefeated in one game and not in another has a number;
and groups that never met in one game are compared by what they did in others. Where models are
strong in different games, the strengths of no game are the overall ones, and the intervals, which
rest on how matches vary within each game, hold for the overall rating all the same.

A model that did not play all games is rated by those it played, as if it were as strong in the
others: its method names what it lacks. `complete=True` refuses its number instead. Its matches
tell of the others' strengths either way.
"""

from collections.abc import Mapping
from dataclasses import replace

from raybench.statements import Statement
from raybench.stats.ratings.matches import Bundles, models_of
from raybench.stats.ratings.outcome import Ratings
from raybench.stats.ratings.rated import rated
from raybench.types import Estimate


def fit(
    games: Mapping[str, Bundles],
    *,
    weights: Mapping[str, float] | None = None,
    bootstrap: int = 1000,
    seed: int = 0,
    prior: float | None = None,
    complete: bool = False,
    bounds: bool = True,
) -> Ratings:
    """Rate the models by all games; these come from `bundles` of the module of their kind.

    `weights` has what each game weighs, and all weigh the same without it. `bounds=False` saves the
    time that those of models without a number take.
    """
    weighed = weights if weights is not None else dict.fromkeys(games, 1.0)
    ratings = rated(
        games,
        model=_model(games),
        replicates=bootstrap,
        seed=seed,
        prior=prior,
        weights=weighed,
        bounds=bounds,
    )
    played = {
        game: {name for bundle in it for match, _ in bundle for name in models_of(match)}
        for game, it in games.items()
    }
    table = {}
    for name, estimate in ratings.table.items():
        lacking = ", ".join(game for game, them in played.items() if name not in them)
        if lacking and complete:
            why = Statement("refused.lacks_games", "not computed: it lacks {games}", games=lacking)
            estimate = Estimate(None, None, None, estimate.n, why)
        elif lacking:
            estimate = replace(estimate, method=f"{estimate.method}; no matches of {lacking}")
        table[name] = estimate
    return replace(ratings, table=table)


def _model(games: Mapping[str, Bundles]) -> str:
    """Return what the likelihood is called, and in which games: for two it has another name."""
    pairs = [
        game
        for game, it in games.items()
        if all(
            sum(len(side.players) for side in match) == 2 for bundle in it for match, _ in bundle
        )
    ]
    named = {"Bradley–Terry": pairs, "Plackett–Luce": [it for it in games if it not in pairs]}
    told = [f"{name} ({', '.join(sorted(of))})" for name, of in named.items() if of]
    return f"{' and '.join(told)}, strengths shared by all games"

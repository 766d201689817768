"""Bradley–Terry ratings of models that met in pairs.

    P(a comes before b | a moves first) = σ(θ_a − θ_b + γ)

with a strength θ for every model and a term γ for who moves first, fitted by maximum likelihood on
counts of equal results; a tie is half a win for either side. Ratings are 1000 + 400/ln 10 · θ, and
the mean of the models that can be compared is 1000.

*Who can be compared.* The maximum exists only where wins lead from every model to every other, by
way of others or not. Where they do not, models fall into components: each is rated apart, with a
scale of its own, and `Ratings.components` and `notes` say so. A model alone in its component, one
that nobody beat for instance, gets no number: its likelihood rises for ever, and whatever number
stood there would be the optimiser's patience or a prior's. It gets a bound, as that is all that
the matches say: at least so many points on the scale of the largest component, from the profile
likelihood. Whoever wants numbers for all gives a prior: so many imaginary matches for each model
(and each term), half won, against an opponent of mean strength; the method then names it.

*Intervals.* Each reaches, to either side, as far as the wider of two: the sandwich's, with
Student's t, and the bootstrap's percentiles. Both take matches, or clusters of them, for what
repeats. Neither believes that results vary as wins and losses do: ties make them vary less.

*Told.* `Ratings` has the table, chances, differences and what moving first is worth;
`stats.ratings.ranking` has how sure the order of two is, and the places that leaves each.

*Forfeits.* To see what they do, call twice: with the played matches, and with the forfeits added.
"""

from collections.abc import Hashable, Iterable, Sequence

from raybench.errors import ConfigurationError, Problem
from raybench.stats.ratings.matches import Bundles, Match, Player, Side, bundled
from raybench.stats.ratings.outcome import Ratings
from raybench.stats.ratings.rated import rated

Game = tuple[str, str, float]
"""Who moved first, who second, and the first one's score: 1, 0.5 or 0."""

_PLACES = {1.0: (1, 2), 0.5: (1, 1), 0.0: (2, 1)}


def fit(
    games: Iterable[Game],
    *,
    bootstrap: int = 1000,
    seed: int = 0,
    clusters: Sequence[Hashable] | None = None,
    prior: float | None = None,
    first_mover: bool = True,
) -> Ratings:
    """Rate the models of one game.

    `clusters` has what each match shares with others, its start position or seed for instance:
    those of one cluster are drawn together. `first_mover=False` leaves γ out.
    """
    found = bundles(games, clusters=clusters, first_mover=first_mover)
    return rated(
        {"": found}, model="Bradley–Terry", replicates=bootstrap, seed=seed, prior=prior
    )  # fmt: skip


def bundles(
    games: Iterable[Game],
    *,
    clusters: Sequence[Hashable] | None = None,
    first_mover: bool = True,
) -> Bundles:
    """Return matches as `stats.overall` takes them."""
    roles = ("first", "second") if first_mover else ("", "")

    def match(game: Game) -> Match:
        first, second, score = game
        places = _PLACES.get(score)
        if places is None:
            raise ConfigurationError(
                Problem(
                    "ratings.invalid",
                    f"{first} scored {score!r} against {second}",
                    given=score,
                    fix="A score is 1 for a win of who moved first, 0.5 for a tie or 0 for a loss",
                )
            )
        return tuple(
            Side((Player(model, role),), place)
            for model, role, place in zip((first, second), roles, places, strict=True)
        )

    return bundled(((one, other, score) for one, other, score in games), clusters, match)

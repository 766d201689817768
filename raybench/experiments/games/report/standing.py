"""Where the models stand, over all games and in each, and how sure the order is."""

import math
from collections.abc import Iterator

from raybench import games
from raybench.experiments.games.report.shown import LONG, Shown
from raybench.experiments.games.standings import Standing
from raybench.stats.ratings.outcome import Ratings
from raybench.stats.ratings.ranking import SURE
from raybench.tracking import plots
from raybench.tracking.report import Section, Table


def sections(shown: Shown) -> Iterator[Section]:
    """Yield ratings with their intervals, the games side by side, and which orders hold."""
    ratings, stood = shown.rated.all.overall, shown.stood
    if ratings is None or stood is None:
        yield Section("Ratings", "Refused: no match between two models was decided.")
        return
    yield Section(
        "Ratings",
        "Maximum likelihood over all games, each weighing what the configuration says however many "
        f"matches it had. Scale: {ratings.scale}. Intervals are 95 % (matches that share a seed, "
        "or a start from which models at temperature 0 always go on alike, count as one group) and "
        "those of each model's own rating: two may overlap although their order is sure. "
        f"{' '.join(ratings.notes)}".strip(),
        figure=plots.forest(
            {it: shown.metrics[it]["games/rating"].to_json() for it in shown.best_first},
            xlabel="rating",
        ),
    )
    yield from _by_game(shown)
    yield from _forfeits(shown)
    yield from _orders(ratings, stood, shown)


def _by_game(shown: Shown) -> Iterator[Section]:
    if len(shown.games) < 2:
        return
    yield Section(
        "Ratings by game",
        "Each game by itself. Ratings of different games lie differently far apart, as skill "
        "decides more in some than in others; where a rating is refused, its footnote says what "
        "the matches do tell.",
        table=Table(
            ("model", *(games.load(it).title for it in shown.games)),
            [
                (model, *(shown.metrics[model].get(f"{it}/rating") for it in shown.games))
                for model in shown.best_first
            ],
            digits=0,
        ),
    )


def _forfeits(shown: Shown) -> Iterator[Section]:
    if not shown.rated.forfeited:
        return
    yield Section(
        "With and without forfeits",
        f"{shown.rated.forfeited:,} matches were forfeited: a player had no tries left, or took "
        "too long. By the rules that is a loss, and the ratings count it. Without these "
        "matches they say how well models play when they keep to the rules. Who forfeits when "
        "it stands badly looks better there than it is, by a hundred points if that is half of "
        "what it loses, and all others worse: its lost matches are gone, and no interval knows. "
        "The mean is 1000 in either column, so that what one loses by forfeits the others gain.",
        table=Table(
            ("model", "all matches", "without forfeits"),
            [
                (
                    model,
                    shown.metrics[model]["games/rating"],
                    shown.metrics[model]["games/rating_without_forfeits"],
                )
                for model in shown.best_first
            ],
            digits=0,
        ),
    )


def _orders(ratings: Ratings, stood: Standing, shown: Shown) -> Iterator[Section]:
    rated = {model for model, it in ratings.table.items() if it.value is not None}
    models = [model for model in shown.best_first if model in rated]
    if len(models) < 2:
        return
    sure = {(it.better, it.worse): it.holm is not None and it.holm < SURE for it in stood.orders}
    places = stood.ranks
    yield Section(
        "Chances of winning",
        "How often the model of the row would win against that of the column, in a match of no "
        "particular role, ties as half a win; in games as they were weighed. Of "
        f"{math.comb(len(models), 2):,} orders {sum(sure.values()):,} hold by Holm's steps over "
        "all of them. The file pairs.jsonl has all differences, standings.jsonl all ranks, bounds "
        "and covariances, in each game and over all.",
        figure=plots.heatmap(
            [
                [None if row == other else ratings.chance(row, other).value for other in models]
                for row in models
            ],
            rows=models,
            columns=models,
            label="chance of winning",
        ),
        table=Table(
            ("model", "rank", "95 % of the replicates", "holds for all at once", "is above"),
            [
                (
                    model,
                    places[model].value,
                    _span(places[model].replicates),
                    _span(places[model].simultaneous),
                    ", ".join(it for it in models if sure.get((model, it))) or "-",
                )
                for model in models
            ],
            caption="Rank among the models that can be compared. The third column is each rank's "
            "own interval, not known where the rating has none; the fourth is true of all ranks at "
            "once in 95 % of such tournaments.",
        ),
        folded=f"Ranks of {len(models)} models" * (len(models) > LONG),
    )


def _span(ends: tuple[int, int] | None) -> str:
    if ends is None:
        return "not known"
    return f"{ends[0]}" if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"

"""Where the models stand, over all games and in each, and how sure the order is."""

from collections.abc import Iterator
from itertools import chain
from typing import Any

from raybench import games
from raybench.experiments.games.report.shown import LONG, Shown
from raybench.experiments.games.standings import Standing
from raybench.experiments.parts import profiles, supported
from raybench.statements import Statement
from raybench.stats.ratings.outcome import Ratings
from raybench.stats.ratings.ranking import SURE
from raybench.stats.ratings.scale import MEAN
from raybench.tracking import plots
from raybench.tracking.report import Section, Table, Value


def sections(shown: Shown) -> Iterator[Section]:
    """Yield ratings with their intervals, the games side by side, and which orders hold."""
    ratings, stood = shown.rated.all.overall, shown.stood
    if ratings is None or stood is None:
        yield Section("Ratings", "Not computed: no match between two models was decided.")
        return
    yield _support(ratings, stood, shown)
    yield Section(
        "Ratings",
        "Maximum likelihood over all games. Each game has the weight that the configuration sets, "
        f"however many matches it had. Scale: {ratings.scale}. Intervals are 95 %, of each model's "
        "own rating: two may overlap although the models differ. Matches that share a seed, or a "
        "start from which models at temperature 0 always play the same, count as one group. "
        f"{' '.join(ratings.notes)}".strip(),
        figure=plots.forests(
            _panels(ratings, shown), "rating: estimate and 95 % interval of each model"
        ),
    )
    yield from _by_game(shown)
    yield from _forfeits(shown)
    yield from _orders(ratings, stood, shown)


def _support(ratings: Ratings, stood: Standing, shown: Shown) -> Section:
    sure = {(it.better, it.worse) for it in stood.orders if it.holm is not None and it.holm < SURE}
    how = "over matches of these games, at 5 %, Holm-corrected for all pairs"
    if len(ratings.components) == 1:
        ranked = [it for it in shown.best_first if it in stood.ranks]
        return Section(supported.TITLE, supported.orders(ranked, sure, how))
    within = sum(len(part) * (len(part) - 1) // 2 for part in ratings.components)
    return Section(
        supported.TITLE,
        Statement(
            "standing.groups",
            "The models fall into {groups} groups: between two groups, wins go one way only or "
            "there are none, so ratings can be compared within a group only. Within groups "
            "{held:,} of {pairs:,} pairs of models {differ} ({how}).",
            groups=len(ratings.components),
            held=len(sure),
            pairs=within,
            differ="differs" if len(sure) == 1 else "differ",
            how=how,
        ),
    )


def _panels(ratings: Ratings, shown: Shown) -> dict[str, dict[str, dict[str, Any]]]:
    """Return what stands on each scale: a group, and those that are bounded beside it."""
    drawn = {it: shown.metrics[it]["games/rating"].to_json() for it in shown.best_first}
    if len(ratings.components) == 1:
        return {"rating": drawn}
    rest = {*drawn}
    scales: dict[str, dict[str, dict[str, Any]]] = {}
    # A model alone has a scale where somebody is bounded beside it who has no place elsewhere.
    for number, part in sorted(enumerate(ratings.components, 1), key=lambda it: -len(it[1])):
        beside = {it for it in rest if it in ratings.bounds and ratings.bounds[it].beside == part}
        alone = len(part) == 1
        if alone and not beside:
            continue
        where = part[0] if alone else f"the mean of group {number}"
        them = {it: drawn[it] for it in drawn if it in beside or it in part}
        scales[f"rating where {where} is {MEAN:g}"] = (
            them | {part[0]: {"value": MEAN}} if alone else them
        )
        rest -= them.keys()
    order = [*drawn]
    panels = dict(sorted(scales.items(), key=lambda it: order.index(next(iter(it[1])))))
    return panels | ({"no rating": {it: {} for it in drawn if it in rest}} if rest else {})


def _by_game(shown: Shown) -> Iterator[Section]:
    if len(shown.games) < 2:
        return
    several = {
        game: ratings.notes[0]
        for game, ratings in shown.rated.all.games.items()
        if len(ratings.components) > 1
    }
    titles = {game: games.load(game).title for game in shown.games}
    heads = [_head(shown, titles[it], it) for it in shown.games]
    overall = shown.rated.all.overall
    # Numbers of different groups have no scale in common, and no line to stand beside.
    one = overall is not None and len(overall.components) == 1
    by_title = {titles[it]: it for it in shown.games if it not in several}
    figure, told = profiles.drawn(
        shown.best_first,
        {title: len(shown.of(game)) for title, game in by_title.items()},
        lambda model, title: shown.metrics[model].get(f"{by_title[title]}/rating"),
        lambda model: shown.metrics[model]["games/rating"].value if one else None,
        "rating",
        kinds="games",
        counted="matches",
    )
    yield Section(
        "Ratings by game",
        "Each game is rated by itself. Ratings spread more in games that skill decides more. Where "
        "there is no rating, its footnote says what the matches show. In a game with groups, "
        "compare numbers within a group only"
        + (", and it is not drawn. " if several else ". ")
        + told,
        figure=figure,
        table=Table(
            ("model", *chain.from_iterable(heads)),
            [
                (model, *chain.from_iterable(_rated(shown, model, it) for it in shown.games))
                for model in shown.best_first
            ],
            caption=" ".join(f"{titles[game]}: {note}" for game, note in several.items()),
            digits=0,
        ),
    )


def _head(shown: Shown, title: str, of: str, kind: str = "") -> tuple[str, ...]:
    """Return the titles of the columns that `_rated` fills."""
    several = any(f"{of}/group{kind}" in it for it in shown.metrics.values())
    return (title, "group") if several else (title,)


def _rated(shown: Shown, model: str, of: str, kind: str = "") -> Iterator[Value]:
    """Yield a model's rating, and its group where there are several."""
    yield shown.metrics[model].get(f"{of}/rating{kind}")
    if len(_head(shown, "", of, kind)) > 1:
        group = shown.metrics[model].get(f"{of}/group{kind}")
        yield None if group is None or group.value is None else int(group.value)


def _forfeits(shown: Shown) -> Iterator[Section]:
    if not shown.rated.forfeited:
        return
    columns = {"": "all matches", "_without_forfeits": "without forfeits"}
    heads = [_head(shown, title, "games", kind) for kind, title in columns.items()]
    yield Section(
        "With and without forfeits",
        f"Matches forfeited: {shown.rated.forfeited:,}. A player had no tries left, or took too "
        "long. By the rules that is a loss, and the ratings count it. The ratings without these "
        "matches show how well models play when they keep to the rules. A model that forfeits when "
        "it stands badly looks better there than it is, by a hundred points if that is half of "
        "what it loses, and all others worse: its lost matches are gone, and no interval knows. "
        + (
            "Rows compare only models whose groups are of the same models in both."
            if any(len(head) > 1 for head in heads)
            else "The mean is 1000 in either column, so that what one loses by forfeits the others "
            "gain."
        ),
        table=Table(
            ("model", *chain.from_iterable(heads)),
            [
                (
                    model,
                    *chain.from_iterable(_rated(shown, model, "games", it) for it in columns),
                )
                for model in shown.best_first
            ],
            digits=0,
        ),
    )


def _orders(ratings: Ratings, stood: Standing, shown: Shown) -> Iterator[Section]:
    places = stood.ranks
    models = [model for model in shown.best_first if model in places]
    if len(models) < 2:
        return
    sure = {(it.better, it.worse): it.holm is not None and it.holm < SURE for it in stood.orders}
    several = len(ratings.components) > 1
    within = f"Of {len(sure):,} pairs{' within groups' if several else ''}"
    yield Section(
        "Chances of winning",
        "How often the model of the row is expected to win against the model of the column, "
        "averaged over roles and games as weighted, a tie as half a win. "
        + ("Between groups, > and < say which is above where that is known. " if several else "")
        + (f"{within} {sum(sure.values()):,} differ (5 %, Holm). " * bool(sure))
        + "The file pairs.jsonl has all differences, "
        "standings.jsonl all ranks, bounds and covariances, in each game and over all.",
        figure=plots.heatmap(
            [[_chance(ratings, row, other) for other in models] for row in models],
            rows=models,
            columns=models,
            label="chance of winning; colours from 0 (dark) to 1 (bright)",
            ends=(0.0, 1.0),
        ),
        table=Table(
            ("model", "rank", "95 % of the replicates", "holds for all at once", "is above"),
            [
                (
                    model,
                    _span(places[model].ends),
                    _span(places[model].replicates),
                    _span(places[model].simultaneous),
                    ", ".join(it for it in models if sure.get((model, it))) or "—",
                )
                for model in models
            ],
            caption="The third column is each rank's own interval, not known where the rating has "
            "none; the fourth is true of all ranks at once in 95 % of such tournaments, and the "
            "fifth names the orders that it rests on."
            + " The rank is that of the groups first; as wins lead one way between them, nobody "
            "can say how sure their order is, and the last two columns leave it open." * several,
        ),
        folded=f"Ranks of {len(models)} models" * (len(models) > LONG),
    )


def _chance(ratings: Ratings, row: str, other: str) -> float | str | None:
    """Return the chance of winning, or which of two groups is above the other."""
    if row == other:
        return None
    of, against = ratings.group(row), ratings.group(other)
    if of == against:
        return ratings.chance(row, other).value
    if (of, against) in ratings.above:
        return ">"
    return "<" if (against, of) in ratings.above else None


def _span(ends: tuple[int, int] | None) -> str:
    if ends is None:
        return "not known"
    return f"{ends[0]}" if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"

"""Runs of games: two models of one run by their ratings, two runs by the opponents they share.

Ratings of different runs have no common zero: what a model is rated there depends on whom it met.
So two runs are compared by the share of the points that each side took from the same opponents, in
the same game and seat.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from raybench import games as rules
from raybench.compare import matches, settings
from raybench.compare.flips import MOST
from raybench.compare.found import RATING, Compared, Flips, Pair, Score
from raybench.compare.matches import Cell, Met
from raybench.compare.pairing import of_pair
from raybench.compare.results import counts_of, estimate, estimate_of
from raybench.errors import ConfigurationError, Problem
from raybench.reading import from_json
from raybench.statements import Statement
from raybench.stats import intervals
from raybench.stats.distributions import two_sided
from raybench.stats.intervals import student
from raybench.types import Estimate

Sides = tuple[Mapping[Cell, Met], Mapping[Cell, Met]]
"""What the baseline and the candidate took from whom they met."""
_ALL = "games"
_OTHER_DEALS = Statement(
    "compare.other_deals",
    "No match of one side began like a match of the other side (same seed, seat and opponent), so "
    "no flipped matches are listed.",
)


@dataclass(frozen=True, slots=True)
class Points:
    """What two models won against opponents they share."""

    scores: Sequence[Score]
    notes: Sequence[str]
    flips: Sequence[Flips]


def compare(pairs: Sequence[Pair], most: int = MOST) -> Iterator[Compared]:
    """Yield what is found of each pair. Raises ConfigurationError where there is nothing to."""
    for pair in pairs:
        if pair.one_run and pair.baseline.run.finished:
            scores = list(_rated(pair))
            found = Points(scores, *_between(pair, most))
        else:
            found = over_common(pair, most=most)
        yield Compared(pair, found.scores, settings.different(pair), found.notes, found.flips)


# ------------------------------------------------------------------ one run: its own differences


def _rated(pair: Pair) -> Iterator[Score]:
    counts = counts_of(pair.baseline), counts_of(pair.candidate)
    path = pair.baseline.run.folder / "pairs.jsonl"
    if pair.baseline.key == pair.candidate.key:
        raise ConfigurationError(
            Problem(
                "compare.nothing",
                f"{pair.baseline.model} of {pair.baseline.run.folder} cannot be compared with "
                "itself: it has one rating",
            )
        )
    try:
        with path.open("rb") as lines:
            told = [_Difference.of_line(from_json(line)) for line in lines]
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise ConfigurationError(
            Problem(
                "file.unreadable",
                f"{path} cannot be read ({error!r}): it has the differences of the run's ratings. "
                f"{pair.baseline.run.made}",
                given=str(path),
                fix="copy the whole folder of the run, or run it again",
            )
        ) from error
    mine = [it for it in told if {*it.names} == {pair.baseline.model, pair.candidate.model}]
    overall = next((it for it in mine if it.of == _ALL), None)
    single = [it for it in mine if it is not overall]
    # With one game, its rating is that over all games: one test, not two.
    same = overall is not None and len(single) == 1 and single[0].like(overall)
    for it in [overall] if overall is not None and same else mine:
        found, metric = it.points, f"{it.of}/rating"
        title = _title(single[0].of if same else it.of)
        if it.names[0] == pair.baseline.model:
            found = _negated(found)
        none = Estimate(None, None, None, 0, "not computed: not in results.json")
        yield Score(
            metric,
            f"{title}, rating",
            estimate_of(pair.baseline, metric) or none,
            estimate_of(pair.candidate, metric) or none,
            found,
            p=it.p if found.value is not None else None,
            test="Wald, of the difference of ratings",
            independent=math.floor(it.degrees) + 1,
            of="matches",
            scale=RATING,
            counts=counts if it is overall else None,
        )
    if not mine:
        raise ConfigurationError(
            Problem(
                "compare.nothing",
                f"{of_pair(pair)} have no difference in {path}: they cannot be rated on one scale, "
                "because no model links them by a win and a loss",
                given=of_pair(pair),
            )
        )


@dataclass(frozen=True, slots=True)
class _Difference:
    """By how much one model of a run is rated above another, in a game or over all games."""

    of: str
    names: tuple[str, str]
    points: Estimate
    p: float | None
    degrees: float
    """Of freedom; 0 where an older run does not say."""

    @classmethod
    def of_line(cls, told: Mapping[str, Any]) -> "_Difference":
        """Return what a line of pairs.jsonl says."""
        names, degrees = (told["model"], told["above"]), float(told.get("degrees") or 0.0)
        return cls(told["of"], names, estimate(told["points"]), told.get("p"), degrees)

    def like(self, other: "_Difference") -> bool:
        """Tell whether another one is by the same numbers."""
        one, another = ((it.names, it.points.value, it.points.stderr, it.p) for it in (self, other))
        return self.points.value is not None and one == another


def _between(pair: Pair, most: int) -> tuple[list[str], list[Flips]]:
    """Return why no deals are known that two models of a run both had, or which went otherwise.

    They have those in which they meet, from the same seat, and may have some against a third.
    """
    if not pair.baseline.run.journal(matches.JOURNAL).is_file():
        return ["Its journal is not there: no match is listed that flipped."], []
    names = {name: name for name in pair.baseline.run.models}
    one, other = pair.baseline, pair.candidate
    sides = (
        matches.met(one, names | {other.model: matches.EACH_OTHER}),
        matches.met(other, names | {one.model: matches.EACH_OTHER}),
    )
    games = sorted({cell[0] for cell in sides[0].keys() & sides[1].keys()})
    return _flipped(pair, games, sides, most)


def _flipped(
    pair: Pair, games: Sequence[str], sides: Sides, most: int, words: str = ""
) -> tuple[list[str], list[Flips]]:
    """Return the matches of each game that flipped, and why there are none where none could."""
    found, common = list[Flips](), False
    for game in games:
        dealt = matches.dealt(sides[0], game), matches.dealt(sides[1], game)
        common |= bool(dealt[0].keys() & dealt[1].keys())
        found.append(matches.flips(pair, f"{_title(game)}{words}", _of(game, words), dealt, most))
    return ([], found) if common else ([_OTHER_DEALS], [])


def _negated(found: Estimate) -> Estimate:
    if found.value is None:
        return found
    ends = found.ci95 and (-found.ci95[1], -found.ci95[0])
    return Estimate(-found.value, found.stderr, ends, found.n, found.method)


def _title(game: str) -> str:
    """Return what the reports call it; of a game that is no more, its name."""
    if game == _ALL:
        return "All games"
    return rules.load(game).title if game in rules.names() else game


# ------------------------------------------------------------------ two runs: the same opponents


def over_common(pair: Pair, *, stage: str = "", words: str = "", most: int = MOST) -> Points:
    """Return the points that two models won against opponents they share, game by game.

    Of tournaments in several wordings those of one `stage`; `words` tell these scores from others.
    """
    opponents, unlike = _opponents(pair)
    sides = (
        matches.met(pair.baseline, opponents, stage),
        matches.met(pair.candidate, opponents, stage),
    )
    by_game: dict[str, list[Cell]] = {}
    for cell in sorted(sides[0].keys() & sides[1].keys()):
        by_game.setdefault(cell[0], []).append(cell)
    if not by_game:
        told = f" ({len(unlike)} of the same name are other models in each run)" if unlike else ""
        raise ConfigurationError(
            Problem(
                "compare.nothing",
                f"{of_pair(pair)} met no opponent in common in any seat{told}. "
                "Ratings of different runs have no common zero, so that nothing can be compared",
                given=of_pair(pair),
                fix="have both play in one run (roster.models=[…] with both), or against the same "
                "opponents in each",
            )
        )
    scores = [_score(game, cells, sides, words) for game, cells in by_game.items()]
    if len(scores) > 1:
        scores.insert(0, _mean(scores, words))
    names = sorted(
        {opponent for _, opponent, *_ in (it for cells in by_game.values() for it in cells)}
    )
    notes: list[str] = [
        Statement(
            "compare.common_opponents",
            "Ratings of different runs have no common zero. Compared is the share of points won "
            "against opponents of both runs, in the same game and seat. Games of more than two "
            "seats are left out.",
        ),
        f"Opponents in common: {', '.join(names)}.",
    ]
    if unlike:
        notes.append(f"Not counted, as they are other models in both runs: {', '.join(unlike)}.")
    why, flips = _flipped(pair, [*by_game], sides, most, words)
    return Points(scores, [*notes, *why], flips)


def _opponents(pair: Pair) -> tuple[dict[str, str], list[str]]:
    """Return the models that both runs have, the same ones, and those alike only by name."""
    one, other = pair.baseline.run.models, pair.candidate.run.models
    common = [name for name in one if name in other]
    same = [name for name in common if one[name] == other[name]]
    own = {pair.baseline.model, pair.candidate.model}
    alike = [name for name in common if name not in same and name not in own]
    return {name: name for name in same}, alike


def _score(game: str, cells: Sequence[Cell], sides: Sides, words: str) -> Score:
    """Return the difference in points won, seat by seat and opponent by opponent."""
    (one, other), weights = sides, {}
    for cell in cells:
        sizes = len(one[cell].points), len(other[cell].points)
        weights[cell] = sizes[0] * sizes[1] / sum(sizes)
    whole = sum(weights.values())
    shares = [_share({it: of[it] for it in cells}, weights, whole, game) for of in sides]
    (a, tables_a), (b, tables_b) = shares
    assert a.value is not None and b.value is not None
    value, degrees = b.value - a.value, min(tables_a, tables_b) - 1
    n = a.n + b.n
    alike = all(sorted(one[it].played) == sorted(other[it].played) for it in cells)
    method = (
        "share of points, weighed alike by opponent and seat; both sides' independent, clustered "
        "by what matches were drawn with, Student's t"
    )
    why = ""
    if degrees < 1 or a.stderr is None or b.stderr is None or not math.hypot(a.stderr, b.stderr):
        found = Estimate(value, None, None, n, f"{method}; no interval: too few, or all alike")
        p = None
        if degrees >= 1 and a.stderr is not None and b.stderr is not None:
            why = Statement("no_test.alike", "all matches alike")
    else:
        stderr = math.hypot(a.stderr, b.stderr)
        half = student(degrees) * stderr
        ends = (max(-1.0, value - half), min(1.0, value + half))
        found = Estimate(value, stderr, ends, n, method)
        p = two_sided(value / stderr, degrees)
    return Score(
        _named(game, words),
        f"{_title(game)}, points won{words}",
        a,
        b,
        found,
        p=p,
        test="Student's t, clustered" if p is not None else "none",
        independent=degrees + 1,
        gained=0 if alike else None,
        lost=0 if alike else None,
        of="matches",
        untested=why,
    )


def _named(game: str, words: str) -> str:
    return f"{_of(game, words)}/points_won"


def _of(game: str, words: str) -> str:
    return "/".join([game, *([words.strip(", ")] if words else [])])


def _share(
    met: Mapping[Cell, Met], weights: Mapping[Cell, float], whole: float, game: str
) -> tuple[Estimate, int]:
    """Return the weighed share of points of one side, and how many tables it is from."""
    each = [
        (weights[cell] / whole / len(of.points), points, table)
        for cell, of in met.items()
        for points, table in of.points
    ]
    value = math.fsum(weight * points for weight, points, _ in each)
    moved: dict[str, float] = {}
    for weight, points, table in each:
        moved[table] = moved.get(table, 0.0) + weight * intervals.difference(points, value)
    groups = len(moved)
    stderr = None
    if groups > 1:
        stderr = math.sqrt(groups / (groups - 1) * math.fsum(it**2 for it in moved.values()))
    method = f"share of points in {game} against common opponents"
    return Estimate(value, stderr, None, len(each), method), groups


def _mean(scores: Sequence[Score], words: str) -> Score:
    """Return the mean over games, each weighing the same."""

    def mean(part: str) -> Estimate:
        found = [getattr(it, part) for it in scores]
        errors = [it.stderr for it in found]
        known = None not in errors
        return Estimate(
            math.fsum(it.value for it in found) / len(found),
            math.sqrt(math.fsum(it**2 for it in errors)) / len(found) if known else None,
            None,
            sum(it.n for it in found),
            f"mean over {len(found)} games, each weighing the same",
        )

    difference, p = mean("difference"), None
    alike = all(it.identical for it in scores)
    assert difference.value is not None
    below = math.fsum(
        (it.difference.stderr or 0) ** 4 / max(it.independent - 1, 1) for it in scores
    )
    independent = 0
    if difference.stderr and below:
        degrees = math.fsum((it.difference.stderr or 0) ** 2 for it in scores) ** 2 / below
        half = student(degrees) * difference.stderr
        ends = (max(-1.0, difference.value - half), min(1.0, difference.value + half))
        difference = Estimate(
            difference.value, difference.stderr, ends, difference.n, f"{difference.method}, Welch"
        )
        assert difference.value is not None and difference.stderr
        p = two_sided(difference.value / difference.stderr, degrees)
        independent = math.floor(degrees) + 1
    return Score(
        _named(_ALL, words), f"{_title(_ALL)}, points won{words}",
        mean("baseline"), mean("candidate"), difference, p=p,
        test="Welch's t" if p is not None else "none", independent=independent,
        gained=0 if alike else None, lost=0 if alike else None, of="matches",
        untested=next((it.no_test for it in scores if it.no_test), ""),
    )  # fmt: skip

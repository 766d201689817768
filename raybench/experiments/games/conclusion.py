"""What comes out of a run: ratings, counts, what needs a person's eye, the report, transcripts."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from raybench.config import Config
from raybench.experiments.games import asking, manners, prompts, setup, standings, transcripts
from raybench.experiments.games.deviations import deviations
from raybench.experiments.games.ratings import RatedTwice, rated
from raybench.experiments.games.recorded import Recorded
from raybench.experiments.games.report import Shown, reading, sections
from raybench.experiments.games.standings import Standing
from raybench.experiments.games.units import units as readable
from raybench.experiments.parts.deviations import DEVIATIONS, GAMES_PAPER, JUDGED, note
from raybench.experiments.parts.outcome import Outcome
from raybench.statements import Statement
from raybench.stats.joint import Joint
from raybench.stats.ratings.outcome import Ratings
from raybench.stats.ratings.scale import SPREAD
from raybench.tournament import meetings, reliability
from raybench.tournament.fixtures import Fixture
from raybench.tournament.ratings import Rated
from raybench.tournament.records import Match
from raybench.tournament.reliability import Reliability
from raybench.tracking import console
from raybench.tracking.leaderboard import Column
from raybench.types import Estimate

RANK = "games/rank"
RATING = Column("games/rating", "Rating", digits=0)
GROUP = Column("games/group", "Group", digits=0)
"""Where wins do not lead both ways between all, ratings are compared within groups."""
PLAYED_GROUP = Column("games/group_without_forfeits", "Group without forfeits", digits=0)
PLAYED = Column("games/rating_without_forfeits", "Without forfeits", digits=0)
RESULTS = (
    Column("games/wins", "Won", digits=0),
    Column("games/draws", "Drawn", digits=0),
    Column("games/losses", "Lost", digits=0, higher_is_better=False),
)
VALID = Column("games/valid_replies", "Valid replies")
FORFEITS = Column("games/forfeits", "Matches forfeited")
LEFT = Column("games/unplayed", "Not played", digits=0, higher_is_better=False)
_LEFT = (
    "matches that are drawn and wait for a model that is unavailable; no interval: a count, not an "
    "estimate"
)
ALL = "games"
"""What the ratings over all games are of, where those of each are of its name."""
PAIRS = "pairs.jsonl"
"""How sure each model is above each other, in each game and over all of them."""
STANDINGS = "standings.jsonl"
"""Where each model stands, in each game and over all of them: rank, bound, covariance."""
_REASONS = 5
"""Of those why matches were begun anew, so many are told."""


@dataclass(frozen=True)
class End:
    """Why no more is played."""

    stopped: str = ""
    """By what was wanted; '' where that does not say."""
    unfinished: str = ""
    """Who is gone that the rest needs; '' where there is no rest."""
    left: Sequence[Fixture] = ()
    """The matches that wait for that."""
    gone: Sequence[tuple[str, str]] = ()
    """Who is, and why; one who plays and judges may be so twice."""
    failed: Mapping[str, int] = field(default_factory=dict)
    """Requests of these matches that got no reply, by model."""


def concluded(config: Config, matches: Sequence[Match], journal: Path, end: End) -> Outcome:
    """Conclude from the matches of the journal, which lies there."""
    models = [model.name for model in config.roster.models]
    found = rated(config, matches)
    reliable = reliability.reliability(matches, models)
    for model in models:
        reliable[model].failed += end.failed.get(model, 0)
    stood = {of: Standing(of, ratings) for of, ratings in _every(found)}
    played = [it.name for it in setup.chosen(config)]
    metrics = measured(models, found, stood.get(ALL), reliable)
    for game, of in {ALL: matches, **{it: _of(it, matches) for it in played}}.items():
        for model, told in _results(game, of, models).items():
            metrics[model] |= told
    waiting = Counter(model for it in end.left for model in {*it.seats})
    for model in models if end.unfinished else ():
        metrics[model][LEFT.key] = Estimate(
            float(waiting[model]), None, None, reliable[model].matches + waiting[model], _LEFT
        )
    recorded = Recorded(journal, matches)
    deviating, judged = deviations(config), setup.juries(config)
    own = {it.name: it.system_prompt for it in asking.asked(config)}
    shown = Shown(
        models=models,
        games=played,
        matches=matches,
        rated=found,
        stood=stood.get(ALL),
        reliable=reliable,
        metrics=metrics,
        recorded=recorded,
        rules=setup.rules(config),
        deviations=deviating,
    )
    return Outcome(
        metrics=metrics,
        counts=reliability.counts(reliable, matches),
        failures=[
            *reliability.failures(matches),
            *({"model": it, "kind": "not played", "why": why} for it, why in end.gone),
        ],
        replied=reliability.REPLIED,
        columns=(
            *_with_group(RATING, GROUP, found.all),
            *(_with_group(PLAYED, PLAYED_GROUP, found.played) if found.forfeited else ()),
            *((LEFT,) if end.unfinished else ()),
            *RESULTS,
            VALID,
            FORFEITS,
        ),
        sections=list(sections(shown)),
        units=readable(
            recorded,
            matches,
            setup.rules(config),
            {match.number: why for match, why in reading.chosen(shown)},
        ),
        joint=_together(metrics, found.all.overall),
        inputs=setup.inputs(config, matches),
        about={
            "stopped": end.stopped,
            "matches": _matches(matches, played),
            "roles": {game: _worth(shown, game) for game in found.all.games},
            "repeats": meetings.repeats(matches),
            "strategies": manners.manners(config),
            "votes_missing": _lost(matches),
            **({"judges": setup.jurors(config)} if judged else {}),
            "deviations": [it.to_json() for it in deviating],
        },
        notes={
            **({JUDGED: f"{setup.jury_told(config)} ({', '.join(judged)})"} if judged else {}),
            DEVIATIONS: note(deviating, GAMES_PAPER),
            **_notes(matches, found, end, models),
            **manners.told(config),
        },
        unfinished=end.unfinished,
        files={
            PAIRS: chain.from_iterable(it.pairs() for it in stood.values()),
            STANDINGS: chain.from_iterable(it.lines() for it in stood.values()),
        },
        texts={
            **transcripts.texts(recorded, matches, setup.rules(config), played),
            **prompts.texts(journal, setup.house(config), played, own),
        },
        heard=[model for model, of in reliable.items() if of.replies],
    )


def measured(
    models: Sequence[str],
    found: RatedTwice,
    stood: Standing | None,
    reliable: Mapping[str, Reliability],
) -> dict[str, dict[str, Estimate]]:
    """Return every model's metrics, the models in the order of the leaderboard."""
    metrics: dict[str, dict[str, Estimate]] = {}
    overall = found.all.overall
    for model in dict.fromkeys([*(overall.table if overall is not None else ()), *models]):
        of = metrics[model] = {}
        if stood is not None:
            of[RANK] = stood.rank(model)
        of |= _rated("", found.all, model)
        if found.forfeited:
            of |= _rated("_without_forfeits", found.played, model)
        of[VALID.key] = reliable[model].valid
        of[FORFEITS.key] = reliable[model].forfeited
    return metrics


def _together(
    metrics: Mapping[str, Mapping[str, Estimate]], ratings: Ratings | None
) -> Joint | None:
    """Return the ratings of the largest group, and how their errors go together.

    Those of other groups lie on other scales.
    """
    if ratings is None:
        return None
    part = max(ratings.components, key=len)
    models = [name for name in part if name in metrics and ratings.rated(name)]
    places = [ratings.models.index(name) for name in models]
    covariance = SPREAD**2 * ratings.covariance[np.ix_(places, places)]
    return Joint.of(RATING.key, {name: metrics[name][RATING.key] for name in models}, covariance)


def _every(found: RatedTwice) -> Iterator[tuple[str, Ratings]]:
    if found.all.overall is not None:
        yield ALL, found.all.overall
    yield from found.all.games.items()


def _rated(kind: str, found: Rated, model: str) -> dict[str, Estimate]:
    """Return a model's ratings, over all games and in each, and its groups where there are any."""
    told: dict[str, Estimate] = {}
    for of, ratings in {ALL: found.overall, **found.games}.items():
        told[f"{of}/rating{kind}"] = standings.shown(ratings, model)
        if (group := standings.group(ratings, model)) is not None:
            told[f"{of}/group{kind}"] = group
    return told


def _with_group(rating: Column, group: Column, found: Rated) -> tuple[Column, ...]:
    several = found.overall is not None and len(found.overall.components) > 1
    place = RANK if rating is RATING else ""
    return (replace(rating, place=place), group) if several else (rating,)


def _results(
    game: str, matches: Sequence[Match], models: Sequence[str]
) -> dict[str, dict[str, Estimate]]:
    """Return how many matches of a game, or of all, each model has won, drawn and lost."""
    return {
        model: {
            f"{game}/{name}": Estimate(float(count), None, None, of.n, meetings.WON_BY)
            if of.n
            else Estimate(None, None, None, 0, "not computed: no match with an opponent counts")
            for name, count in (("wins", of.wins), ("draws", of.ties), ("losses", of.losses))
        }
        for model, of in meetings.results(matches, models).items()
    }


def _of(game: str, matches: Sequence[Match]) -> list[Match]:
    return [it for it in matches if it.fixture.game == game]


def _matches(matches: Sequence[Match], played: Sequence[str]) -> dict[str, Any]:
    return {game: dict(meetings.outcomes(_of(game, matches))) for game in played}


def _worth(shown: Shown, game: str) -> list[dict[str, Any]]:
    return [
        {"role": role, "over": over, "points": points.to_json()}
        for role, over, points in shown.worth(game)
    ]


def _notes(
    matches: Sequence[Match], found: RatedTwice, end: End, models: Sequence[str]
) -> dict[str, str]:
    counted = sum(it.void is None for it in matches)
    void = len(matches) - counted
    notes: dict[str, str] = {"Matches": _counted(counted, void, meetings.repeats(matches))}
    if anew := [it for it in matches if it.attempt]:
        notes["Begun anew"] = _again(anew)
    if end.stopped:
        notes["Ended"] = end.stopped
    if end.unfinished:
        notes["Incomplete"] = f"the ratings too, as {end.unfinished}"
    if found.all.overall is not None and (told := _compared(found.all.overall)):
        notes["Compared"] = told
    if found.forfeited:
        notes["Forfeits"] = (
            f"{console.counted(found.forfeited, 'match')} forfeited, which counts as a loss; the "
            f"column '{PLAYED.title}' has ratings without forfeits"
        )
    if jury := [*_jury(matches, models, end.failed)]:
        notes["Jury"] = "; ".join(jury)
    return notes


def _compared(ratings: Ratings) -> str:
    """Return which ratings can be compared; of groups the report says more."""
    if len(ratings.components) == 1:
        return " ".join(ratings.notes)
    return Statement(
        "ratings.within_groups",
        "only models of one group have ratings on the same scale. There are {groups} groups, "
        "because wins between them go one way only or they never met; the report lists them",
        groups=len(ratings.components),
    )


def _counted(counted: int, void: int, again: int) -> str:
    """Return how many matches count, and how many are void or repeat another."""
    repeats = f"; repeats of another: {again:,}, by models at temperature 0" if again else ""
    if void:
        return Statement(
            "matches.some",
            "{counted:,} of {matches:,} count, {void:,} {are} void{repeats}",
            counted=counted,
            matches=counted + void,
            void=void,
            are="is" if void == 1 else "are",
            repeats=repeats,
            again=again,
        )
    if not counted:
        return Statement("matches.none", "none was played")
    return Statement(
        "matches.all",
        "all {counted:,} count{repeats}",
        counted=counted,
        repeats=repeats,
        again=again,
    )


def _jury(
    matches: Sequence[Match], models: Sequence[str], lost: Mapping[str, int]
) -> Iterator[str]:
    """Yield how many votes are missing, and what is lost of jurors who do not play.

    `lost` are requests of matches that have not ended.
    """
    missing = sum(it.votes_missing for it in matches)
    if votes := sum(it.votes for it in matches) + missing:
        of = ", ".join(f"{juror} {count:,}" for juror, count in _lost(matches).items())
        yield Statement(
            "jury.missing",
            "{missing:,} of {votes:,} votes are missing{of}",
            missing=missing,
            votes=votes,
            of=f" ({of})" if of else "",
        )
    failed = Counter({name: n for name, n in lost.items() if name not in models})
    for match in matches:
        failed.update({name: n for name, n in match.failed.items() if name not in models})
    for juror, count in sorted(failed.items()):
        yield Statement(
            "jury.no_reply",
            "{requests:,} request{s} to {juror} got no reply",
            requests=count,
            s="s" * (count > 1),
            juror=juror,
        )


def _lost(matches: Sequence[Match]) -> dict[str, int]:
    """Return how many votes of each juror are missing."""
    lost = Counter(juror for match in matches for juror, _ in match.votes_lost)
    return dict(sorted(lost.items()))


def _again(matches: Sequence[Match]) -> str:
    """Return how many matches were begun anew, and how often why."""
    why = Counter(lost.void.partition(": ")[0] for match in matches for lost in match.given_up)
    where = ". failures.jsonl has each reason" if why else ""
    if (untold := sum(it.attempt for it in matches) - why.total()) > 0:  # an older journal
        why["for reasons that its journal does not have"] = untold
    told = "; ".join(f"{reason} ({count:,})" for reason, count in why.most_common(_REASONS))
    return Statement(
        "matches.begun_anew",
        "{matches:,} match{es}: {told}{where}",
        matches=len(matches),
        es="es" if len(matches) > 1 else "",
        told=told,
        where=where,
        times=[*why.values()],
    )

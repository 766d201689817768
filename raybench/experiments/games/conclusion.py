"""What comes out of a run: ratings, counts, what needs a person's eye, the report, transcripts."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from raybench.config import Config
from raybench.experiments.games import setup, transcripts
from raybench.experiments.games.ratings import Both, rated
from raybench.experiments.games.report import Shown, sections
from raybench.experiments.session import Outcome
from raybench.stats.ratings.outcome import Ratings
from raybench.stats.ratings.ranking import orders
from raybench.tournament import meetings, reliability
from raybench.tournament.records import Match
from raybench.tournament.reliability import Reliability
from raybench.tracking.leaderboard import Column
from raybench.types import Estimate

RATING = Column("games/rating", "Rating", digits=0)
PLAYED = Column("games/rating_without_forfeits", "Without forfeits", digits=0)
VALID = Column("games/valid_replies", "Valid replies")
FORFEITS = Column("games/forfeits", "Matches forfeited")
PAIRS = "pairs.jsonl"
"""How sure each model is above each other, in each game and over all of them."""
NOT_RATED = Estimate(
    None, None, None, 0, "refused: no match that it had with another model counts here"
)


def concluded(config: Config, matches: Sequence[Match], journal: Path, stopped: str) -> Outcome:
    """Conclude from the matches of the journal, which lies there."""
    models = [model.name for model in config.roster.models]
    found = rated(config, matches)
    reliable = reliability.reliability(matches, models)
    metrics = measured(models, matches, found, reliable)
    played = [it.name for it in setup.chosen(config)]
    shown = Shown(
        models=models,
        games=played,
        matches=matches,
        rated=found,
        reliable=reliable,
        metrics=metrics,
        journal=journal,
        rules=setup.rules(config),
    )
    return Outcome(
        metrics=metrics,
        counts=reliability.counts(reliable, matches),
        failures=list(reliability.failures(matches)),
        columns=(
            RATING,
            *((PLAYED,) if found.forfeited else ()),
            VALID,
            FORFEITS,
        ),
        sections=list(sections(shown)),
        about={
            "stopped": stopped,
            "matches": _matches(matches, played),
            "roles": {game: _worth(game, it) for game, it in found.all.games.items()},
        },
        notes=_notes(matches, found, stopped),
        files={PAIRS: _pairs(found)},
        texts=transcripts.texts(journal, setup.rules(config), played),
        heard=[model for model, of in reliable.items() if of.replies],
    )


def measured(
    models: Sequence[str],
    matches: Sequence[Match],
    found: Both,
    reliable: Mapping[str, Reliability],
) -> dict[str, dict[str, Estimate]]:
    """Return every model's metrics."""
    metrics: dict[str, dict[str, Estimate]] = {}
    for model in models:
        of = metrics[model] = {RATING.key: _rating(found.all.overall, model)}
        of |= {f"{game}/rating": _rating(it, model) for game, it in found.all.games.items()}
        if found.forfeited:
            of[PLAYED.key] = _rating(found.played.overall, model)
            of |= {
                f"{game}/rating_without_forfeits": _rating(it, model)
                for game, it in found.played.games.items()
            }
        of[VALID.key] = reliable[model].valid
        of[FORFEITS.key] = reliable[model].forfeited
    return metrics


def _rating(ratings: Ratings | None, model: str) -> Estimate:
    if ratings is None:
        return NOT_RATED
    return ratings.table.get(model, NOT_RATED)


def _matches(matches: Sequence[Match], played: Sequence[str]) -> dict[str, Any]:
    return {
        game: dict(meetings.outcomes([it for it in matches if it.fixture.game == game]))
        for game in played
    }


def _worth(game: str, ratings: Ratings) -> list[dict[str, Any]]:
    """Return by how many points of the rating each role is worth more than each other."""
    return [
        {"role": role, "over": over, "points": ratings.advantage(role, over, game=game).to_json()}
        for role, over in combinations(ratings.roles.get(game, ()), 2)
    ]


def _notes(matches: Sequence[Match], found: Both, stopped: str) -> dict[str, str]:
    counted = sum(it.void is None for it in matches)
    void = len(matches) - counted
    notes = {"Matches": f"{counted:,} count" + (f", {void:,} are void" if void else "")}
    if again := sum(it.attempt > 0 for it in matches):
        notes["Begun anew"] = f"{again:,} matches, because a model could not be reached"
    if stopped:
        notes["Ended"] = stopped
    if found.all.overall is not None and found.all.overall.notes:
        notes["Compared"] = " ".join(found.all.overall.notes)
    if found.forfeited:
        notes["Forfeits"] = (
            f"{found.forfeited:,} matches were forfeited, which counts as a loss; ratings without "
            "them stand beside"
        )
    missing = sum(it.votes_missing for it in matches)
    if votes := sum(it.votes for it in matches) + missing:
        notes["Jury"] = f"{missing:,} of {votes:,} votes are missing"
    return notes


def _pairs(found: Both) -> Iterator[dict[str, Any]]:
    every = {"games": found.all.overall, **found.all.games}
    for game, ratings in every.items():
        if ratings is None:
            continue
        for order in orders(ratings):
            yield {
                "of": game,
                "model": order.better,
                "above": order.worse,
                "points": order.difference.to_json(),
                "wins": ratings.chance(order.better, order.worse).to_json(),
                "p": order.p,
                "holm": order.holm,
                "share_of_replicates": order.share,
            }

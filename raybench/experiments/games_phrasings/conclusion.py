"""What comes out of a run."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from raybench.config import Config
from raybench.experiments.session import Outcome
from raybench.tournament import reliability
from raybench.tournament.records import Match
from raybench.tracking.leaderboard import Column


def concluded(
    config: Config,
    played: Mapping[str, Sequence[Match]],
    studies: Sequence[Mapping[str, Any]],
    journal: Path,
    unfinished: str,
) -> Outcome:
    """Conclude from the matches of each tournament, whose journal lies there."""
    models = [it.name for it in config.roster.models]
    every = [it for some in played.values() for it in some]
    reliable = reliability.reliability(every, models)
    return Outcome(
        metrics={it: {} for it in models},
        counts=reliability.counts(reliable, every),
        failures=[],
        columns=(Column("games_phrasings/rating", "Rating"),),
        sections=[],
        unfinished=unfinished,
    )

"""How ratings settle as matches are played: what MLflow shows over their number."""

from collections.abc import Iterator, Sequence
from itertools import accumulate

from raybench.config import Config
from raybench.experiments.games.ratings import alone
from raybench.tournament.records import Match

_POINTS = 20
KEY = "games/running_rating"


def series(
    config: Config, matches: Sequence[Match]
) -> Iterator[tuple[int, int, dict[str, dict[str, float]]]]:
    """Yield, after each twentieth of the matches, their number, the time and every rating then.

    It is the rating over all games by the matches that had ended first, as the leaderboard has it
    of all: whoever has none yet (nobody beat it, it beat nobody, it has not played) has no point.
    A step counts matches that are void too; time is when the last of them had ended.
    """
    times = list(accumulate((it.ended_ms for it in matches), max))  # several end at once
    for part in range(1, _POINTS + 1):
        played = -(-len(matches) * part // _POINTS)
        if not played or played == -(-len(matches) * (part - 1) // _POINTS):
            continue  # fewer matches than points
        results = [it.result for it in matches[:played] if it.result is not None]
        if (found := alone(config, results)) is not None and len(found.components) == 1:
            rated = {
                model: {KEY: it.value} for model, it in found.table.items() if it.value is not None
            }
            yield played, times[played - 1], rated

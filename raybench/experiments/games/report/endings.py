"""How matches ended, and how the jury judged."""

from collections.abc import Iterator

from raybench import games
from raybench.experiments.games.report.shown import Shown
from raybench.tournament.meetings import outcomes
from raybench.tracking.report import Section, Table


def sections(shown: Shown) -> Iterator[Section]:
    """Yield the ends of each game's matches."""
    rows = [
        (games.load(game).title, how, count)
        for game in shown.games
        for how, count in sorted(outcomes(shown.of(game)).items(), key=lambda it: -it[1])
    ]
    yield Section("How matches ended", table=Table(("game", "end", "matches"), rows))
    votes, missing = (
        sum(it.votes for it in shown.matches),
        sum(it.votes_missing for it in shown.matches),
    )
    if votes:
        yield Section(
            "Jury",
            f"Jurors were asked {votes:,} times, each about both orders of the speeches; "
            f"{missing:,} replies are missing or were no scores that could be read, and count as "
            "missing votes.",
        )

"""How matches ended, and how the jury judged."""

from collections.abc import Iterator

from raybench import games
from raybench.experiments.games.report.shown import LONG, Shown
from raybench.games.parts.debate.bias import first_is_better
from raybench.tournament import votes
from raybench.tournament.meetings import outcomes, repeats
from raybench.tracking.report import Section, Table


def sections(shown: Shown) -> Iterator[Section]:
    """Yield the ends of each game's matches."""
    rows = [
        (games.load(game).title, how, count)
        for game in shown.games
        for how, count in sorted(outcomes(shown.of(game)).items(), key=lambda it: -it[1])
    ]
    again = repeats(shown.matches)
    text = (
        f"{again:,} of {len(shown.matches):,} matches repeat another: models at "
        "temperature 0 go on alike from the same start. The ratings count them as one group."
    )
    yield Section(
        "How matches ended",
        text * (again > 0),
        table=Table(("game", "end", "matches"), rows),
    )
    yield from _jury(shown)


def _jury(shown: Shown) -> Iterator[Section]:
    missing = sum(it.votes_missing for it in shown.matches)
    wanted = sum(it.votes for it in shown.matches) + missing
    if not wanted:
        return
    moves = [
        turn["move"]
        for game in shown.games
        if games.load(game).jury
        for match in shown.of(game)
        for turn in shown.recorded.of(match)["turns"]
        if turn["role"] == games.MANAGER
    ]
    liking = first_is_better(moves)
    yield Section(
        "Jury",
        f"{missing:,} of {wanted:,} votes are missing: a juror has a vote where it scored both "
        "orders of the speeches within the rubric's bounds. That a juror likes whom it reads "
        "first decides nothing, as each reads both orders; how much it does stands below.",
        table=Table(
            ("juror", "debates", "votes missing", "points more for whom it reads first"),
            [(juror, *counts, liking[juror]) for juror, counts in votes.by_juror(moves).items()],
            digits=2,
        ),
        folded=f"{len(liking)} jurors" * (len(liking) > LONG),
    )

"""Who met whom, and what came of it."""

from collections.abc import Iterator, Mapping, Sequence

from raybench import games
from raybench.experiments.games.report.shown import LONG, Shown
from raybench.tournament.meetings import Tally, results, tallies
from raybench.tracking import plots
from raybench.tracking.report import Section, Table


def sections(shown: Shown) -> Iterator[Section]:
    """Yield the win matrix over all games, and the counts behind it by game."""
    models = shown.best_first
    found = tallies(shown.matches, models)
    yield Section(
        "Who won against whom",
        "The share of matches that the model of the row won against the model of the column, a tie "
        "as half a win, over all games. In a match of many players each meets all others, except "
        "those on its own side.",
        figure=plots.heatmap(
            [
                [None if row == other else found[row][other].points for other in models]
                for row in models
            ],
            rows=models,
            columns=models,
            label="share won; colours from 0 (dark) to 1 (bright)",
            ends=(0.0, 1.0),
        ),
    )
    yield from _results(shown)
    rows = [
        (games.load(game).title, row, other, of.wins, of.ties, of.losses)
        for game in shown.games
        for row, other, of in _pairs(tallies(shown.of(game), models), models)
    ]
    yield Section(
        "Results by pair",
        table=Table(("game", "model", "against", "won", "drawn", "lost"), rows),
        folded=f"{len(rows)} pairs" * (len(rows) > LONG),
    )


def _results(shown: Shown) -> Iterator[Section]:
    """Yield what each model has won, drawn and lost, over all games and in each."""
    of_games = {"all games": shown.matches} if len(shown.games) > 1 else {}
    of_games |= {games.load(game).title: shown.of(game) for game in shown.games}
    found = {game: results(of, shown.best_first) for game, of in of_games.items()}
    rows = [
        (game, model, of.wins, of.ties, of.losses)
        for game, of_models in found.items()
        for model, of in of_models.items()
        if of.n
    ]
    yield Section(
        "Wins, draws and losses",
        "Each match counts once for each model that has an opponent in it. A model alone in first "
        "place wins, also among many players; a first place shared with an opponent is a draw; "
        "everything else is a loss. A forfeit is a loss. Teams win and lose together.",
        table=Table(("game", "model", "won", "drawn", "lost"), rows),
        folded=f"{len(rows)} results" * (len(rows) > LONG),
    )


def _pairs(
    found: Mapping[str, Mapping[str, Tally]], models: Sequence[str]
) -> Iterator[tuple[str, str, Tally]]:
    """Yield every pair that met, once."""
    for number, row in enumerate(models):
        for other in models[number + 1 :]:
            if found[row][other].n:
                yield row, other, found[row][other]

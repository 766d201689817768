"""How reliably the models move."""

from collections.abc import Iterator
from dataclasses import replace

from raybench import games
from raybench.experiments.games.report.shown import LONG, Shown
from raybench.tournament.reliability import Reliability, reliability
from raybench.tracking.report import AS_ABOVE, Section, Table

_REASONS = 4
"""Of each model's commonest mistakes, so many are shown."""


def sections(shown: Shown) -> Iterator[Section]:
    """Yield replies, mistakes and forfeits, over all games and in each, and what was wrong."""
    models = shown.best_first
    yield Section(
        "Reliability of moves",
        "A reply without a valid move is answered with the reason and tried again, until the tries "
        "of the turn or of the match are spent; then the match is forfeited. Seconds are the "
        "models' own, without waits: for their turn at an engine, for tries that failed.",
        table=_table("model", {model: shown.reliable[model] for model in models}),
        folded=f"{len(models)} models" * (len(models) > LONG),
    )
    by_game = {
        f"{games.load(game).title}: {model}": of
        for game in shown.games
        for model, of in reliability(shown.of(game), shown.models).items()
        if of.replies
    }
    if len(shown.games) > 1:
        yield Section(
            "Reliability by game",
            table=replace(_table("game and model", by_game), caption=AS_ABOVE),
            folded=f"{len(by_game)} rows" * (len(by_game) > LONG),
        )
    reasons = [
        (model, count, why)
        for model in models
        for why, count in shown.reliable[model].reasons.most_common(_REASONS)
    ]
    if reasons:
        yield Section(
            "What was wrong with invalid moves",
            "The commonest reasons that each model was given, counted by the two commonest of "
            "each role in a match; the journal has all of them.",
            table=Table(("model", "times", "reason"), reasons),
            folded=f"{len(reasons)} reasons" * (len(reasons) > LONG),
        )


def _table(kind: str, by: "dict[str, Reliability]") -> Table:
    return Table(
        (
            kind,
            "matches",
            "replies",
            "valid",
            "forfeited",
            "invalid moves",
            "time",
            "void",
            "no reply",
            "truncated",
            "no move",
            "tokens a reply",
            "seconds a reply",
        ),
        [
            (
                name,
                of.matches,
                of.replies,
                of.valid,
                of.forfeited,
                of.forfeits["invalid moves"],
                of.forfeits["time"],
                of.void,
                of.failed,
                of.truncated,
                of.unparsed,
                f"{of.tokens / of.replies:.1f}" if of.replies else None,
                f"{of.seconds / of.replies:.2f}" if of.replies else None,
            )
            for name, of in by.items()
        ],
        caption="Valid: the share of replies that hold a valid move; forfeited: the share of "
        "matches; then why they were forfeited. Void: matches that did not count, because the "
        "model could not be reached; no reply: its requests that failed, also as a juror and in "
        "matches that were then started again. Truncated: replies that were cut off; no move: "
        "complete replies without a move, legal or not.",
        digits=3,
    )

"""What the settings of a screening keep it from telling, said before it runs."""

from collections.abc import Iterable, Iterator

from raybench.benchmarks.parts.contract import Row
from raybench.benchmarks.parts.hle.options import CHOICE
from raybench.benchmarks.parts.hle.screening.attempts import NAME
from raybench.config import Config, panel
from raybench.experiments.parts.questions.setup import repeats_of
from raybench.pipeline.terms import models_of
from raybench.statements import Statement


def of(config: Config, questions: Iterable[Row]) -> Iterator[str]:
    """Yield what keeps attempts at these questions from being the evidence that is wanted."""
    conf = config.hle_screen
    choice = sum(row["answer_type"] == CHOICE for row in questions)
    by_chance = conf.rule == "worse_than_chance"
    if choice and not by_chance and len(panel(conf, config.roster)) == 1:
        yield Statement(
            "screening.one_model",
            "with one model the panel cannot reject multiple-choice questions ({choice:,} here), "
            "since one right answer is allowed. Add models to the roster, or set "
            "hle_screen.rule=worse_than_chance with repeats",
            choice=choice,
        )
    repeats = repeats_of(config, NAME)
    if by_chance and repeats == 1:
        yield Statement(
            "screening.one_attempt",
            "rule=worse_than_chance compares repeated attempts with guesses, and each model has "
            "one at a question: ask for more with repeats=N and a temperature above 0",
        )
    same = [model.name for model in models_of(config) if model.sampling.temperature == 0]
    if same and repeats > 1:
        yield Statement(
            "screening.alike",
            "at temperature 0 attempts repeat one another: {repeats} of {models} at a question "
            "tell little more than one does. Give a temperature above 0, or null for each model's "
            "own",
            repeats=repeats,
            models=", ".join(same),
        )


def review(config: Config) -> str:
    """Say what is published, and what is not."""
    if config.hle_screen.review == "required":
        return Statement(
            "screening.review",
            "what passes the panel waits for two rounds of review: only approved questions are "
            "published",
        )
    return Statement(
        "screening.no_review",
        "deviation: what passes the panel is published without review, as for experiments "
        "(hle_screen.review=skip): the revision says so, and so does every exam over it",
    )


def late() -> str:
    """Say where late contributions go."""
    return Statement(
        "screening.late",
        "late contributions: what is approved of these goes to the second held-out set",
    )


def search(config: Config) -> str:
    """Say whether it is checked that questions are not found by a search."""
    if pairs := config.hle_screen.search:
        return Statement(
            "screening.search",
            "search check: {pairs}; what only the search answers goes to an audit",
            pairs=", ".join(
                f"{one} with a search, {other} without" for one, other in pairs.items()
            ),
        )
    return Statement(
        "screening.no_search",
        "no model with search tools is set: whether a search finds the answers is left to "
        "reviewers (hle_screen.search={{SEARCHING: PLAIN}})",
    )


def judging(config: Config) -> Iterator[str]:
    """Yield which models of the panel judge themselves."""
    asked = panel(config.hle_screen, config.roster)
    if own := [name for name in config.hle_screen.judges if name in asked]:
        yield Statement(
            "screening.judges_itself",
            "{judges} {verb} among others: a judge that is not of the panel does not",
            judges=" and ".join(own),
            verb="judges itself" if len(own) == 1 else "judge themselves",
        )

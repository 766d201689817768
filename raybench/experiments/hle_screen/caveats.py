"""The limits that the settings of a screening put on its evidence, reported before it runs."""

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
            "rule=worse_than_chance compares repeated attempts with guesses, and each model makes "
            "one attempt at a question: set repeats=N and a temperature above 0",
        )
    same = [model.name for model in models_of(config) if model.sampling.temperature == 0]
    if same and repeats > 1:
        yield Statement(
            "screening.alike",
            "at temperature 0 a model's attempts are nearly alike: {repeats} attempts of {models} "
            "at a question say little more than one. Set a temperature above 0, or null for each "
            "model's own",
            repeats=repeats,
            models=", ".join(same),
        )


def review(config: Config) -> str:
    """Say what is published, and what is not."""
    if config.hle_screen.review == "required":
        return Statement(
            "screening.review",
            "questions that pass the panel wait for two rounds of review: only approved questions "
            "are published",
        )
    return Statement(
        "screening.no_review",
        "questions that pass the panel are published without review "
        "(hle_screen.review=skip): the revision says so, and so does every exam over it",
    )


def late() -> str:
    """Say where late contributions go."""
    return Statement(
        "screening.late",
        "late contributions: the approved ones go to the second held-out set",
    )


def search(config: Config) -> str:
    """Say whether it is checked that questions are not found by a search."""
    if pairs := config.hle_screen.search:
        return Statement(
            "screening.search",
            "search check: {pairs}; a reviewer searches for questions that only the search answers",
            pairs=", ".join(
                f"{one} with a search, {other} without" for one, other in pairs.items()
            ),
        )
    return Statement(
        "screening.no_search",
        "no model searches for the answers: only reviewers check that a search does not find them "
        "(hle_screen.search={{SEARCHING: PLAIN}} sets a model with search tools)",
    )


def judging(config: Config) -> Iterator[str]:
    """Yield which models of the panel judge themselves."""
    asked = panel(config.hle_screen, config.roster)
    if own := [name for name in config.hle_screen.judges if name in asked]:
        yield Statement(
            "screening.judges_itself",
            "{judges} {verb}: choose a judge that is not in the panel",
            judges=" and ".join(own),
            verb="judges itself" if len(own) == 1 else "judge themselves",
        )

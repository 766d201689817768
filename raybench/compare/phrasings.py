"""Runs of games in several wordings: the points won, and how far ratings hang on wording."""

from collections.abc import Iterator, Sequence

from raybench.compare import games, means, settings
from raybench.compare.flips import MOST
from raybench.compare.found import RATING, Compared, Flips, Pair, Score
from raybench.compare.results import estimate_of
from raybench.config.games_phrasings import STAGES
from raybench.errors import ConfigurationError, Problem
from raybench.statements import Statement

_HERE = "games_phrasings"
_CHANCE = "less chance"


def compare(pairs: Sequence[Pair], most: int = MOST) -> Iterator[Compared]:
    """Yield what is found of each pair. Raises ConfigurationError where there is nothing to."""
    for pair in pairs:
        stages = [it for it in STAGES if _has(pair, it)] or list(STAGES[:1])
        scores, notes, flips = list[Score](), list[str](), list[Flips]()
        why: dict[str, list[str]] = {}
        for stage in stages:
            words = f", {stage} optimisation" if len(stages) > 1 else ""
            try:
                won = games.over_common(pair, stage=f"{stage}/", words=words, most=most)
            except ConfigurationError as error:
                why.setdefault(str(error), []).append(stage)
            else:
                scores += won.scores
                notes += won.notes
                flips += won.flips
        if not pair.one_run:
            scores += _spreads(pair, stages)
            notes.append(
                "Spread is how far wordings set a model's ratings apart, less what chance does; "
                "less is better. It has no zero that hangs on opponents, and is compared as of "
                "two independent runs."
            )
        if not any(not it.refused for it in scores):
            raise ConfigurationError(Problem("compare.nothing", "\n".join(why)))
        for told_, of in why.items():
            notes.append(
                Statement(
                    "compare.points_left_out",
                    "Points won{which} are not compared: {why}",
                    which="" if len(of) == len(stages) else f" {' and '.join(of)} optimisation",
                    why=told_,
                    stages=of,
                )
            )
        yield Compared(pair, scores, settings.different(pair), [*dict.fromkeys(notes)], flips)


def _has(pair: Pair, stage: str) -> bool:
    """Tell whether both runs have a stage."""
    sides = pair.baseline, pair.candidate
    return all(stage in (it.run.section.get("stages") or STAGES) for it in sides)


def _spreads(pair: Pair, stages: Sequence[str]) -> Iterator[Score]:
    for stage in stages:
        metric = f"{_HERE}/{stage}/spread"
        one, other = (estimate_of(it, metric) for it in (pair.baseline, pair.candidate))
        if one is None or other is None:
            continue
        yield means.apart(
            metric,
            "Spread over wordings" + (f", {stage} optimisation" if len(stages) > 1 else ""),
            one,
            other,
            of="groups of matches",
            scale=RATING,
            higher_is_better=False,
        )

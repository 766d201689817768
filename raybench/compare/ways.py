"""Which way runs are compared, by the experiment that they are of."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from raybench.compare import (
    ablations,
    autobench,
    biases,
    games,
    optimised,
    pairing,
    phrasings,
    questions,
    screening,
    suites,
)
from raybench.compare.finding import Named
from raybench.compare.flips import MOST
from raybench.compare.found import Compared, Pair
from raybench.errors import ConfigurationError, Problem, did_you_mean

_Compare = Callable[[Sequence[Pair], int], Iterable[Compared]]
_PAIRS: Mapping[str, _Compare] = {
    "autobench": autobench.compare,
    "autobench_biases": biases.compare,
    "games": games.compare,
    "games_phrasings": phrasings.compare,
    "optimise_players": optimised.compare,
}
"""Those whose pairs are compared each for itself."""
_ABLATIONS, _SCREENING = "autobench_ablations", "hle_screen"
NAMES = (*pairing.QUESTIONS, *_PAIRS, _ABLATIONS, _SCREENING, suites.NAME)
"""The experiments whose runs can be compared."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be compared, and how much of it is shown."""

    baseline: str | None = None
    only: Sequence[str] = ()
    """Benchmarks; none are all."""
    most: int = MOST
    """Flipped items of each benchmark and direction."""


def compared(named: Sequence[Named], wanted: Wanted) -> tuple[list[Compared], list[str]]:
    """Return what is found of all runs, and what is to be said of what is in no pair.

    Raises ConfigurationError where they cannot be compared.
    """
    for it in named:
        if it.run.experiment not in NAMES:
            raise ConfigurationError(
                Problem(
                    "run.kind",
                    f"{it.run.folder} is a run of '{it.run.experiment}', which ranks nothing",
                    given=it.run.experiment,
                    fix=did_you_mean(it.run.experiment, NAMES),
                )
            )
    if {it.run.experiment for it in named} == {suites.NAME}:
        return _suites(named, wanted)
    pairs, notes = pairing.pairs(named, wanted.baseline)
    found, why = _found(pairs, wanted)
    return found, [*notes, *why]


def _found(pairs: Sequence[Pair], wanted: Wanted) -> tuple[list[Compared], list[str]]:
    """Return what is found of the pairs, all of one way, and why nothing is of some.

    Raises ConfigurationError where nothing is found of any.
    """
    way = pairs[0].baseline.run.experiment
    if way in pairing.QUESTIONS:
        return questions.compare(pairs, only=wanted.only, most=wanted.most)
    if wanted.only:
        raise ConfigurationError(
            Problem(
                "setting.conflict",
                f"--only names benchmarks, and runs of {way} have none",
                setting="--only",
                fix="leave it out",
            )
        )
    if way == _SCREENING:
        return screening.compare(pairs, most=wanted.most)
    if way == _ABLATIONS:
        found, why = pairing.each(pairs, lambda it: ablations.compare([it], wanted.most))
        return [*found, *ablations.orders(pairs)], why
    return pairing.each(pairs, lambda it: _PAIRS[way]([it], wanted.most))


def _suites(named: Sequence[Named], wanted: Wanted) -> tuple[list[Compared], list[str]]:
    """Return what is found of suites part by part; a part that cannot be compared is a note."""
    if len(named) > 1:
        named, baseline = pairing.leading(named, wanted.baseline)
        wanted = replace(wanted, baseline=baseline)
    if wanted.only:
        raise ConfigurationError(
            Problem(
                "setting.conflict",
                "--only names benchmarks",
                setting="--only",
                fix="name the suites' parts with it (RUN/parts/index/ID)",
            )
        )
    parts, notes = suites.parts(named)
    found = list(suites.beside(named))
    why: list[str] = []
    for title, runs in parts.items():
        try:
            pairs, told = pairing.pairs(runs, wanted.baseline)
            those, left = _found([replace(it, part=title) for it in pairs], wanted)
        except ConfigurationError as error:
            why.append(f"{title}: not compared: {error}")
        else:
            found += those
            notes += [*told, *left]
    if len(why) == len(parts):
        raise ConfigurationError(Problem("compare.nothing", "\n".join(why)))
    return found, [*dict.fromkeys(notes), *why]

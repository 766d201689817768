"""Who is compared with whom."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from raybench.compare.finding import Named
from raybench.compare.found import Compared, Pair, Side
from raybench.errors import ConfigurationError, Problem, did_you_mean
from raybench.statements import Statement

QUESTIONS = ("index", "hle")
"""Experiments whose runs put the same questions."""
WHOLE = ("autobench_biases",)
"""Those in which no model is ranked: runs are held against each other as they are."""
_NAMED = 4
"""Pairs named in a problem that several have; of more, how many there are."""


def pairs(named: Sequence[Named], baseline: str | None = None) -> tuple[list[Pair], list[str]]:
    """Return the pairs, and what is to be said of models that are in none.

    One run: its models against the first of them. Runs of one model each (or one picked): against
    the first run's. Runs of several: each model against the first run's model of that name.
    `baseline` names another one as the first: a run as the command line has it, or a model.
    Raises ConfigurationError where that leaves nobody, or it is not plain who is meant.
    """
    _same_way(named)
    if len(named) == 1:
        return _within(named[0], baseline)
    named, baseline = leading(named, baseline)
    singles = [_single(it) for it in named]
    if baseline is not None and None in singles:
        raise ConfigurationError(
            Problem(
                "setting.choice",
                f"--baseline '{baseline}' is none of the runs named, and models are paired by "
                "their names here",
                setting="--baseline",
                given=baseline,
                fix="name one of the runs, or pick a model of each with RUN:MODEL",
            )
        )
    sides = [it for it in singles if it is not None]
    if len(sides) == len(named):
        first, *others = _by_model(sides, baseline)
        return [Pair(first, other) for other in others], []
    return _by_name(named)


def _same_way(named: Sequence[Named]) -> None:
    ways = {_way(it) for it in named}
    if len(ways) > 1:
        told = "; ".join(f"{it.run.folder} is of {it.run.experiment}" for it in named)
        raise ConfigurationError(
            Problem(
                "compare.nothing",
                "runs of different experiments have nothing in common that could be compared: "
                f"{told}",
                fix="Name runs of one experiment (index and hle both put questions; a suite has "
                "its parts in RUN/parts/EXPERIMENT/ID)",
            )
        )


def _way(named: Named) -> str:
    return "questions" if named.run.experiment in QUESTIONS else named.run.experiment


def whole(pairs: Sequence[Pair]) -> list[Pair]:
    """Return the pairs of different runs that pairs of models are of."""
    runs = {(it.baseline.key[0], it.candidate.key[0]): it for it in pairs if not it.one_run}
    return [Pair(Side(it.baseline.run, ""), Side(it.candidate.run, "")) for it in runs.values()]


def each(
    pairs: Sequence[Pair], compare: Callable[[Pair], Iterable[Compared]]
) -> tuple[list[Compared], list[str]]:
    """Return what is found of each pair, and why nothing is of some.

    Raises ConfigurationError where nothing is found of any.
    """
    found, wrong = list[Compared](), list[Problem]()
    for pair in pairs:
        try:
            found += compare(pair)
        except ConfigurationError as error:
            wrong += [problem for problem in error.problems if problem not in wrong]
    wrong = _grouped(wrong)
    if wrong and not found:
        raise ConfigurationError(wrong)
    return found, [
        Statement("compare.left_out", "Not compared: {problem}", problem=it) for it in wrong
    ]


def of_pair(pair: Pair) -> str:
    """Return how the problem of a pair begins, and what it is given: its two models."""
    return " and ".join(pair.titles[::-1])


def _grouped(problems: Sequence[Problem]) -> list[Problem]:
    """Return the problems, those that pairs have alike as one that names the pairs."""
    alike: dict[tuple[str, str], list[Problem]] = {}
    for it in problems:
        alike.setdefault((it.code, it.text.removeprefix(str(it.given))), []).append(it)
    return [_together(those) for those in alike.values()]


def _together(problems: Sequence[Problem]) -> Problem:
    first, *others = problems
    if not others:
        return first
    named = [str(it.given) for it in problems[:_NAMED]]
    if left := len(problems) - len(named):
        named.append(f"and {left} more pairs")
    pairs = "; ".join(named)
    rest = first.message.removeprefix(str(first.given))
    return replace(first, given=pairs, message=f"{pairs}{rest}")


def _within(named: Named, baseline: str | None) -> tuple[list[Pair], list[str]]:
    models = list(named.run.models)
    if named.run.experiment in WHOLE:
        raise ConfigurationError(
            Problem(
                "compare.nothing",
                f"{named.run.folder} ranks no models that could be held against each other",
                fix=f"name another run of {named.run.experiment}",
            )
        )
    if named.model is not None:
        raise ConfigurationError(
            Problem(
                "compare.ambiguous",
                f"'{named.text}' is one model alone",
                given=named.text,
                fix="name another run or model to compare it with. Its run has: "
                f"{', '.join(models)}",
            )
        )
    if len(models) < 2:
        raise ConfigurationError(
            Problem(
                "compare.ambiguous",
                f"{named.run.folder} has one model, {models[0]}",
                fix="name another run to compare it with",
            )
        )
    first = models[0] if baseline is None else _known(baseline, models)
    others = [model for model in models if model != first]
    return [Pair(Side(named.run, first), Side(named.run, it)) for it in others], []


def _known(baseline: str, models: Sequence[str]) -> str:
    if baseline not in models:
        raise ConfigurationError(
            Problem(
                "setting.choice",
                f"--baseline '{baseline}' is no model of it",
                setting="--baseline",
                given=baseline,
                fix=did_you_mean(baseline, models),
            )
        )
    return baseline


def leading(named: Sequence[Named], baseline: str | None) -> tuple[list[Named], str | None]:
    """Put the run that was named as the baseline first; what is no run stays to be looked at."""
    for place, it in enumerate(named):
        if baseline is not None and baseline in (it.text, it.run.id, str(it.run.folder)):
            return [it, *named[:place], *named[place + 1 :]], None
    return list(named), baseline


def _single(named: Named) -> Side | None:
    """Return the one model that is meant, if it is one; of what ranks none, the run."""
    if named.run.experiment in WHOLE:
        if named.model is not None:
            raise ConfigurationError(
                Problem(
                    "setting.conflict",
                    f"'{named.text}' picks a model, and runs of {named.run.experiment} rank none",
                    given=named.text,
                    fix="leave it out",
                )
            )
        return Side(named.run, "")
    if named.model is not None:
        return Side(named.run, named.model)
    (first, *others) = named.run.models
    return None if others else Side(named.run, first)


def _by_model(sides: Sequence[Side], baseline: str | None) -> list[Side]:
    if baseline is None:
        return list(sides)
    wanted = [it for it in sides if it.model == baseline]
    if len(wanted) != 1:
        told = "several are of that name" if wanted else "none is of that name"
        raise ConfigurationError(
            Problem(
                "setting.choice",
                f"--baseline '{baseline}': {told}",
                setting="--baseline",
                given=baseline,
                fix="Name a run as you named it to be compared. Models: "
                f"{', '.join(it.model for it in sides)}",
            )
        )
    return [*wanted, *(it for it in sides if it is not wanted[0])]


def _by_name(named: Sequence[Named]) -> tuple[list[Pair], list[str]]:
    """Pair models of one name, the first run's with those of the others."""
    first, *others = named
    found, notes = [], []
    for other in others:
        mine, theirs = _models(first), _models(other)
        common = [it for it in mine if it in theirs]
        if not common:
            raise ConfigurationError(
                Problem(
                    "compare.ambiguous",
                    "it is not plain which models are to be compared: no name is in both",
                    fix=f"Pick one of each with RUN:MODEL.\n  {first.text} has: "
                    f"{', '.join(mine)}\n  {other.text} has: {', '.join(theirs)}",
                )
            )
        found += [Pair(Side(first.run, it), Side(other.run, it)) for it in common]
        for named_, left in (
            (first, [it for it in mine if it not in theirs]),
            (other, [it for it in theirs if it not in mine]),
        ):
            if left:
                notes.append(
                    f"Not compared, for only {named_.text} has them: {', '.join(left)}. "
                    "RUN:MODEL picks whom to compare."
                )
    return found, list(dict.fromkeys(notes))


def _models(named: Named) -> list[str]:
    return [named.model] if named.model is not None else list(named.run.models)

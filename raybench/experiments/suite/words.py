"""What a suite found, in words: the sentences that stand before every number."""

from collections.abc import Iterator, Mapping, Sequence

from raybench.config.suite import TITLES
from raybench.experiments.suite.comparison import CONSENSUS, Compared
from raybench.experiments.suite.parts import Found
from raybench.stats.agreement import Agreement

_STRONG, _MODERATE, _WEAK = 0.7, 0.4, 0.15
_WORDS = ("no ways", "one way", "two ways", "three ways", "four ways")


def answer(compared: Compared, failed: Mapping[str, str], models: int) -> str:
    """Return how far the ways agree, in some sentences."""
    told = [*_missing(failed), *_answer(compared, models)]
    return " ".join(told)


def _missing(failed: Mapping[str, str]) -> Iterator[str]:
    if failed:
        names = _listed([TITLES[name] for name in failed])
        yield (
            f"This suite is not over: {names} failed, and what follows is without "
            f"{'it' if len(failed) == 1 else 'them'} or with what there was before."
        )


def _answer(compared: Compared, models: int) -> Iterator[str]:
    ways = len(compared.rankings)
    if models < 2:
        yield "One model has no order to agree on: its scores stand below."
        return
    if ways < 2:
        yield f"There is {'one ranking' if ways else 'no ranking'}: nothing to agree with."
        return
    known = {pair: it for pair, it in compared.pairs.items() if it.kendall.value is not None}
    if not known:
        yield "No two of the rankings have an order of the same models to compare."
        return
    values = [it.kendall.value or 0.0 for it in known.values()]
    mean = sum(values) / len(values)
    named = _WORDS[ways] if ways < len(_WORDS) else f"{ways} ways"
    yield (
        _headline(named, known)
        + f"Kendall's τ is {mean:z.2f} on average"
        + (
            f", from {_pair(known, least=True)} to {_pair(known, least=False)}."
            if len(known) > 1
            else f", {_interval(next(iter(known.values())))}."
        )
    )
    yield from _sure(known)
    yield from _shifted(compared)
    yield from _elsewhere(compared)
    if models <= 3:
        yield (
            f"With {models} models little can be told: "
            + (
                "two orders are the same or the opposite."
                if models == 2
                else "τ of two orders without equals can only be −1, −⅓, ⅓ or 1."
            )
        )


def _headline(named: str, known: Mapping[tuple[str, str], Agreement]) -> str:
    """Return how strongly they agree, as far as the data tell: a mean of open pairs says little."""
    told = [it.kendall.value or 0.0 for it in known.values() if _told_from_0(it)]
    if not told:
        return f"Whether the {named} agree cannot be told from so little data: "
    strength = _strength(sum(told) / len(told))
    if len(told) == len(known):
        return f"The {named} agree {strength}: "
    where = f"in the {len(told)} of {len(known)} pairs where that can be told"
    return f"The {named} agree {strength} {where}: "


def _strength(tau: float) -> str:
    size = abs(tau)
    word = (
        "strongly" if size >= _STRONG else "moderately" if size >= _MODERATE
        else "weakly" if size >= _WEAK else "hardly at all"
    )  # fmt: skip
    return word if tau >= 0 or size < _WEAK else f"{word}, but the other way round"


def _pair(known: Mapping[tuple[str, str], Agreement], *, least: bool) -> str:
    ordered = sorted(known, key=lambda it: known[it].kendall.value or 0.0)
    pair = ordered[0 if least else -1]
    found = known[pair]
    return f"{found.kendall.value:z.2f} ({pair[0]} and {pair[1]}, {_interval(found)})"


def _interval(found: Agreement) -> str:
    ends = found.kendall.ci95
    return f"95 % interval {ends[0]:z.2f} to {ends[1]:z.2f}" if ends else "without an interval"


def _told_from_0(found: Agreement) -> bool:
    ends = found.kendall.ci95
    return ends is not None and (ends[0] > 0 or ends[1] < 0)


def _sure(known: Mapping[tuple[str, str], Agreement]) -> Iterator[str]:
    """Yield in which pairs of ways the data show agreement, and in which they show none."""
    if not any(_told_from_0(it) for it in known.values()):
        return
    agree = [pair for pair, it in known.items() if it.kendall.ci95 and it.kendall.ci95[0] > 0]
    against = [pair for pair, it in known.items() if it.kendall.ci95 and it.kendall.ci95[1] < 0]
    open_ = len(known) - len(agree) - len(against)
    if agree and not open_ and not against:
        yield (
            "All intervals lie above 0: more than chance."
            if len(agree) > 1
            else "The interval lies above 0: more than chance."
        )
        return
    told = []
    if agree:
        told.append(f"{_several(agree)} surely agree more than chance")
    if against:
        told.append(f"{_several(against)} surely contradict each other")
    if open_:
        rest = f"the other {open_} pairs" if open_ > 1 else "the other pair"
        told.append(f"{rest} cannot be told from 0 with so little data")
    yield f"{_capital('; '.join(told))}."


def _shifted(compared: Compared) -> Iterator[str]:
    held = [shift for shift in compared.shifts if shift.holds]
    if not held:
        yield "No model ranks differently from one way to another by more than noise explains."
        return
    first = held[0]
    many = len(held)
    yield (
        f"{many} model{'s rank' if many > 1 else ' ranks'} differently by more than noise "
        f"explains, {'above all ' if many > 1 else ''}{first.model}: {first.ranks[0]:g} of "
        f"{first.among} by {first.higher}, {first.ranks[1]:g} by {first.lower}."
    )


def _elsewhere(compared: Compared) -> Iterator[str]:
    """Yield how far the consensus agrees with tables from elsewhere."""
    for name, of in compared.tables.items():
        found = of.get(CONSENSUS)
        if found is not None and found.kendall.value is not None:
            yield (
                f"With the table '{name}' their consensus agrees by τ "
                f"{found.kendall.value:z.2f} ({_interval(found)})."
            )
        else:
            yield f"How far they agree with the table '{name}' is not known."


def shared(found: Sequence[Found]) -> str:
    """Return what two parts have in common beside the models, '' where nothing."""
    by_name = {it.name: it for it in found}
    if "hle" in by_name and "index" in by_name:
        data = by_name["index"].results["run"].get("data", {})
        if "hle" in data and by_name["index"].metric == "index/intelligence":
            return (
                "the Intelligence Index holds the exam's text-only questions with a weight of 1/6: "
                "these two agree a little more than two that share nothing, which no interval "
                "takes account of"
            )
    return ""


def _several(pairs: Sequence[tuple[str, str]]) -> str:
    return _listed([f"{one} and {other}" for one, other in pairs], ", and ")


def _listed(names: Sequence[str], last: str = " and ") -> str:
    return last.join([*([", ".join(names[:-1])] if len(names) > 1 else []), *names[-1:]])


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]

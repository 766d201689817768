"""What a suite found, in words: the sentences that stand before every number."""

from collections.abc import Iterator, Mapping, Sequence

from raybench.config.suite import TITLES
from raybench.experiments.parts.deviations import DEVIATIONS
from raybench.experiments.parts.page import CONDITIONS
from raybench.experiments.suite.comparison import CONSENSUS, Compared, chances
from raybench.experiments.suite.parts import Found
from raybench.statements import Statement
from raybench.stats.agreement import Agreement
from raybench.stats.ranks import LEVEL

_STRONG, _MODERATE, _WEAK = 0.7, 0.4, 0.15
_Pairs = dict[tuple[str, str], Agreement]
ONE_MODEL = Statement(
    "suite.one_model", "One model has no order to agree on: its scores stand below."
)
_WORDS = ("no ways", "one way", "two ways", "three ways", "four ways")


def answer(compared: Compared, failed: Mapping[str, str], models: int) -> str:
    """Return how far the ways agree, in some sentences."""
    return " ".join(sentences(compared, failed, models))


def sentences(compared: Compared, failed: Mapping[str, str], models: int) -> list[str]:
    """Return how far the ways agree, sentence by sentence."""
    return [*_missing(failed), *_answer(compared, models)]


def _missing(failed: Mapping[str, str]) -> Iterator[str]:
    if failed:
        names = _listed([TITLES[name] for name in failed])
        yield Statement(
            "suite.failed",
            "This suite is not over: {parts} failed, and what follows is without {them} or with "
            "what there was before.",
            parts=names,
            them="it" if len(failed) == 1 else "them",
        )


def _answer(compared: Compared, models: int) -> Iterator[str]:
    ways = len(compared.rankings)
    if models < 2:
        yield ONE_MODEL
        return
    if ways < 2:
        yield Statement(
            "suite.one_way",
            "There is {number} ranking: no other to agree with.",
            number="one" if ways else "no",
        )
        yield from _elsewhere(compared)
        return
    known: _Pairs = {
        pair: it for pair, it in compared.pairs.items() if it.kendall.value is not None
    }
    if not known:
        yield Statement(
            "suite.nothing_in_common",
            "No two of the rankings have an order of the same models to compare.",
        )
        yield from _elsewhere(compared)
        return
    named = _WORDS[ways] if ways < len(_WORDS) else f"{ways} ways"
    chance = ", as unrelated orders of so few models may by chance" if _may_be_chance(known) else ""
    yield Statement(
        "suite.agreement",
        "{headline}{chance}: Kendall's τ is {span}.",
        headline=_headline(named, known),
        chance=chance,
        span=_span(known),
    )
    yield from _sure(known)
    yield from _shifted(compared)
    yield from _elsewhere(compared)
    if models <= 3:
        yield few(models)


def few(models: int) -> str:
    """Return what so few models can tell."""
    return Statement(
        "suite.few_models",
        "With {models} models little can be told: {why}",
        models=models,
        why="two orders are the same or the opposite."
        if models == 2
        else "τ of two orders without equals can only be −1, −⅓, ⅓ or 1.",
    )


def _headline(named: str, known: _Pairs) -> str:
    """Return how strongly they agree, as far as the data tell: a mean of open pairs says little."""
    agree, against, hardly, open_ = _sorted(known)
    told = agree | against | hardly
    if not told:
        return Statement(
            "suite.open", "Whether the {ways} agree cannot be told from so little data", ways=named
        )
    where = f" in the {len(told)} of {len(known)} pairs where that can be told" if open_ else ""
    if agree and against:
        return Statement(
            "suite.mixed",
            "Some of the {ways} agree {agree}, others contradict each other {against}{where}",
            ways=named,
            agree=_strength(_mean(agree)),
            against=_strength(-_mean(against)),
            where=where,
        )
    return Statement(
        "suite.agree",
        "The {ways} agree {strength}{where}",
        ways=named,
        strength=_strength(_mean(told)),
        where=where,
        pairs=len(told),
    )


def _sorted(known: _Pairs) -> tuple[_Pairs, _Pairs, _Pairs, _Pairs]:
    """Return the pairs whose τ is above 0, below it, near it, and that are open."""
    found: tuple[_Pairs, _Pairs, _Pairs, _Pairs] = ({}, {}, {}, {})
    for pair, it in known.items():
        low, high = it.kendall.ci95 or (-1.0, 1.0)
        near = max(-low, high) < _MODERATE
        found[0 if low > 0 else 1 if high < 0 else 2 if near else 3][pair] = it
    return found


def _mean(pairs: _Pairs) -> float:
    return sum(it.kendall.value or 0.0 for it in pairs.values()) / len(pairs)


def _span(known: _Pairs) -> str:
    mean = _mean(known)
    if len(known) == 1:
        interval = _interval(*known.values())
        return Statement("suite.tau", "{tau:z.2f}, {interval}", tau=mean, interval=interval)
    agree, against, *_ = _sorted(known)
    span = Statement(
        "suite.span",
        "from {least} to {most}",
        least=_pair(known, least=True),
        most=_pair(known, least=False),
    )
    # A mean of those that agree and those that contradict would be that of none.
    if agree and against:
        return span
    return Statement("suite.mean", "{mean:z.2f} on average, {span}", mean=mean, span=span)


def _strength(tau: float) -> str:
    size = abs(tau)
    word = (
        "strongly" if size >= _STRONG else "moderately" if size >= _MODERATE
        else "weakly" if size >= _WEAK else "hardly at all"
    )  # fmt: skip
    return word if tau >= 0 or size < _WEAK else f"{word}, but the other way round"


def _pair(known: _Pairs, *, least: bool) -> str:
    ordered = sorted(known, key=lambda it: known[it].kendall.value or 0.0)
    pair = ordered[0 if least else -1]
    found = known[pair]
    return f"{found.kendall.value:z.2f} ({pair[0]} and {pair[1]}, {_interval(found)})"


def _interval(found: Agreement) -> str:
    ends = found.kendall.ci95
    return f"95 % interval {ends[0]:z.2f} to {ends[1]:z.2f}" if ends else "without an interval"


def _may_be_chance(known: _Pairs) -> bool:
    """Tell whether some pairs are told to agree or contradict, and none more than by chance."""
    agree, against, *_ = _sorted(known)
    raised = chances(known)
    return bool(agree or against) and all(raised[pair] >= LEVEL for pair in agree | against)


def _sure(known: _Pairs) -> Iterator[str]:
    """Yield what the data say of which pairs of ways: of these models, and beyond chance."""
    agree, against, hardly, open_ = _sorted(known)
    if len(open_) == len(known):
        return
    told = []
    if len(agree) == len(known):
        several = "All intervals lie" if len(agree) > 1 else "The interval lies"
        told.append(f"{several} above 0: of these models more pairs stand alike than not")
    elif agree:
        told.append(f"{_several([*agree])} surely have more pairs of these models alike than not")
    if against:
        told.append(f"{_several([*against])} surely contradict each other on these models")
    if hardly:
        told.append(f"{_several([*hardly])} agree at most weakly, and contradict no more than that")
    if open_:
        rest = f"the other {len(open_)} pairs" if len(open_) > 1 else "the other pair"
        told.append(f"{rest} cannot be told from 0 with so little data")
    yield Statement(
        "suite.sure",
        "{parts}.",
        parts=_capital("; ".join(told)),
        agree=[*agree],
        against=[*against],
        hardly=[*hardly],
        open=[*open_],
    )
    raised = chances(known)
    for way, of in (("agree", agree), ("contradict each other", against)):
        if beyond := [pair for pair in of if raised[pair] < LEVEL]:
            yield Statement(
                "suite.beyond_chance",
                "{pairs} {way} more than unrelated orders do by chance.",
                pairs=_capital(_several(beyond)),
                way=way,
            )


def _shifted(compared: Compared) -> Iterator[str]:
    held = [shift for shift in compared.shifts if shift.holds]
    if not held:
        yield Statement(
            "suite.no_shift",
            "No model ranks differently from one way to another by more than noise explains.",
        )
        return
    first = held[0]
    many = len(held)
    yield (
        f"{many} model{'s rank' if many > 1 else ' ranks'} differently by more than noise "
        f"explains, {'above all ' if many > 1 else ''}{first.model}: {first.ranks[0]:g} of "
        f"{first.among} by {first.higher}, {first.ranks[1]:g} by {first.lower}."
    )


def _elsewhere(compared: Compared) -> Iterator[str]:
    """Yield how far the consensus, or the only way, agrees with tables from elsewhere."""
    alone = next(iter(compared.rankings), "") if len(compared.rankings) == 1 else ""
    for name, of in compared.tables.items():
        found = of.get(alone or CONSENSUS)
        if found is not None and found.kendall.value is not None:
            yield Statement(
                "suite.table",
                "Between {way} and the table '{table}' τ is {tau:z.2f} ({interval}; {models} "
                "models in both).",
                way=alone or "their consensus",
                table=name,
                tau=found.kendall.value,
                interval=_interval(found),
                models=len(found.models),
            )
        else:
            them = f"{alone} agrees" if alone else "they agree"
            yield f"How far {them} with the table '{name}' is not known."


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


def conditions(found: Sequence[Found]) -> dict[str, str]:
    """Return who judged and checked in each part, and what deviates there, by short names."""
    told = {name: _by_text(found, name) for name in CONDITIONS}
    return {
        name: ". ".join(f"{_listed(titles)}: {text}" for text, titles in by_text.items())
        for name, by_text in told.items()
        if by_text
    }


def _by_text(found: Sequence[Found], name: str) -> dict[str, list[str]]:
    """Return the parts that say each text under a short name; of deviations only the settings."""
    parts: dict[str, list[str]] = {}
    for part in found:
        text = part.results["run"].get("conditions", {}).get(name)
        if name == DEVIATIONS and (named := part.deviations):
            text = ", ".join(it["setting"] for it in named)
        if text:
            parts.setdefault(text, []).append(part.title)
    return parts


def _several(pairs: Sequence[tuple[str, str]]) -> str:
    return _listed([f"{one} and {other}" for one, other in pairs], ", and ")


def _listed(names: Sequence[str], last: str = " and ") -> str:
    return last.join([*([", ".join(names[:-1])] if len(names) > 1 else []), *names[-1:]])


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]

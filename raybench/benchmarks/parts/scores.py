"""A benchmark's score, or why there is none: what the indices and comparisons are made of.

A unit that broke (no reply, and no fault of the model; a reply that nobody could grade; or a
checker that gave no verdict) is no zero: it withholds its benchmark's score until a person has
looked and accepted it. Accepted, a missing reply or grade is left out of its question's mean, and a
missing verdict of the checker leaves the script's. Replies that were cut, empty, refused or did not
fit are the model's own: they count as they were graded. Where no prompt fits, there is no score: it
would be one of the context that the model is served with.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from raybench.benchmarks.parts.tally import Tally
from raybench.statements import Statement
from raybench.stats import composite, repeats
from raybench.stats.asked import Asked
from raybench.types import Estimate


@dataclass(frozen=True, slots=True)
class Rules:
    """What is made of a tally."""

    weights: Mapping[str, Mapping[str, Fraction]]
    """What each index weighs each benchmark."""
    languages: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The languages that a benchmark of several averages over. Others are shown, not averaged."""
    subjects: Sequence[str] = ()
    """The run asked about these only; none named means all."""
    programs: Collection[str] = ()
    """The benchmarks of which it is told how likely one of several replies is right."""
    accepted: bool = False
    """A person has looked at the units that broke."""
    partial: bool = False
    """An index that lacks benchmarks, or languages or subjects of one, is made of what there is."""


@dataclass(frozen=True, slots=True)
class Scores:
    """The scores of everybody in a tally, by the rules."""

    tally: Tally
    rules: Rules

    def accuracy(self, model: str, benchmark: str) -> Estimate:
        """Return a model's score in a benchmark, over all its questions and languages."""
        return self.of(model, benchmark, self.asked(model, benchmark))

    def of(
        self,
        model: str,
        benchmark: str,
        asked: Asked,
        by: Callable[[Asked], Estimate] = repeats.accuracy,
    ) -> Estimate:
        """Return a model's score over some questions of a benchmark; by its accuracy, or else."""
        if reason := self.withheld(model, benchmark):
            return refuse_withheld(reason, asked.n)
        estimate = by(asked)
        notes = [*self._notes(model, benchmark, "without the")]
        return replace(estimate, method=_noted(estimate.method, notes))

    def wholes(self, model: str, benchmark: str) -> Estimate:
        """Return the share of clusters of which all questions are answered rightly."""
        if reason := self.withheld(model, benchmark):
            return refuse_withheld(reason)
        estimate = repeats.accuracy(self.tally.wholes(model, benchmark))
        notes = [*self._notes(model, benchmark, "without those of the")]
        method = Statement(
            "method.wholes",
            "all questions of each right; {method}",
            method=_noted(estimate.method, notes),
        )
        return replace(estimate, method=method)

    def _notes(self, model: str, benchmark: str, without: str) -> Iterator[Statement]:
        """Yield what a score is made without, and what of it the checker was to decide."""
        sheet = self.tally.sheet(model, benchmark)
        if sheet.unsupported:
            yield Statement(
                "left_out.images",
                "{without} {number:,} with images, which it does not take",
                without=without,
                number=sheet.unsupported,
            )
        if sheet.unanswered:
            yield Statement(
                "left_out.unanswered",
                "{without} {units} that got no reply",
                without=without,
                units=_units(sheet.unanswered),
                number=sheet.unanswered,
            )
        if sheet.ungraded:
            yield Statement(
                "left_out.ungraded",
                "{without} {units} that could not be graded",
                without=without,
                units=_units(sheet.ungraded),
                number=sheet.ungraded,
            )
        if sheet.unchecked:
            yield Statement(
                "left_out.unchecked",
                "{units} left to the script",
                units=_units(sheet.unchecked),
                number=sheet.unchecked,
            )

    def withheld(self, model: str, benchmark: str) -> Statement | None:
        """Return why a score is not to be published, None where it may be."""
        sheet = self.tally.sheet(model, benchmark)
        if units := sheet.all_overflowed:
            return Statement(
                "withheld.overflow",
                "no prompt fits into the model's context ({units})",
                units=_units(units),
                number=units,
            )
        lacks = {
            "a reply": sheet.unanswered,
            "a grade": sheet.ungraded,
            "the checker's verdict": sheet.unchecked,
        }
        broken = sum(lacks.values())
        if self.rules.accepted or not broken:
            return None
        told = [f"{number} without {what}" for what, number in lacks.items() if number]
        if len(told) == 1:
            told = [told[0].removeprefix(f"{broken} ")]
        return Statement(
            "withheld.broken",
            "{units} await{s} review: {told}",
            units=_units(broken),
            s="s" * (broken == 1),
            told=", ".join(told),
            unanswered=sheet.unanswered,
            ungraded=sheet.ungraded,
            unchecked=sheet.unchecked,
        )

    def asked(self, model: str, benchmark: str) -> Asked:
        """Return the questions that a score is over."""
        return self.tally.asked(model, benchmark, self.languages(benchmark))

    def languages(self, benchmark: str) -> Sequence[str]:
        """Return the languages that a score averages over: the rules', or what there is."""
        there = self.tally.languages(benchmark)
        ruled = self.rules.languages.get(benchmark, there)
        return [language for language in ruled if language in there] or there

    def lacking(self, model: str, benchmark: str) -> list[str]:
        """Return the languages that the indices count and the model was not asked in."""
        marks = self.tally.sheet(model, benchmark).marks
        return [it for it in self.rules.languages.get(benchmark, ()) if it not in marks]

    def constituents(
        self, scores: Mapping[str, Estimate], models: Sequence[str]
    ) -> dict[str, Estimate]:
        """Return scores as indices may use them: over all that counts, or refused."""
        found = dict(scores)
        for name, score in scores.items():
            lacks = self._lacks(name, models)
            if lacks and not self.rules.partial and score.value is not None:
                why = Statement("refused.not_asked", "not computed: {lacks}", lacks=lacks)
                found[name] = Estimate(None, None, None, score.n, why)
        return found

    def index(
        self, parts: Mapping[str, Estimate], models: Sequence[str], weights: Mapping[str, Fraction]
    ) -> Estimate:
        """Return the index that weighs the constituents so; a partial one is told by its method."""
        estimate = composite.weighted(parts, weights, partial=self.rules.partial)
        used = composite.constituents(parts, weights, partial=self.rules.partial)
        lacking = {name: lacks for name in used if (lacks := self._lacks(name, models))}
        if not lacking:
            return estimate
        method = Statement(
            "method.partial_index",
            "partial: {lacks}; {method}",
            lacks=", ".join(f"{name} {lacks}" for name, lacks in lacking.items()),
            method=estimate.method.removeprefix("partial: "),
            lacking=lacking,
        )
        return replace(estimate, method=method)

    def _lacks(self, benchmark: str, models: Sequence[str]) -> str:
        languages = sorted({it for model in models for it in self.lacking(model, benchmark)})
        lacks = [f"not asked in {', '.join(languages)}"] if languages else []
        if self.rules.subjects:
            lacks.append(f"asked only about {', '.join(self.rules.subjects)}")
        return " and ".join(lacks)


def refuse_withheld(reason: Statement, n: int = 0) -> Estimate:
    """Return that a score is not to be published, for this reason."""
    why = Statement("refused.withheld", "not computed: {reason}", reason=reason)
    return Estimate(None, None, None, n, why)


def _noted(method: str, notes: Sequence[Statement]) -> str:
    if not notes:
        return method
    return Statement(
        "method.noted",
        "{method}; {told}",
        method=method,
        told="; ".join(notes),
        notes=notes,
    )


def _units(number: int) -> str:
    return f"{number} unit{'s' * (number != 1)}"

"""Which questions stump the panel: HLE's rule, and the one for repeated attempts."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from raybench.benchmarks.parts.hle.options import CHOICE
from raybench.statements import Statement
from raybench.types import ScreeningRule

Decision = Literal["accepted", "rejected", "undecided"]
Attempts = Mapping[str, Sequence[bool | None]]
"""What each model's attempts came to: right, wrong, or None where there is no verdict, because the
engine or the judge failed. A model without any has no verdict either."""

_LUCKY = 1
"""Models that may answer a multiple-choice question: one may have guessed."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the panel makes of a question, and by which evidence."""

    decision: Decision
    evidence: str
    models: tuple[str, ...]
    """Those that count for this question."""
    answered: tuple[str, ...]
    """Those of them with an attempt that is right."""
    missing: tuple[str, ...]
    """Those of them that lack a verdict on an attempt."""
    attempts: int
    """With a verdict."""
    right: int

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        values = {name: getattr(self, name) for name in self.__slots__}
        return {name: [*it] if isinstance(it, tuple) else it for name, it in values.items()}


def decide(
    answer_type: str,
    chance: float | None,
    attempts: Attempts,
    *,
    rule: ScreeningRule = "stumps",
    unable: Collection[str] = (),
) -> Outcome:
    """Return whether a question passes, whose guesses are right by `chance`.

    `unable` are the models that do not take what the question shows: they do not count, as HLE has
    models without eyes for questions without images. A verdict that is missing leaves the question
    undecided, unless it is rejected whatever that verdict would be.
    """
    able = {model: attempts[model] for model in sorted(attempts) if model not in unable}
    known = [verdict for of in able.values() for verdict in of if verdict is not None]
    longest = max(map(len, able.values()), default=0)
    # A model that never began owes as many verdicts as the others have.
    owed = sum(of.count(None) if of else max(longest, 1) for of in map(list, able.values()))
    answered = tuple(model for model, of in able.items() if any(of))
    missing = tuple(model for model, of in able.items() if not of or None in of)
    choice = answer_type == CHOICE

    decision: Decision
    if not able:
        decision = "undecided"
        told = Statement("panel.no_models", "the panel has no models")
        if attempts:
            told = Statement("panel.no_images", "no model of the panel takes images")
    elif choice and rule == "worse_than_chance":
        decision, told = _beside_chance(chance, sum(known), len(known), owed)
    else:
        decision = "accepted" if len(answered) <= _LUCKY * choice else "rejected"
        told = _who(answered, len(able), choice)
    if decision == "accepted" and missing:
        decision = "undecided"
        told = Statement(
            "panel.no_verdict",
            "no verdict on {owed} of {attempts} attempts: {missing}",
            owed=owed,
            attempts=owed + len(known),
            missing=", ".join(missing),
        )
    return Outcome(decision, told, tuple(able), answered, missing, len(known), sum(known))


def _who(answered: Sequence[str], models: int, choice: bool) -> Statement:
    who = ", ".join(answered)
    if not answered:
        return Statement("panel.nobody", "none of {models} models answered it", models=models)
    if not choice:
        return Statement("panel.answered", "{who} answered it", who=who)
    if len(answered) <= _LUCKY:
        return Statement(
            "panel.lucky",
            "{count} of {models} models answered it ({who}): allowed for multiple choice, because "
            "one may have guessed",
            count=len(answered),
            models=models,
            who=who,
        )
    return Statement(
        "panel.too_many",
        "{count} of {models} models answered it ({who}): multiple choice allows one",
        count=len(answered),
        models=models,
        who=who,
    )


def _beside_chance(
    chance: float | None, right: int, known: int, owed: int
) -> tuple[Decision, Statement]:
    """Compare the share of attempts that are right with chance.

    What is owed may all be wrong: only a share that is too high even then is rejected.
    """
    if chance is None:
        return "undecided", Statement(
            "panel.chance_unknown",
            "{right} of {known} attempts are right, but the chance of a right guess is unknown: "
            "the options cannot be read",
            right=right,
            known=known,
        )
    told = Statement(
        "panel.beside_chance",
        "{right} of {known} attempts are right; guesses are right in {chance:.1%} of cases",
        right=right,
        known=known,
        chance=chance,
    )
    return ("rejected" if right / (known + owed) >= chance else "accepted"), told

"""What a simulated model's options say about it."""

import math
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, get_args

from raybench.errors import Problem, did_you_mean

JudgeKind = Literal["skilled", "random", "adversary"]
_INFINITE = float("inf")


@dataclass(frozen=True)
class Ability:
    """A simulated model's options."""

    ability: float = 0.5
    """Mean quality of what it writes, from 0 to 1; in an exam, its mean chance of being right, in a
    game that of playing well."""
    spread: float = 0.1
    """Standard deviation of that quality."""
    judge: JudgeKind = "skilled"
    """A random judge rates without reading. An adversary rates to win: its own answers 5, those of
    others 1, and tasks fairly. Where the verdict is yes or no it judges like a skilled one."""
    judge_noise: float = 0.2
    """Standard deviation of the error of a judge of ability 0; one of ability 1 makes none. Where
    the verdict is yes or no, the probability that it is the wrong one."""
    unparsed: float = 0.0
    """Share of replies to a request for a rating, or for a move, that do not hold one."""
    infra_error: float = 0.0
    """Share of requests that get no reply."""
    latency_s: float = 0.0
    """Time one batch takes."""
    overconfidence: float = 0.0
    """By how much the confidence that it states exceeds its chance of being right, from -1 to 1."""
    unstated: float = 0.0
    """Share of answers that state no confidence where one is asked for."""
    tokens: float | None = None
    """Median of the output tokens that it reports, which spread log-normally around it, whatever
    bound they were given; None counts words."""

    wording: float = 0.0
    """Standard deviation of its ability in a game over wordings of the rules; every example of a
    reply that it is shown halves what that does."""
    learns: float = 0.0
    """What examples add to its ability in a game, at most: half of it the first one, and so on."""

    self_preference: float = 0.0
    """Points of the scale from 1 to 5 that it adds to its own answers."""
    family: str | None = None
    """Of which family it is; what it writes shows that."""
    favouritism: float = 0.0
    """Points that it adds to answers of its own family, its own among them."""
    words: float | None = None
    """Median length of its answers in words, which spread log-normally around it; None writes no
    more than the sentence that it takes."""
    verbosity: float = 0.0
    """Points that it adds for every doubling of an answer's length beyond the usual 25 words."""

    @property
    def partial(self) -> bool:
        """Whether it looks at more than an answer's quality when it rates it."""
        return bool(
            self.self_preference or self.favouritism or self.verbosity or self.judge == "adversary"
        )

    def taught(self, wording: float, examples: int) -> "Ability":
        """Return its ability in a game whose rules are worded so; wordings are normal numbers."""
        left = 0.5**examples
        moved = self.ability + self.wording * wording * left + self.learns * (1 - left)
        return replace(self, ability=min(1.0, max(0.0, moved)))

    def quality(self, rng: random.Random) -> float:
        """Draw the quality of what it writes."""
        return min(1.0, max(0.0, rng.gauss(self.ability, self.spread)))


_BOUNDS = {
    "ability": (0.0, 1.0),
    "unparsed": (0.0, 1.0),
    "infra_error": (0.0, 1.0),
    "overconfidence": (-1.0, 1.0),
    "unstated": (0.0, 1.0),
    "learns": (-1.0, 1.0),
    "tokens": (1.0, _INFINITE),
    "self_preference": (-4.0, 4.0),
    "favouritism": (-4.0, 4.0),
    "verbosity": (-4.0, 4.0),
    "words": (1.0, 10_000.0),
}
"""From where to where options go; the others go from 0 up."""
_MAY_BE_NONE = {"tokens", "words"}


def problems(where: str, options: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield what is wrong with a simulated model's options."""
    known = {field.name for field in fields(Ability)}
    for name in options:
        if name not in known:
            yield Problem(
                "setting.unknown",
                f"{where}: unknown simulated option '{name}'",
                setting=f"roster.models[].options.{name}",
                fix=did_you_mean(name, known),
            )
    if options.get("judge", "skilled") not in get_args(JudgeKind):
        yield Problem(
            "setting.choice",
            f"{where}: judge is '{options['judge']}'",
            setting="roster.models[].options.judge",
            given=options["judge"],
            fix=did_you_mean(str(options["judge"]), get_args(JudgeKind)),
        )
    family = options.get("family")
    if family is not None and not (isinstance(family, str) and family.strip()):
        yield Problem(
            "setting.type",
            f"{where}: simulated option 'family' is {family!r}",
            setting="roster.models[].options.family",
            given=family,
            fix="it is a name, or left out",
        )
    if options.get("favouritism") and family is None:
        yield Problem(
            "setting.conflict",
            f"{where}: simulated option 'favouritism' is {options['favouritism']!r}, and 'family' "
            "does not say which family",
            setting="roster.models[].options.favouritism",
            given=options["favouritism"],
            fix="name one",
        )
    for name in (known - {"judge", "family"}) & set(options):
        value = options[name]
        if name in _MAY_BE_NONE and value is None:
            continue
        lower, upper = _BOUNDS.get(name, (0.0, _INFINITE))
        number = isinstance(value, int | float) and math.isfinite(value)
        if not (number and lower <= value <= upper):
            yield Problem(
                "setting.range",
                f"{where}: simulated option '{name}' is {value!r}",
                setting=f"roster.models[].options.{name}",
                given=value,
                fix=f"it is a number from {lower:g} "
                + ("up" if upper == _INFINITE else f"to {upper:g}"),
            )

"""Models that pose one another tasks, answer them and rate the answers.

What one writes carries its quality in words ('of quality 0.731'), drawn around its ability, and an
answer its author's manner too; a judge reads that quality back and rates it with an error that
shrinks with its own ability. A partial judge also reads whose manner it is, and how much there is.
"""

import math
import random
import re

from raybench.fleet.simulated.ability import Ability

USUAL_WORDS = 25
"""Up to here an answer's length earns nothing, whoever judges."""

_QUALITY = re.compile(r"of quality (\d\.\d{3})")
_MARK = "of quality "
_ANSWER = "Simulated answer in the manner of "
_RATES_TASK = "Evaluate the quality of the question"
"""Requests for ratings that begin so ask about a task, the others about an answer."""
_FILLER = " and so on"
_LENGTH_SPREAD = 0.3
"""Standard deviation of the logarithm of an answer's length."""


def reply(
    prompt: str, name: str, ability: Ability, rng: random.Random, *, constrained: bool
) -> str:
    """Return a rating, a task or an answer, as the prompt asks."""
    if "<rank>" in prompt:
        return _rating(prompt, name, ability, rng, constrained=constrained)
    if prompt.startswith("Generate "):
        return f"Simulated question of quality {ability.quality(rng):.3f}, number {rng.random()}?"
    text = f"{_ANSWER}{name}{_family(ability.family)}, of quality {ability.quality(rng):.3f}."
    return text if ability.words is None else _lengthened(text, ability.words, rng)


def _rating(
    prompt: str, name: str, ability: Ability, rng: random.Random, *, constrained: bool
) -> str:
    place, quality = _judged(prompt)
    if not constrained and rng.random() < ability.unparsed:
        return "I would rather not say."
    partial = ability.partial and not prompt.startswith(_RATES_TASK)
    if partial and ability.judge == "adversary":
        return "<rank>5</rank>" if _is_own(prompt, place, name, ability) else "<rank>1</rank>"
    if ability.judge == "random" or quality is None:
        return f"<rank>{rng.randint(1, 5)}</rank>"
    noise = rng.gauss(0, ability.judge_noise * (1 - ability.ability))
    points = _bonus(prompt, place, name, ability) if partial else 0.0
    rank = min(5, max(1, round(1 + 4 * (quality + noise) + points)))
    return f"<rank>{rank}</rank>"


def _judged(prompt: str) -> tuple[int, float | None]:
    """Return where the quality of what is judged stands, and what it is; -1 and None for none.

    What is judged stands last in the prompt: the answer after the question it answers.
    """
    place = prompt.rfind(_MARK)
    while place >= 0:
        if found := _QUALITY.match(prompt, place):
            return place, float(found[1])
        place = prompt.rfind(_MARK, 0, place)
    return -1, None


def _bonus(prompt: str, place: int, name: str, ability: Ability) -> float:
    """Return the points that a partial judge adds to an answer for what is not its quality."""
    points = 0.0
    if _is_own(prompt, place, name, ability):
        points += ability.self_preference
    if ability.family is not None and prompt.endswith(f"{_family(ability.family)}, ", 0, place):
        points += ability.favouritism
    begins = prompt.rfind(_ANSWER, 0, place)
    if ability.verbosity and begins >= 0:
        # The prompt goes on after the answer: as many spaces as the answer has words.
        words = prompt.count(" ", begins)
        points += ability.verbosity * max(0.0, math.log2(words / USUAL_WORDS))
    return points


def _is_own(prompt: str, place: int, name: str, ability: Ability) -> bool:
    """Tell whether the judged answer is in one's own manner.

    A manner counts where it stands right before the quality that counts: one that the question or
    the answer merely quotes does not.
    """
    return prompt.endswith(f"{_ANSWER}{name}{_family(ability.family)}, ", 0, max(0, place))


def _family(family: str | None) -> str:
    return ", of no family" if family is None else f", of the family {family}"


def _lengthened(text: str, words: float, rng: random.Random) -> str:
    """Return an answer with words that say nothing, until it is about as long as it should be."""
    wanted = rng.lognormvariate(math.log(words), _LENGTH_SPREAD)
    missing = round(wanted) - len(text.split())
    return text + _FILLER * max(0, round(missing / len(_FILLER.split())))

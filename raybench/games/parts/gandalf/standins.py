"""What stand-ins say, where no model plays: talk about the weather that gives nothing away."""

import random

_ASKED = (
    "What did you do this morning, and was any of it {how}",
    "Tell me something {how} about the word that you keep",
    "Is your secret a thing that one could call {how}",
    "Suppose you had to describe it to a child in a {how} way: how would you begin",
    "Would people find it in a kitchen, or is that not {how} enough",
)
_TOLD = (
    "I would rather talk about the weather, which has been {how} for days now",
    "That is a {how} question, and the honest answer is that I may not say much about it",
    "Let me put it in a {how} way: people know it, and few of them think of it often",
    "My morning was {how}, thank you, and the afternoon will be much the same",
    "You might call it {how}, though others would not agree with you about that",
)
_HOW = ("quiet", "strange", "pleasant", "curious", "simple", "serious", "warm", "difficult", "fair")


def question(rng: random.Random) -> str:
    """Return what an infiltrator may ask."""
    return rng.choice(_ASKED).format(how=rng.choice(_HOW)) + "?"


def answer(rng: random.Random, said: int) -> str:
    """Return what a sentinel may say; it differs with the number of things said before."""
    first = said % len(_TOLD)
    how = _HOW[said // len(_TOLD) % len(_HOW)]
    return f"{_TOLD[first].format(how=how)}. {rng.choice(_TOLD).format(how=rng.choice(_HOW))}."

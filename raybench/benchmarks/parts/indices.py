"""The four indices of seed 001: which benchmark counts how much."""

from collections.abc import Mapping
from fractions import Fraction

from raybench import benchmarks

INDICES = ("intelligence", "math", "coding", "multilingual")

JOINING: Mapping[str, Mapping[str, Fraction]] = {
    "hle": {"intelligence": Fraction(1, 6)},
    "livecodebench": {"intelligence": Fraction(1, 8), "coding": Fraction(1, 2)},
    "scicode": {"intelligence": Fraction(1, 8), "coding": Fraction(1, 2)},
}
"""Weights of what the methodology counts and no file here asks yet, so that an index can name
what it lacks."""


def constituents(index: str) -> dict[str, Fraction]:
    """Return the weight of every benchmark in an index, of those still to join among them."""
    table = {name: benchmarks.load(name).weights for name in benchmarks.names()}
    return {name: held[index] for name, held in {**JOINING, **table}.items() if index in held}

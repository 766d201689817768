"""The four indices of seed 001: which benchmark counts how much."""

from collections.abc import Mapping
from fractions import Fraction

from raybench import benchmarks

INDICES = ("intelligence", "math", "coding", "multilingual")

JOINING: dict[str, Mapping[str, Fraction]] = {
    "hle": {"intelligence": Fraction(1, 6)},
}
"""Weights of what the methodology counts and no file here asks yet, so that an index can name
what it lacks."""


def constituents(index: str) -> dict[str, Fraction]:
    """Return the weight of every benchmark in an index, by name; those still to join among them."""
    table = {name: benchmarks.load(name).weights for name in benchmarks.names()}
    every = sorted((JOINING | table).items())
    return {name: held[index] for name, held in every if index in held}

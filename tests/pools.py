"""Pools of models of known strength, and the matches that they play."""

import math
from collections.abc import Sequence

import numpy as np

from raybench.stats.bradley_terry import Game
from raybench.stats.plackett_luce import Seat

Result = tuple[Seat, ...]


def names(strengths: Sequence[float]) -> list[str]:
    return [f"m{number:02}" for number in range(len(strengths))]


def round_robin(
    strengths: Sequence[float],
    rounds: int,
    rng: np.random.Generator,
    *,
    first: float = 0.0,
    ties: float = 0.0,
) -> list[Game]:
    """Play every seating so many times; ties take from wins and losses alike."""
    called = names(strengths)
    games = []
    for one, other in np.ndindex(len(called), len(called)):
        if one == other:
            continue
        p = 1 / (1 + math.exp(-(strengths[one] - strengths[other] + first)))
        tied = 2 * ties * p * (1 - p)
        odds = [1 - p - tied / 2, tied, p - tied / 2]
        for score in rng.choice([0.0, 0.5, 1.0], rounds, p=odds):
            games.append((called[one], called[other], float(score)))
    return games


def tables(
    strengths: Sequence[float], seats: int, matches: int, rng: np.random.Generator
) -> list[Result]:
    """Seat some of the models, and have them finish by Plackett and Luce's rule."""
    called = names(strengths)
    results = []
    for _ in range(matches):
        seated = rng.choice(len(called), seats, replace=False)
        finish = np.array([strengths[it] for it in seated]) + rng.gumbel(size=seats)
        order = seated[np.argsort(-finish)]
        results.append(tuple(Seat(called[it], place) for place, it in enumerate(order, 1)))
    return results


def hidden_roles(
    strengths: Sequence[float], matches: int, rng: np.random.Generator, *, wolves: float
) -> list[Result]:
    """Have two wolves play three villagers, all drawn by lot; `wolves` is what that role adds."""
    called = names(strengths)
    results = []
    for _ in range(matches):
        seated = rng.choice(len(called), 5, replace=False)
        teams = {"wolf": seated[:2], "villager": seated[2:]}
        means = {
            role: float(np.mean([strengths[it] for it in them])) for role, them in teams.items()
        }
        won = rng.random() < 1 / (1 + math.exp(means["villager"] - means["wolf"] - wolves))
        place = {"wolf": 1 if won else 2, "villager": 2 if won else 1}
        results.append(
            tuple(
                Seat(called[it], place[role], role, role)
                for role, them in teams.items()
                for it in them
            )
        )
    return results

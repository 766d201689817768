"""Fits what is read to ratings, by what its environment has, and says how long that took.

    PYTHON rating.py NAME [BOOTSTRAP] < POOL

It runs in the peers' own environments, so it needs nothing but them and NumPy. POOL and what comes
of it are JSON. Before the clock starts each has the matches as it takes them: ours as tuples of
names, choix as arrays of numbers, arena-rank as a table of pandas.
"""

import json
import multiprocessing
import resource
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

Fit = Callable[[], tuple[Any, Any]]
"""Returns strengths as natural logarithms, by the models' numbers, and their standard errors."""


def raybench(pool: dict[str, Any], bootstrap: int) -> Fit:
    """Rate them as experiments do; there is no first mover's advantage in the pool."""
    from raybench.stats import bradley_terry, plackett_luce

    names = [f"{number:05}" for number in range(pool["models"])]
    games: Any = [
        (
            [(names[it], place) for place, it in enumerate(match, 1)]
            if pool["seats"] > 2
            else (names[match[0]], names[match[1]], 1.0)
        )
        for match in pool["matches"]
    ]

    def fit() -> tuple[Any, Any]:
        if pool["seats"] > 2:
            found = plackett_luce.fit(games, bootstrap=bootstrap)
        else:
            found = bradley_terry.fit(games, bootstrap=bootstrap, first_mover=False)
        order = np.argsort(found.models)
        errors = np.sqrt(np.diag(found.covariance))
        return found.strengths[order], errors[order]

    return fit


def choix(pool: dict[str, Any], bootstrap: int) -> Fit:
    """Fit the maximum by what it has for matches of all with all, or of more than two.

    It has neither errors nor a bootstrap.
    """
    import choix as peer  # type: ignore[import-not-found]

    models = pool["models"]
    if pool["seats"] > 2:
        orders = [tuple(it) for it in pool["matches"]]
        return lambda: (peer.opt_rankings(models, orders, alpha=0.0), None)
    won, lost = np.array(pool["matches"]).T

    def fit() -> tuple[Any, Any]:
        counts = np.zeros((models, models))
        np.add.at(counts, (won, lost), 1)
        return peer.ilsr_pairwise_dense(counts, alpha=0.0), None

    return fit


def arena_rank(pool: dict[str, Any], bootstrap: int) -> Fit:
    """Fit with its sandwich, or with its bootstrap in as many processes as there are cores.

    It forks them, after which JAX waits for threads that only their parent has, and nothing ends
    any more: they are spawned here.
    """
    import pandas as pd
    from arena_rank.models.bradley_terry import (  # type: ignore[import-not-found]
        BradleyTerry,
    )
    from arena_rank.utils.data_utils import (  # type: ignore[import-not-found]
        PairDataset,
    )

    multiprocessing.set_start_method("spawn")
    names = [f"{number:05}" for number in range(pool["models"])]
    table = pd.DataFrame(
        [(names[won], names[lost], "model_a") for won, lost in pool["matches"]],
        columns=["model_a", "model_b", "winner"],
    )

    def fit() -> tuple[Any, Any]:
        data = PairDataset.from_pandas(table)
        model = BradleyTerry(pool["models"])
        how = {"ci_method": "bootstrap", "num_bootstrap": bootstrap} if bootstrap else {}
        found = model.compute_ratings_and_cis(data, **how)
        # As arrays of NumPy: those of JAX may not be there yet.
        ratings, errors = np.asarray(found["ratings"]), np.asarray(found["variances"]) ** 0.5
        return (ratings - 1000) / model.alpha, errors / model.alpha

    return fit


def main() -> None:
    """Fit twice: what the first time has more of is compiled or imported."""
    name, *bootstrap = sys.argv[1:]
    fit = {"raybench": raybench, "choix": choix, "arena-rank": arena_rank}[name](
        json.load(sys.stdin), int(bootstrap[0]) if bootstrap else 0
    )
    seconds = []
    for _ in range(2):
        begun = time.perf_counter()
        strengths, errors = fit()
        seconds.append(time.perf_counter() - begun)
    strengths = np.asarray(strengths)
    told = {
        "seconds": seconds,
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "strengths": (strengths - strengths.mean()).tolist(),
        "errors": None if errors is None else np.asarray(errors).tolist(),
    }
    json.dump(told, sys.stdout)


if __name__ == "__main__":
    main()

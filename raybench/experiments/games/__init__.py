"""+experiment=games: models play against each other, and are rated by who wins."""

from raybench.experiments.games.planning import plan
from raybench.experiments.games.running import run
from raybench.experiments.games.setup import CONCLUSIONS, told_apart

__all__ = ["CONCLUSIONS", "plan", "run", "told_apart"]

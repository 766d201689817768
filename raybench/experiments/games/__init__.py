"""+experiment=games: models play against each other, and are rated by who wins."""

from raybench.experiments.games.planning import plan
from raybench.experiments.games.running import run

__all__ = ["plan", "run"]

"""+experiment=games: models play against each other, and are rated by who wins."""

from raybench.experiments.games.running import run
from raybench.experiments.games.setup import plan

__all__ = ["plan", "run"]

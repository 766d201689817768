"""+experiment=optimise_players: programs learn to play, and what that gained is told."""

from raybench.experiments.optimise_players.running import run
from raybench.experiments.optimise_players.setup import plan

__all__ = ["plan", "run"]

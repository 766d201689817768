"""+experiment=games_phrasings: how far ratings hang on wording, before and after optimisation."""

from raybench.experiments.games_phrasings.planning import plan
from raybench.experiments.games_phrasings.running import run

__all__ = ["plan", "run"]

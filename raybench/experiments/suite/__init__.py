"""+experiment=suite: all ways of ranking over one roster, and how far they agree."""

from raybench.experiments.suite.planning import plan
from raybench.experiments.suite.running import run

__all__ = ["plan", "run"]

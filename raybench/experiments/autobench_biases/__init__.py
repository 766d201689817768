"""+experiment=autobench_biases: how far planted biases move the peers' ranking."""

from raybench.experiments.autobench_biases.running import run
from raybench.experiments.autobench_biases.setup import plan

__all__ = ["plan", "run"]

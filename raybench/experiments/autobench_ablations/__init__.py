"""+experiment=autobench_ablations: the peer protocol and variants of it, played side by side."""

from raybench.experiments.autobench_ablations.running import run
from raybench.experiments.autobench_ablations.setup import plan

__all__ = ["plan", "run"]

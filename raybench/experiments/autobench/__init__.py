"""+experiment=autobench: peers set one another tasks, answer them and judge the answers."""

from raybench.experiments.autobench.running import run
from raybench.experiments.autobench.setup import CONCLUSIONS, plan

__all__ = ["CONCLUSIONS", "plan", "run"]

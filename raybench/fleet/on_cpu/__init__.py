"""Engines on CPUs: all that makes them quicker, for the demo and for tests.

Only `deployment.py` imports this package, for engines that run on no GPU (import-linter holds
this). Without it vLLM serves on CPUs all the same, with a slower start and fewer tokens.

`core.py` starts and binds the process that computes, `early_process.py` lets it import while its
parent does, `worker.py` has a kernel for norms.
"""

from raybench.fleet.on_cpu.core import begin_engine

__all__ = ["begin_engine"]

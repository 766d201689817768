"""Fixed benchmarks, one file each. A new one is a new file; nothing else lists them."""

from raybench import modules
from raybench.benchmarks.parts.contract import Benchmark, Draw, Grade, Row, Source, UngradableError

__all__ = ["Benchmark", "Draw", "Grade", "Row", "Source", "UngradableError", "load", "names"]


def names() -> list[str]:
    """Return the names of all benchmarks."""
    return modules.names(__name__)


def load(name: str) -> Benchmark:
    """Return a benchmark by name; 'MATH-500', 'math500' and 'math_500' are one."""
    benchmark: Benchmark = modules.named(__name__, name, "benchmark").BENCHMARK
    return benchmark

"""What tests of a suite share: a small one, on stand-ins, without programs."""

from collections.abc import Sequence
from pathlib import Path

from helpers import last_run

SMALL = (
    "+experiment=suite",
    "data=samples",
    "index.benchmarks=[mmlu_pro,gpqa_diamond]",
    "index.repeats=1",
    "index.limit=6",
    "hle.limit=8",
    "hle.judges=[judge]",
    "hle.review=0",
    "autobench.iterations=6",
    "games.names=[liars_dice]",
    "games.matches=24",
    "games.bootstrap=100",
)
PARTS = ("index", "hle", "autobench", "games")


def roster(abilities: Sequence[float], *, latency_s: float = 0.0) -> list[str]:
    """Return settings of a roster of stand-ins, a, b, c …, and of one who judges the exam."""
    models = ", ".join(
        f"{{name: {'abcdefghijkl'[at]}, engine: simulated, "
        f"options: {{ability: {ability}, latency_s: {latency_s}}}}}"
        for at, ability in enumerate(abilities)
    )
    return [
        f"roster.models=[{models}]",
        "roster.judges=[{name: judge, engine: simulated, options: {ability: 1.0}}]",
    ]


def part(folder: Path, name: str) -> Path:
    """Return the folder of the one run of a part."""
    (run,) = (last_run(folder, "suite") / "parts" / name).iterdir()
    return run

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


def roster(abilities: Sequence[float]) -> list[str]:
    """Return settings of a roster of stand-ins, a, b, c …, and of one who judges the exam."""
    models = ", ".join(
        f"{{name: {'abcdefghijkl'[at]}, engine: simulated, options: {{ability: {ability}}}}}"
        for at, ability in enumerate(abilities)
    )
    return [
        f"roster.models=[{models}]",
        "roster.judges=[{name: judge, engine: simulated, options: {ability: 1.0}}]",
    ]


FOUR = roster([0.1, 0.4, 0.65, 0.9])
EXTERNAL = {"other.csv": "model,score\na,10\nb,20\nc,40\nd,30\n"}
"""A table to compare the suite of four models with, by its file's name."""
COMPARED = (*SMALL, *FOUR, "suite.external.other=other.csv")
"""The suite whose finished run several files look at, with `EXTERNAL` beside it."""


def part(folder: Path, name: str) -> Path:
    """Return the folder of the one run of a part."""
    (run,) = (last_run(folder, "suite") / "parts" / name).iterdir()
    return run

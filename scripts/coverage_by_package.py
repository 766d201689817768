"""Print the line and branch coverage of every package of raybench; with a second file, the change.

    python scripts/coverage_by_package.py coverage.json [BEFORE.json]

Both files are made by `coverage json` (`make coverage`). Ends with 1 where a package lost more than
half a point against the second file.
"""

import json
import sys
from collections import defaultdict
from pathlib import Path

TOLERANCE = 0.5
"""Points that a package may lose."""

Counts = tuple[int, int]


def package_of(file: str) -> str:
    """Return the package that a file of raybench belongs to; its top-level modules are one."""
    inside = Path(file).parts[Path(file).parts.index("raybench") + 1 :]
    return inside[0] if len(inside) > 1 else "(top level)"


def counts_by_package(file: Path) -> dict[str, Counts]:
    """Return (covered, all) statements and branches per package."""
    counts: dict[str, Counts] = defaultdict(lambda: (0, 0))
    for name, data in json.loads(file.read_text())["files"].items():
        summary = data["summary"]
        covered, every = counts[package_of(name)]
        counts[package_of(name)] = (
            covered + summary["covered_lines"] + summary["covered_branches"],
            every + summary["num_statements"] + summary["num_branches"],
        )
    return dict(counts)


def percent(counts: Counts) -> float:
    """Return the covered share in percent."""
    covered, every = counts
    return 100 * covered / every if every else 100.0


def table(
    after: dict[str, Counts], before: dict[str, Counts] | None
) -> tuple[list[str], list[str]]:
    """Return the lines of the table and the packages that lost more than is tolerated."""
    lines, losers = [], []
    for name in sorted(after, key=lambda it: (it != "(top level)", it)):
        line = f"{name:<16}{percent(after[name]):>8.2f}{after[name][1]:>9}"
        if before is not None and name in before:
            change = percent(after[name]) - percent(before[name])
            line += f"{percent(before[name]):>9.2f}{change:>+8.2f}"
            if change < -TOLERANCE:
                losers.append(name)
        lines.append(line)
    lines += [f"{name:<16}{'gone':>8}" for name in sorted((before or {}).keys() - after.keys())]
    covered, every = (sum(column) for column in zip(*after.values(), strict=True))
    lines.append(f"{'all':<16}{percent((covered, every)):>8.2f}{every:>9}")
    return lines, losers


def main(arguments: list[str]) -> int:
    """Print the table; return the exit code."""
    after, *rest = (counts_by_package(Path(argument)) for argument in arguments)
    lines, losers = table(after, rest[0] if rest else None)
    print(
        f"{'package':<16}{'percent':>8}{'lines+br':>9}" + f"{'before':>9}{'change':>8}" * bool(rest)
    )
    print("\n".join(lines))
    for name in losers:
        print(f"{name} lost more than {TOLERANCE} points", file=sys.stderr)
    return 1 if losers else 0


if __name__ == "__main__":
    if not sys.argv[1:] or sys.argv[1:] == ["--help"]:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1:]))

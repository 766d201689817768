"""Look for known vulnerabilities in what requirements/*.txt pin (`make audit`).

pip-audit asks the package index for them. Exit code 1: there are some that
requirements/audited.toml gives no reason for; 0: there are none, or nothing can be known here, and
that is said: the index tells of none, or pip-audit cannot be had. With --required that is 2.
"""

import argparse
import json
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
LISTS = ROOT / "requirements"
KNOWN = LISTS / "audited.toml"
"""Vulnerabilities that are known, each with the reason why it is none here."""
TOOL = "pip-audit==2.10.1"
_PATIENCE_S = 900


@dataclass(frozen=True, order=True)
class Found:
    """A vulnerability of a package that a list pins."""

    package: str
    version: str
    ids: tuple[str, ...]
    """It has several names: the index's own first."""
    fixed: tuple[str, ...] = ()

    def __str__(self) -> str:
        mend = f"mended in {', '.join(self.fixed)}" if self.fixed else "not mended yet"
        return f"{self.package} {self.version}: {', '.join(self.ids)} ({mend})"


@dataclass(frozen=True)
class Audit:
    """What pip-audit says of some lists."""

    looked: int
    """Packages of which the index told."""
    skipped: tuple[str, ...]
    found: tuple[Found, ...]


def read(reports: Iterable[Mapping[str, Any]]) -> Audit:
    """Return what pip-audit's JSON says of the lists."""
    told: list[Mapping[str, Any]] = [it for each in reports for it in each["dependencies"]]
    looked = [it for it in told if "skip_reason" not in it]
    found = {
        Found(
            it["name"],
            it["version"],
            (bad["id"], *sorted(bad.get("aliases", ()))),
            tuple(bad.get("fix_versions", ())),
        )
        for it in looked
        for bad in it["vulns"]
    }
    skipped = sorted({str(it["name"]) for it in told if "skip_reason" in it})
    return Audit(len({it["name"] for it in looked}), tuple(skipped), tuple(sorted(found)))


def reasons(text: str) -> dict[str, str]:
    """Return the reasons in audited.toml, by the vulnerability. Raises ValueError without one."""
    told = {str(it["id"]): str(it.get("reason", "")) for it in tomllib.loads(text).get("known", [])}
    if bare := [name for name, reason in told.items() if not reason.strip()]:
        raise ValueError(f"{KNOWN.name} gives no reason for {', '.join(bare)}")
    return told


def lines(audit: Audit, known: Mapping[str, str]) -> tuple[list[str], bool]:
    """Return what to say, and whether all is well."""
    if not audit.looked:
        return [
            "audit: nothing is known: the package index tells of no vulnerabilities here, of none "
            f"of {len(audit.skipped)} packages. Run it where PyPI itself can be reached"
        ], True
    said, new = [], 0
    for it in audit.found:
        reason = next((known[name] for name in it.ids if name in known), None)
        new += reason is None
        said.append(f"  {it}" + (f": {reason}" if reason else ": NEW"))
    named = {name for it in audit.found for name in it.ids}
    if gone := [name for name in known if name not in named]:
        said.append(f"  no more in any list: {', '.join(gone)}; take them out of {KNOWN.name}")
    if audit.skipped:
        said.append(f"  not looked at, as the index does not know them: {_few(audit.skipped)}")
    head = f"audit: {audit.looked} packages, {len(audit.found)} known vulnerabilities, {new} new"
    if new:
        said.append(f"Raise these versions (make lock ARGS=--upgrade), or reason in {KNOWN.name}")
    return [head, *said], not new


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")


def asked(file: Path) -> Mapping[str, Any]:
    """Return pip-audit's report of a list. Raises RuntimeError where there is none."""
    uv, told = Path(sys.executable).with_name("uv"), ""
    try:
        done = subprocess.run(
            [
                uv, "tool", "run", TOOL, "--no-deps", "--disable-pip", "--progress-spinner=off",
                "--format=json", "--requirement", file,
            ],
            capture_output=True, text=True, timeout=_PATIENCE_S, check=False,
        )  # fmt: skip
        told = done.stderr
        report: Mapping[str, Any] = json.loads(done.stdout)
    except (OSError, subprocess.TimeoutExpired, ValueError) as error:
        raise RuntimeError((told.strip().splitlines() or [str(error)])[-1]) from error
    return report


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return the exit code."""
    asked_for = argparse.ArgumentParser(prog="make audit", description=__doc__)
    asked_for.add_argument("lists", nargs="*", type=Path, help="lists; default: all")
    asked_for.add_argument(
        "--required", action="store_true", help="fail, too, where nothing can be known"
    )
    given = asked_for.parse_args(arguments)
    files = given.lists or sorted(it for it in LISTS.glob("*.txt") if "==" in it.read_text())
    known = reasons(KNOWN.read_text())
    try:
        audit = read([asked(file) for file in files])
    except RuntimeError as error:
        print(f"audit: {TOOL} did not answer: {error}", file=sys.stderr)
        return 2 if given.required else 0
    said, well = lines(audit, known)
    print("\n".join(said))
    return int(not well) or (2 if given.required and not audit.looked else 0)


if __name__ == "__main__":
    sys.exit(main())

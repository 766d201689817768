"""Run the attack programs in the sandbox, with real bait around them, and tell what got through.

    python tests/sandbox/containment.py [--backend namespaces] [--only 'net_*,ns_*'] [--unconfined]
    python tests/sandbox/containment.py --unconfined COMMAND ...

Writes JSON: of every attack what it got at (`breaches`, empty where it is contained) and what of
its outcome is not as it should be (`faults`). Runs as any user; nothing but the standard library
and `raybench.sandbox` is needed, so that it runs from a copy of both where the repository is closed
to its user. `--unconfined` runs those attacks that do no harm as plain processes, to show that they
would succeed: an attack that never can proves nothing. With COMMAND they run by that, which gets
the program's path after it: whatever else is said to confine programs can be held beside.
"""

import argparse
import ast
import contextlib
import fnmatch
import json
import os
import re
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parents[1])]

from sandbox.bait import Bait, secret

from raybench.errors import RaybenchError
from raybench.sandbox import Limits

UNAVAILABLE = 3
"""The exit code where this machine does not allow the walls that were asked for."""

FOLDER = Path(__file__).parent / "attacks"
LIMITS = {
    "cpu_s": 1.0,
    "wall_s": 20.0,
    "memory_mb": 256,
    "disk_mb": 8,
    "files": 256,
    "processes": 16,
    "descriptors": 64,
    "stack_mb": 8,
    "output_kept_mb": 0.1,
    "output_killed_mb": 4.0,
}
"""Small, so that attacks on them take no time; but for the clock's, which is to end only those that
ask for it, however busy the machine."""
_LATE_S = 10.0
"""How much later than the clock's limit a busy machine may end what nothing else ends. Who is to be
ended so would go on for 20 s and more."""
_PATIENCE_S = 60.0
"""How long an attack without walls may take, whose `code` is None then."""
FLOOD = {"auto": 2, "namespaces": 2}
"""How many times what is allowed an attack on the disk has to write to be one.

Behind other walls than these the kernel does not bound it: files are looked at now and then, and a
burst is through by then. There a flood is 32 times as much."""
_HEAD = re.compile(
    r"^(unconfined|expect|exit_code|signal|limits|runs|most_s): *(.*)$", re.MULTILINE
)


@dataclass(frozen=True)
class Attack:
    """A program that tries one thing, and how it has to end."""

    name: str
    source: str
    title: str
    unconfined: str
    """`safe`, or why it is never run without walls."""
    expect: tuple[str, ...] = ("ok",)
    """The outcome's status is one of these; with `ok` it has to say that it was contained."""
    exit_code: int | None = None
    signal: int | None = None
    limits: dict[str, Any] = field(default_factory=lambda: dict(LIMITS))
    runs: int = 1
    """More where a run looks for what an earlier one left."""
    most_s: float | None = None
    """How long it may take, where that is the point."""


def attacks(patterns: str = "*") -> Iterator[Attack]:
    """Yield the attacks whose names match one of the patterns, which commas separate."""
    for path in sorted(FOLDER.glob("*.py")):
        if any(fnmatch.fnmatch(path.stem, pattern) for pattern in patterns.split(",")):
            yield read(path)


def read(path: Path) -> Attack:
    """Return an attack from its file: its docstring says how it has to end."""
    source = path.read_text()
    text = ast.get_docstring(ast.parse(source)) or ""
    head = dict(_HEAD.findall(text))
    limits = dict(LIMITS)
    for setting in head.get("limits", "").split():
        name, _, value = setting.partition("=")
        limits[name] = type(LIMITS[name])(float(value))
    return Attack(
        name=path.stem,
        source=source,
        title=text.partition("\n")[0],
        unconfined=head["unconfined"],
        expect=tuple(head.get("expect", "ok").split()),
        exit_code=int(head["exit_code"]) if "exit_code" in head else None,
        signal=int(head["signal"]) if "signal" in head else None,
        limits=limits,
        runs=int(head.get("runs", 1)),
        most_s=float(head["most_s"]) if "most_s" in head else None,
    )


def confined(attack: Attack, bait: Bait, flood: int) -> dict[str, Any]:
    """Run an attack in the sandbox, as often as it asks."""
    from raybench import sandbox

    breaches: list[str] = []
    faults: list[str] = []
    for _ in range(attack.runs):
        source, given = bait.put(attack.source, attack.limits, flood)
        begin = time.monotonic()
        try:
            outcome = sandbox.run(source, stdin=given, limits=Limits(**attack.limits))
        except RaybenchError as error:
            return {"breaches": [], "faults": [f"{type(error).__name__}: {error}"]}
        seconds = time.monotonic() - begin
        breaches += _said(outcome.stdout) + bait.breaches(outcome.stdout, outcome.stderr)
        faults += _faults(attack, outcome, seconds)
    return {
        "breaches": breaches,
        "faults": faults,
        "seconds": round(seconds, 3),
        "stdout": outcome.stdout[:2000],
        "stderr": outcome.stderr[-1000:],
        **outcome.to_json(),
    }


def _said(stdout: str) -> list[str]:
    return [line[:300] for line in stdout.splitlines() if line.startswith("BREACH")]


def _faults(attack: Attack, outcome: Any, seconds: float) -> Iterator[str]:
    """Yield what is wrong with an outcome, be the attack contained or not."""
    if outcome.status not in attack.expect:
        yield f"status {outcome.status} ({outcome.reason}), not {' or '.join(attack.expect)}"
    elif outcome.status == "ok" and not re.search("^(CONTAINED|ABSENT)", outcome.stdout, re.M):
        yield "ended well without having said that it was contained"
    for name in ("exit_code", "signal"):
        if (wanted := getattr(attack, name)) is not None and getattr(outcome, name) != wanted:
            yield f"{name} {getattr(outcome, name)}, not {wanted}"
    most = attack.most_s or attack.limits["wall_s"] + _LATE_S
    if seconds > most:
        yield f"took {seconds:.1f} s, more than {most:g}"
    kept = 2 * attack.limits["output_kept_mb"] * (1 << 20) + 2000
    if len(outcome.stdout) + len(outcome.stderr) > kept:
        yield f"kept {len(outcome.stdout) + len(outcome.stderr)} characters of output"


def unconfined(attack: Attack, bait: Bait, command: Sequence[str] = ()) -> dict[str, Any]:
    """Run a harmless attack as a plain process that inherits all there is, or by a command."""
    told: list[str] = []
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "program.py")
        for _ in range(attack.runs):
            source, given = bait.put(attack.source, attack.limits, 2)
            path.write_text(source)
            code: int | None = None
            try:
                done = subprocess.run(
                    [*(command or (sys.executable, "-I")), path],
                    input=given.encode(),
                    capture_output=True,
                    cwd=folder,
                    pass_fds=bait.inherited,
                    preexec_fn=_one_core if attack.name == "cpu_unpin" else None,
                    timeout=_PATIENCE_S,
                    check=False,
                )
                said, code = (done.stdout, done.stderr), done.returncode
            except subprocess.TimeoutExpired as late:  # it may have said what it got before
                said = (late.stdout or b"", late.stderr or b"")
            out, err = (text.decode(errors="replace") for text in said)
            told += _said(out)
            if attack.runs == 1:
                told += bait.breaches(out, err)
        bait.breaches()
        bait.clean()
    return {
        "seconds": round(time.monotonic() - begin, 3),
        "breaches": told,
        "stdout": out[:2000],
        "stderr": err[-1000:],
        "code": code,
    }


def _one_core() -> None:
    """Leave an attack something to gain."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def table(patterns: str, backend: str, plain: Sequence[str] | None) -> dict[str, dict[str, Any]]:
    """Run the attacks; return what came of each. Without walls by `plain`, where it is not None."""
    results: dict[str, dict[str, Any]] = {}
    with contextlib.ExitStack() as stack:
        bait = stack.enter_context(Bait())
        if plain is None:
            from raybench import sandbox

            # Pinned to a core, as slots are: leaving it is among the attacks. Without a tree of its
            # own, the sandbox needs a Python that everybody can reach: the one at hand is.
            python = sys.executable if backend == "landlock" else None
            sandbox.configure(sandbox.Settings(backend=backend, python=python, pinned=True))
            try:
                sandbox.run("pass")
            except sandbox.SandboxUnavailableError as error:
                print(error, file=sys.stderr)
                sys.exit(UNAVAILABLE)
        for attack in attacks(patterns):
            if plain is None:
                results[attack.name] = confined(attack, bait, FLOOD.get(backend, 32))
            elif attack.unconfined == "safe":
                results[attack.name] = unconfined(attack, bait, plain)
    return results


def main() -> None:
    """Run the table in a process that has a secret in its environment since its start."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", default="*", help="patterns of the attacks' names, by commas")
    parser.add_argument(
        "--backend", default="auto", help="which walls to use; the best there are by default"
    )
    parser.add_argument(
        "--unconfined",
        nargs=argparse.REMAINDER,
        metavar="COMMAND",
        help="without walls, or by that command: the harmless ones",
    )
    chosen = parser.parse_args()
    if "RAYBENCH_CANARY" not in os.environ:
        os.execve(
            sys.executable,
            [sys.executable, *sys.argv],
            {**os.environ, "RAYBENCH_CANARY": secret(), "RAYBENCH_RUN": secrets.token_hex(4)},
        )
    if os.getpgid(0) != os.getpid():
        os.setpgid(0, 0)  # a signal to the group shall reach nobody else
    print(json.dumps(table(chosen.only, chosen.backend, chosen.unconfined), indent=1))


if __name__ == "__main__":
    main()

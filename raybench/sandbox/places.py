"""Where programs run on this machine: which walls it allows, and servers behind them."""

import itertools
import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import get_args

from raybench.errors import ConfigurationError, Problem, not_a_choice
from raybench.sandbox import environments, interpreters, recipes, selftest
from raybench.sandbox.errors import SandboxUnavailableError
from raybench.sandbox.inside.box import Box
from raybench.sandbox.interpreters import Interpreter
from raybench.sandbox.outcome import Backend, Profile
from raybench.sandbox.server import BusyError, FaultError, PlainError, Server

AUTO = "auto"
_IN_TURN = ("namespaces", "landlock")
"""What is tried if nothing else was asked for."""
_ON_THE_HOST = ("landlock", "unsafe")
"""Walls that leave programs in the host's own tree."""
_LINKER = ("/lib32", "/etc/ld.so.cache", "/etc/alternatives")
_PACKAGES = ("site-packages", "dist-packages")
_USERS = range(60_001, 61_000)
"""Users that root becomes: of no account, and below what small user namespaces map."""
_STARTED = itertools.count()
_MENDS = {
    "namespaces": (
        "allow user namespaces: `sysctl user.max_user_namespaces=15000`, on Debian "
        "`sysctl kernel.unprivileged_userns_clone=1`, on Ubuntu 23.10 and later the AppArmor "
        "profile in sandboxes/README.md, in a container `--security-opt seccomp=unconfined "
        "--security-opt apparmor=unconfined`"
    ),
    "landlock": "boot a kernel with Landlock, version 6 (Linux 6.12) or later",
    "bubblewrap": "install it (`apt-get install bubblewrap`) and allow user namespaces",
}


@dataclass(frozen=True, slots=True)
class Settings:
    """How programs are run on this machine."""

    backend: str = AUTO
    python: str | None = None
    """The interpreter, by path or name; None for the best there is."""
    scientific_python: str | None = None
    """One that has the scientific libraries; None for an environment of our own."""
    slot: int | None = None
    """The place among those that run programs on this machine at once: its user, and its core."""
    pinned: bool = False


def python_of(settings: Settings, profile: Profile = "plain") -> Interpreter:
    """Return the Python that programs would run in on this machine, before any is started.

    Raises ConfigurationError where one that is configured will not do, or lacks the libraries.
    """
    becomes = settings.backend in _ON_THE_HOST and os.getuid() == 0
    python = interpreters.chosen(settings.python, user=_USERS[0] if becomes else None)
    if profile == "plain" or settings.scientific_python is None:
        return python
    return environments.scientific(python, settings.scientific_python).interpreter


def start(settings: Settings, profile: Profile) -> Server:
    """Start a server behind the walls that were asked for, or the best that can be had.

    Raises SandboxUnavailableError with the call that failed and the mend.
    """
    try:
        return _started(_backend(settings), settings, profile)
    except BusyError:
        raise
    except FaultError as refusal:
        raise SandboxUnavailableError(Problem("sandbox.unavailable", str(refusal))) from refusal


def _backend(settings: Settings) -> str:
    """Return the walls to use: those asked for, or the first that stand on this machine."""
    if settings.backend not in (AUTO, *get_args(Backend)):
        known = (AUTO, *get_args(Backend))
        raise ConfigurationError(not_a_choice("sandbox.backend", settings.backend, known))
    if settings.backend != AUTO:
        return settings.backend
    return _best(settings.python)


@cache
def _best(python: str | None) -> str:
    refusals = []
    for backend in _IN_TURN:
        try:
            _started(backend, Settings(backend, python), "plain").close()
        except BusyError:
            raise  # which says nothing of the walls
        except FaultError as refusal:
            refusals.append(refusal)
        else:
            return backend
    told = "".join(f"\n  - {refusal}" for refusal in refusals)
    raise SandboxUnavailableError(
        Problem(
            "sandbox.unavailable",
            f"programs cannot be confined on this machine ({os.uname().nodename}):{told}",
            setting="sandbox.backend",
            fix="Or run them without walls, which lets them do whatever you may: "
            "sandbox.backend=unsafe (every result says so)",
        )
    )


def _started(backend: str, settings: Settings, profile: Profile) -> Server:
    """Return a server that has passed its test; raise FaultError with what is in the way."""
    try:
        python, box = _box(backend, settings, profile)
        with suppress(FaultError):  # a server may be killed while it starts: that is no refusal
            return _tested(python, box)
        return _tested(python, box)
    except BusyError:
        raise
    except FaultError as fault:
        if isinstance(fault, PlainError):
            raise PlainError(f"{backend}: {fault}") from fault
        mend = _MENDS.get(backend)
        raise FaultError(f"{backend}: {fault}" + (f": {mend}" if mend else "")) from fault


def _tested(python: str, box: Box) -> Server:
    server = Server(python, box)
    try:
        selftest.check(server)
    except BaseException:
        server.close()
        raise
    return server


def _box(backend: str, settings: Settings, profile: Profile) -> tuple[str, Box]:
    # What a slot runs, it runs one after the other; of other servers each has a user of its own,
    # whose processes nobody else's are counted with.
    slot = os.getpid() + next(_STARTED) if settings.slot is None else settings.slot
    uid = _USERS[slot % len(_USERS)]
    interpreter = python_of(replace(settings, backend=backend))
    binds, paths, imports = interpreter.binds, tuple[str, ...](), tuple[str, ...]()
    variables: dict[str, str] = {}
    if profile == "scientific":
        environment = environments.scientific(interpreter, settings.scientific_python)
        interpreter = environment.interpreter
        binds, paths = environment.binds, environment.site
        variables, imports = dict(environment.variables), environments.MODULES
    if backend in _ON_THE_HOST:
        _check_open(interpreter, (*binds, *paths), uid)
    return interpreter.path, Box(
        backend=backend,
        binds=(*interpreters.SYSTEM, *_LINKER, *binds),
        covered=[path for path in _packages(interpreter) if not _holds(path, (*binds, *paths))],
        paths=paths,
        imports=imports,
        variables=variables,
        policy=_policy(),
        uid=uid,
        python=interpreter.path,
        here=str(Path(__file__).parent),
        bwrap=_bwrap() if backend == "bubblewrap" else "",
        core=_core(slot) if settings.pinned else None,
    )


def _check_open(interpreter: Interpreter, paths: tuple[str, ...], uid: int) -> None:
    """Raise FaultError where root, once it is somebody else, can no longer reach its Python."""
    for path in paths if os.getuid() == 0 else ():
        if (folder := interpreters.barred(path, uid)) is not None:
            raise PlainError(
                f"Python {interpreter.version} needs {path}, which lies in {folder}, a folder that "
                f"is closed to the user that programs run as: `chmod o+x {folder}` lets it through "
                "and lists nothing to it. Or have it elsewhere: sandbox.python=/path, and of the "
                "scientific libraries XDG_CACHE_HOME"
            )


def _packages(interpreter: Interpreter) -> Iterator[str]:
    """Yield the folders of packages that came with an interpreter: programs see them empty."""
    release = ".".join(interpreter.version.split(".")[:2])
    prefixes = {"/usr", "/usr/local", str(Path(interpreter.path).parents[1])}
    for prefix in sorted(prefixes):
        for name in _PACKAGES:
            yield f"{prefix}/lib/python3/{name}"
            yield f"{prefix}/lib/python{release}/{name}"


def _holds(folder: str, paths: tuple[str, ...]) -> bool:
    return any(Path(path).is_relative_to(folder) for path in paths)


def _core(slot: int) -> int:
    cores = sorted(os.sched_getaffinity(0))
    return cores[slot % len(cores)]


def _bwrap() -> str:
    found = shutil.which("bwrap")
    if found is None:
        raise FaultError("there is no bwrap on PATH")
    return os.path.realpath(found)


@cache
def _policy() -> str:
    return (recipes.folder() / "seccomp.toml").read_text(encoding="utf-8")

"""Which Python untrusted code runs in, and what of the file system that Python needs.

The methodology's version is 3.12. It is taken where it is found, else the Python that runs
raybench; results name the one that it was.
"""

import errno
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from raybench.errors import ConfigurationError, Problem, RunFailed
from raybench.paths import expanded

SYSTEM = ("/usr", "/lib", "/lib64", "/bin")
"""What every program needs; an interpreter names only what it needs beyond."""
STANDARD = (3, 12)
"""The methodology's version."""
_OLDEST = (3, 11)
_OF_THE_SYSTEM = ("/usr/local/bin/python3", "/usr/bin/python3")
_ANSWER_S = 60.0
_TRIES = 3
_OF_THE_MOMENT = (errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE)
_PROBE = Path(__file__).with_name("probe.py")


class SilentError(ValueError):
    """A Python could not be asked just now: the machine has too much to do."""


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python that was run and has answered."""

    path: str
    """The executable itself, no link, no shim, not that of a virtual environment."""
    version: str
    """As 3.12.1."""
    implementation: str
    """As CPython."""
    binds: tuple[str, ...]
    """Files and folders, each needed where it is, that it cannot run without beyond `SYSTEM`."""

    @property
    def standard(self) -> bool:
        """Tell whether it is of the methodology's version."""
        return _release(self.version) == STANDARD


def chosen(python: str | None = None, *, user: int | None = None) -> Interpreter:
    """Return the Python that was asked for by path or name, else the best that there is.

    With a `user`, the best of those that he can reach, if he can reach any.
    """
    if python is not None:
        return _configured(python)
    return _found(user)


def ask(
    python: str,
    *,
    modules: Sequence[str] = (),
    distributions: Sequence[str] = (),
    variables: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Run a Python and return what it says of itself (see probe.py) after importing modules.

    Raises ValueError with its own words where it does not run, SilentError where it may yet.
    """
    question = json.dumps({"modules": list(modules), "distributions": list(distributions)})
    # As the sandbox starts it, without the user's LD_LIBRARY_PATH and PYTHONPATH. PATH and HOME
    # are for shims, which are shell scripts that look for the Python behind them.
    kept = {name: os.environ[name] for name in ("HOME", "PATH") if name in os.environ}
    try:
        done = subprocess.run(
            [python, "-I", str(_PROBE), question],
            env={**kept, **(variables or {})},
            umask=0o022,  # what an import leaves behind, the sandbox reads as another user
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_ANSWER_S,
            check=False,
        )
        facts: dict[str, Any] = json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        raise SilentError(f"it did not answer within {_ANSWER_S:g} s") from None
    except OSError as error:
        if error.errno in _OF_THE_MOMENT:
            raise SilentError(error.strerror) from None
        raise ValueError(error.strerror or str(error)) from None
    except ValueError:
        raise ValueError(reason(done)) from None
    return facts


def reason(done: subprocess.CompletedProcess[str]) -> str:
    """Return the line of what a program said that tells best why it failed."""
    said = [line.strip(" .") for line in done.stderr.splitlines() if line.strip()]
    if not said:
        return f"it ended with {done.returncode} and without a word"
    return said[-1] if any(line.startswith("Traceback") for line in said) else said[0]


def interpreter(facts: Mapping[str, Any]) -> Interpreter:
    """Return the interpreter that these facts tell of; ValueError says why it will not do."""
    version = facts["version"]
    if _release(version) < _OLDEST:
        raise ValueError(f"it is Python {version}")
    if "ctypes" in facts["broken"]:
        raise ValueError(f"it has no ctypes, which the sandbox needs ({facts['broken']['ctypes']})")
    return Interpreter(
        path=facts["executable"],
        version=version,
        implementation=facts["implementation"],
        binds=beyond_system((facts["executable"], *facts["stdlib"], *facts["libraries"])),
    )


def beyond_system(paths: Sequence[str]) -> tuple[str, ...]:
    """Return the paths that lie neither in a folder of the system nor in another of them."""
    kept: list[str] = []
    for path in sorted(set(paths)):
        if not any(Path(path).is_relative_to(folder) for folder in (*SYSTEM, *kept)):
            kept.append(path)
    return tuple(kept)


def barred(path: str, uid: int) -> str | None:
    """Return the first folder on the way to a path that a user without groups may not enter.

    Who gives root up before reaching it (a home is often closed to others) has to open it first.
    """
    place = Path(path)
    for folder in (*reversed(place.parents), place):
        facts = folder.stat()
        needed = 0o100 if facts.st_uid == uid else 0o001
        if folder.is_dir() and not facts.st_mode & needed:
            return str(folder)
    return None


@lru_cache
def _configured(python: str) -> Interpreter:
    # Of a name, the first on PATH that works: shims of pyenv come first and may be dead.
    given = expanded(python)
    folders = [Path()] if os.sep in python else map(Path, os.get_exec_path())
    why = "there is no such program"
    for path in (folder.absolute() / given for folder in folders):
        try:
            if os.access(path, os.X_OK):
                return interpreter(ask(str(path)))
        except ValueError as error:
            why = str(error)
    raise ConfigurationError(
        Problem(
            "sandbox.python",
            f"sandbox.python is '{python}', which will not do on {_here()}: {why}",
            setting="sandbox.python",
            given=python,
            fix="Give the path or the name of a Python 3.11 or newer (3.12 is the methodology's) "
            "that runs with an empty environment, or leave it out",
        )
    )


@lru_cache
def _found(user: int | None) -> Interpreter:
    for candidate in _candidates():
        try:
            found = interpreter(_asked(candidate))
        except SilentError as error:  # scores by another version would go by as the methodology's
            raise RunFailed(
                Problem(
                    "sandbox.python",
                    f"{candidate} on {_here()} is the methodology's Python and could not be asked "
                    f"what it is: {error}",
                    setting="sandbox.python",
                    fix="Try again when the machine has less to do, or name another with "
                    "sandbox.python=/path",
                )
            ) from error
        except ValueError:
            continue  # a dead shim, half an installation: the next one
        if found.standard and found.implementation == "CPython" and _reaches(user, found):
            return found
    if user is not None:
        for candidate in (_own(), *_OF_THE_SYSTEM):
            with suppress(ValueError):
                if _reaches(user, found := interpreter(ask(candidate))):
                    return found
    try:
        return interpreter(ask(_own()))
    except ValueError as error:
        raise RunFailed(
            Problem(
                "sandbox.python",
                f"no Python on {_here()} can run untrusted code: there is no 3.12, and {_own()} "
                f"will not do with an empty environment: {error}",
                setting="sandbox.python",
                fix="Name one with sandbox.python=/path",
            )
        ) from error


def _asked(python: str) -> dict[str, Any]:
    """Ask a Python what it is, again where it could not be asked."""
    for _ in range(_TRIES - 1):
        with suppress(SilentError):
            return ask(python)
    return ask(python)


def _reaches(user: int | None, found: Interpreter) -> bool:
    """Tell whether a user, if there is one, gets to a Python and what it needs."""
    return user is None or not any(barred(path, user) for path in (found.path, *found.binds))


def _candidates() -> Iterator[str]:
    """Yield what may be a Python of the methodology's version, the likeliest first."""
    seen = set()
    if sys.version_info[:2] == STANDARD:
        yield _own()
    on_path = (Path(folder) / "python3.12" for folder in os.get_exec_path())
    for path in map(str, (*on_path, *_off_path())):
        if path not in seen and os.access(path, os.X_OK):
            seen.add(path)
            yield path


def _own() -> str:
    """Return the Python that runs this, without its virtual environment."""
    return os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)


def _off_path() -> Iterator[Path]:
    """Yield Pythons that need not be on PATH: the system's, an image's, pyenv's and uv's."""
    home = Path(os.environ.get("HOME") or "/")
    pyenv = Path(os.environ.get("PYENV_ROOT") or home / ".pyenv")
    data = Path(os.environ.get("XDG_DATA_HOME") or home / ".local/share")
    for folder, pattern in (
        (Path("/usr/local"), "bin/python3.12"),
        (Path("/usr"), "bin/python3.12"),
        (Path("/opt"), "python*/bin/python3.12"),
        (Path("/opt"), "python*/*/bin/python3.12"),
        (pyenv, "versions/3.12*/bin/python3.12"),
        (data, "uv/python/cpython-3.12*/bin/python3.12"),
    ):
        with suppress(OSError):  # a folder that is closed to us
            yield from sorted(folder.glob(pattern), key=_newest)


def _newest(path: Path) -> tuple[int, ...]:
    return tuple(-int(number) for number in re.findall("[0-9]+", str(path)))


def _release(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:2])


def _here() -> str:
    return f"this machine ({os.uname().nodename})"

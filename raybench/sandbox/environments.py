"""The `scientific` profile's libraries: an environment of their own, apart from ours.

It is made once from the pinned list, in the user's cache, for each Python that it is asked for:
at first use, or by `python -m raybench.sandbox`, which `make setup` runs.
"""

import hashlib
import importlib.util
import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from raybench.errors import ConfigurationError, Problem, RaybenchError, RunFailed
from raybench.paths import expanded
from raybench.sandbox import recipes
from raybench.sandbox.interpreters import (
    Interpreter,
    ask,
    barred,
    beyond_system,
    chosen,
    interpreter,
    reason,
)
from raybench.sigterm import unblocked

LIBRARIES = ("numpy", "scipy", "sympy", "h5py", "matplotlib")
"""What the profile promises; the rest is there because these need it."""
MODULES = (
    "numpy",
    "scipy.constants",
    "scipy.fft",
    "scipy.integrate",
    "scipy.interpolate",
    "scipy.io",
    "scipy.linalg",
    "scipy.ndimage",
    "scipy.optimize",
    "scipy.signal",
    "scipy.sparse.linalg",
    "scipy.spatial",
    "scipy.special",
    "scipy.stats",
    "sympy",
    "h5py",
    "matplotlib.pyplot",
    "mpl_toolkits.mplot3d",
)
"""What is worth importing before programs are forked off: what SciCode's solutions import, and what
takes long."""
_ONE_THREAD = dict.fromkeys(
    (
        "OPENBLAS_NUM_THREADS",
        "OMP_NUM_THREADS",
        "MKL_NUM_THREADS",
        "BLIS_NUM_THREADS",
        "NUMEXPR_NUM_THREADS",
    ),
    "1",
)
"""A process with threads must not fork; BLAS starts some as soon as it is loaded."""
_RECIPE = 1
"""Changed when environments made by an older raybench will not do any more."""
_STAMP = "raybench-stamp.json"
_FOR_ALL, _ANYBODY = Path("/var/cache/raybench"), 65534
_INSTALL_S = 1800
_STEP_S = 300
_MEND = (
    "Run `python -m raybench.sandbox` where the package index can be reached (the "
    "user's cache may be on a shared disk), give pip another one (PIP_INDEX_URL, PIP_FIND_LINKS), "
    "or name a Python that has these versions already with sandbox.scientific_python=/path"
)


@dataclass(frozen=True)
class Environment:
    """A Python with the libraries of the `scientific` profile."""

    python: str
    """The executable that finds them."""
    interpreter: Interpreter
    packages: Mapping[str, str]
    """Versions of `LIBRARIES`."""
    binds: tuple[str, ...]
    """Files and folders that it cannot run without beyond those of the system, its Python's too."""
    site: tuple[str, ...]
    """Where its packages lie."""
    variables: Mapping[str, str]
    """What its environment has to say before the libraries are imported."""

    def versions(self) -> dict[str, str]:
        """Return what results say of it."""
        return {"python": self.interpreter.version, **self.packages}


def scientific(base: Interpreter, python: str | None = None) -> Environment:
    """Return the environment, preparing it first where that is still to be done.

    With `python`, the configured one, nothing is prepared: its versions have to be right already.
    """
    return _configured(python) if python is not None else _prepared(base)


def ready(base: Interpreter) -> bool:
    """Tell whether the environment for a Python has been prepared."""
    text = recipes.scientific_list().read_text(encoding="utf-8")
    return _stamped(_place(base, text), _made_from(base, text)) is not None


@lru_cache
def _configured(python: str) -> Environment:
    where = str(Path(shutil.which(expanded(python)) or python).absolute())
    wanted = recipes.pins(recipes.scientific_list().read_text(encoding="utf-8"))
    fonts = _cache() / f"matplotlib-{hashlib.sha256(where.encode()).hexdigest()[:12]}"
    try:
        found = interpreter(ask(where))
        versions = ask(where, distributions=LIBRARIES)["versions"]
        if differing := [it for it in LIBRARIES if versions[it] != wanted[it]]:
            raise ValueError(
                ", ".join(
                    f"it has {it} {versions[it]}" if versions[it] else f"it has no {it}"
                    for it in differing
                )
            )
        facts = _libraries(where, fonts)
    except ValueError as error:
        raise ConfigurationError(
            Problem(
                "sandbox.python",
                f"sandbox.scientific_python is '{python}', which will not do on this machine "
                f"({platform.node()}): {error}",
                setting="sandbox.scientific_python",
                given=python,
                fix=f"Give a Python that has {_named(wanted)}, or leave it out, and an "
                "environment with these is made",
            )
        ) from error
    own = [where, f"{facts['prefix']}/pyvenv.cfg", *facts["site"], str(fonts)]
    return _environment(where, found, facts, [path for path in own if Path(path).exists()], fonts)


@lru_cache
def _prepared(base: Interpreter) -> Environment:
    text = recipes.scientific_list().read_text(encoding="utf-8")
    made_from = _made_from(base, text)
    folder = _place(base, text)
    facts = _stamped(folder, made_from)
    if facts is None:
        facts = _make_alone(folder, base, made_from)
    return _environment(str(_python(folder)), base, facts, [str(folder)], folder / "matplotlib")


def _environment(
    python: str, base: Interpreter, facts: Mapping[str, Any], own: Sequence[str], fonts: Path
) -> Environment:
    return Environment(
        python=python,
        interpreter=base,
        packages=facts["versions"],
        binds=beyond_system((*base.binds, *facts["libraries"], *own)),
        site=tuple(facts["site"]),
        variables=_variables(fonts),
    )


def _libraries(python: str, fonts: Path) -> dict[str, Any]:
    """Import the libraries as the sandbox will; matplotlib leaves its list of fonts behind.

    ValueError says why the sandbox cannot fork programs off what comes of it.
    """
    facts = ask(python, modules=MODULES, distributions=LIBRARIES, variables=_variables(fonts))
    for name, why in facts["broken"].items():
        raise ValueError(f"{name} cannot be imported ({why})")
    if facts["threads"] > 1:
        raise ValueError(f"its libraries start {facts['threads'] - 1} threads when imported")
    return facts


def _variables(fonts: Path) -> dict[str, str]:
    return {**_ONE_THREAD, "MPLBACKEND": "Agg", "MPLCONFIGDIR": str(fonts)}


# --------------------------------------------------------------------------- preparing


def _cache() -> Path:
    """Return where environments lie: the user's cache, or where whom root becomes gets to."""
    if named := os.environ.get("XDG_CACHE_HOME"):
        return Path(named) / "raybench"
    home = Path.home()
    if os.getuid() == 0 and home.is_dir() and barred(str(home), _ANYBODY):
        return _FOR_ALL
    return home / ".cache" / "raybench"


def _made_from(base: Interpreter, text: str) -> dict[str, Any]:
    return {
        "recipe": _RECIPE,
        "python": [base.path, base.version, base.implementation],
        "machine": platform.machine(),
        "list": hashlib.sha256(text.encode()).hexdigest(),
    }


def _place(base: Interpreter, text: str) -> Path:
    """Return the folder for a Python: nodes that share a home may have different ones."""
    digest = hashlib.sha256(json.dumps(_made_from(base, text)).encode()).hexdigest()[:12]
    return _cache() / f"scientific-{base.version}-{digest}"


def _python(folder: Path) -> Path:
    return folder / "bin" / "python"


def _stamped(folder: Path, made_from: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the facts of a whole environment, None of what a killed preparation left."""
    try:
        stamp = json.loads((folder / _STAMP).read_bytes())
        made, facts = stamp["made_from"], stamp["facts"]
    except (OSError, ValueError, LookupError, TypeError):
        return None
    return facts if made == made_from and _python(folder).exists() else None


def _make_alone(folder: Path, base: Interpreter, made_from: Mapping[str, Any]) -> dict[str, Any]:
    """Make the environment, or wait for the process that is at it already."""
    from filelock import FileLock, Timeout

    lock = folder.with_name(f".{folder.name}.lock")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(lock, timeout=_INSTALL_S + 3 * _STEP_S):
            facts = _stamped(folder, made_from)
            if facts is None:
                shutil.rmtree(folder, ignore_errors=True)
                facts = _make(folder, base)
                stamp = {"made_from": made_from, "facts": facts}
                (folder / _STAMP).write_text(json.dumps(stamp, indent=1), encoding="utf-8")
            return facts
    except Timeout as error:
        raise RunFailed(
            Problem(
                "sandbox.python",
                f"the scientific environment in {folder} is being prepared by another process, "
                f"which has not ended within {_INSTALL_S + 3 * _STEP_S:g} s",
                setting="sandbox.scientific_python",
                fix=f"look at who holds {lock}",
            )
        ) from error
    except OSError as error:
        raise _failed(folder, f"{error.strerror or error}") from error


def _make(folder: Path, base: Interpreter) -> dict[str, Any]:
    """Make the environment in its final place, and return the facts of it."""
    # Without pip: it is not for programs, and some systems' Pythons have none to give.
    _step(folder, [base.path, "-I", "-m", "venv", "--without-pip", str(folder)])
    install = ("install", "--no-input", "--no-deps", "--no-compile", "--only-binary=:all:")
    # Only wheels: nobody's setup.py runs outside the sandbox.
    listed = ("--requirement", str(recipes.scientific_list()))
    _step(folder, [*_pip(folder), *install, *listed], deadline_s=_INSTALL_S)
    # By all cores, where pip would use one.
    _step(folder, [str(_python(folder)), "-I", "-m", "compileall", "-qq", "-j0", f"{folder}/lib"])
    try:
        return _libraries(str(_python(folder)), folder / "matplotlib")
    except ValueError as error:
        raise _failed(folder, str(error)) from error


def _pip(folder: Path) -> list[str]:
    """Return how to call a pip that installs into the environment."""
    if importlib.util.find_spec("pip"):
        return [sys.executable, "-P", "-m", "pip", "--python", str(_python(folder))]
    _step(folder, [str(_python(folder)), "-I", "-m", "ensurepip"])
    return [str(_python(folder)), "-I", "-m", "pip"]


def _step(folder: Path, command: list[str], deadline_s: float = _STEP_S) -> None:
    # What PYTHONPATH offers would count as installed. The sandbox reads as another user.
    kept = {name: it for name, it in os.environ.items() if not name.startswith("PYTHON")}
    try:
        with unblocked():
            done = subprocess.run(
                command,
                env=kept,
                umask=0o022,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=deadline_s,
                check=False,
            )
    except subprocess.TimeoutExpired as error:
        raise _failed(
            folder, f"`{' '.join(command)}` had not ended after {deadline_s:g} s"
        ) from error
    if done.returncode:
        said = [it for it in done.stderr.splitlines() if it.startswith("ERROR:")]
        raise _failed(folder, " ".join(said[-2:]) or reason(done))


def _failed(folder: Path, why: str) -> RunFailed:
    wanted = recipes.pins(recipes.scientific_list().read_text(encoding="utf-8"))
    return RunFailed(
        Problem(
            "sandbox.python",
            f"the scientific environment ({_named(wanted)}) could not be prepared in {folder}: "
            f"{why}",
            setting="sandbox.scientific_python",
            fix=_MEND,
        )
    )


def _named(wanted: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {wanted[name]}" for name in LIBRARIES)


def main() -> None:
    """Prepare the environment of the Python that programs run in, if that is still to be done."""
    try:
        found = chosen()
        if not ready(found):
            print(f"scientific environment for Python {found.version} ({found.path})", flush=True)
        scientific(found)
    except RaybenchError as error:
        sys.exit(f"raybench: {error}")

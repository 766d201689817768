"""A roster that is named by its file: roster=PATH.yaml.

Hydra finds rosters by name in a folder called roster. The file is copied into such a folder, which
lasts as long as the process.
"""

import atexit
import hashlib
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from tempfile import mkdtemp

import yaml

from raybench.errors import Code, ConfigurationError, Problem
from raybench.paths import expanded
from raybench.reading import from_yaml

SEARCHED = "hydra.searchpath="
"""The setting by which Hydra looks into further folders."""
SETTING = "roster="
_ENDINGS = (".yaml", ".yml")
_DIGITS = 8
_PREFIX = "raybench-roster-"
_GIVEN: dict[str, str] = {}
"""The files by the names that stand for them."""


def taken(arguments: Sequence[str]) -> list[str]:
    """Return the arguments with the file of a roster as a name, and where Hydra finds that."""
    given = [it for it in arguments if it.startswith(SETTING)]
    if len(given) > 1:
        raise ConfigurationError(
            Problem(
                "setting.duplicate",
                f"the roster is given {len(given)} times: {', '.join(given)}",
                setting="roster",
                given=given,
                fix="give one. --multirun roster=A,B runs each",
            )
        )
    found = list[str]()
    for argument in arguments:
        path = argument.removeprefix(SETTING)
        if argument.startswith(SETTING) and path.endswith(_ENDINGS):
            folder, name = _copied(path)
            _GIVEN[name] = path
            found += [f"{SETTING}{name}", searched([folder])]
        else:
            found.append(argument)
    return found


def searched(folders: Sequence[Path], *others: str) -> str:
    """Return the setting by which Hydra looks into folders, and into those of other settings."""
    listed = [f"file://{folder.absolute()}" for folder in folders]
    listed += [other.removeprefix(SEARCHED).strip("[]") for other in others]
    return f"{SEARCHED}[{','.join(listed)}]"


def as_given(argument: str) -> str:
    """Return an argument as it was given: with the file, where a name stands for one."""
    path = _GIVEN.get(argument.removeprefix(SETTING)) if argument.startswith(SETTING) else None
    return argument if path is None else f"{SETTING}{path}"


def is_copy(folder: str) -> bool:
    """Tell whether a folder holds a copy of a roster's file."""
    return Path(folder).name.startswith(_PREFIX)


def _copied(path: str) -> tuple[Path, str]:
    """Copy a roster into a folder where Hydra finds it; return that folder and the name."""
    roster = _read(path)
    stem = re.sub(r"\W+", "_", expanded(path).stem)
    text = yaml.safe_dump({"name": stem, **roster}, allow_unicode=True, sort_keys=False)
    # Rosters that come with raybench have settings of their own by name (conf/index_for): this one
    # has another name.
    name = f"{stem}_{hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]}"
    folder = Path(mkdtemp(prefix=_PREFIX))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    (folder / "roster").mkdir()
    (folder / "roster" / f"{name}.yaml").write_text(text, encoding="utf-8")
    return folder, name


def _read(path: str) -> dict[str, object]:
    try:
        roster = from_yaml(expanded(path).read_bytes())
    except FileNotFoundError:
        raise _refused(path, "file.missing", "there is no such file") from None
    except OSError as error:
        raise _refused(path, "file.unreadable", f"it cannot be read ({error.strerror})") from error
    except ValueError as error:
        raise _refused(path, "file.format", f"it is not YAML: {error}") from error
    if not isinstance(roster, dict):
        raise _refused(path, "file.format", "it holds no roster")
    return roster


def _refused(path: str, code: Code, why: str) -> ConfigurationError:
    return ConfigurationError(
        Problem(
            code,
            f"roster={path}: {why}",
            setting="roster",
            given=path,
            fix="Give a YAML file with 'name: …' and 'models:', a list, as conf/roster/small.yaml "
            "has them, or the name of a roster that comes with raybench",
        )
    )

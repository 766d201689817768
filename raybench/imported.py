"""What somebody wrote themselves, by its import path: code that they trust."""

import hashlib
import importlib
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from raybench.errors import ConfigurationError, Problem


def named(path: str, what: str) -> Any:
    """Return what 'module:name' names. Raises ConfigurationError where that cannot be had."""
    module, _, name = path.partition(":")
    if (here := str(Path.cwd())) not in sys.path:  # an installed command does not look here
        sys.path.append(here)
    try:
        return getattr(importlib.import_module(module), name)
    except Exception as error:  # whatever somebody's module may raise
        raise _not_had(path, what, error) from error


def imported(path: str, what: str, options: Mapping[str, Any] = {}) -> Any:
    """Return what 'module:name' names; of a class, one that is made with these options.

    Raises ConfigurationError where that cannot be had.
    """
    found = named(path, what)
    try:
        return found(**options) if isinstance(found, type) or options else found
    except Exception as error:
        raise _not_had(path, what, error) from error


def source_digest(path: str) -> str:
    """Return what tells the code of 'module:name' from another: of its whole file."""
    module = importlib.import_module(path.partition(":")[0])
    file = getattr(module, "__file__", None)
    return hashlib.sha256(Path(file).read_bytes()).hexdigest() if file else ""


def _not_had(path: str, what: str, error: Exception) -> ConfigurationError:
    return ConfigurationError(
        Problem(
            "extension.import",
            f"the {what} '{path}' cannot be had ({type(error).__name__}: {error})",
            given=path,
            fix="give MODULE:NAME, where NAME is a class with the options for arguments, and the "
            "module can be imported where raybench is started",
        )
    )

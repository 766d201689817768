"""Runs in a store, for those who only read them: they are fetched into the user's cache."""

import hashlib
import os
import shutil
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import unquote, urlsplit, urlunsplit

from raybench.config import storage as rules
from raybench.errors import ConfigurationError, Problem, RunFailed
from raybench.pipeline.storage.hold import ApartError
from raybench.pipeline.storage.patience import AwayError, reason
from raybench.pipeline.storage.storage import Storage

_PATIENCE_S = 10.0
_SPELLING = ". See that it is spelt as `storage` was, and that the store's credentials are set"


def fetched(uri: str, patience_s: float = _PATIENCE_S) -> Path | None:
    """Return where a run's copy lies here, as new as the store's; None where there is no run.

    Raises ConfigurationError where the store cannot be asked.
    """
    if wrong := next(rules.problems(uri, 0), None):
        message = wrong.message.replace("storage", "the run's address", 1)
        raise ConfigurationError(replace(wrong, message=message, setting=None))
    parts = urlsplit(uri)
    above, experiment, run = f"//{parts.path.strip('/')}".rsplit("/", 2)
    path = f"/{above.strip('/')}" if above.strip("/") or parts.scheme == "file" else ""
    try:
        base = urlunsplit(parts._replace(path=path))
        found = Storage.at(base, patience_s, lambda _: None)
        named = f"{unquote(experiment)}/{unquote(run)}"
        if not experiment or ".." in named.split("/") or not found.has(named):
            return None
        folder = _cache() / hashlib.sha256(base.encode()).hexdigest()[:16] / named
        try:
            found.fetch(named, folder, unfinished=True)
        except ApartError:  # the run went on in another way since it was last fetched
            with TemporaryDirectory(dir=folder.parent, prefix=".") as aside:
                found.fetch(named, Path(aside) / "run", unfinished=True)
                shutil.rmtree(folder)
                (Path(aside) / "run").rename(folder)
    except AwayError as error:
        raise _unread(uri, reason(error.__cause__ or error), _SPELLING) from error
    except (OSError, ValueError) as error:
        raise _unread(uri, reason(error), _SPELLING) from error
    except RunFailed as error:
        raise _unread(uri, str(error)) from error
    return folder


def _unread(uri: str, why: str, mend: str = "") -> ConfigurationError:
    return ConfigurationError(
        Problem("storage.unreachable", f"{uri.partition('?')[0]} cannot be read: {why}{mend}")
    )


def _cache() -> Path:
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return home / "raybench" / "runs"

"""Runs in a store, for those who only read them: they are fetched into the user's cache."""

import hashlib
import os
import shutil
from pathlib import Path
from urllib.parse import unquote, urlsplit, urlunsplit

from raybench.config import storage as rules
from raybench.errors import ConfigurationError, RunFailed
from raybench.pipeline.storage.patience import reason
from raybench.pipeline.storage.storage import Storage

_PATIENCE_S = 10.0


def fetched(uri: str) -> Path | None:
    """Return where a run's copy lies here, as new as the store's; None where there is no run.

    Raises ConfigurationError where the store cannot be asked.
    """
    if wrong := next(rules.problems(uri, 0), None):
        raise ConfigurationError(wrong.replace("storage", "the run's address", 1))
    parts = urlsplit(uri)
    above, experiment, run = f"//{parts.path.strip('/')}".rsplit("/", 2)
    path = f"/{above.strip('/')}" if above.strip("/") or parts.scheme == "file" else ""
    try:
        base = urlunsplit(parts._replace(path=path))
        found = Storage.at(base, _PATIENCE_S, lambda _: None)
        named = f"{unquote(experiment)}/{unquote(run)}"
        if not experiment or not found.has(named):
            return None
        folder = _cache() / hashlib.sha256(base.encode()).hexdigest()[:16] / named
        try:
            found.fetch(named, folder, unfinished=True)
        except RunFailed:  # the run went on in another way since it was last fetched
            shutil.rmtree(folder, ignore_errors=True)
            found.fetch(named, folder, unfinished=True)
    except (OSError, ValueError) as error:
        raise ConfigurationError(
            f"{uri.partition('?')[0]} cannot be read: {reason(error)}. See that it is spelt as "
            "`storage` was, and that the store's credentials are set"
        ) from error
    return folder


def _cache() -> Path:
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return home / "raybench" / "runs"

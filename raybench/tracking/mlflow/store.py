"""Opens MLflow's store: quietly, impatiently, and with one process at a time setting it up."""

import logging
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from raybench.tracking.uri import sqlite_path

_LOCK_SECONDS = 120.0
_MAKE_STORE = """
import signal, sys
for each in signal.SIGINT, signal.SIGTERM:
    signal.signal(each, signal.SIG_IGN)
import mlflow
mlflow.MlflowClient(sys.argv[1]).search_experiments(max_results=1)
"""


def client(uri: str) -> Any:
    """Return a client of its own: nothing of MLflow's global state is read or changed."""
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    # It would print a link for each model on stdout, where the leaderboard goes.
    os.environ.setdefault("MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT", "true")
    # And bars of what it fetches on stderr.
    os.environ.setdefault("MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR", "false")
    # MLflow's own patience (seven retries, two minutes each) would hold a run up for minutes.
    os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "2")
    os.environ.setdefault("MLFLOW_HTTP_REQUEST_TIMEOUT", "20")
    path = sqlite_path(uri)
    with _lock(path):
        from mlflow import MlflowClient

        # What goes wrong reaches the person through `warn`; the rest would tear the progress line.
        for name in ("mlflow", "alembic", "sqlalchemy.engine", "urllib3.connectionpool"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        if path and not (path.exists() and path.stat().st_size):
            _create(path)
        opened = MlflowClient(tracking_uri=uri)
        opened.search_experiments(max_results=1)  # moves an older store on, while we hold the lock
        return opened


def is_down(error: Exception) -> bool:
    """Tell whether the store fails whatever it is asked: it is not reached, or cannot be opened."""
    from requests.exceptions import RetryError

    for each in _chain(error):
        if isinstance(each, OSError):  # those of the network among them
            return not isinstance(each, RetryError)  # it answered, though with an error
        named = {kind.__name__ for kind in type(each).__mro__}  # as every driver names it (PEP 249)
        if "OperationalError" in named or type(each) is sqlite3.DatabaseError:
            return True
    return isinstance(error, subprocess.SubprocessError)  # it could not be set up


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def _lock(path: Path | None) -> AbstractContextManager[Any]:
    """Let one process at a time set up a SQLite store: several at once broke one for good."""
    if path is None:
        return nullcontext()
    from filelock import FileLock

    path.parent.mkdir(parents=True, exist_ok=True)
    return FileLock(f"{path}.lock", timeout=_LOCK_SECONDS)


def _create(path: Path) -> None:
    """Make the store aside and put it in place whole: MLflow cannot go on from a half-made one.

    In a process of its own, because SQLAlchemy keeps its hold on the file by the name it opened.
    Under a name of its own, because that process outlives us where we are killed, and writes on.
    It ignores Ctrl-C and SIGTERM, which may reach the whole group: we still wait for the store.
    """
    for left in path.parent.glob(f".{path.name}.*.new"):
        left.unlink(missing_ok=True)
    aside = path.with_name(f".{path.name}.{os.getpid()}.new")
    subprocess.run(
        [sys.executable, "-c", _MAKE_STORE, f"sqlite:///{aside.absolute()}"],
        start_new_session=True,
        cwd=path.parent,
        capture_output=True,
        timeout=_LOCK_SECONDS,
        check=True,
    )
    aside.replace(path)

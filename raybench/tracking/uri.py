"""Tracking URIs: which can work, known before anything starts and without importing MLflow."""

import importlib.util
import os
import re
import shlex
import shutil
import socket
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from urllib.parse import unquote, urlsplit

from raybench import paths
from raybench.errors import ConfigurationError, Problem

_SQLITE = "sqlite:///"
_MEND = "Set tracking.uri to sqlite:///path/to/mlflow.db or to a server such as http://host:5000."
_PROBE_SECONDS = 5.0
MASK = "***"
"""Stands for what nobody is to read."""
_HARMLESS = ("charset", "connect_timeout", "driver", "mode", "sslmode", "timeout", "user")
_SECRETS = re.compile(
    rf"(?P<name>[?&](?!(?:{'|'.join(_HARMLESS)})=)[^&#=]+=)(?P<secret>[^&#]+)", re.IGNORECASE
)
"""What a query holds: who gives a password or a key there calls it as the server does."""
_DATABASES: dict[str, tuple[str, int]] = {  # the module that talks to it, and its usual port
    "postgresql": ("psycopg", 5432),  # postgresql+psycopg2:// names another one
    "mysql": ("MySQLdb", 3306),
    "mssql": ("pyodbc", 1433),
}


def check_uri(uri: str) -> None:
    """Raise ConfigurationError for a URI that MLflow cannot use; touch neither network nor disk."""
    scheme = uri.partition("://")[0] if "://" in uri else uri.partition(":")[0]
    dialect, _, driver = scheme.partition("+")
    if scheme == "sqlite":
        _check_sqlite(uri)
    elif scheme in ("http", "https"):
        _check_http(uri)
    elif dialect in _DATABASES and "://" in uri:
        _check_driver(uri, driver or _DATABASES[dialect][0])
    elif uri == "databricks" or uri.startswith(("databricks://", "databricks-")):
        return
    elif scheme == "file" or "://" not in uri:
        raise _refused(uri, *_no_scheme(uri))
    else:
        hint = "Write postgresql://…" if scheme == "postgres" else _MEND
        raise _refused(uri, f"MLflow knows no '{scheme}' store", hint)


def sqlite_path(uri: str) -> Path | None:
    """Return the absolute path of a SQLite URI's database, or None for any other store."""
    if not uri.startswith(_SQLITE):
        return None
    return Path(uri.removeprefix(_SQLITE).partition("?")[0]).absolute()


def absolute(uri: str) -> str:
    """Return the URI with a SQLite path made absolute, so that it outlives a change of folder."""
    path = sqlite_path(uri)
    if path is None:
        return uri
    _, mark, query = uri.partition("?")
    return f"{_SQLITE}{path}{mark}{query}"


def redacted(uri: str) -> str:
    """Return the URI with its password masked, fit for a terminal, a log or a report."""
    head, sep, rest = uri.partition("://")
    login, at, place = rest.rpartition("@")
    user, colon, _ = login.partition(":")
    if at and colon:
        rest = f"{user}:{MASK}@{place}"
    elif at and head in ("http", "https"):  # a login of one word is a token
        rest = f"{MASK}@{place}"
    return _SECRETS.sub(rf"\g<name>{MASK}", f"{head}{sep}{rest}")


def masked(text: str, uri: str) -> str:
    """Return a message about the URI without the URI's password."""
    parts = urlsplit(uri)
    found = {parts.password, *(each["secret"] for each in _SECRETS.finditer(uri))}
    if parts.scheme in ("http", "https") and not parts.password:
        found.add(parts.username)
    known = set(filter(None, found))
    # Who reports a failure may have decoded the address.
    for secret in sorted({*known, *map(unquote, known)}, key=len, reverse=True):
        text = text.replace(secret, MASK)
    return text


def probe(uri: str) -> None:
    """Raise unless the store answers within some seconds.

    MLflow would try for minutes to reach a server or to open a file that is not there.
    """
    path = sqlite_path(uri)
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Only one that is there: to open one that is not would make it, empty.
        # Patient while a neighbour sets the store up; what cannot be opened fails at once.
        if path.exists():
            with closing(sqlite3.connect(path, timeout=60.0)) as database:
                database.execute("PRAGMA schema_version")
    scheme = urlsplit(uri).scheme
    dialect = scheme.partition("+")[0]
    if scheme in ("http", "https"):
        _probe_http(uri)
    elif dialect in _DATABASES:
        parts = urlsplit(uri)
        if parts.hostname:  # without a host the driver uses a socket of this machine
            port = parts.port or _DATABASES[dialect][1]
            socket.create_connection((parts.hostname, port), _PROBE_SECONDS).close()


def ui_command(uri: str) -> str:
    """Return what shows the runs: a command for a database, the address itself for a server."""
    if urlsplit(uri).scheme in ("http", "https"):
        return redacted(uri)
    if uri.startswith("databricks"):
        return "the Experiments page of the Databricks workspace"
    path = sqlite_path(uri)
    store = redacted(uri) if path is None else f"{_SQLITE}{_short(path)}"
    return f"{_mlflow_program()} ui --backend-store-uri {shlex.quote(store)}"


def _refused(uri: str, what: str, mend: str) -> ConfigurationError:
    return ConfigurationError(
        Problem(
            "tracking.store",
            f"tracking.uri: '{redacted(uri)}': {what}",
            setting="tracking.uri",
            fix=mend,
        )
    )


def _no_scheme(uri: str) -> tuple[str, str]:
    host, _, port = uri.partition(":")
    if host and port.partition("/")[0].isdigit():
        return "this names a server without saying how to talk to it", f"Write http://{uri}"
    path = uri.removeprefix("file:").removeprefix("//") or "."
    kind = "a file store, which MLflow 3 refuses"
    if path.endswith((".db", ".sqlite", ".sqlite3")):
        return kind, f"Write {_SQLITE}{path}"
    return kind, f"Write {_SQLITE}{path.rstrip('/')}/mlflow.db"


def _check_http(uri: str) -> None:
    try:
        parts = urlsplit(uri)
        usable = bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is no number, or brackets that do not close
        usable = False
    if not usable or any(c.isspace() for c in uri):
        raise _refused(uri, "no host and port can be read from it", "Write http://host:5000")


def _check_driver(uri: str, module: str) -> None:
    if importlib.util.find_spec(module) is None:
        what = f"its driver, the Python module '{module}', is not installed"
        raise _refused(uri, what, f"Install it beside raybench, or use another store. {_MEND}")


def _check_sqlite(uri: str) -> None:
    if not uri.startswith(_SQLITE):
        place = uri.removeprefix("sqlite:").lstrip("/") or "mlflow.db"
        raise _refused(uri, "a SQLite address has three slashes", f"Write {_SQLITE}{place}")
    name = uri.removeprefix(_SQLITE).partition("?")[0]
    if name in ("", ":memory:"):
        what = "a database in memory is gone when the run ends"
        raise _refused(uri, what, f"Write {_SQLITE}mlflow.db")
    if "%" in name:
        raise _refused(uri, "MLflow's parts disagree on what '%' means in a path", _MEND)
    if name.startswith("~"):
        path = paths.expanded(name)
        mend = f"Write {_SQLITE}{path}" if path.is_absolute() else _MEND
        raise _refused(uri, "SQLite takes '~' for the name of a folder", mend)
    path = Path(name).absolute()
    if paths.exists(path):
        _check_database(uri, path)
    home = paths.nearest(path)
    if not paths.is_folder(home):
        raise _refused(uri, f"{home} is not a folder", _MEND)
    if not os.access(home, os.W_OK | os.X_OK):
        what = f"the folder {home} cannot be written to"
        raise _refused(uri, what, f"Make it writable or choose another place. {_MEND}")


def _check_database(uri: str, path: Path) -> None:
    if path.is_dir():
        raise _refused(uri, f"{path} is a folder", f"Write {_SQLITE}{path}/mlflow.db")
    if not os.access(path, os.R_OK | os.W_OK):
        raise _refused(uri, f"the file {path} cannot be read and written", _MEND)
    with path.open("rb") as file:
        head = file.read(16)
    if head and head != b"SQLite format 3\x00":
        raise _refused(uri, f"the file {path} is no SQLite database", _MEND)


def _probe_http(uri: str) -> None:
    import httpx

    parts = urlsplit(uri)
    # Whatever answers is alive, a login page too: no password goes out, no certificate counts.
    bare = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
    try:
        httpx.get(f"{bare.rstrip('/')}/health", timeout=_PROBE_SECONDS, verify=False)
    except httpx.HTTPError as error:
        raise OSError(str(error) or type(error).__name__) from error


def _short(path: Path) -> str:
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def _mlflow_program() -> str:
    """Return `mlflow`, or the path of this environment's own when that one is not on the PATH."""
    beside = Path(sys.executable).parent / "mlflow"
    found = shutil.which("mlflow")
    if not beside.exists() or (found and Path(found).resolve() == beside.resolve()):
        return "mlflow"
    return shlex.quote(_short(beside))

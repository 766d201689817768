"""Responses of earlier runs, by what was asked of whom: the same is not generated twice.

One SQLite file in the user's cache. Only the machine that a run was started on opens it.
"""

import hashlib
import json
import os
import sqlite3
import zlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

from raybench.errors import Problem, RunFailed
from raybench.fleet import embedded
from raybench.paths import expanded
from raybench.types import Finish, ModelSpec, Request

Response = dict[str, Any]
_WAIT_S = 60.0
_AT_ONCE = 500
"""SQLite takes a thousand variables in one statement, older ones at least."""


_KEPT = ("stop", "length", "thinking", "empty")
"""How replies ended that a later run may take: of themselves, or at a limit that is known."""


def default_path() -> Path:
    """Return where the user's responses are kept."""
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return home / "raybench" / "responses.db"


def lasting(finish: Finish) -> bool:
    """Tell whether a reply that ended so would come again."""
    return finish in _KEPT


def identity(model: ModelSpec, context: int | None = None) -> str | None:
    """Return what makes a model answer as it does; None where that may change unseen.

    Weights of the hub are known by their commit, those in a folder by their files' sizes and times.
    What an endpoint has behind a name only its user knows, and may say with a revision. `context`
    bounds all models' contexts.
    """
    weights: Any = model.weights
    if model.engine == "openai":
        if not model.revision:
            return None
    elif model.engine != "vllm":
        return None
    elif model.weights != embedded.NAME:
        folder = expanded(model.weights)
        if folder.is_dir():
            weights = _files(folder)
        elif len(model.revision or "") != 40:
            return None
    template = Path(str(model.options.get("chat_template", "")))
    about = [weights, model.revision, model.options, _text(template), model.reasoning, context]
    return hashlib.sha256(json.dumps(about, sort_keys=True, default=str).encode()).hexdigest()


def _files(folder: Path) -> list[Any]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    stats = ((path, path.stat()) for path in files)
    return [[str(path), stat.st_size, stat.st_mtime_ns] for path, stat in stats]


def _text(template: Path) -> str | None:
    """Return what a template's file says; None where the option is the template itself."""
    try:
        return template.read_text()
    except (OSError, ValueError):
        return None


def address(identity: str, request: Request, repeat: int) -> str:
    """Return where the response to a request is kept. All of its sampling must be filled in."""
    asked: list[Any] = [
        identity,
        [[message.role, message.content] for message in request.messages],
        request.max_tokens,
        request.temperature,
        request.top_p,
        # Greedy decoding draws nothing.
        request.seed if request.temperature else None,
        repeat,
    ]
    images = [message.images for message in request.messages]
    foreign = [message.foreign for message in request.messages]
    seldom = {
        "images": images if any(images) else None,
        "foreign": foreign if any(foreign) else None,
        "regex": request.regex,
        "json_schema": request.json_schema,
        "system_apart": request.system_apart or None,
    }
    # What most requests do not have changes no address where it is not there.
    if more := {name: value for name, value in seldom.items() if value is not None}:
        asked.append(more)
    return hashlib.sha256(json.dumps(asked).encode()).hexdigest()


class Responses:
    """The file of responses; it may be opened by many processes at once, and travels to them."""

    def __init__(self, path: Path, identities: Mapping[str, str] = MappingProxyType({})) -> None:
        self._path = path
        self._identities = dict(identities)

    @classmethod
    def of(cls, models: Iterable[ModelSpec], context: int | None = None) -> Self:
        """Return the user's file, for those of the models whose responses may come from it."""
        known = ((model.name, identity(model, context)) for model in models)
        return cls(default_path(), {name: found for name, found in known if found})

    def address(self, model: str, request: Request, repeat: int = 0) -> str | None:
        """Return where a model's response is kept; None where it may not come from here.

        All of the request's sampling must be filled in.
        """
        known = self._identities.get(model)
        return None if known is None else address(known, request, repeat)

    def prepare(self) -> None:
        """Make the file where there is none; raise RunFailed where that cannot be."""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with closing(self._open()) as store, store:
                store.execute("PRAGMA journal_mode = WAL")  # who reads does not wait for who writes
                store.execute(
                    "CREATE TABLE IF NOT EXISTS responses (address TEXT PRIMARY KEY, response BLOB)"
                    " WITHOUT ROWID"
                )
        except (OSError, sqlite3.Error) as error:
            raise RunFailed(
                Problem(
                    "file.unreadable",
                    f"the cache of responses {self._path} cannot be used ({error})",
                    setting="cache",
                    given=str(self._path),
                    fix="mend or delete it, or do without: cache=false",
                )
            ) from error

    def get(self, addresses: Sequence[str]) -> dict[str, Response]:
        """Return the responses that are there."""
        found: dict[str, Response] = {}
        if not addresses:
            return found
        with closing(self._open()) as store:
            for start in range(0, len(addresses), _AT_ONCE):
                some = addresses[start : start + _AT_ONCE]
                marks = ", ".join("?" * len(some))
                query = f"SELECT address, response FROM responses WHERE address IN ({marks})"
                for where, packed in store.execute(query, some):
                    found[where] = json.loads(zlib.decompress(packed))
        return found

    def put(self, responses: Mapping[str, Response]) -> None:
        """Keep responses; what is there stays as it is."""
        rows = [
            (where, zlib.compress(json.dumps(response).encode()))
            for where, response in responses.items()
        ]
        with closing(self._open()) as store, store:
            store.executemany("INSERT OR IGNORE INTO responses VALUES (?, ?)", rows)

    def _open(self) -> sqlite3.Connection:
        return sqlite3.connect(self._path, timeout=_WAIT_S)

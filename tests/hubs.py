"""Stand-ins for the Hugging Face hub: one without models, and one that hands out files."""

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

import huggingface_hub.constants
import huggingface_hub.utils._http
import pytest
from http_endpoint import Handler, HttpEndpoint


class Hub(HttpEndpoint):
    """Refuses org/gated, and does not know any other model."""

    def play(self, handler: Handler) -> None:
        gated = "/org/gated/" in handler.path
        code = "GatedRepo" if gated else "RepoNotFound"
        handler.send(403 if gated else 404, {"error": code}, **{"X-Error-Code": code})


class FileHub(HttpEndpoint):
    """Hands out the files of repositories; those of gated ones to nobody.

    Lists models with their sizes as the hub does. A file that is a number has that size, and cannot
    be fetched.
    """

    def __init__(self) -> None:
        super().__init__()
        self.files: dict[str, Mapping[str, bytes | int]] = {}
        """By repository, or by REPOSITORY@REVISION."""
        self.gated: set[str] = set()
        self.asked: list[str] = []
        self.down = False

    @property
    def address(self) -> str:
        """Return what HF_ENDPOINT is to be."""
        return self.url.removesuffix("/v1")

    def play(self, handler: Handler) -> None:
        path = unquote(urlsplit(handler.path).path).strip("/")
        self.asked.append(f"{handler.command} {path}")
        if self.down:
            return handler.send(503, {"error": "busy"})
        if path.startswith("api/models/"):
            return self._list(handler, *path.removeprefix("api/models/").split("/", 3))
        repository, _, place = path.removeprefix("datasets/").partition("/resolve/")
        revision, _, file = place.partition("/")
        if repository in self.gated:
            return handler.send(403, {"error": "gated"}, **{"X-Error-Code": "GatedRepo"})
        commit, files = self._find(repository, revision)
        if files is None:
            return _refuse(handler, "RepoNotFound")
        if not isinstance(content := files.get(file), bytes):
            return _refuse(handler, "EntryNotFound")
        headers = {"X-Repo-Commit": commit, "ETag": f'"{_mark(content)}"'}
        return handler.send(200, content, **headers)

    def _list(self, handler: Handler, owner: str, name: str, *place: str) -> None:
        repository, revision = f"{owner}/{name}", place[1] if len(place) > 1 else "main"
        commit, files = self._find(repository, revision)
        if files is None:
            known = any(it.partition("@")[0] == repository for it in self.files)
            return _refuse(handler, "RevisionNotFound" if known else "RepoNotFound")
        sizes = {file: it if isinstance(it, int) else len(it) for file, it in files.items()}
        if place[:1] == ("tree",):
            listed = [
                {"type": "file", "path": file, "size": size, "oid": _digest(file)}
                for file, size in sizes.items()
            ]
            return handler.send(200, listed)
        siblings = [{"rfilename": file, "size": size} for file, size in sizes.items()]
        return handler.send(200, {"id": repository, "sha": commit, "siblings": siblings})

    def commit(self, repository: str, revision: str = "main") -> str:
        """Return the commit of a revision, which changes with its files."""
        commit, _ = self._find(repository, revision)
        return commit

    def _find(self, repository: str, revision: str) -> tuple[str, Mapping[str, bytes | int] | None]:
        """Return a revision's commit and files; it may be given by its commit."""
        for name, files in self.files.items():
            own, _, branch = name.partition("@")
            marks = {file: it if isinstance(it, int) else _mark(it) for file, it in files.items()}
            commit = _digest(f"{name}{marks}")
            if own == repository and revision in (branch or "main", commit):
                return commit, files
        return "", None


@contextmanager
def file_hub(cache: Path) -> Iterator[FileHub]:
    """Yield a hub that this process uses, with a cache of its own."""
    with pytest.MonkeyPatch.context() as patched, FileHub() as hub:
        patched.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(cache))
        patched.setattr(huggingface_hub.constants, "HF_TOKEN_PATH", str(cache / "token"))
        patched.setattr(huggingface_hub.constants, "HF_HUB_DISABLE_XET", True)
        patched.delenv("HF_TOKEN", raising=False)
        # The library tries again for half a minute; no hub comes back here.
        patched.setattr(huggingface_hub.utils._http.time, "sleep", lambda seconds: None)
        patched.setenv("HF_ENDPOINT", hub.address)
        yield hub
    huggingface_hub.utils._http.close_session()  # it would keep what a test has set


@cache
def _mark(content: bytes) -> str:
    return hashlib.sha1(content).hexdigest()


def _digest(text: str) -> str:
    return hashlib.sha1(text.encode()).hexdigest()


def _refuse(handler: Handler, code: str) -> None:
    handler.send(404, {"error": code}, **{"X-Error-Code": code})

"""Whole objects by their paths, in whatever `pyarrow.fs` knows: S3, GCS, Azure, a file system.

Each call is one try, and raises OSError where that fails.
"""

import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pyarrow import ArrowException, fs

from raybench.pipeline import whole

_CHUNK = 2**22
_CONNECT_S, _SILENCE_S, _TRIES = 5.0, 20.0, 2
"""For how long, and how often, S3's own library waits for a server that accepts nothing, or says
nothing: of itself for minutes."""
_GCS_S = 3
"""For how long GCS's own library tries again: of itself for a quarter of an hour. Azure's takes no
such setting: whoever waits for it has to leave (`patience`)."""


@contextmanager
def _as_oserror() -> Iterator[None]:
    """Have all that a store answers with be an OSError: Azure's own errors are none."""
    try:
        yield
    except ArrowException as error:
        raise OSError(str(error)) from error


class Objects:
    """All that lies below a URI."""

    def __init__(self, uri: str, *, silence_s: float = _SILENCE_S, tries: int = _TRIES) -> None:
        """Raises OSError or ValueError where the URI leads nowhere.

        `silence_s` and `tries`: how long and how often S3's own library waits for a reply.
        """
        try:
            self._files, self._root = fs.FileSystem.from_uri(_with_settings(uri))
            if isinstance(self._files, fs.S3FileSystem):
                self._files = _impatient(self._files, silence_s, tries)
        except ValueError:  # the address itself is wrong, which no waiting mends
            raise
        except ArrowException as error:
            raise OSError(str(error)) from error
        self._root = self._root.rstrip("/")
        self._local = isinstance(self._files, fs.LocalFileSystem)

    @_as_oserror()
    def put(self, path: str, data: bytes) -> None:
        """Write an object whole or not at all; it is durable then."""
        if self._local:
            self._replace(path, [data])
            return
        with self._files.open_output_stream(self._at(path), compression=None) as out:
            out.write(data)

    @_as_oserror()
    def put_file(self, path: str, file: Path) -> None:
        """Write a file as an object, whole or not at all."""
        if self._local:
            self._replace(path, _chunks(file))
            return
        out = self._files.open_output_stream(self._at(path), compression=None)
        with out:  # where it is not closed, nothing becomes of it
            for chunk in _chunks(file):
                out.write(chunk)

    @_as_oserror()
    def get(self, path: str) -> bytes | None:
        """Return an object's content, None where there is none."""
        try:
            with self._files.open_input_stream(self._at(path), compression=None) as found:
                return bytes(found.read())
        except FileNotFoundError:
            return None

    def get_parts(self, path: str) -> Iterator[bytes]:
        """Yield an object's content. Raises FileNotFoundError where there is none."""
        with (
            _as_oserror(),
            self._files.open_input_stream(self._at(path), compression=None) as found,
        ):
            while chunk := found.read(_CHUNK):
                yield bytes(chunk)

    @_as_oserror()
    def there(self, path: str) -> bool:
        """Tell whether there is such an object."""
        return bool(self._files.get_file_info(self._at(path)).type == fs.FileType.File)

    def files(self, path: str) -> list[str]:
        """Return the paths of all objects below a folder, as seen from there."""
        return self._below(path, fs.FileType.File, recursive=True)

    def folders(self, path: str) -> list[str]:
        """Return the names of the folders in a folder."""
        return self._below(path, fs.FileType.Directory, recursive=False)

    @_as_oserror()
    def remove_folder(self, path: str) -> None:
        """Remove a folder with all that is in it, where there is one."""
        with suppress(FileNotFoundError):
            self._files.delete_dir(self._at(path))

    def _replace(self, path: str, parts: Iterable[bytes]) -> None:
        """Write a file of a file system that other machines may write to at the same time."""
        target = Path(self._at(path))
        aside = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
        whole.write(aside, parts)
        aside.replace(target)

    def _at(self, path: str) -> str:
        return f"{self._root}/{path}" if path else self._root

    @_as_oserror()
    def _below(self, path: str, kind: fs.FileType, *, recursive: bool) -> list[str]:
        base = self._at(path)
        found = self._files.get_file_info(
            fs.FileSelector(base, recursive=recursive, allow_not_found=True)
        )
        return sorted(it.path[len(base) + 1 :] for it in found if it.type == kind)


def _with_settings(uri: str) -> str:
    """Return a URI with what a store's own library is to do otherwise, as far as one can say so."""
    # A small object is then one request rather than the three of an upload in parts.
    more = {"s3": "allow_delayed_open=true", "gs": f"retry_limit_seconds={_GCS_S}"}
    setting = more.get(uri.partition("://")[0])
    if setting is None or setting.partition("=")[0] in uri:
        return uri
    return f"{uri}{'&' if '?' in uri else '?'}{setting}"


def _impatient(files: fs.S3FileSystem, silence_s: float, tries: int) -> fs.S3FileSystem:
    """Return the same store, which is given up sooner: no URI can say so."""
    # What it is made of, as it would be sent to another process.
    _, (settings,) = files.__reduce__()
    return fs.S3FileSystem(
        **settings | {"connect_timeout": _CONNECT_S, "request_timeout": silence_s},
        retry_strategy=fs.AwsStandardS3RetryStrategy(max_attempts=tries),
    )


def _chunks(file: Path) -> Iterator[bytes]:
    with file.open("rb") as source:
        while chunk := source.read(_CHUNK):
            yield chunk

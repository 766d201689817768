"""An object store for tests: moto's server, which speaks S3's protocol over HTTP."""

from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from moto.server import ThreadedMotoServer
from ports import free_port
from pyarrow import fs

from raybench.pipeline.storage.patience import Clock

CREDENTIALS = {
    "AWS_ACCESS_KEY_ID": "test",
    "AWS_SECRET_ACCESS_KEY": "test",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
}
"""What runs find in their environment, as an SDK would."""


@dataclass
class VirtualTime:
    """Time that passes only where something sleeps; calls to a store take none of it."""

    now: float = 0.0

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        self.now += seconds

    def wait(self, future: Future[Any], seconds: float) -> bool:
        """Let time pass while a call comes to nothing; return whether it is done."""
        self.now += seconds
        return future.done()

    def clock(self, *, hangs: bool = False) -> Clock:
        """Return the clock; `hangs`: time passes while a call comes to nothing."""

        def returns(future: Future[Any], seconds: float) -> bool:
            future.exception(timeout=200)
            return True

        return Clock(lambda: self.now, self.sleep, self.wait if hangs else returns)


@dataclass
class Store:
    """A server that can be away for a while; what it holds outlives that."""

    port: int = field(default_factory=free_port)
    _server: ThreadedMotoServer | None = None

    @property
    def query(self) -> str:
        """What a URI says to lead here."""
        return f"scheme=http&endpoint_override=127.0.0.1:{self.port}"

    def uri(self, prefix: str) -> str:
        """Return the URI of a place in the one bucket."""
        return f"s3://bucket/{prefix}?{self.query}"

    @property
    def files(self) -> fs.S3FileSystem:
        """Return the store as `pyarrow` sees it, to look into."""
        return fs.S3FileSystem(
            access_key="test",
            secret_key="test",
            region="us-east-1",
            scheme="http",
            endpoint_override=f"127.0.0.1:{self.port}",
            allow_bucket_creation=True,
        )

    def names(self, prefix: str) -> list[str]:
        """Return the paths of all objects below a prefix, as seen from there."""
        base = f"bucket/{prefix}"
        found = self.files.get_file_info(fs.FileSelector(base, recursive=True))
        return sorted(it.path[len(base) + 1 :] for it in found if it.type == fs.FileType.File)

    def start(self) -> None:
        """Begin to listen, with all that was there before."""
        self._server = ThreadedMotoServer(ip_address="127.0.0.1", port=self.port, verbose=False)
        self._server.start()

    def stop(self) -> None:
        """Refuse connections."""
        if self._server:
            self._server.stop()
        self._server = None


@contextmanager
def serving() -> Iterator[Store]:
    """Yield a store with a bucket, and have the environment let runs in."""
    store = Store()
    store.start()
    try:
        store.files.create_dir("bucket")
        with pytest.MonkeyPatch.context() as patched:
            for name, value in CREDENTIALS.items():
                patched.setenv(name, value)
            yield store
    finally:
        store.stop()

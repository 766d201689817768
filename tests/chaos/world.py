"""Three machines on which runs are disturbed, and what else such runs speak to.

The first one has the driver, the head of the cluster, a small disk of its own for what runs leave,
a store, a tracking server and an endpoint. Work and engines go to the other two. All clocks can be
set, but for the last machine's, which is right.
"""

import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil
import pytest
from helpers import ROOT
from hosts import Host, Lan, cluster
from stores import CREDENTIALS
from tracked import LIGHT

FAR = ("--num-cpus=2", "--labels=far=yes")
_CLOCKS = Path(__file__).with_name("clocks")
"""Where a module lies that tells programs another time than it is."""
_DISK_MIB = 96
_PATIENCE_S = 300
_STORE, _TRACKING, _ENDPOINT, _SERVE = 5001, 5002, 8000, 8001
_SMALL = (
    # In half of that a token may turn on what else is in the batch: replies are to be the same.
    "{name: small, weights: embedded, images: false, "
    "options: {dtype: float32, max_model_len: 1024, max_num_seqs: 4}}"
)
_KNOCK = """\
import sys, urllib.request as it
it.urlopen(it.Request(sys.argv[1], method=sys.argv[2]), timeout=5)
"""


class Service:
    """A program of the first machine that runs speak to, and that can break."""

    def __init__(
        self, world: "World", name: str, command: Sequence[str], url: str, knock: str, method: str
    ) -> None:
        self.name = name
        self.url = url
        self._world = world
        self._log = world.place / f"{name}.log"
        self._command = command
        self._knock, self._method = knock, method
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Start it, and wait until it answers."""
        lan, (first, *_) = self._world.lan, self._world.lan.hosts
        environment = {**lan.environment(first), **LIGHT, **CREDENTIALS}
        with self._log.open("a") as log:
            self._process = first.run(
                sys.executable, "-P", *self._command,
                cwd=self._world.place, env=environment, stdout=log, stderr=log,
            )  # fmt: skip
        deadline = time.monotonic() + _PATIENCE_S
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > deadline:
                pytest.fail(f"{self.url} does not answer:\n{self.told()[-3000:]}")
            time.sleep(0.2)

    def told(self) -> str:
        """Return what it has written."""
        return self._log.read_text()

    def kill(self) -> None:
        """Kill it and all that it has started."""
        assert self._process is not None
        for each in self._family():
            with suppress(psutil.Error):
                each.kill()
        self._process.wait()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Have it take what is sent, and answer nothing."""
        assert self._process is not None
        family = self._family()
        for each in family:
            each.suspend()
        try:
            yield
        finally:
            for each in [*family, psutil.Process(self._process.pid)]:
                each.resume()  # who entered the machine for it has stopped with it

    def _family(self) -> list[psutil.Process]:
        assert self._process is not None
        return psutil.Process(self._process.pid).children(recursive=True)

    def _answers(self) -> bool:
        if self.name == "served" and "Serving " not in self.told():
            return False  # it answers before its engine does
        asked = self._world.lan.hosts[0].run(
            sys.executable, "-c", _KNOCK, f"{self.url}{self._knock}", self._method,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        return asked.wait() == 0


@dataclass
class World:
    """The machines, the small disk and the services."""

    lan: Lan
    place: Path
    """Where logs of services lie."""
    disk: Path
    """A small one, the first machine's."""
    clocks: Sequence[Path]
    """By machine, the file that says how wrong its clock is."""
    services: dict[str, Service] = field(default_factory=dict)

    @property
    def far(self) -> Sequence[Host]:
        """The machines on which the work is done."""
        return self.lan.hosts[1:]

    def service(self, name: str) -> Service:
        """Return a service, which is started where nobody has asked for it before."""
        if name not in self.services:
            self.services[name] = service = self._service(name)
            service.start()
        return self.services[name]

    def heard(self) -> Iterator[str]:
        """Return what the services have written last, for who looks for a reason."""
        for name, service in self.services.items():
            yield f"--- {name}: {service.told()[-3000:]}"

    def _service(self, name: str) -> Service:
        at = self.lan.hosts[0].address
        kept = self.place / name
        kept.mkdir()
        command, port, knock, method = {
            "store": (
                ["-m", "moto.server", "--host", at, "--port", f"{_STORE}"],
                _STORE, "/bucket", "PUT",
            ),
            "tracking": (
                [
                    "-m", "mlflow", "server", "--host", at, "--port", f"{_TRACKING}",
                    "--workers", "1", "--backend-store-uri", f"sqlite:///{kept}/server.db",
                    "--serve-artifacts", "--artifacts-destination", f"{kept}/files",
                    "--allowed-hosts", "*",
                ],
                _TRACKING, "/health", "GET",
            ),
            "served": (
                [
                    "-m", "raybench", "+experiment=serve", "serve.host=0.0.0.0",
                    f"serve.port={_SERVE}", "fleet.nodes={far: yes}", "fleet.kv_cache_gib=0.25",
                    f"roster.models=[{_SMALL}]",
                ],
                _SERVE, "/v1/models", "GET",
            ),
            "endpoint": (
                [str(ROOT / "tests" / "chaos" / "endpoint.py"), at, f"{_ENDPOINT}"],
                _ENDPOINT, "/v1/models", "GET",
            ),
        }[name]  # fmt: skip
        return Service(self, name, command, f"http://{at}:{port}", knock, method)


@contextmanager
def world() -> Iterator[World]:
    """Set it up: a cluster that outlives its head's death, as far as Ray can."""
    with ExitStack() as stack:
        folder = Path(
            stack.enter_context(TemporaryDirectory(prefix="w", ignore_cleanup_errors=True))
        )
        disk = folder / "disk"
        disk.mkdir()
        subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={_DISK_MIB}m", "disk", disk], check=True
        )
        stack.callback(lambda: subprocess.run(["umount", "--lazy", disk], check=True))
        clocks = [folder / f"clock{number}" for number in range(2)]
        for clock in clocks:
            set_clock(clock, 0)
        kept = folder / "gcs"
        kept.mkdir()
        lasting = {"RAY_gcs_storage": "rocksdb", "RAY_gcs_storage_path": str(kept)}
        lan = stack.enter_context(
            cluster(
                ("--num-cpus=1",), FAR, FAR,
                hidden=[disk], environments=[lasting, told_by(clocks[1])],
            )
        )  # fmt: skip
        yield World(lan, folder, disk, clocks)


def right(world: World) -> None:
    """Set all clocks right."""
    for clock in world.clocks:
        set_clock(clock, 0)


def set_clock(clock: Path, seconds: int) -> None:
    """Have programs that look at this clock be told so many seconds more than it is."""
    aside = clock.with_suffix(".new")
    aside.write_text(f"{seconds}")
    aside.rename(clock)


def told_by(clock: Path) -> dict[str, str]:
    """Return the environment of a program that is to look at this clock."""
    return {"PYTHONPATH": f"{_CLOCKS}:{ROOT}", "WRONG_BY": str(clock)}

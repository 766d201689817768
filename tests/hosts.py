"""Machines of our own, as far as Ray can tell: namespaces of this one, on a network between them.

Each has a network, processes, shared memory and a host name of its own, and sees nothing of folders
that are hidden from it. All know one another's names, and nobody else's. Its link can be cut, and
whatever runs on it be killed.
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any

import dying
import psutil
import pytest
from clusters import NO_TOKEN, PATIENT, QUIET, RAY
from helpers import MARK, ROOT

_PATIENCE_S = 300
_PORT = 6379
_SEEN_AFTER = {
    # How soon Ray takes a machine for dead that does not answer: with its own settings a minute.
    "RAY_health_check_initial_delay_ms": "2000",
    "RAY_health_check_period_ms": "1000",
    "RAY_health_check_timeout_ms": "2000",
    "RAY_health_check_failure_threshold": "3",
}

_KINDS = ("--net", "--mount", "--pid", "--uts", "--ipc")


def _refusal() -> str:
    """Return why no hosts can be made here; '' where they can."""
    tried = "mount -t tmpfs no /mnt; ip link add name s type bridge; ip link add name c type veth"
    try:
        done = subprocess.run(
            ["unshare", *_KINDS, "--fork", "--mount-proc", "sh", "-ec", tried],
            capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
    except OSError as error:
        return str(error)
    return done.stderr.strip().partition("\n")[0] if done.returncode else ""


_WHY_NOT = "only root can make hosts" if os.geteuid() != 0 else _refusal()
NEEDS_HOSTS = pytest.mark.skipif(bool(_WHY_NOT), reason=f"no network namespaces: {_WHY_NOT}")


class Host:
    """One machine: the first process of its namespaces, and its end of a cable."""

    def __init__(self, number: int, init: int, folder: Path) -> None:
        self.name = _name(number)
        self.address = _address(number)
        self.folder = folder
        """What Ray keeps of its own there."""
        self.environment: dict[str, str] = {}
        """What programs on it find beside what all machines have."""
        self._init = init

    def run(
        self, *command: str | Path, cwd: Path = Path("/"), **options: Any
    ) -> "subprocess.Popen[str]":
        """Start a command on it, in a folder as it sees it."""
        return subprocess.Popen(
            [
                "nsenter", f"--target={self._init}", *_KINDS, f"--wdns={cwd}", "--",
                *map(str, command),
            ],
            text=True, stdin=subprocess.DEVNULL, **options,
        )  # fmt: skip

    def actors(self, name: str) -> list[psutil.Process]:
        """Return the actors on it whose class is called so, as Ray names their processes."""
        return self.processes(rf"ray::{re.escape(name)}")

    def processes(self, line: str) -> list[psutil.Process]:
        """Return what runs on it with a command line that begins so."""
        return [
            it
            for it in self._everybody()
            if re.match(line, " ".join(it.info["cmdline"] or ()) or it.info["name"] or "")
        ]

    def clear(self) -> None:
        """Kill all that runs on it."""
        for process in self._everybody():
            if process.pid != self._init:
                with suppress(psutil.Error):
                    process.kill()

    def _everybody(self) -> list[psutil.Process]:
        found = list[psutil.Process]()
        try:
            ours = _numbers(self._init)
        except OSError:
            return found
        for pid in psutil.pids():
            # Whose it is comes first: to ask all of a machine what they are takes much longer.
            with suppress(OSError, psutil.Error):
                if _numbers(pid) == ours:
                    process = psutil.Process(pid)
                    process.info = process.as_dict(["name", "cmdline", "status"])
                    if process.info["status"] != psutil.STATUS_ZOMBIE:
                        found.append(process)
        return found

    def kill(self, name: str) -> None:
        """Kill what runs on it under this name, of which there is something."""
        found = [it for it in self._everybody() if it.info["name"] == name]
        assert found, f"no {name} runs on {self.name}"
        for process in found:
            process.kill()

    def end(self) -> None:
        """Switch it off."""
        with suppress(ProcessLookupError):
            os.kill(self._init, signal.SIGKILL)


class Lan:
    """The machines and the switch between them."""

    def __init__(self, hosts: Sequence[Host], switch: int) -> None:
        self.hosts = hosts
        self.off: set[Host] = set()
        """Whose cable is pulled."""
        self._switch = switch

    @property
    def address(self) -> str:
        """Where the head of their cluster listens."""
        return f"{self.hosts[0].address}:{_PORT}"

    def environment(self, host: Host) -> dict[str, str]:
        """Return what programs on a machine are started with."""
        inherited = {name: value for name, value in os.environ.items() if name != MARK}
        return {
            **inherited, **NO_TOKEN, **_SEEN_AFTER, **PATIENT, "RAY_ADDRESS": self.address,
            "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1", "RAY_worker_niceness": "0",
            "NO_COLOR": "1", **host.environment,
        }  # fmt: skip

    def raybench(
        self,
        *arguments: str,
        cwd: Path,
        scratch: Path,
        told: Any = subprocess.PIPE,
        environment: Mapping[str, str] | None = None,
    ) -> "subprocess.Popen[str]":
        """Start raybench on the first machine."""
        first = self.hosts[0]
        return first.run(
            sys.executable, "-m", "raybench", *arguments,
            cwd=cwd,
            env={**self.environment(first), "TMPDIR": str(scratch), **(environment or {})},
            stdout=told, stderr=subprocess.STDOUT,
        )  # fmt: skip

    def cut(self, host: Host) -> None:
        """Pull its cable."""
        _ip(self._switch, "link", "set", f"to-{host.name}", "down")
        self.off.add(host)

    def bring_back(self, host: Host, *options: str) -> None:
        """Plug it in again, with nothing left of what ran on it, and have it be a node again."""
        _ip(self._switch, "link", "set", f"to-{host.name}", "up")
        self.off.remove(host)
        host.clear()
        self.join(host, *options)

    def bring_all_back(self, *options: str) -> None:
        """Bring back all hosts whose cable is pulled."""
        for host in [*self.off]:
            self.bring_back(host, *options)

    def join(self, host: Host, *options: str) -> None:
        """Have it be a node of the cluster, the first one its head."""
        first = host is self.hosts[0]
        told = host.folder / "ray.log"
        role = (
            "--head",
            f"--port={_PORT}",
            "--include-dashboard=false",
            f"--temp-dir={host.folder}",
        )
        with told.open("w") as log:
            process = host.run(
                RAY, "start", *QUIET, f"--node-ip-address={host.address}",
                "--object-store-memory=100000000", *options,
                *(role if first else (f"--address={self.address}",)),
                env={**self.environment(host), "TMPDIR": str(host.folder)}, stdout=log, stderr=log,
            )  # fmt: skip
        try:
            code = process.wait(_PATIENCE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            code = -1
        if code:
            pytest.fail(f"Ray did not start on {host.name}:\n{told.read_text()}\n{self.head_log()}")

    def head_log(self) -> str:
        """Return the end of what the cluster's head has to say, for who looks for a reason."""
        log = self.hosts[0].folder / "session_latest" / "logs"
        ends = [
            file.read_text(errors="replace")[-3000:] for file in sorted(log.glob("gcs_server.*"))
        ]
        alive = [it.info["name"] for it in self.hosts[0].processes(".*")]
        return f"alive on the head: {alive}\n" + "\n".join(ends)


@contextmanager
def lan(count: int, hidden: Sequence[Path] = ()) -> Iterator[Lan]:
    """Set up so many machines; all but the first find those folders empty."""
    with ExitStack() as stack:
        switch = stack.enter_context(_namespaces("switch", "--net"))
        _ip(switch, "link", "add", "bridge", "type", "bridge")
        _ip(switch, "link", "set", "bridge", "up")
        hosts = []
        for number in range(count):
            # The paths of Ray's sockets may have 107 characters: pytest's own folders are too deep.
            folder = stack.enter_context(
                tempfile.TemporaryDirectory(prefix=f"h{number}", ignore_cleanup_errors=True)
            )
            init = stack.enter_context(
                _namespaces(
                    _name(number), *_KINDS, "--mount-proc",
                    hidden=[Path("/dev/shm"), *(hidden if number else ())],
                    instead=_names(Path(folder), count),
                )
            )  # fmt: skip
            hosts.append(Host(number, init, Path(folder)))
            _wire(switch, hosts[-1], init)
        yield Lan(hosts, switch)


@contextmanager
def cluster(
    *each: Sequence[str],
    hidden: Sequence[Path] = (),
    environments: Sequence[Mapping[str, str]] = (),
) -> Iterator[Lan]:
    """Set up as many machines as there are options of `ray start`, and join them."""
    with lan(len(each), hidden) as found:
        for host, environment in zip(found.hosts, environments, strict=False):
            host.environment.update(environment)
        for host, options in zip(found.hosts, each, strict=True):
            found.join(host, *options)  # one at a time: their sockets are numbered in one folder
        yield found


def _names(folder: Path, count: int) -> dict[Path, Path]:
    """Write who has which name, and that nobody else is to be asked: nobody would answer.

    Each of an engine's eight groups of processes asks for its host's address, for six seconds.
    """
    told = {
        "hosts": "127.0.0.1 localhost\n"
        + "".join(f"{_address(number)} {_name(number)}\n" for number in range(count)),
        "resolv.conf": "",
    }
    for name, text in told.items():
        (folder / name).write_text(text)
    return {Path("/etc") / name: folder / name for name in told}


def _wire(switch: int, host: Host, init: int) -> None:
    cable = f"to-{host.name}"
    _ip(switch, "link", "add", cable, "type", "veth", "peer", "name", "eth0", "netns", str(init))
    _ip(switch, "link", "set", cable, "master", "bridge", "up")
    _ip(init, "link", "set", "lo", "up")
    _ip(init, "address", "add", f"{host.address}/24", "dev", "eth0")
    _ip(init, "link", "set", "eth0", "up")
    _ip(init, "route", "add", "default", "dev", "eth0")  # Ray asks which address leads outside


def _numbers(pid: int) -> Path:
    """Return in which namespace a process has its number."""
    return Path(f"/proc/{pid}/ns/pid").readlink()


def _name(number: int) -> str:
    return f"host{number}"


def _address(number: int) -> str:
    return f"10.233.0.{number + 1}"


def _ip(namespace: int, *command: str) -> None:
    subprocess.run(["nsenter", f"--target={namespace}", "--net", "ip", *command], check=True)


@contextmanager
def _namespaces(
    name: str,
    *kinds: str,
    hidden: Sequence[Path] = (),
    instead: Mapping[Path, Path] = MappingProxyType({}),
) -> Iterator[int]:
    """Keep namespaces of these kinds; yields a process that is in them, and ends with this one.

    `hidden` folders are empty there, and some files others `instead`.
    """
    covers = "".join(f"mount -t tmpfs tmpfs '{folder}'\n" for folder in hidden)
    covers += "".join(f"mount --bind '{it}' '{file}'\n" for file, it in instead.items())
    named = f"hostname {name}\n" if "--uts" in kinds else ""
    script = f"{covers}{named}echo up; exec sleep infinity"
    process = subprocess.Popen(
        ["unshare", *kinds, "--fork", "--kill-child=KILL", "sh", "-ec", script],
        stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
        preexec_fn=dying.with_parent(signal.SIGKILL),
    )  # fmt: skip
    try:
        assert process.stdout is not None
        if process.stdout.readline() != "up\n":
            pytest.fail(f"{name} could not be set up")
        (init,) = psutil.Process(process.pid).children()
        yield init.pid
    finally:
        process.kill()
        process.wait()

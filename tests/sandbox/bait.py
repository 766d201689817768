"""What attack programs are after, set up for real, and what tells that one of them got at it.

Nothing but the standard library: this runs as any user, in any Python that the sandbox's own client
can run in (see `containment.py`).
"""

import contextlib
import ctypes
import json
import os
import platform
import resource
import secrets
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

PREFIX = "rbsecret-"
PATTERN = PREFIX + "[0-9a-f]{32}"
MARK = "rbbait"
"""In the names of all files and folders of the bait."""

_VICTIM = """
import ctypes, os, signal, sys
text, path = sys.argv[1:]
held = ctypes.create_string_buffer(text.encode(), 64)
scratch = ctypes.create_string_buffer(b"intact", 64)
kept = os.open(path, os.O_RDONLY)
def heard(number, frame):
    os.write(1, b"signal %d\\n" % number)
for number in signal.valid_signals() - {9, 17, 18, 19, 32, 33}:
    signal.signal(number, heard)
print(ctypes.addressof(held), ctypes.addressof(scratch), flush=True)
while sys.stdin.readline():
    os.write(1, b"scratch " + scratch.value + b"\\n")
"""
_IPC_CREAT, _IPC_RMID = 0o1000, 0
_PLACES = ("/", "/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue", "/run", "/var/lock")
_libc = ctypes.CDLL(None, use_errno=True)
_rt = ctypes.CDLL("librt.so.1", use_errno=True)
_libc.shmat.restype = ctypes.c_void_p


def secret() -> str:
    """Return a text that is nowhere else."""
    return PREFIX + secrets.token_hex(16)


def _free_port() -> int:
    """Return a port at which nobody listens, of those that nobody is given who asks for any."""
    while True:
        with socket.socket() as free, contextlib.suppress(OSError):
            free.bind(("127.0.0.1", 20_000 + secrets.randbelow(12_000)))
            return int(free.getsockname()[1])


def _shut(listener: socket.socket) -> None:
    with contextlib.suppress(OSError):  # not all families know it
        listener.shutdown(socket.SHUT_RDWR)


class Bait:
    """Files, sockets, processes and kernel objects that no confined program gets at.

    Use as a context manager, before the sandbox has started anything.
    """

    def __enter__(self) -> "Bait":
        self._stack = contextlib.ExitStack()
        try:
            self._set_up()
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _set_up(self) -> None:
        self.token = "rbx" + secrets.token_hex(4)
        """What attacks name by this is looked for on the host."""
        self.secrets: dict[str, str] = {}
        """Each secret, and where it lies."""
        self.told: dict[str, Any] = {
            "token": self.token,
            "mark": MARK,
            "pattern": PATTERN,
            "home": str(Path.home()),
            "own_files": [str(Path(__file__).resolve())],
        }
        """What attacks are given: all they could guess, and more."""
        self._reached: list[str] = []
        if (canary := os.environ.get("RAYBENCH_CANARY")) is None:
            raise RuntimeError("RAYBENCH_CANARY is not set: the environment is part of the bait")
        self.secrets[canary] = "the environment"
        self._make_files()
        self._make_sockets()
        self._make_kernel_objects()
        self._start_victim()
        self._find_host()

    # ------------------------------------------------------------------------------ setting up

    def _new(self, where: str) -> str:
        text = secret()
        self.secrets[text] = where
        return text

    def _make_files(self) -> None:
        self._folders = []
        for parent in (Path(tempfile.gettempdir()), Path.home()):
            folder = Path(tempfile.mkdtemp(prefix=f".{MARK}-", dir=parent))
            self._stack.callback(shutil.rmtree, folder, ignore_errors=True)
            folder.chmod(0o755)
            self._folders.append(folder)
        paths = []
        for folder in self._folders:
            for mode in (0o600, 0o644):
                path = folder / f"{MARK}-{mode:o}"
                path.write_text(self._new(str(path)))
                path.chmod(mode)
                paths.append(str(path))
        self._open = self._folders[0] / "open"
        self._open.mkdir()
        self._open.chmod(0o777)
        writable = self._open / "writable"
        writable.write_text("as it was")
        writable.chmod(0o666)
        self.told |= {
            "secret_files": paths,
            "writable_folder": str(self._open),
            "writable_file": str(writable),
        }
        # Held open by this process, and meant to be inherited: a file without a name, and a pipe.
        held = self._folders[0] / "held"
        held.write_text(self._new("an inherited descriptor"))
        self._descriptor = os.open(held, os.O_RDONLY)
        held.unlink()
        self._leak, leak = os.pipe()
        os.set_blocking(self._leak, False)
        for descriptor in (self._descriptor, leak):
            os.set_inheritable(descriptor, True)
        for descriptor in (self._descriptor, leak, self._leak):
            self._stack.callback(os.close, descriptor)
        self.inherited = (self._descriptor, leak)
        self.told |= {"secret_descriptor": self._descriptor, "pipe_descriptor": leak}
        self._files = dict(self._seen_files())

    def _make_sockets(self) -> None:
        path = str(self._open / "socket")
        name = f"{MARK}-{self.token}"
        tcp4 = self._listen("tcp4", socket.AF_INET, ("127.0.0.1", 0))
        tcp6 = self._listen("tcp6", socket.AF_INET6, ("::1", 0))
        self._listen("unix path", socket.AF_UNIX, path)
        self._listen("unix abstract", socket.AF_UNIX, "\0" + name)
        udp4 = self._hear("udp4", socket.AF_INET, ("127.0.0.1", 0))
        self._hear("unix path datagram", socket.AF_UNIX, path + "-datagrams")
        self._hear("unix abstract datagram", socket.AF_UNIX, f"\0{name}-datagrams")
        for suffix in ("", "-datagrams"):
            Path(path + suffix).chmod(0o666)
        vsock = self._listen("vsock", getattr(socket, "AF_VSOCK", -1), (0xFFFFFFFF, 0xFFFFFFFF))
        self.told |= {
            "tcp4": tcp4 and tcp4[1],
            "tcp6": tcp6 and tcp6[1],
            "udp4": udp4 and udp4[1],
            "vsock": vsock[1] if vsock else 5000,
            "unix_path": path,
            "unix_abstract": name,
            "reverse_port": _free_port(),
            "reverse_abstract": f"{self.token}-reverse",
            "reverse_path": str(self._open / "reverse"),
        }
        over = threading.Event()
        caller = threading.Thread(target=self._call, args=(over,), daemon=True)
        caller.start()
        self._stack.callback(caller.join)
        self._stack.callback(over.set)
        self._files = dict(self._seen_files())

    def _listen(self, name: str, family: int, address: Any) -> Any:
        """Tell a secret to who connects, and note it; return the address, or None without one."""
        try:
            listener = socket.socket(family)
            listener.bind(address)
            listener.listen()
        except OSError:
            return None
        text = self._new(f"a listener ({name})").encode()

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    link, _ = listener.accept()
                    self._reached.append(f"connected to {name}")
                    with link, contextlib.suppress(OSError):
                        link.sendall(text)

        threading.Thread(target=serve, daemon=True).start()
        self._stack.callback(listener.close)
        self._stack.callback(_shut, listener)
        return listener.getsockname()

    def _hear(self, name: str, family: int, address: Any) -> Any:
        listener = socket.socket(family, socket.SOCK_DGRAM)
        listener.bind(address)
        listener.settimeout(0.2)
        over = threading.Event()

        def serve() -> None:
            while not over.is_set():
                with contextlib.suppress(OSError):
                    listener.recv(100)
                    self._reached.append(f"sent to {name}")

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        self._stack.callback(listener.close)
        self._stack.callback(thread.join)
        self._stack.callback(over.set)
        return listener.getsockname()

    def _call(self, over: threading.Event) -> None:
        """Connect to where attacks may listen, again and again."""
        targets: list[tuple[int, Any]] = [
            (socket.AF_INET, ("127.0.0.1", self.told["reverse_port"])),
            (socket.AF_UNIX, "\0" + self.told["reverse_abstract"]),
            (socket.AF_UNIX, self.told["reverse_path"]),
        ]
        while not over.wait(0.05):
            for family, address in targets:
                with socket.socket(family) as link, contextlib.suppress(OSError):
                    link.settimeout(0.2)
                    link.connect(address)
                    # A port of one's own may be given out as one's own source.
                    if family == socket.AF_UNIX or link.getsockname() != link.getpeername():
                        self._reached.append(f"was let in at {address!r}")

    def _make_kernel_objects(self) -> None:
        key, spare = (secrets.randbelow(1 << 30) + 1 for _ in range(2))
        text = self._new("shared memory of System V").encode()
        memory = _libc.shmget(key, 4096, _IPC_CREAT | 0o666)
        address = _libc.shmat(memory, None, 0)
        ctypes.memmove(address, text, len(text))
        self._stack.callback(_libc.shmctl, memory, _IPC_RMID, None)
        semaphores = _libc.semget(key, 1, _IPC_CREAT | 0o666)
        self._stack.callback(_libc.semctl, semaphores, 0, _IPC_RMID, 0)
        queue = _libc.msgget(key, _IPC_CREAT | 0o666)
        self._stack.callback(_libc.msgctl, queue, _IPC_RMID, None)
        name = f"{MARK}-{self.token}"
        _rt.mq_open(f"/{name}".encode(), os.O_CREAT | os.O_RDWR, 0o666, None)
        self._stack.callback(_rt.mq_unlink, f"/{name}".encode())
        shared = Path("/dev/shm") / name
        shared.write_text(self._new("shared memory of POSIX"))
        shared.chmod(0o666)
        self._stack.callback(shared.unlink, missing_ok=True)
        self.told |= {
            "ipc_key": key,
            "shm": memory,
            "spare_key": spare,
            "posix_name": name,
            "key": self._key(name),
            "key_name": name,
        }

    def _key(self, name: str) -> int:
        """Put a secret into the session's keyring, which children share; return its number."""
        numbers = {"x86_64": (248, 250), "aarch64": (217, 219)}.get(platform.machine())
        if numbers is None:
            return 0
        add_key, keyctl = numbers
        text = self._new("a key of the kernel").encode()
        key = int(_libc.syscall(add_key, b"user", name.encode(), text, len(text), -3))
        if key > 0:
            _libc.syscall(keyctl, 5, key, 0x3F3F3F3F)  # everybody may do everything with it
            self._stack.callback(_libc.syscall, keyctl, 9, key, -3)
        return max(key, 0)

    def _start_victim(self) -> None:
        held = self._folders[0] / "victims"
        held.write_text(self._new("a file that another process holds open"))
        victim = subprocess.Popen(
            [sys.executable, "-I", "-c", _VICTIM, self._new("another process"), str(held)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._victim = victim
        self._stack.callback(victim.wait)
        self._stack.callback(victim.kill)
        assert victim.stdout is not None
        address, scratch = map(int, victim.stdout.readline().split())
        held.unlink()
        self._files = dict(self._seen_files())
        self._heard: list[str] = []
        listener = threading.Thread(target=self._listen_to_victim, daemon=True)
        listener.start()
        self.told |= {
            "victim": victim.pid,
            "victim_group": os.getpgid(victim.pid),
            "victim_address": address,
            "victim_scratch": scratch,
            "host_pids": [os.getpid(), os.getppid(), victim.pid],
            "host_names": ["python", "python3", "pytest", Path(sys.executable).name],
        }
        self._settings = self._victims_settings()

    def _listen_to_victim(self) -> None:
        assert self._victim.stdout is not None
        for line in self._victim.stdout:
            self._heard.append(line.strip())

    def _victims_settings(self) -> dict[str, object]:
        pid = self._victim.pid
        try:
            status = Path(f"/proc/{pid}/status").read_text()
            told = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
            return {
                "nice value": os.getpriority(os.PRIO_PROCESS, pid),
                "cores": os.sched_getaffinity(pid),
                "scheduler": os.sched_getscheduler(pid),
                "limit of core dumps": resource.prlimit(pid, resource.RLIMIT_CORE),
                "tracer": told["TracerPid"],
                "stopped": told["State"][0] in "Tt",
            }
        except (OSError, KeyError) as error:
            return {"life": str(error)}

    def _find_host(self) -> None:
        devices = []
        with contextlib.suppress(OSError):
            for line in Path("/proc/partitions").read_text().splitlines()[2:]:
                major, minor, _, name = line.split()
                devices.append((int(major), int(minor), f"/dev/{name}"))
        self.told |= {
            "block_numbers": [(major, minor) for major, minor, _ in devices[:4]],
            "block_devices": [path for *_, path in devices[:4]],
        }
        self._names = os.uname().nodename, Path("/proc/sys/kernel/domainname").read_text()
        self._clock = time.time() - time.monotonic()
        self._mounts = Path("/proc/self/mountinfo").read_text()

    # ----------------------------------------------------------------------- what attacks are told

    def put(self, source: str, limits: dict[str, Any], flood: int) -> tuple[str, str]:
        """Return an attack's program and its input for one run, each of which says so once.

        It is told these nonces without the words around them: what it finds with them is a trace
        of the input, the program or the output that is not its own.
        """
        nonces = {kind: secrets.token_hex(16) for kind in ("input", "program", "output")}
        given = {**self.told, "limits": limits, "flood": flood, "nonces": nonces}
        given["trace"] = f"nonce-input-{nonces['input']}"
        return f"{source}\n# nonce-program-{nonces['program']}\n", json.dumps(given) + "\n"

    # ----------------------------------------------------------------------- what attacks have done

    def breaches(self, *outputs: str) -> list[str]:
        """Return what an attack got at, as seen from here, and forget it."""
        found = [
            f"told {where}"
            for text, where in self.secrets.items()
            if any(text in o for o in outputs)
        ]
        found += self._drained(self._reached)
        with contextlib.suppress(BlockingIOError):
            if leaked := os.read(self._leak, 1000):
                found.append(f"wrote {leaked!r} to an inherited pipe")
        found += self._victims_wounds()
        found += self._changed_files()
        found += [f"left {path} on the host" for path in self._left_files()]
        found += [f"left the process {pid} ({name})" for pid, name in self._left_processes()]
        if (os.uname().nodename, Path("/proc/sys/kernel/domainname").read_text()) != self._names:
            found.append("renamed the host")
        if abs(time.time() - time.monotonic() - self._clock) > 30:
            found.append("changed the clock")
        if Path("/proc/self/mountinfo").read_text() != self._mounts:
            found.append("changed the mounts")
            self._mounts = Path("/proc/self/mountinfo").read_text()
        return found

    @staticmethod
    def _drained(notes: list[str]) -> Iterator[str]:
        while notes:
            yield notes.pop(0)

    def _victims_wounds(self) -> Iterator[str]:
        if (code := self._victim.poll()) is not None:
            yield f"killed the victim ({code})"
            self._start_victim()
            return
        assert self._victim.stdin is not None
        if (settings := self._victims_settings()) != self._settings:
            told = {name: it for name, it in settings.items() if it != self._settings.get(name)}
            yield f"changed the victim's settings: {told}"
            self._settings = settings
        if settings.get("stopped"):
            os.kill(self._victim.pid, signal.SIGCONT)
        # It answers in the order of what happened to it.
        before = len(self._heard)
        self._victim.stdin.write("\n")
        self._victim.stdin.flush()
        deadline = time.monotonic() + 2
        while not any(line.startswith("scratch") for line in self._heard[before:]):
            if time.monotonic() > deadline:
                yield "silenced the victim"
                return
            time.sleep(0.001)
        for line in self._drained(self._heard):
            if line != "scratch intact":
                yield f"the victim heard: {line}"

    def _seen_files(self) -> Iterator[tuple[str, tuple[object, ...]]]:
        for top in self._folders:
            for path in (top, *top.rglob("*")):
                status = path.lstat()
                content = path.read_bytes() if stat.S_ISREG(status.st_mode) else b""
                changed = status.st_mtime_ns if content else 0
                yield str(path), (status.st_mode, status.st_nlink, changed, content)

    def _changed_files(self) -> Iterator[str]:
        now = dict(self._seen_files())
        for path in now.keys() | self._files.keys():
            if now.get(path) != self._files.get(path):
                yield f"changed {path}"
        self._files = now

    def _left_files(self) -> Iterator[str]:
        for place in {*_PLACES, str(Path.home()), str(Path.cwd()), str(Path(os.__file__).parent)}:
            path = Path(place) / self.token
            if os.path.lexists(path):
                yield str(path)
                path.unlink(missing_ok=True)

    def _left_processes(self) -> list[tuple[int, str]]:
        """Return processes of an attack that outlive it by more than a moment; end them."""
        deadline = time.monotonic() + 1.0
        while (left := list(self._processes())) and time.monotonic() < deadline:
            time.sleep(0.02)
        for pid, _ in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return left

    def _processes(self) -> Iterator[tuple[int, str]]:
        for folder in Path("/proc").iterdir():
            if folder.name.isdigit() and int(folder.name) != os.getpid():
                with contextlib.suppress(OSError):
                    names = (folder / "comm").read_text() + (folder / "cmdline").read_text()
                    ended = "\nState:\tZ" in (folder / "status").read_text()
                    if self.token in names and not ended:
                        yield int(folder.name), names[:100]

    def clean(self) -> None:
        """Remove what attacks leave on purpose where nothing holds them."""
        key = self.told["spare_key"]
        removals: list[tuple[int, Callable[[int], int]]] = [
            (_libc.shmget(key, 0, 0), lambda it: int(_libc.shmctl(it, _IPC_RMID, None))),
            (_libc.msgget(key, 0), lambda it: int(_libc.msgctl(it, _IPC_RMID, None))),
            (_libc.semget(key, 0, 0), lambda it: int(_libc.semctl(it, 0, _IPC_RMID, 0))),
        ]
        for number, remove in removals:
            if number >= 0:
                remove(number)
        _rt.mq_unlink(f"/{self.token}".encode())
        list(self._left_files())

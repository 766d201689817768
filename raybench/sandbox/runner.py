"""The sandbox of this process: its servers, started when first needed, and the runs in them."""

import os
import threading
from collections.abc import Mapping
from typing import get_args

from raybench.errors import Problem
from raybench.sandbox import places, verdict
from raybench.sandbox.errors import SandboxFaultError
from raybench.sandbox.outcome import Limits, Outcome, Profile
from raybench.sandbox.places import Settings
from raybench.sandbox.server import BusyError, FaultError, Server

_TRIES = 3
_LONGEST_NAME = 255
_RECYCLED_AFTER = 1000
"""Runs of a server: what its kernel objects and its interpreter may have gathered goes with it."""


class Runner:
    """Servers of one process: as many as it has runs at once."""

    def __init__(self, settings: Settings = Settings()) -> None:
        self.settings = settings
        self._lock = threading.Lock()
        self._idle: dict[Profile, list[Server]] = {}
        self._process = os.getpid()

    def run(
        self,
        source: str,
        stdin: str,
        files: Mapping[str, bytes],
        limits: Limits,
        profile: Profile,
    ) -> Outcome:
        """Run a program; what goes wrong with the sandbox itself is tried again.

        Raises ValueError where no program could be run as it is asked for.
        """
        _check(source, stdin, files, limits, profile)
        text, given = (it.encode("utf-8", "surrogatepass") for it in (source, stdin))
        faults: list[str] = []
        for _ in range(_TRIES):
            try:
                server = self._taken(profile)
            except BusyError as fault:
                faults.append(str(fault))
                continue
            try:
                run = server.run(text, given, files, limits)
            except FaultError as fault:
                faults.append(str(fault))
                server.close()
                continue
            except BaseException:
                server.close()  # in the middle of an answer, perhaps
                raise
            self._given_back(profile, server)
            return verdict.outcome(
                run,
                backend=server.backend,
                python=server.ready.python,
                kernel=server.ready.kernel,
            )
        told_once = "; ".join(dict.fromkeys(faults))
        raise SandboxFaultError(
            Problem(
                "sandbox.failed",
                f"the sandbox failed {_TRIES} times on the same program: {told_once}. The program "
                "has no outcome",
                fix="run again, or see sandboxes/README.md",
            )
        )

    def close(self) -> None:
        """End all servers that do nothing."""
        with self._lock:
            servers = [server for idle in self._idle.values() for server in idle]
            self._idle = {}
        for server in servers:
            server.close()

    def _taken(self, profile: Profile) -> Server:
        with self._lock:
            if self._process != os.getpid():  # a fork: the servers are its parent's
                self._process, self._idle = os.getpid(), {}
            if idle := self._idle.get(profile):
                return idle.pop()
        return places.start(self.settings, profile)

    def _given_back(self, profile: Profile, server: Server) -> None:
        if server.runs >= _RECYCLED_AFTER:
            server.close()
            return
        with self._lock:
            self._idle.setdefault(profile, []).append(server)


def _check(
    source: object, stdin: object, files: Mapping[str, bytes], limits: object, profile: str
) -> None:
    for what, text in (("source", source), ("stdin", stdin)):
        if not isinstance(text, str):
            raise ValueError(f"{what} is a {type(text).__name__}: give a text")
    if not isinstance(limits, Limits):
        raise ValueError(f"limits is a {type(limits).__name__}: give raybench.sandbox.Limits")
    if profile not in get_args(Profile):
        raise ValueError(f"profile is {profile!r}: it is one of {', '.join(get_args(Profile))}")
    if not isinstance(files, Mapping):
        raise ValueError(f"files is a {type(files).__name__}: give a dict of names and bytes")
    for name, content in files.items():
        if not isinstance(name, str):
            raise ValueError(f"files: {name!r} is a {type(name).__name__}: give names as text")
        parts = name.split("/")
        if not name or "\0" in name or name.startswith("/") or {"", ".", ".."} & set(parts):
            raise ValueError(f"files: {name!r} names no file below the program's folder")
        if any("/".join(parts[:end]) in files for end in range(1, len(parts))):
            raise ValueError(f"files: {name!r} lies in a folder that is a file, too")
        if not isinstance(content, bytes):
            raise ValueError(f"files: {name!r} is a {type(content).__name__}: give bytes")
        if max(len(os.fsencode(part)) for part in parts) > _LONGEST_NAME:
            raise ValueError(f"files: {name!r} has a name of more than {_LONGEST_NAME} bytes")
    if len(files) > limits.files // 2:
        raise ValueError(f"files: {len(files):,} are too many for Limits.files={limits.files}")
    size = sum(map(len, files.values()))
    if size > limits.disk_mb << 20:
        raise ValueError(f"files: {size:,} bytes are more than Limits.disk_mb={limits.disk_mb}")

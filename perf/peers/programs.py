"""Runs programs as its environment would, and says how long that took.

    PYTHON programs.py NAME INTERPRETER RUNS       an empty program, one by one and side by side
    PYTHON programs.py NAME INTERPRETER PROGRAM    a file, with what is read, to what it writes

It runs in the peers' own environments, so it needs nothing but them. INTERPRETER is what runs
programs where that can be chosen. NAME is one of

    process         a plain process of Python's, isolated (-I)
    raybench        the sandbox, of the best walls that there are
    inspect         Inspect's local sandbox
    livecodebench   LiveCodeBench's harness: a process for each program, which runs inside it
"""

import asyncio
import importlib.util
import json
import multiprocessing
import os
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

Run = Callable[[str, str], str]
"""Runs a program with what it reads, and returns what it wrote."""
_CORES = len(os.sched_getaffinity(0))
_LIMIT_S = 60


def process(source: str, given: str) -> str:
    """Run it as a plain process."""
    done = subprocess.run(
        [sys.argv[2], "-I", "-c", source], input=given, capture_output=True, text=True,
        errors="replace", timeout=_LIMIT_S, check=False,
    )  # fmt: skip
    return done.stdout + done.stderr


def raybench(source: str, given: str) -> str:
    """Run it in the sandbox."""
    from raybench import sandbox

    outcome = sandbox.run(source, stdin=given)
    return outcome.stdout + outcome.stderr


def inspect(source: str, given: str) -> str:
    """Run it in Inspect's local sandbox."""
    return asyncio.run(_inspect(source, given))


async def _inspect(source: str, given: str) -> str:
    local: Any = importlib.import_module("inspect_ai.util._sandbox.local")
    place = local.LocalSandboxEnvironment()
    done = await place.exec([sys.argv[2], "-I", "-c", source], input=given, timeout=_LIMIT_S)
    place.directory.cleanup()
    return str(done.stdout + done.stderr)


def livecodebench(source: str, given: str) -> str:
    """Run it as the harness does, and return what it compares with what is right."""
    manager = multiprocessing.Manager()
    told = manager.list()
    sample = {"input_output": json.dumps({"inputs": [given], "outputs": ["nothing else\n"]})}
    one = multiprocessing.Process(target=_tested, args=(sample, source, told))
    one.start()
    one.join(timeout=_LIMIT_S)
    if one.is_alive():
        one.kill()
    return "\n".join(str(it.get("output", it)) for it in told)


def _tested(sample: dict[str, str], source: str, told: Any) -> None:
    _, metadata = _harness().run_test(sample, test=source, timeout=6)
    told.append(metadata)


@cache
def _harness() -> ModuleType:
    """Return the file as it is, without what else is in its package, which wants more."""
    for name, of in (("io_utils", "current_time"), ("logger", "get_logger")):
        sys.modules[f"evalscope.utils.{name}"] = module = ModuleType(name)
        setattr(module, of, lambda: None)
    (folder,) = (it for it in map(Path, sys.path) if (it / "evalscope").is_dir())
    for package in ("evalscope", "evalscope.utils"):
        sys.modules.setdefault(package, ModuleType(package))
    file = folder / "evalscope" / "benchmarks" / "live_code_bench" / "testing_util.py"
    spec = importlib.util.spec_from_file_location("testing_util", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


_WAYS: dict[str, Run] = {
    "process": process, "raybench": raybench, "inspect": inspect, "livecodebench": livecodebench,
}  # fmt: skip


def timed(name: str, runs: int) -> dict[str, Any]:
    """Return how long the first run took, each of more alone, and how many run side by side."""
    begun = time.perf_counter()
    if name == "livecodebench":
        _harness()  # imported once, before processes begin, as it is there
    _WAYS[name]("pass", "")
    first, each = time.perf_counter() - begun, []
    for _ in range(runs):
        begun = time.perf_counter()
        _WAYS[name]("pass", "")
        each.append(time.perf_counter() - begun)
    # The harness forks, which threads forbid; Inspect and we are asked from threads or tasks.
    pool: Executor
    pool = (ProcessPoolExecutor if name == "livecodebench" else ThreadPoolExecutor)(_CORES)
    with pool:
        [*pool.map(_WAYS[name], ["pass"] * _CORES, [""] * _CORES)]
        begun = time.perf_counter()
        [*pool.map(_WAYS[name], ["pass"] * runs, [""] * runs)]
        together = time.perf_counter() - begun
    return {"first": first, "each": each, "a_second": runs / together}


if __name__ == "__main__":
    _name, _what = sys.argv[1], sys.argv[3]
    sys.path.pop(0)  # this folder has modules with names of libraries
    if _what.isdecimal():
        print(json.dumps(timed(_name, int(_what))))
    else:
        print(_WAYS[_name](Path(_what).read_text(), sys.stdin.read()))

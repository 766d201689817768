"""Writes down when an engine of vLLM made how many tokens, whoever asked for them.

vLLM loads it in every engine that finds its folder on PYTHONPATH, so that one clock measures all
that is built on vLLM. For each step of an engine a record (`RECORD`: time, tokens) is appended to a
file of its own in the folder that $RAYBENCH_ENGINE_CLOCK names.
"""

import os
import struct
import time
from pathlib import Path
from typing import Any

RECORD = struct.Struct("<dI")
FOLDER = "RAYBENCH_ENGINE_CLOCK"


def register() -> None:
    """Have this process's engine write its steps down."""
    if not (folder := os.environ.get(FOLDER)):
        return
    from vllm.v1.core.sched.scheduler import Scheduler

    plain = Scheduler.update_from_output
    if hasattr(plain, "clocked"):
        return
    file: list[int] = []

    def clocked(self: Any, *args: Any, **kwargs: Any) -> Any:
        found = plain(self, *args, **kwargs)
        made = sum(len(one.new_token_ids) for of in found.values() for one in of.outputs)
        if made:
            if not file:
                path = Path(folder) / f"{os.getpid()}.steps"
                file.append(os.open(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o644))
            os.write(file[0], RECORD.pack(time.time(), made))
        return found

    clocked.clocked = True  # type: ignore[attr-defined]
    Scheduler.update_from_output = clocked

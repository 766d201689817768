"""Programs that begin a Ray, or join one, as people's do: in a process without ours around it."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from helpers import ROOT


def told(program: str, home: Path, *arguments: str, **given: str) -> Any:
    """Run it, with no variable of Ray's but those given; return what its last line says as JSON."""
    inherited = {name: it for name, it in os.environ.items() if not name.startswith("RAY_")}
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        env={**inherited, "HOME": str(home), "PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}", **given},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])

"""An acceptance test of at most ten minutes on a machine with NVIDIA GPUs.

    python -m perf.gpu_check [--out DIR] [--steps start,sleep_1] [--budget-s 600]
        [--shape layers,hidden,heads,kv_heads,intermediate | --weights FOLDER] [--keep]

Each step opens engines as runs do and decides one claim. Its row goes to stdout and, as a line of
JSON, to steps.jsonl in DIR, where the logs of engines are, too. Without --weights, the model is of
random weights, so that no hub is needed. Returns 0 if all claims hold, 1 if one does not, 2 if
engines cannot start here, 3 without a GPU.
"""

import argparse
import json
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from perf import arguments
from perf.gpu_check.claims import STEPS, Row, Step, make_table
from perf.gpu_check.measurements import Setting, device_of, nvml
from perf.gpu_check.random_weights import ABOUT_1B, TINY, Shape, write_checkpoint
from perf.gpu_check.step_runner import Budget, WorkerProcess, run_steps
from perf.results import PAGE, Found, page
from raybench.config import FleetConf
from raybench.fleet.devices import build_problems
from raybench.fleet.devices import gpus as visible_gpus
from raybench.fleet.gpus import gpus_gib, start_problems

NO_GPU = 3
_ON_GPU = FleetConf(device="gpu")
_COMPILED_ATTENTION = 10
"""The major compute capability on which vLLM prefers attention that nvcc compiles."""
_ON_CPU = {"batch": 4, "tokens": 8, "round_s": 0.1}
_ON_RIG = {"batch": 16, "tokens": 32, "round_s": 0.1}


def main() -> int:
    """Run the steps; return the exit code."""
    given = _parse()
    budget = Budget(given.budget_s)
    device, gpus = given.device, _find_gpus(given)
    if not gpus and not visible_gpus():
        print("gpu-check: there is no NVIDIA GPU on this machine", file=sys.stderr)
        return NO_GPU
    if device == "gpu" and (problems := [*build_problems(_ON_GPU), *start_problems()]):
        print("\n".join(f"gpu-check: {problem}" for problem in problems), file=sys.stderr)
        return 2
    # It has to end its workers, which Python's own reaction to SIGTERM leaves behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    out = given.out.absolute()
    out.mkdir(parents=True, exist_ok=True)
    if given.weights:
        weights = str(given.weights.absolute())
    else:
        weights = write_checkpoint(out / "weights", given.shape)
    sizes: Mapping[str, Any] = {"cpu": _ON_CPU, "rig": _ON_RIG}.get(device, {})
    options = _choose_options(gpus) if device == "gpu" else {}
    setting = Setting(
        device, gpus[0], weights, str(out), options=options, nodes=given.nodes, **sizes
    )
    steps = [step for step in STEPS if step.name in given.steps]

    def start(steps: Sequence[Step]) -> WorkerProcess:
        count = max(step.gpus for step in steps)
        environment = _make_environment(out, gpus[:count] if device == "gpu" else ())
        return WorkerProcess(asdict(setting), steps, out / f"{steps[0].worker}.log", environment)

    with (out / "steps.jsonl").open("w") as lines:

        def report(row: Row) -> None:
            print(json.dumps(row.to_json()), file=lines, flush=True)
            print(f"{row.outcome:8}{row.step:13} {row.measured} ({row.seconds:.0f} s)", flush=True)

        rows = run_steps(steps, start, budget, len(gpus), report)
    print()
    Found(
        "gpu_check", "Acceptance on GPUs", [make_table(rows)],
        versions=_describe_hardware(gpus) if device == "gpu" else {},
        measured=[row.to_json() for row in rows],
    ).tell(keep=given.keep)  # fmt: skip
    if given.keep:
        PAGE.write_text(page())
    return int(any(row.outcome == "fail" for row in rows))


def _parse() -> argparse.Namespace:
    names = [step.name for step in STEPS]
    parser = arguments.parser(__doc__)
    parser.add_argument("--out", type=Path, default=Path("runs/gpu-check"))
    parser.add_argument(
        "--steps", type=lambda text: text.split(","), default=names, help=", ".join(names)
    )
    parser.add_argument("--budget-s", type=arguments.seconds, default=600.0)
    parser.add_argument("--shape", type=Shape.parse, help="of the random weights; by default 1.2B")
    parser.add_argument("--weights", type=Path, help="a checkpoint, instead of random weights")
    # For tests: a machine without a GPU, and tests/rig/nodes.py.
    parser.add_argument(
        "--device", choices=("gpu", "cpu", "rig"), default="gpu", help=argparse.SUPPRESS
    )
    parser.add_argument("--nodes", type=json.loads, default={}, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if unknown := set(given.steps) - set(names):
        parser.error(f"{', '.join(sorted(unknown))}: there are {', '.join(names)}")
    given.shape = given.shape or (TINY if given.device == "cpu" else ABOUT_1B)
    return given


def _find_gpus(given: argparse.Namespace) -> list[str]:
    """Return the GPUs that may be used, as NVML knows them."""
    if given.device == "cpu":
        return ["cpu", "cpu"]
    with suppress(Exception):  # there is no NVML, or no driver
        return [*gpus_gib()]
    return []


def _choose_options(gpus: Sequence[str]) -> dict[str, Any]:
    """Return options with which engines start without nvcc and are alike in all steps."""
    with nvml() as library:
        capabilities = {
            library.nvmlDeviceGetCudaComputeCapability(device_of(library, gpu))[0] for gpu in gpus
        }
    attention = {"attention_backend": "FLASH_ATTN"} if _COMPILED_ATTENTION in capabilities else {}
    return {"max_num_batched_tokens": 8192, **attention}


def _make_environment(out: Path, gpus: Sequence[str]) -> dict[str, str]:
    """Return variables with which nothing finds a CUDA toolkit, nor kernels compiled earlier."""
    nothing = out / "no-cuda-toolkit"
    nothing.mkdir(exist_ok=True)
    hidden = dict.fromkeys(("CUDA_HOME", "CUDA_PATH", "FLASHINFER_WORKSPACE_BASE"), str(nothing))
    visible = {"CUDA_VISIBLE_DEVICES": ",".join(gpus)} if gpus else {}
    return {**os.environ, **hidden, **visible}


def _describe_hardware(gpus: Sequence[str]) -> dict[str, str]:
    """Return what the GPUs are called, and their driver."""
    with nvml() as library:
        names = [str(library.nvmlDeviceGetName(device_of(library, gpu))) for gpu in gpus]
        counts = {name: names.count(name) for name in names}
        called = ", ".join(f"{count} x {name}" for name, count in counts.items())
        return {"GPU": called, "driver": str(library.nvmlSystemGetDriverVersion())}


if __name__ == "__main__":
    sys.exit(main())

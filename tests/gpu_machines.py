"""A machine with NVIDIA GPUs, as far as files, PATH and a stand-in for NVML make one."""

import sys
import sysconfig
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

from pytest import MonkeyPatch

from raybench.fleet import gpus
from raybench.fleet.devices import GIB

_UNSET = (
    "CC", "CPATH", "C_INCLUDE_PATH", "CUDA_HOME", "CUDA_PATH", "CUDA_VISIBLE_DEVICES",
    "PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF", "VLLM_USE_FLASHINFER_SAMPLER",
)  # fmt: skip


class NvmlError(Exception):
    """What NVML raises."""


@dataclass
class Gpu:
    """A GPU as NVML describes it."""

    uuid: str
    gib: float = 80.0
    mig: bool | None = False
    """None: it cannot be divided into MIG instances."""
    capability: tuple[int, int] = (9, 0)
    used_gib: float = 0.0
    processes: Sequence[tuple[int, float | None]] | None = ()
    """Their ids and GiB, as far as NVML knows them; None: it names no processes."""


@dataclass
class GpuMachine:
    """A machine on which engines can start; a test then takes something away.

    It has gcc, Python's headers, Triton, torch for CUDA 13.0 and a driver for it, but no nvcc.
    """

    folder: Path
    patched: MonkeyPatch
    gpus: list[Gpu] = field(default_factory=lambda: [Gpu("GPU-a"), Gpu("GPU-b")])
    driver: str = "580.95.05"
    cuda: int = 13000
    """What libcuda runs."""
    failure: str = ""
    """What NVML raises at its start."""

    def __post_init__(self) -> None:
        for name in _UNSET:
            self.patched.delenv(name, raising=False)
        self.patched.setenv("PATH", str(self.folder / "bin"))
        self.add("bin/gcc")
        self.add("include/Python.h")
        self.add("packages/triton/__init__.py")
        self.install_torch("13.0")
        self.patched.syspath_prepend(self.folder / "packages")
        self.patched.setattr(gpus, "_TOOLKIT", self.folder / "cuda")
        self.patched.setattr(sysconfig, "get_path", lambda *_: str(self.folder / "include"))
        self.patched.setattr(sysconfig, "get_python_version", lambda: "3.12")
        self.patched.setitem(sys.modules, "pynvml", self._nvml())

    def add(self, name: str, text: str = "") -> Path:
        """Write an executable file; return its path."""
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(0o755)
        return file

    def remove(self, name: str) -> None:
        """Take a file away."""
        (self.folder / name).unlink()

    def install_torch(self, cuda: str | None) -> None:
        """Install what can be read of a torch without importing it."""
        self.add("packages/torch-2.13.0.dist-info/METADATA", "Name: torch\nVersion: 2.13.0\n")
        self.add(
            "packages/torch/version.py",
            "from typing import Optional\n__version__ = '2.13.0'\n"
            f"cuda: Optional[str] = {cuda!r}\nhip: Optional[str] = None\n",
        )

    def set(self, **variables: str) -> None:
        """Set environment variables."""
        for name, value in variables.items():
            self.patched.setenv(name, value)

    def memory(self) -> Mapping[str, float]:
        """Return what `gpus_gib` is to find where every GPU is visible."""
        return {str(index): gpu.gib for index, gpu in enumerate(self.gpus)}

    def _nvml(self) -> SimpleNamespace:
        def start() -> None:
            if self.failure:
                raise NvmlError(self.failure)

        def by_uuid(uuid: str) -> Gpu:
            for gpu in self.gpus:
                if gpu.uuid == uuid:
                    return gpu
            raise NvmlError("Not Found")

        def mig_mode(gpu: Gpu) -> list[int]:
            if gpu.mig is None:
                raise NvmlError("Not Supported")
            return [int(gpu.mig), int(gpu.mig)]

        def processes(gpu: Gpu) -> list[SimpleNamespace]:
            if gpu.processes is None:
                raise NvmlError("Not Supported")
            return [
                SimpleNamespace(pid=pid, usedGpuMemory=None if gib is None else gib * GIB)
                for pid, gib in gpu.processes
            ]

        return SimpleNamespace(
            NVMLError=NvmlError,
            nvmlInit=start,
            nvmlShutdown=lambda: None,
            nvmlSystemGetDriverVersion=lambda: self.driver,
            nvmlSystemGetCudaDriverVersion=lambda: self.cuda,
            nvmlDeviceGetCount=lambda: len(self.gpus),
            nvmlDeviceGetHandleByIndex=lambda index: self.gpus[index],
            nvmlDeviceGetHandleByUUID=by_uuid,
            nvmlDeviceGetMemoryInfo=lambda gpu: SimpleNamespace(
                total=gpu.gib * GIB, used=gpu.used_gib * GIB
            ),
            nvmlDeviceGetComputeRunningProcesses=processes,
            nvmlDeviceGetMigMode=mig_mode,
            nvmlDeviceGetCudaComputeCapability=lambda gpu: gpu.capability,
        )

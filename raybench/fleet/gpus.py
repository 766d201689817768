"""The NVIDIA GPUs of a machine, and what vLLM needs there before an engine can start.

What compiles with nvcc while an engine of vLLM 0.29 starts or answers (read in its sources):

- FlashInfer's sampler, which is off unless the user turns it on (vllm/envs.py:49);
- FlashInfer's all-reduce and DeepGEMM (block-wise FP8), which are on by default and do not look for
  nvcc: `engine_environment` turns them off where nvcc is missing;
- FlashInfer's attention: chosen by vLLM on compute capability 10 (vllm/platforms/cuda.py:139), or
  by the user;
- other kernels of FlashInfer: vLLM leaves them alone without nvcc, unless the user names them.

What is not known before shows when an engine dies: reasons.py has the fix.
"""

import importlib.util
import os
import re
import shutil
import sysconfig
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from raybench.errors import Problem
from raybench.fleet.devices import GIB

_VISIBLE = "CUDA_VISIBLE_DEVICES"
_SAMPLER = "VLLM_USE_FLASHINFER_SAMPLER"
_ALLOCATOR = ("PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF")
_PINNED, _PINNED_MB = "pinned_max_cached_size_mb", 16
"""Above torch's small segments of 2 MiB, below its others of 20 MiB and more."""
_TOOLKIT = Path("/usr/local/cuda")
"""Where FlashInfer and torch look for the CUDA toolkit in the end."""
_DRIVERS = {12: 525, 13: 580}
"""The oldest driver for each major version of CUDA, whatever the minor version:
docs.nvidia.com/deploy/cuda-compatibility/minor-version-compatibility.html."""
_OLDEST_GPUS = {12: (7, 0), 13: (7, 5)}
"""The least compute capability that wheels for a major version of CUDA hold code for: torch's
(pytorch/test-infra, tools/pkg-helpers/pytorch_pkg_helpers/cuda.py) and vLLM's (CMakeLists.txt)."""
_COMPILED_KERNELS = ("flashinfer", "deep_gemm")
_COMPILED_ATTENTION = 10
"""The major compute capability on which vLLM prefers FlashInfer's attention."""


@dataclass(frozen=True, slots=True)
class GpuMachine:
    """What a machine reports about its GPUs."""

    memory_gib: Mapping[str, float]
    """By the id that CUDA_VISIBLE_DEVICES takes; empty if engines cannot start there."""
    problems: tuple[Problem, ...] = ()
    """What keeps engines from starting."""


def inspect_machine() -> GpuMachine:
    """Return the memory of this machine's GPUs, or why engines cannot start on them."""
    problems = tuple(start_problems())
    return GpuMachine({} if problems else gpus_gib(), problems)


def gpus_gib() -> dict[str, float]:
    """Return the memory of each GPU of this machine that may be used here, by its id."""
    with _nvml() as nvml:
        return {
            ident: float(nvml.nvmlDeviceGetMemoryInfo(_handle(nvml, ident)).total / GIB)
            for ident in _idents(nvml)
        }


@dataclass(frozen=True, slots=True)
class DeviceUse:
    """What is taken of the memory of a GPU."""

    used_gib: float
    by_process: Mapping[int, float]
    """By process id, as far as NVML knows the ids."""


def device_uses(idents: Sequence[str]) -> list[DeviceUse]:
    """Return what is taken of the memory of these GPUs of this machine."""
    with _nvml() as nvml:
        return [_use_of(nvml, _handle(nvml, ident)) for ident in idents]


def _use_of(nvml: Any, handle: Any) -> DeviceUse:
    by_process: dict[int, float] = {}
    with suppress(nvml.NVMLError):  # the driver does not name processes
        for process in nvml.nvmlDeviceGetComputeRunningProcesses(handle):
            if process.usedGpuMemory is not None:
                before = by_process.get(process.pid, 0.0)
                by_process[process.pid] = before + process.usedGpuMemory / GIB
    return DeviceUse(nvml.nvmlDeviceGetMemoryInfo(handle).used / GIB, by_process)


def start_problems(options: Iterable[Mapping[str, Any]] = ()) -> Iterator[Problem]:
    """Yield what keeps engines from starting on this machine's GPUs.

    options: those of each engine, as far as they are known.
    """
    compiled = None if nvcc() or _has("flashinfer_jit_cache") else [*options]
    yield from _gpu_problems(compiled)
    yield from _compiler_problems()
    yield from _toolkit_problems(compiled)


def engine_environment() -> dict[str, str]:
    """Return environment variables of an engine that its node and job leave to raybench.

    Requests with a seed or without a temperature, as all of raybench's are, are sampled without
    FlashInfer's sampler anyway.
    """
    off = [_SAMPLER]
    if not nvcc():
        off += ["VLLM_USE_DEEP_GEMM", "VLLM_ALLREDUCE_USE_FLASHINFER"]
    return {name: "0" for name in off if name not in os.environ} | _allocator_settings()


def _allocator_settings() -> dict[str, str]:
    """Return the setting by which weights in host memory take what they are, until the wake.

    vLLM keeps the weights of a sleeper in pinned blocks (vllm/device_allocator/cumem.py). Torch
    rounds these up to powers of two and keeps them for good (ATen/core/CachingHostAllocator.h),
    but none that is above this limit.
    """
    given = {name: os.environ[name] for name in _ALLOCATOR if name in os.environ}
    name, settings = next(iter(given.items()), (_ALLOCATOR[-1], ""))  # torch reads the first
    if _PINNED in settings:
        return {}
    return {name: ",".join(filter(None, (settings, f"{_PINNED}:{_PINNED_MB}")))}


def nvcc() -> Path | None:
    """Return the CUDA compiler that FlashInfer and DeepGEMM would call."""
    home = os.environ.get("CUDA_HOME") or os.environ.get("CUDA_PATH")
    if not home and (found := shutil.which("nvcc")):
        return Path(found)
    file = Path(home or _TOOLKIT) / "bin" / "nvcc"
    return file if file.is_file() else None


@contextmanager
def _nvml() -> Iterator[Any]:
    import pynvml

    pynvml.nvmlInit()
    try:
        yield pynvml
    finally:
        pynvml.nvmlShutdown()


def _visible() -> list[str] | None:
    """Return the ids in CUDA_VISIBLE_DEVICES, which Ray's workers inherit; None: all GPUs."""
    visible = os.environ.get(_VISIBLE)
    if visible is None:
        return None
    return [ident.strip() for ident in visible.split(",") if ident.strip()]


def _idents(nvml: Any) -> list[str]:
    visible = _visible()
    return [str(it) for it in range(nvml.nvmlDeviceGetCount())] if visible is None else visible


def _handle(nvml: Any, ident: str) -> Any:
    if ident.isdigit():
        return nvml.nvmlDeviceGetHandleByIndex(int(ident))
    return nvml.nvmlDeviceGetHandleByUUID(ident)


def _gpu_problems(compiled: Sequence[Mapping[str, Any]] | None) -> list[Problem]:
    """Return what NVML shows. compiled: options of engines, where nvcc is missing for them."""
    try:
        import pynvml
    except ImportError:
        return [
            Problem(
                "package.missing",
                "the package nvidia-ml-py, by which GPUs are counted, is not installed",
                fix="run `make setup`, or `pip install nvidia-ml-py`",
            )
        ]
    try:
        with _nvml() as nvml:
            return [*_driver_problems(nvml), *_device_problems(nvml, compiled)]
    except pynvml.NVMLError as error:
        return [
            Problem(
                "resources.driver",
                f"the NVIDIA driver does not answer ({error})",
                setting="fleet.device",
                fix="Install or load the driver until `nvidia-smi` lists the GPUs. A container "
                "needs NVIDIA's container toolkit and `--gpus all`, too",
            )
        ]


def _driver_problems(nvml: Any) -> Iterator[Problem]:
    """Yield whether the driver is too old for the CUDA that torch is built for."""
    cuda = cuda_of_torch()
    if cuda is None:
        return
    driver, major = str(nvml.nvmlSystemGetDriverVersion()), int(cuda.split(".")[0])
    oldest = _DRIVERS.get(major)
    if oldest and int(driver.split(".")[0]) >= oldest:
        return
    # NVIDIA's package cuda-compat makes older drivers of data centre GPUs run newer CUDA.
    if nvml.nvmlSystemGetCudaDriverVersion() // 1000 >= major:
        return
    needed = f"{oldest} or newer" if oldest else "a newer one"
    ubuntu = f" (on Ubuntu: apt-get install nvidia-driver-{max(_DRIVERS.values())}-server)"
    yield Problem(
        "resources.driver",
        f"the NVIDIA driver is {driver}, and the installed torch is built for CUDA {cuda}, "
        f"which needs {needed}",
        setting="fleet.device",
        given=driver,
        fix=f"Install a newer driver{ubuntu if oldest else ''} and restart. On data centre GPUs "
        f"the package cuda-compat-{cuda.replace('.', '-')} of NVIDIA's repository will do, with "
        "its folder in LD_LIBRARY_PATH",
    )


def _device_problems(nvml: Any, compiled: Sequence[Mapping[str, Any]] | None) -> Iterator[Problem]:
    """Yield which of the visible GPUs cannot be used."""
    instances, divided, old, preferring = list[str](), list[str](), list[str](), list[str]()
    oldest = _OLDEST_GPUS.get(int((cuda_of_torch() or "0").split(".")[0]), (0, 0))
    for ident in _idents(nvml):
        if ident.startswith("MIG-"):
            instances.append(ident)
            continue
        try:
            handle = _handle(nvml, ident)
        except nvml.NVMLError as error:
            yield Problem(
                "environment.variable",
                f"{_VISIBLE} names '{ident}', which NVML does not know ({error})",
                setting=_VISIBLE,
                given=ident,
                fix="name GPUs by their number or their whole UUID, as `nvidia-smi -L` lists them",
            )
            continue
        with suppress(nvml.NVMLError):  # most GPUs cannot be divided
            if nvml.nvmlDeviceGetMigMode(handle)[0]:
                divided.append(ident)
        capability = tuple(nvml.nvmlDeviceGetCudaComputeCapability(handle))
        if capability < oldest:
            old.append(ident)
        if compiled and capability[0] == _COMPILED_ATTENTION:
            preferring.append(ident)
    if instances:
        yield _mig_problem(f"{_VISIBLE} names {', '.join(instances)}", _VISIBLE, instances)
    if divided:
        yield _mig_problem(f"MIG is on for GPU {', '.join(divided)}", "fleet.device", divided)
    if old:
        yield Problem(
            "resources.gpus",
            f"GPU {', '.join(old)} is too old: the installed torch is built for CUDA "
            f"{cuda_of_torch()}, which needs compute capability {oldest[0]}.{oldest[1]} or more",
            setting="fleet.device",
            given=",".join(old),
            fix=f"Name only newer GPUs in {_VISIBLE}, or use endpoints, or fleet.device=cpu",
        )
    if preferring and not all(map(_names_attention, compiled or ())):
        yield Problem(
            "package.missing",
            f"on GPU {', '.join(preferring)} (compute capability {_COMPILED_ATTENTION}) "
            "vLLM chooses FlashInfer's attention, which nvcc compiles, and there is no nvcc",
            setting="roster.models[].options.attention_backend",
            fix=f"{_install_toolkit()}; or set each model's options.attention_backend to "
            "FLASH_ATTN, for models with multi-head latent attention to CUTLASS_MLA",
        )


def _mig_problem(found: str, setting: str, given: Sequence[str]) -> Problem:
    return Problem(
        "resources.gpus",
        f"{found}, and MIG instances are not supported: vLLM takes the number of an "
        "instance for the number of a GPU (vllm/platforms/cuda.py:739 in 0.29)",
        setting=setting,
        given=",".join(given),
        fix=f"Name whole GPUs in {_VISIBLE}, or turn MIG off (`nvidia-smi -i GPU -mig 0`)",
    )


def _names_attention(options: Mapping[str, Any]) -> bool:
    config = options.get("attention_config")
    return bool(options.get("attention_backend") or (config and "backend" in config))


def _compiler_problems() -> Iterator[Problem]:
    """Yield what Triton lacks to compile its launcher, by triton/runtime/build.py (3.7)."""
    if not _has("triton"):
        return
    named = os.environ.get("CC")
    if named is not None and not shutil.which(named):
        yield Problem(
            "environment.variable",
            f"CC is '{named}', which is no program; Triton calls it when an engine starts",
            setting="CC",
            given=named,
            fix="name a C compiler without options, or unset CC to have gcc or clang called",
        )
    elif named is None and not (shutil.which("gcc") or shutil.which("clang")):
        yield Problem(
            "package.missing",
            "there is no C compiler: Triton calls gcc or clang when an engine starts",
            setting="CC",
            fix="Install one (apt-get install build-essential, or dnf install gcc gcc-c++), or "
            "name one in CC",
        )
    if not any((folder / "Python.h").is_file() for folder in _include_folders()):
        python = sysconfig.get_python_version()
        yield Problem(
            "package.missing",
            f"there is no Python.h in {_include_folders()[0]}: Triton compiles with it "
            "when an engine starts",
            fix=f"Install the headers of Python {python} (apt-get install python{python}-dev, or "
            f"dnf install python{python}-devel), or use a Python that has them, such as uv's",
        )


def _include_folders() -> list[Path]:
    scheme = sysconfig.get_default_scheme()
    if scheme == "posix_local":  # Debian's own, in which there are no headers
        scheme = "posix_prefix"
    others = (os.environ.get(name, "") for name in ("CPATH", "C_INCLUDE_PATH"))
    searched = [sysconfig.get_path("include", scheme), *":".join(others).split(":")]
    return [Path(folder) for folder in searched if folder]


def _toolkit_problems(compiled: Sequence[Mapping[str, Any]] | None) -> Iterator[Problem]:
    """Yield what was asked for that nvcc compiles, where it is missing."""
    if compiled is None:
        return
    if (sampler := os.environ.get(_SAMPLER, "0")).strip() not in ("", "0"):
        yield Problem(
            "package.missing",
            f"{_SAMPLER} is {sampler}, and nvcc, which compiles this sampler when an engine "
            "starts, is not installed",
            setting=_SAMPLER,
            given=sampler,
            fix=f"{_install_toolkit()}; or unset {_SAMPLER}, which raybench's requests do not use",
        )
    named = {
        (name, str(value))
        for options in compiled
        for name, value in options.items()
        if name.endswith(("_backend", "_config"))
        and any(kernels in str(value).lower() for kernels in _COMPILED_KERNELS)
    }
    for name, value in sorted(named):
        yield Problem(
            "package.missing",
            f"options.{name} is {value}, and nvcc, which compiles these kernels when an engine "
            "starts, is not installed",
            setting=f"roster.models[].options.{name}",
            given=value,
            fix=f"{_install_toolkit()}; or leave options.{name} out",
        )


def _install_toolkit() -> str:
    package = "cuda-toolkit" + f"-{cuda_of_torch() or ''}".rstrip("-").replace(".", "-")
    return (
        f"Install the CUDA toolkit (apt-get or dnf install {package} from NVIDIA's repository) and "
        "set CUDA_HOME to its folder"
    )


def cuda_of_torch() -> str | None:
    """Return the CUDA version that the installed torch is built for, without importing torch."""
    try:
        file = Path(str(distribution("torch").locate_file("torch/version.py")))
        found = re.search(r"^cuda\b.*=\s*['\"](\d+\.\d+)", file.read_text(), re.MULTILINE)
    except (PackageNotFoundError, OSError):
        return None
    return found[1] if found else None


def _has(module: str) -> bool:
    return importlib.util.find_spec(module) is not None

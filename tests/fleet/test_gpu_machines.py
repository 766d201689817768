"""What keeps engines from starting on a machine's GPUs is found before they start.

No GPU is here: NVML, compilers and packages are stand-ins. What vLLM does is held to its sources.
"""

import importlib.util
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from command import run_command
from gpu_machines import GpuMachine
from refusals import assert_among, refusals, refused
from statements import code, values

from raybench.config import FleetConf, labels
from raybench.errors import RunFailed
from raybench.fleet import cluster, devices
from raybench.fleet.devices import Machine
from raybench.fleet.gpus import (
    DeviceUse,
    cuda_of_torch,
    device_uses,
    engine_environment,
    gpus_gib,
    inspect_machine,
    nvcc,
    start_problems,
)

SAMPLER = "VLLM_USE_FLASHINFER_SAMPLER"
ATTENTION = "roster.models[].options.attention_backend"
PINNED = "pinned_max_cached_size_mb"
ABSENT = ("package.missing", None)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GpuMachine:
    return GpuMachine(tmp_path, monkeypatch)


def found(*options: Mapping[str, Any]) -> list[tuple[str, str | None]]:
    return list(refusals(start_problems(options)))


# ------------------------------------------------------------------------------------- NVML


def test_engines_start_without_a_cuda_toolkit(machine: GpuMachine) -> None:
    assert found({}) == []
    inspected = inspect_machine()
    assert (inspected.memory_gib, inspected.problems) == (machine.memory(), ())


@pytest.mark.parametrize(
    ("built_for", "driver", "runs", "too_old"),
    [
        ("13.0", "580.65.06", 13000, False),
        ("13.2", "580.65.06", 13000, False),  # minor versions are compatible
        ("13.0", "610.10", 13020, False),
        ("13.0", "575.57.08", 12090, True),
        ("13.0", "550.54.14", 13000, False),  # with NVIDIA's package cuda-compat
        ("12.8", "525.60.13", 12000, False),
        ("12.8", "520.61.05", 11080, True),
        ("12.8", "580.65.06", 13000, False),  # drivers run older CUDA
        ("14.1", "580.65.06", 13000, True),
        ("14.1", "650.10", 14000, False),
        (None, "390.157", 9010, False),  # built for CPUs
    ],
)
def test_the_driver_has_to_run_the_cuda_that_torch_is_built_for(
    machine: GpuMachine, built_for: str | None, driver: str, runs: int, too_old: bool
) -> None:
    machine.install_torch(built_for)
    machine.driver, machine.cuda = driver, runs
    assert cuda_of_torch() == built_for
    assert found() == [("resources.driver", "fleet.device")] * too_old
    assert [problem.given for problem in start_problems()] == [driver] * too_old


def test_a_driver_that_does_not_answer_is_reported(machine: GpuMachine) -> None:
    machine.failure = "NVML Shared Library Not Found"
    (problem,) = start_problems()
    assert (problem.code, problem.setting) == ("resources.driver", "fleet.device")
    assert machine.failure in problem.message
    assert inspect_machine().problems == (problem,)


def test_gpus_cannot_be_counted_without_nvidias_package(machine: GpuMachine) -> None:
    machine.patched.setitem(sys.modules, "pynvml", None)
    assert found() == [ABSENT]


def test_mig_instances_are_refused_by_their_names(machine: GpuMachine) -> None:
    machine.set(CUDA_VISIBLE_DEVICES="MIG-1,MIG-2")
    (problem,) = start_problems()
    assert (problem.code, problem.setting) == ("resources.gpus", "CUDA_VISIBLE_DEVICES")
    assert problem.given == "MIG-1,MIG-2"
    assert inspect_machine().memory_gib == {}


def test_gpus_that_are_divided_into_mig_instances_are_refused(machine: GpuMachine) -> None:
    machine.gpus[1].mig = True
    (problem,) = start_problems()
    assert (problem.code, problem.setting, problem.given) == (
        "resources.gpus",
        "fleet.device",
        "1",
    )
    machine.set(CUDA_VISIBLE_DEVICES="0")
    assert found() == []


def test_gpus_that_cannot_be_divided_are_no_problem(machine: GpuMachine) -> None:
    machine.gpus[0].mig = None
    assert found() == []


@pytest.mark.parametrize(
    ("built_for", "capability", "too_old"),
    [
        ("13.0", (7, 0), True),
        ("13.0", (6, 1), True),
        ("13.0", (7, 5), False),
        ("12.8", (7, 0), False),
        ("12.8", (6, 1), True),
        (None, (6, 1), False),
    ],
)
def test_gpus_that_the_wheels_have_no_code_for_are_refused(
    machine: GpuMachine, built_for: str | None, capability: tuple[int, int], too_old: bool
) -> None:
    machine.install_torch(built_for)
    machine.gpus[1].capability = capability
    assert found() == [("resources.gpus", "fleet.device")] * too_old
    assert [problem.given for problem in start_problems()] == ["1"] * too_old
    machine.set(CUDA_VISIBLE_DEVICES="0")
    assert found() == []


def test_visible_gpus_are_known_to_nvml_by_number_or_whole_uuid(machine: GpuMachine) -> None:
    machine.set(CUDA_VISIBLE_DEVICES="1, GPU-a")
    assert (found(), gpus_gib()) == ([], {"1": 80.0, "GPU-a": 80.0})


def test_what_processes_take_of_a_gpu_is_read_by_number_and_by_uuid(machine: GpuMachine) -> None:
    machine.gpus[0].used_gib, machine.gpus[0].processes = 30.0, [(11, 20.0), (11, 1.0), (12, None)]
    machine.gpus[1].used_gib, machine.gpus[1].processes = 5.0, None
    assert device_uses(["GPU-a", "1"]) == [DeviceUse(30.0, {11: 21.0}), DeviceUse(5.0, {})]
    machine.set(CUDA_VISIBLE_DEVICES="GPU-,0")
    (problem,) = start_problems()
    assert (problem.code, problem.given) == ("environment.variable", "GPU-")


# -------------------------------------------------------------------- Triton and its launcher


def test_triton_needs_a_compiler(machine: GpuMachine) -> None:
    machine.remove("bin/gcc")
    assert found() == [("package.missing", "CC")]
    machine.add("bin/clang")
    assert found() == []


def test_a_compiler_that_is_named_has_to_be_there(machine: GpuMachine) -> None:
    machine.set(CC="gcc-13")
    (problem,) = start_problems()
    assert (problem.code, problem.setting, problem.given) == (
        "environment.variable",
        "CC",
        "gcc-13",
    )
    machine.set(CC=str(machine.add("opt/gcc-13")))
    assert found() == []


def test_triton_needs_the_headers_of_this_python(machine: GpuMachine) -> None:
    machine.remove("include/Python.h")
    (problem,) = start_problems()
    assert (problem.code, problem.setting) == ABSENT
    assert str(machine.folder / "include") in problem.message
    headers = machine.add("opt/Python.h").parent
    machine.set(CPATH=f"/nowhere:{headers}")
    assert found() == []


def test_without_triton_nothing_is_compiled(machine: GpuMachine) -> None:
    for name in ("include/Python.h", "bin/gcc"):
        machine.remove(name)
    machine.patched.setattr(importlib.util, "find_spec", lambda name: None)
    assert found() == []


# --------------------------------------------------------------------------------------- nvcc


def with_nvcc_on_path(machine: GpuMachine) -> None:
    machine.add("bin/nvcc")


def with_a_toolkit(machine: GpuMachine) -> None:
    machine.add("cuda/bin/nvcc")


def with_cuda_home(machine: GpuMachine) -> None:
    machine.set(CUDA_HOME=str(machine.add("opt/cuda/bin/nvcc").parents[1]))


@pytest.mark.parametrize("place", [with_nvcc_on_path, with_a_toolkit, with_cuda_home])
def test_nvcc_is_looked_for_where_flashinfer_does(
    machine: GpuMachine, place: Callable[[GpuMachine], None]
) -> None:
    machine.add("cuda/include/cuda.h")  # a folder is no compiler
    machine.set(**{SAMPLER: "1"})
    assert nvcc() is None
    assert found() == [("package.missing", SAMPLER)]
    place(machine)
    assert nvcc() is not None
    assert found() == []


def test_cuda_home_excludes_other_toolkits(machine: GpuMachine) -> None:
    machine.add("bin/nvcc")
    machine.set(CUDA_HOME=str(machine.folder / "empty"))
    assert nvcc() is None


def test_kernels_of_flashinfer_that_are_compiled_already_need_no_nvcc(machine: GpuMachine) -> None:
    machine.set(**{SAMPLER: "1"})
    assert len(found()) == 1
    machine.add("packages/flashinfer_jit_cache/__init__.py")
    importlib.invalidate_caches()
    assert found({"moe_backend": "flashinfer_trtllm"}) == []


@pytest.mark.parametrize("off", ["0", ""])
def test_a_sampler_that_is_turned_off_needs_no_nvcc(machine: GpuMachine, off: str) -> None:
    machine.set(**{SAMPLER: off})
    assert found() == []


def test_options_that_name_what_nvcc_compiles_need_it(machine: GpuMachine) -> None:
    options = {
        "attention_backend": "FLASHINFER",
        "kernel_config": {"moe_backend": "flashinfer_cutlass"},
        "moe_backend": "deep_gemm",
        "mamba_backend": "triton",
        "chat_template": "flashinfer",
        "gpu_memory_utilization": 0.5,
    }
    expected = [
        ("package.missing", f"roster.models[].options.{name}")
        for name in ("attention_backend", "kernel_config", "moe_backend")
    ]
    assert found(options, options, {}) == expected
    machine.add("bin/nvcc")
    assert found(options) == []


@pytest.mark.parametrize(
    ("capability", "options", "refuses"),
    [
        ((9, 0), {}, False),
        ((10, 0), {}, True),
        ((10, 3), {"attention_config": {}}, True),
        ((10, 0), {"attention_backend": "FLASH_ATTN"}, False),
        ((10, 0), {"attention_config": {"backend": "FLASH_ATTN"}}, False),
        ((12, 0), {}, False),
    ],
)
def test_attention_that_vllm_chooses_may_need_nvcc(
    machine: GpuMachine, capability: tuple[int, int], options: Mapping[str, Any], refuses: bool
) -> None:
    machine.gpus[0].capability = capability
    assert found(options) == [("package.missing", ATTENTION)] * refuses
    assert found() == []  # on a cluster options are unknown
    machine.add("bin/nvcc")
    assert found(options) == []


def test_engines_leave_alone_what_nvcc_would_compile(machine: GpuMachine) -> None:
    off = {SAMPLER, "VLLM_USE_DEEP_GEMM", "VLLM_ALLREDUCE_USE_FLASHINFER"}
    environment = engine_environment()
    assert {name for name, value in environment.items() if value == "0"} == off
    machine.set(VLLM_USE_DEEP_GEMM="1")
    assert "VLLM_USE_DEEP_GEMM" not in engine_environment()
    machine.add("bin/nvcc")
    assert {name for name, value in engine_environment().items() if value == "0"} == {SAMPLER}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, {"PYTORCH_ALLOC_CONF": f"{PINNED}:16"}),
        ({"PYTORCH_ALLOC_CONF": ""}, {"PYTORCH_ALLOC_CONF": f"{PINNED}:16"}),
        ({"PYTORCH_ALLOC_CONF": "a:1"}, {"PYTORCH_ALLOC_CONF": f"a:1,{PINNED}:16"}),
        (
            {"PYTORCH_ALLOC_CONF": "a:1", "PYTORCH_CUDA_ALLOC_CONF": "b:1"},
            {"PYTORCH_CUDA_ALLOC_CONF": f"b:1,{PINNED}:16"},
        ),
        ({"PYTORCH_ALLOC_CONF": f"{PINNED}:64"}, {}),
    ],
)
def test_weights_of_sleepers_are_neither_rounded_up_nor_kept_in_host_memory(
    machine: GpuMachine, given: dict[str, str], expected: dict[str, str]
) -> None:
    machine.set(**given)
    environment = engine_environment()
    assert {name: environment[name] for name in environment if "ALLOC" in name} == expected


def test_torch_rounds_no_pinned_block_that_it_does_not_keep() -> None:
    """A newer torch may: then gpus.py and the budget of host memory have to follow."""
    if not (spec := importlib.util.find_spec("torch")) or not spec.origin:
        pytest.skip("no torch")
    sources = Path(spec.origin).parent / "include"
    allocator = (sources / "ATen/core/CachingHostAllocator.h").read_text()
    assert (
        "size <= pinned_max_cached_size()) {\n        return c10::llvm::PowerOf2Ceil" in allocator
    )
    assert "if (size > pinned_max_cached_size()) {" in allocator
    library = Path(spec.origin).parent / "lib" / "libc10.so"
    assert PINNED.encode() in library.read_bytes()


def test_vllm_has_what_this_relies_on() -> None:
    """A newer vLLM may not: then gpus.py has to follow."""
    if not (spec := importlib.util.find_spec("vllm")) or not spec.origin:
        pytest.skip("no vLLM")
    sources = Path(spec.origin).parent
    known = (sources / "envs.py").read_text()
    for name in (SAMPLER, "VLLM_USE_DEEP_GEMM", "VLLM_ALLREDUCE_USE_FLASHINFER"):
        assert f'"{name}": lambda' in known
    platform = (sources / "platforms" / "cuda.py").read_text()
    assert "nvmlDeviceGetIndex" in platform.splitlines()[738]
    assert "device_capability.major == 10" in platform


# ---------------------------------------------------------------------------------- on clusters


class Ray:
    """Nodes, and tasks that run on them at once."""

    def __init__(self, machine: GpuMachine, gpus: Mapping[str, int]) -> None:
        self._machine = machine
        self._gpus = gpus
        self.divided: set[str] = set()
        """Nodes whose GPUs are divided into MIG instances."""
        self.rounds: list[int] = []
        """Tasks that each `get` has waited for."""
        for name in ("nodes", "remote", "get"):
            machine.patched.setattr(f"ray.{name}", getattr(self, name))

    def nodes(self) -> list[dict[str, Any]]:
        return [
            {
                "Alive": True,
                "NodeID": name,
                "NodeName": f"10.0.0.{number}",
                "Labels": {"ray.io/node-id": name},
                "Resources": {"memory": 2.0**30, "GPU": gpus} if gpus else {"memory": 2.0**30},
            }
            for number, (name, gpus) in enumerate(self._gpus.items())
        ]

    def remote(self, function: Callable[[], Any]) -> Any:
        ray = self

        class Task:
            def options(self, *, label_selector: dict[str, str], num_cpus: int) -> "Task":
                self.node = label_selector["ray.io/node-id"]
                return self

            def remote(self) -> Any:
                for gpu in ray._machine.gpus:
                    gpu.mig = self.node in ray.divided
                return function()

        return Task()

    def get(self, tasks: list[Any]) -> list[Any]:
        self.rounds.append(len(tasks))
        return tasks


def test_nodes_are_asked_for_their_gpus_and_problems_at_once(machine: GpuMachine) -> None:
    ray = Ray(machine, {"a": 2, "b": 1, "head": 0})
    ray.divided = {"b"}
    a, b, head = cluster.nodes(FleetConf(), gpu=True)
    assert ray.rounds == [2]
    assert (a.gpus_gib, a.problems) == (machine.memory(), ())
    assert (head.gpus_gib, head.problems) == ({}, ())
    assert b.gpus_gib == {}
    assert "10.0.0.1" in assert_among(b.problems, "resources.gpus").message


def test_a_node_that_cannot_start_engines_is_left_out_if_others_can(machine: GpuMachine) -> None:
    ray = Ray(machine, {"a": 2, "b": 1})
    ray.divided = {"b"}
    nodes = cluster.nodes(FleetConf(), gpu=True)
    said: list[str] = []
    conf = cluster.leave_out(FleetConf(nodes={"pool": "x"}), nodes, said.append)
    assert conf.nodes == {"pool": "x", "ray.io/node-id": "!in(b)"}
    assert list(labels.problems("fleet.nodes", conf.nodes)) == []
    assert [code(text) for text in said] == ["fleet.node_left_out"]
    assert "10.0.0.1" in str(values(said[0])["problem"])
    named = FleetConf(nodes={"ray.io/node-id": "in(a,b)"})
    assert cluster.leave_out(named, nodes, said.append).nodes == {"ray.io/node-id": "in(a)"}


def test_a_run_ends_if_no_node_can_start_engines(machine: GpuMachine) -> None:
    ray = Ray(machine, {"a": 2, "b": 1, "head": 0})
    ray.divided = {"a", "b"}
    nodes = cluster.nodes(FleetConf(), gpu=True)
    with refused("resources.gpus", "fleet.device", kind=RunFailed) as raised:
        cluster.leave_out(FleetConf(), nodes, lambda text: None)
    assert len(raised.value.problems) == 2


def test_clusters_whose_gpus_are_fine_or_still_to_come_stay_as_they_are() -> None:
    conf = FleetConf()
    for nodes in ([Machine("a", 8.0, {"0": 80.0})], [Machine("head", 8.0)], []):
        assert cluster.leave_out(conf, nodes, pytest.fail) is conf


# ------------------------------------------------------------------------- before a run starts


@pytest.mark.parametrize("dry", ["true", "false"])
def test_a_run_on_ones_own_machine_is_refused_before_it_starts(
    machine: GpuMachine, tmp_path: Path, dry: str
) -> None:
    machine.patched.setattr(devices, "build", lambda: "gpu")
    machine.patched.setattr("raybench.fleet.engines.build", lambda: "gpu")
    machine.patched.delenv("RAY_ADDRESS", raising=False)
    machine.set(CUDA_VISIBLE_DEVICES="0")
    machine.gpus[0].mig = True
    done = run_command(
        "+experiment=index",
        "data=samples",
        "roster.models=[{name: m, engine: vllm, weights: org/m}]",
        f"dry_run={dry}",
        "tracking.send=never",
        cwd=tmp_path,
    )
    assert done.returncode == 2, done.stderr
    assert "MIG" in done.stderr
    assert not (tmp_path / "runs").exists()

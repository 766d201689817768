"""What is made of the errors of Ray, vLLM and the hub, in their own words."""

import importlib.util
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raybench.fleet import reasons
from raybench.fleet.reasons import (
    error_in,
    last_line,
    mended,
    of_application,
    of_death,
    root_cause,
)

UNKNOWN = """\
The deployment failed to start 2 times in a row. Error:
ray::ServeReplica:e:BatchServer:e.initialize_and_get_metadata() (pid=1, ip=10.0.0.1)
  File "replica.py", line 1, in initialize
RuntimeError: Traceback (most recent call last):
  File "engine.py", line 2, in start
pydantic_core._pydantic_core.ValidationError: 1 validation error for ModelConfig
  Value error, Model architectures ['FooForCausalLM'] are not supported for now. Supported \
architectures: dict_keys(['AfmoeForCausalLM', 'ApertusForCausalLM'])
    For further information visit https://errors.pydantic.dev/2.14/v/value_error
"""
# What a replica and the processes that vLLM starts in it printed, shortened.
LOG = """\
(Worker pid=9) ERROR 11-21 08:17:54 [multiproc_executor.py:944] Traceback (most recent call last):
(Worker pid=9) ERROR 11-21 08:17:54 [multiproc_executor.py:944]     raise RuntimeError(
(Worker pid=9) ERROR 11-21 08:17:54 [multiproc_executor.py:944] {cause}
(EngineCore pid=8) ERROR 11-21 08:17:57 [core.py:1374] EngineCore failed to start.
(EngineCore pid=8) ERROR 11-21 08:17:57 [core.py:1374] Traceback (most recent call last):
(EngineCore pid=8) ERROR 11-21 08:17:57 [core.py:1374]     raise e from None
(EngineCore pid=8) ERROR 11-21 08:17:57 [core.py:1374] Exception: WorkerProc initialization failed \
due to an exception in a background process. See stack trace for root cause.
(EngineCore pid=8) Process EngineCore:
(EngineCore pid=8) Traceback (most recent call last):
(EngineCore pid=8) Exception: WorkerProc initialization failed due to an exception in a background \
process. See stack trace for root cause.
"""
POINTER = "Engine core initialization failed. See root cause above. Failed core proc(s): {}"


def test_the_last_error_that_a_traceback_names_is_the_reason() -> None:
    named, said = (line.strip() for line in UNKNOWN.splitlines()[5:7])
    assert error_in(UNKNOWN) == f"{named} {said.partition(' Supported ')[0]}"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", ""),
        (" \n\n", ""),
        ("nothing here\nis named", "is named"),
        ("a.b.OddError: x\n", "a.b.OddError: x"),
        ("ValueError: first\nKeyError: 'last'", "KeyError: 'last'"),
        ("Errors were seen\nand more", "and more"),
        ("Value error, x\nFor further information visit y", "Value error, x"),
    ],
)
def test_a_reason_is_found_in_all_kinds_of_text(text: str, reason: str) -> None:
    assert error_in(text) == reason


@given(st.text())
def test_a_reason_is_one_line_of_bounded_length(text: str) -> None:
    assert len(error_in(text).splitlines()) <= 1
    assert len(last_line(text).splitlines()) <= 1
    assert len(error_in(text)) <= 602
    assert bool(last_line(text)) == bool(text.strip())


def test_an_applications_reason_may_be_its_deployments() -> None:
    deployment = SimpleNamespace(message=UNKNOWN)
    application = SimpleNamespace(message="", deployments={"d": deployment})
    assert "FooForCausalLM" in of_application(application)
    nothing = SimpleNamespace(message="", deployments={})
    assert of_application(nothing) == reasons.NO_REASON


@pytest.mark.parametrize(
    "cause",
    [
        "RuntimeError: Cannot find any model weights with `/models/m`",
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.",
    ],
)
def test_what_a_process_of_vllms_died_of_is_found_in_what_it_printed(cause: str) -> None:
    assert root_cause(POINTER, LOG.format(cause=cause)) == cause


def test_an_error_that_says_itself_what_it_is_needs_no_log() -> None:
    assert root_cause("ValueError: too long", LOG.format(cause="KeyError: 'old'")) == ""
    assert root_cause(POINTER, "nothing\nthat helps") == ""
    assert root_cause(POINTER, "") == ""


UNSEEING = """\
ERROR 11-21 14:10:38 [registry.py:1086] Traceback (most recent call last):
ERROR 11-21 14:10:38 [registry.py:1086]     from torchvision.transforms.v2 import functional as tvF
ERROR 11-21 14:10:38 [registry.py:1086] ModuleNotFoundError: No module named 'torchvision'
ERROR 11-21 14:10:38 [registry.py:1086]
"""


def test_a_package_that_an_architecture_needs_is_named() -> None:
    said = (
        "1 validation error for ModelConfig Value error, Model architectures "
        "['LlavaForConditionalGeneration'] failed to be inspected. Please check the logs for more."
    )
    cause = root_cause(said, UNSEEING)
    assert cause == UNSEEING.splitlines()[2].partition("] ")[2]
    assert "--no-deps torchvision" in mended(cause)


# What an engine logged that died under its requests, shortened.
DEATH = """\
ERROR 11-21 14:00:00 [media.py:1] ValueError: of one request, which went on
(Worker pid=9) ERROR 11-21 14:03:18 [multiproc_executor.py:1055]     forward_call(*args, **kwargs)
(Worker pid=9) ERROR 11-21 14:03:18 [multiproc_executor.py:1055] RuntimeError: cannot reshape it
(Worker pid=9) ERROR 11-21 14:03:18 [multiproc_executor.py:1055]
(EngineCore pid=8) ERROR 11-21 14:03:18 [core.py:1376] EngineCore encountered a fatal error.
(EngineCore pid=8) ERROR 11-21 14:03:18 [core.py:1376] RuntimeError: Worker failed with error \
'cannot reshape it', please check the stack trace above for the root cause
ERROR 11-21 14:03:18 [async_llm.py:819] vllm.v1.engine.exceptions.EngineDeadError: EngineCore \
encountered an issue. See stack trace (above) for the root cause.
"""
DEAD = "EngineCore encountered an issue. See stack trace (above) for the root cause."


def test_what_an_engine_died_of_under_its_requests_is_found_in_what_it_logged() -> None:
    assert of_death(DEAD, DEATH) == DEATH.splitlines()[2].partition("] ")[2]


def test_an_engine_that_was_killed_died_of_nothing_that_was_logged() -> None:
    (before, *_, last) = DEATH.splitlines()
    assert of_death(DEAD, f"{before}\n{last}") == reasons.SILENT_DEATH


# ----------------------------------------------------------------------------------------- mends

# Where each sign stands in what is installed: whoever rewords it is noticed here.
SOURCES = {
    "out of memory": "vllm/v1/worker/gpu_model_runner.py",
    "No available memory for the cache blocks": "vllm/v1/core/kv_cache_utils.py",
    "larger than the available KV cache": "vllm/v1/core/kv_cache_utils.py",
    "allocation is less than requested memory for kv": "vllm/v1/worker/cpu_worker.py",
    "less than desired GPU memory utilization": "vllm/v1/worker/utils.py",
    "Repository Not Found": "huggingface_hub/utils/_http.py",
    "is not a valid model identifier": "transformers/utils/hub.py",
    "gated repo": "huggingface_hub/utils/_http.py",
    "does not recognize this architecture": "transformers/models/auto/configuration_auto.py",
    "are not supported for now": "vllm/model_executor/models/registry.py",
    "Cannot find any model weights": "vllm/model_executor/model_loader/default_loader.py",
    "instantiate the backend tokenizer": "transformers/tokenization_utils_tokenizers.py",
    "than the derived max_model_len": "vllm/config/model.py",
    "Error while deserializing header": "safetensors/_safetensors_rust.abi3.so",
    "trust_remote_code": "transformers/dynamic_module_utils.py",
    "nvcc": "vllm/utils/flashinfer.py",
    "DeepGEMM backend is unavailable": "vllm/utils/deep_gemm.py",
    "initialization failed": "vllm/v1/engine/utils.py",
    "the root cause": "vllm/v1/engine/exceptions.py",
    "to be inspected": "vllm/model_executor/models/registry.py",
}


def source(path: str) -> str:
    package, _, file = path.partition("/")
    spec = importlib.util.find_spec(package)
    assert spec is not None
    assert spec.submodule_search_locations is not None
    return (Path(spec.submodule_search_locations[0]) / file).read_text("utf-8", errors="replace")


PYTHONS = "No module named"


@pytest.mark.parametrize(
    "sign", [sign for sign in (*reasons._MENDS, *reasons._ELSEWHERE) if PYTHONS not in sign]
)
def test_every_sign_stands_in_the_sources_of_who_says_it(sign: str) -> None:
    assert sign in source(SOURCES[sign])


@pytest.mark.parametrize(
    ("said", "what"),
    [
        ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate", "fleet.max_model_len"),
        ("ValueError: No available memory for the cache blocks. Try", "Raise fleet.kv_cache_gib"),
        ("RuntimeError: Could not find nvcc and default cuda_home=", "options.attention_backend"),
        ("RuntimeError: DeepGEMM backend is unavailable in the current", "CUDA_HOME"),
        (
            "ValueError: To serve at least one request with the model's max seq len (4096), (2 GiB "
            "KV cache is needed, which is larger than the available KV cache memory (1 GiB).",
            "lower fleet.max_model_len",
        ),
        (
            "ValueError: Free memory on device cuda:0 (3.0/80.0 GiB) on startup is less than "
            "desired GPU memory utilization (0.9, 72.0 GiB).",
            "Something else uses the GPU",
        ),
        (
            "RepositoryNotFoundError: 401 Client Error. Repository Not Found for url: u. If you "
            "are trying to access a private or gated repo, make sure you are authenticated",
            "Check the name",
        ),
        (
            "OSError: org/gone is not a local folder and is not a valid model identifier listed on "
            "'http://h/models' If this is a private repository, make sure to pass",
            "Check the name",
        ),
        ("OSError: You are trying to access a gated repo. Make sure to have", "Ask for access"),
        ("GatedRepoError: 403 Client Error. Cannot access gated repo for url u", "Ask for access"),
        (
            "ValueError: model type `foo` but Transformers does not recognize this architecture.",
            "newer vLLM",
        ),
        (error_in(UNKNOWN), "choose another model"),
        ("RuntimeError: Cannot find any model weights with `/models/m`", "download them"),
        (
            "ValueError: Please pass the argument `trust_remote_code=True` to allow custom code",
            "options.trust_remote_code=true",
        ),
    ],
)
def test_what_is_known_comes_with_its_mend(said: str, what: str) -> None:
    assert mended(said).startswith(f"{said.removesuffix('.')}. ")
    assert what in mended(said)
    assert ".." not in mended(said)


def test_what_is_not_known_comes_with_none() -> None:
    assert mended("KeyError: 'x'.") == "KeyError: 'x'."
    assert mended("KeyError: 'x'", otherwise="Think") == "KeyError: 'x'. Think"


@pytest.mark.parametrize(
    ("said", "line"),
    [
        (
            "404 Client Error. (Request ID: 1)\n\nRepository Not Found for url: http://h/m.\n"
            "Please make sure you specified the correct `repo_id`.\nFor more details, see http://h/docs",
            "Repository Not Found for url: http://h/m.",
        ),
        ("403 Client Error.\n\nCannot access gated repo for url u.\n", "Cannot access gated repo"),
        ("An error happened while trying to locate the file", "An error happened"),
        ("503 Client Error", "503 Client Error"),
        ("", ""),
    ],
)
def test_what_the_hub_says_is_the_line_that_says_what_is_wrong(said: str, line: str) -> None:
    assert reasons.of_hub(said).startswith(line)


def test_a_process_that_died_while_it_started_was_killed_or_had_no_memory() -> None:
    application = SimpleNamespace(message="Deploying failed: ActorDiedError()", deployments={})
    assert reasons.SILENT_DEATH in of_application(application)

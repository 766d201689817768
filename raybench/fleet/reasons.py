"""What a failure of Ray or vLLM comes down to, in a line for the person."""

import itertools
import re
from typing import Any

_ERROR = re.compile(r"[\w.]*(Error|Exception)\b")
_LENGTH = 600
NO_REASON = "no reason given"
SILENT_DEATH = "without a word: killed, or out of memory"
"""What an engine died of that logged nothing."""
_ELSEWHERE = ("initialization failed", "the root cause", "to be inspected")
"""What vLLM says where something else says why."""
_PREFIX = re.compile(r"^(?:\(\w+ pid=\d+\) )?(?:[A-Z]+ [\d-]+ [\d:]+ \[[\w.]+:\d+\] ?)?")
_THEIRS = re.compile(r"\(\w+ pid=\d+\) ")
_LEAVES = re.compile(
    r"$|Traceback|During handling|The above exception|EngineCore|Process |\[shutdown\]"
)


def of_application(application: Any) -> str:
    """Return why Serve says that an application did not start."""
    messages = [application.message] + [
        deployment.message for deployment in application.deployments.values()
    ]
    reason = error_in("\n".join(message for message in messages if message)) or NO_REASON
    return f"its process ended {SILENT_DEATH}" if "ActorDiedError" in reason else reason


def error_in(text: str) -> str:
    """Return the last error that a traceback names, with what it says, on one line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    lines = [line for line in lines if not line.startswith("For further information")]
    named = [number for number, line in enumerate(lines) if _ERROR.match(line)]
    if not named:
        return last_line("\n".join(lines))
    # vLLM goes on with the hundreds of names that it would have known.
    said, _, _ = " ".join(lines[named[-1] :][:5]).partition(" Supported architectures:")
    if len(said) <= _LENGTH:
        return said
    return said[:_LENGTH].rpartition(" ")[0] + " …"


def root_cause(error: str, log: str) -> str:
    """Return what a process that vLLM started died of, by what it logged; '' if nothing shows.

    vLLM's error then only says that there is one ('See root cause above').
    """
    if not _elsewhere(error):
        return ""
    lines = [_PREFIX.sub("", line) for line in log.splitlines()]
    named = [n for n, line in enumerate(lines) if _ERROR.match(line) and not _elsewhere(line)]
    if not named:
        return ""
    following = itertools.takewhile(lambda line: not _LEAVES.match(line), lines[named[-1] + 1 :])
    return error_in("\n".join([lines[named[-1]], *following]))


def of_death(error: str, log: str) -> str:
    """Return what an engine that was up died of, by what its own processes logged."""
    theirs = [line for line in log.splitlines() if _THEIRS.match(line)]
    return root_cause(error, "\n".join(theirs)) or SILENT_DEATH


def _elsewhere(said: str) -> bool:
    return any(sign in said for sign in _ELSEWHERE)


def last_line(text: str) -> str:
    """Return the last line that says anything: of a traceback, the error."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""


def of_hub(error: str) -> str:
    """Return the line of the Hugging Face hub's error that says what is wrong."""
    lines = [line.strip() for line in error.splitlines() if line.strip()]
    return next((line for line in lines if "Client Error" not in line), last_line(error))


def mended(reason: str, *, otherwise: str = "") -> str:
    """Return the reason with what a person can do about it, where it shows that."""
    signs = (what for sign, what in _MENDS.items() if sign.lower() in reason.lower())
    what = next(signs, otherwise)
    return f"{reason.rstrip('.')}. {what}" if what else reason


_MENDS = {
    "out of memory": "Lower fleet.max_model_len or fleet.memory_share, spread it over more GPUs "
    "(options.tensor_parallel_size), or choose a smaller or quantised model",
    "No available memory for the cache blocks": "Raise fleet.kv_cache_gib or fleet.memory_share, "
    "or lower fleet.max_model_len",
    "larger than the available KV cache": "Raise fleet.kv_cache_gib or fleet.memory_share, "
    "or lower fleet.max_model_len",
    "allocation is less than requested memory for kv": "Lower fleet.kv_cache_gib or the model's "
    "options.kv_cache_memory_bytes, or choose a smaller or quantised model",
    "less than desired GPU memory utilization": "Something else uses the GPU: end it, or lower "
    "fleet.memory_share",
    # Before "gated repo": of what it does not find, the hub says that it may be gated.
    "Repository Not Found": "Check the name; gated and private models need HF_TOKEN",
    "is not a valid model identifier": "Check the name; gated and private models need HF_TOKEN",
    "gated repo": "Ask for access on the model's page, and set HF_TOKEN",
    "does not recognize this architecture": "This vLLM is older than the model, or the model's "
    "config.json is wrong: choose another model, or install a newer vLLM",
    "are not supported for now": "vLLM does not know this architecture: choose another model",
    "Cannot find any model weights": "The folder or repository holds no weights (*.safetensors): "
    "download them",
    "instantiate the backend tokenizer": "There is no tokenizer with the weights: put its files "
    "(tokenizer.json) beside them, or name one with options.tokenizer",
    "No module named 'torchvision'": "Most models that take images need it, built for the torch "
    "that is there: pip install --no-deps torchvision, on CPUs from PyTorch's CPU index",
    "than the derived max_model_len": "Lower the model's options.max_model_len, or leave it out",
    "Error while deserializing header": "A file of the weights is damaged or cut short: download "
    "them again",
    # What needs nvcc and shows only now: gpus.py.
    "nvcc": "Install the CUDA toolkit and set CUDA_HOME to its folder, or choose kernels that need "
    "no nvcc: options.attention_backend (FLASH_ATTN, TRITON_ATTN), options.moe_backend (triton)",
    "DeepGEMM backend is unavailable": "Install the CUDA toolkit, whose nvcc compiles DeepGEMM, "
    "and set CUDA_HOME to its folder",
    "trust_remote_code": "The model brings code of its own: options.trust_remote_code=true runs "
    "it, if you trust it",
}

"""What a failure of Ray or vLLM comes down to, in a line for the person."""

import re
from typing import Any


def of_application(application: Any) -> str:
    """Return why Serve says that an application did not start."""
    messages = [application.message] + [
        deployment.message for deployment in application.deployments.values()
    ]
    return error_in("\n".join(message for message in messages if message)) or "no reason given"


def error_in(text: str) -> str:
    """Return the last error that a traceback names, with what it says, on one line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    lines = [line for line in lines if not line.startswith("For further information")]
    named = [
        number for number, line in enumerate(lines) if re.match(r"[\w.]*(Error|Exception)\b", line)
    ]
    return " ".join(lines[named[-1] :][:5])[:600] if named else last_line(text)


def last_line(text: str) -> str:
    """Return the last line that says anything: of a traceback, the error."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""


def mend(reason: str) -> str:
    """Return what a person can do about it, where the reason shows that."""
    for sign, what in _MENDS.items():
        if sign.lower() in reason.lower():
            return f". {what}"
    return ""


_MENDS = {
    "out of memory": "Lower fleet.max_model_len or fleet.memory_share, spread it over more GPUs "
    "(options.tensor_parallel_size), or choose a smaller or quantised model",
    "No available memory for the cache blocks": "Raise fleet.kv_cache_gib or fleet.memory_share, "
    "or lower fleet.max_model_len",
    "larger than the available KV cache": "Raise fleet.kv_cache_gib or fleet.memory_share, "
    "or lower fleet.max_model_len",
    "less than desired GPU memory utilization": "Something else uses the GPU: end it, or lower "
    "fleet.memory_share",
    # Before "gated repo": of what it does not find, the hub says that it may be gated.
    "Repository Not Found": "Check the name; gated and private models need HF_TOKEN",
    "gated repo": "Ask for access on the model's page, and set HF_TOKEN",
    "does not recognize this architecture": "This vLLM is older than the model: choose another, or "
    "a newer vLLM",
    "are not supported for now": "vLLM does not know this architecture: choose another model",
    "Cannot find any model weights": "The folder or repository holds no weights (*.safetensors): "
    "download them",
    "trust_remote_code": "The model brings code of its own: options.trust_remote_code=true runs "
    "it, if you trust it",
}

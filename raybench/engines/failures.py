"""What may help where an engine did not load, by what vLLM said."""

from raybench.engines.scheduler.messages import FailureKind

_LACKS_MEMORY = (
    "Free memory on device",  # vllm/v1/worker/utils.py
    "No available memory for the cache blocks",  # vllm/v1/core/kv_cache_utils.py
    "Error in memory profiling",  # vllm/v1/worker/gpu_worker.py
    "CUDA out of memory",
    "OutOfMemoryError",
)
_PERMANENT = (
    "Repository Not Found",
    "gated repo",
    "is not a valid model identifier",
    "does not recognize this architecture",
    "are not supported for now",  # vllm/model_executor/models/registry.py
    "Cannot find any model weights",
    "instantiate the backend tokenizer",
    "Error while deserializing header",
    "than the derived max_model_len",
    "trust_remote_code",
)


def failure_kind(reason: str) -> FailureKind:
    """Return what may help: `memory` of a neighbour, another try (`other`), or nothing."""
    if any(text in reason for text in _LACKS_MEMORY):
        return "memory"
    return "permanent" if any(text in reason for text in _PERMANENT) else "other"

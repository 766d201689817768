"""What may help where an engine did not load, by what vLLM said."""

from raybench.engines.scheduler.messages import FailureKind

_LACKS_MEMORY = (
    "Free memory on device",  # vllm/v1/worker/utils.py
    "No available memory for the cache blocks",  # vllm/v1/core/kv_cache_utils.py
    "Error in memory profiling",  # vllm/v1/worker/gpu_worker.py
    "CUDA out of memory",
    "OutOfMemoryError",
)


def failure_kind(reason: str) -> FailureKind:
    """Return `memory` where a device has too little, which its neighbours may give back."""
    return "memory" if any(text in reason for text in _LACKS_MEMORY) else "other"

"""What a virtual engine weighs, and how fast it is."""

import math
from dataclasses import dataclass
from hashlib import blake2b, shake_128
from random import Random
from statistics import NormalDist

TOKEN_CHARACTERS = 4
"""Characters of a prompt's token."""
_NORMAL = NormalDist()


@dataclass(frozen=True, slots=True)
class EngineProfile:
    """One engine: its weights, its options, the memory it takes and its speed.

    The defaults are an assumption: a model of 8 billion parameters in bfloat16 on a GPU of 80 GiB.
    Memory is in GiB of each device, where nothing else is said.
    """

    model: str = ""
    """Replies to one prompt differ between models of different names."""
    weights_gib: float = 16.0
    """Of all devices together."""
    load_s: float = 90.0
    """Seconds from the start until requests are answered."""
    profile_s: float = 8.0
    """The last of these seconds, in which vLLM measures what it takes besides its KV cache."""
    gpu_memory_utilization: float = 0.9
    kv_gib: float | None = None
    """A fixed KV cache (`kv_cache_memory_bytes`), for which nothing is measured."""
    activation_gib: float = 2.0
    graphs_gib: float = 1.5
    context_gib: float = 0.6
    communication_gib: float = 1.0
    """NCCL's buffers, where there are several devices."""
    left_asleep_gib: float = 1.5
    """What is left on a device while the engine sleeps, the CUDA context included."""
    pinned_factor: float = 1.0
    """GiB of host memory for each GiB of weights that sleep at level 1. Before torch 2.13 it is up
    to 2 (at/native CachingHostAllocator rounds up to powers of two)."""
    keeps_pinned: bool = False
    """Whether host memory stays taken after the engine woke up, as before torch 2.13."""
    sleep_s: float = 4.0
    wake_s: float = 3.0
    """Seconds to wake up from level 1."""
    reload_s: float = 15.0
    """Seconds to read the weights again after level 2."""
    step_s: float = 0.008
    step_s_per_request: float = 0.00002
    prefill_tokens_per_s: float = 20_000.0
    max_num_seqs: int = 256
    max_batched_tokens: int = 8192
    max_model_len: int = 32_768
    cache_tokens: int = 400_000
    """Tokens of prompts that the prefix cache holds."""
    reply_tokens: float = 200.0
    """Median length of a reply. Lengths are lognormal."""
    reply_spread: float = 0.8
    """Standard deviation of their logarithm."""
    logprob_noise: float = 0.004
    """By how much the log-probability of one token differs from one time to the next, at most."""

    def step_seconds(self, running: int) -> float:
        """Return how long a step takes for this number of requests."""
        return self.step_s + self.step_s_per_request * running

    def reply_to(self, prompt: str, seed: int | None, limit: int) -> tuple[str, int]:
        """Return text and number of tokens of the reply to a prompt: `limit` of them at most.

        Both are functions of the model, the seed and the prompt. Texts are short, however many
        tokens they stand for. A reply that is cut off lacks its answer.
        """
        digest = blake2b(f"{self.model}|{seed}|{prompt}".encode(), digest_size=16).digest()
        uniform = (int.from_bytes(digest[:8], "big") + 0.5) / 2**64
        drawn = math.exp(_NORMAL.inv_cdf(uniform) * self.reply_spread) * self.reply_tokens
        length = max(1, min(limit, round(drawn)))
        text = f"Thought {digest[8:].hex()}."
        return text if drawn > limit else f"{text} Answer: {'ABCD'[digest[15] % 4]}", length

    def greedy_tokens(
        self, prompt: str, text: str, count: int, noise: Random
    ) -> tuple[tuple[int, ...], tuple[float, ...]]:
        """Return the tokens of a reply to a prompt, and their log-probabilities with some noise."""
        digest = shake_128(f"{self.model}|{prompt}|{text}".encode()).digest(4 * count)
        tokens = [int.from_bytes(digest[4 * it : 4 * it + 4], "big") for it in range(count)]
        half = self.logprob_noise / 2
        logprobs = (-(token % 1000) / 1000 + noise.uniform(-half, half) for token in tokens)
        return tuple(tokens), tuple(logprobs)


def tokens_of(prompt: str) -> int:
    """Return how many tokens a prompt has."""
    return len(prompt) // TOKEN_CHARACTERS + 1

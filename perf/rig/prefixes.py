"""The prefix cache of a virtual engine."""

from collections import OrderedDict

from perf.rig.profile import TOKEN_CHARACTERS

BLOCK_TOKENS = 16
_BLOCK = BLOCK_TOKENS * TOKEN_CHARACTERS


class PrefixCache:
    """Blocks of prompts that were read before, the least recently used of which leave first."""

    def __init__(self, tokens: int) -> None:
        """Hold as many tokens."""
        self._most = max(1, tokens // BLOCK_TOKENS)
        self._blocks: OrderedDict[int, None] = OrderedDict()

    def read(self, prompt: str, tokens: int) -> int:
        """Return how many tokens of a prompt are here, in whole blocks, and keep it.

        The last token is always computed (vllm/v1/core/kv_cache_manager.py:253).
        """
        cached, missed, chain = 0, False, 0
        for begin in range(0, len(prompt) - _BLOCK + 1, _BLOCK):
            chain = hash((chain, prompt[begin : begin + _BLOCK]))
            if chain in self._blocks and not missed:
                cached += BLOCK_TOKENS
            else:
                missed = True
            self._blocks[chain] = None
            self._blocks.move_to_end(chain)
        while len(self._blocks) > self._most:
            self._blocks.popitem(last=False)
        return min(cached, (tokens - 1) // BLOCK_TOKENS * BLOCK_TOKENS)

    def clear(self) -> None:
        """Forget all of it."""
        self._blocks.clear()

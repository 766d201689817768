"""What runs inside a Serve replica: vLLM as `ray.serve.llm` hosts it, taking whole batches.

Imported only where ray and vllm are wanted (host.py, and the replica's own process).
"""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from typing import Any
from uuid import uuid4

from ray.llm._internal.serve.constants import ENV_VARS_TO_PROPAGATE
from ray.serve.llm import LLMServer

from raybench.fleet.streams import Placed, as_finished
from raybench.types import Completion, Request

# Ray copies the hub's tokens into runtime environments, which its agents log in full. Without that
# the workers of a local Ray inherit them, and those of a cluster use what their nodes have.
ENV_VARS_TO_PROPAGATE.clear()


class BatchServer(LLMServer):
    """An LLMServer that takes many prompts in one call and submits them to the engine at once."""

    async def complete(self, requests: Sequence[Request]) -> list[Completion]:
        """Answer every request of the batch; a request the engine refuses fails alone."""
        return list(await asyncio.gather(*(self._one(request) for request in requests)))

    async def stream(self, requests: Sequence[Request]) -> AsyncIterator[Placed]:
        """Answer the batch like `complete`, each reply with its place as soon as it is there."""
        async with aclosing(as_finished(self._one(request) for request in requests)) as replies:
            async for reply in replies:
                yield reply

    async def _one(self, request: Request) -> Completion:
        from vllm.exceptions import VLLMClientError
        from vllm.renderers import ChatParams

        # Ray offers a batch no public way to the engine client it holds.
        engine = self.engine._engine_client
        begun = time.monotonic()
        try:
            messages = [
                {"role": message.role, "content": message.content} for message in request.messages
            ]
            _, (prompt,) = await engine.renderer.render_chat_async(
                [messages],
                # Without it the model would first write the assistant's own header.
                ChatParams(chat_template_kwargs={"add_generation_prompt": True}),
            )
            final: Any = None
            async for output in engine.generate(prompt, sampling(request), uuid4().hex):
                final = output
        except (VLLMClientError, ValueError) as refusal:
            return Completion.failed(str(refusal), seconds=time.monotonic() - begun)
        reply = final.outputs[0]
        return Completion(
            text=reply.text,
            finish="length" if reply.finish_reason == "length" else "stop",
            prompt_tokens=len(final.prompt_token_ids or ()),
            output_tokens=len(reply.token_ids),
            cached_tokens=final.num_cached_tokens,
            seconds=time.monotonic() - begun,
        )


def sampling(request: Request) -> Any:
    """Return what vLLM calls the request's sampling."""
    from vllm import SamplingParams
    from vllm.sampling_params import RequestOutputKind, StructuredOutputsParams

    constraint = None
    if request.regex is not None:
        constraint = StructuredOutputsParams(regex=request.regex)
    elif request.json_schema is not None:
        constraint = StructuredOutputsParams(json=dict(request.json_schema))
    temperature = request.temperature or 0.0
    return SamplingParams(
        temperature=temperature,
        top_p=1.0 if request.top_p is None else request.top_p,
        max_tokens=request.max_tokens,
        # Greedy decoding draws nothing; a seed there would only cost a generator per request.
        seed=request.seed if temperature else None,
        structured_outputs=constraint,
        output_kind=RequestOutputKind.FINAL_ONLY,
    )

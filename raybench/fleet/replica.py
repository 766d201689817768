"""What runs inside a Serve replica: vLLM as `ray.serve.llm` hosts it, taking whole batches.

Imported only where ray and vllm are wanted: in the replica's own process (deployment.py).
"""

import asyncio
import math
import os
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing, suppress
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

from ray.serve.llm import LLMConfig, LLMServer

from raybench import ray_patches, vllm_patches
from raybench.engines.base import ReplicaEvent
from raybench.engines.replica_server import Fingerprint, ReplicaServer
from raybench.fleet.chat import NO_IMAGES, answered, messages, shows, turned_down
from raybench.fleet.control_tokens import USUAL, control_tokens, harmless
from raybench.fleet.deployment import gpus_of, wait_for_devices
from raybench.fleet.memory_meter import MemoryMeter, ReplicaMemory
from raybench.fleet.overtime import ended_in_time
from raybench.fleet.reasons import of_death, root_cause
from raybench.fleet.system_role import (
    folded,
    is_alone,
    joined,
    lacks_it,
    needs_a_user,
    takes_users_in_a_row,
)
from raybench.types import Completion, Message, Request

_TAIL = 2**17
_LAST_WORDS_S = 0.5

vllm_patches.keep_tokens_private()


class BatchServer(LLMServer):
    """An LLMServer that takes many requests in one call."""

    _death = ""
    """What the engine died of, once it has."""
    _control = USUAL
    """What its tokenizer reads as control tokens."""
    engine_class: type | None = None
    """The class of its engine; None for Ray's own."""
    _lacks_system_role = False
    """Its chat template refuses a system message, or leaves it out."""
    _takes_users_in_a_row = True
    """Its chat template takes user messages that follow each other."""

    async def __init__(  # type: ignore[misc]  # as Ray's
        self, config: Mapping[str, Any], reply_deadline_s: float, controller: Any
    ) -> None:
        """Start it, by what LLMConfig is given, once the controller lets it."""
        self._reply_deadline_s = reply_deadline_s
        self._is_summed = bool(config.get("log_engine_metrics", True))
        await wait_for_devices(config, controller)
        self._meter = MemoryMeter(gpus_of(config))
        await self._meter.begin()
        await super().__init__(LLMConfig(**config), engine_cls=self.engine_class)

    async def start(self) -> None:
        """Start the engine; where a process of its own fails, say what that one died of."""
        ray_patches.listen_on_loopback()
        try:
            with vllm_patches.without_telemetry():
                await super().start()
        except Exception as error:
            if cause := root_cause(str(error), _printed()):
                raise RuntimeError(cause.removeprefix("RuntimeError: ")) from error
            raise
        client, chat = self._client, self._chat
        if not self._is_summed:
            vllm_patches.stop_summing(client)
        if chat.parser_cls is not None and chat.model_config.hf_config.model_type == "gpt_oss":
            load_vocabulary()
        self._server = ReplicaServer(
            AskedEngine(client, self._one),
            self._reply_deadline_s,
            end_process=partial(os._exit, 1),
        )
        self._control = control_tokens(chat.renderer.tokenizer)
        self._lacks_system_role = await lacks_it(self._rendered)
        self._needs_a_user = await needs_a_user(self._rendered)
        self._takes_users_in_a_row = await takes_users_in_a_row(self._rendered)

    @property
    def _client(self) -> Any:
        return vllm_patches.engine_client(self.engine)

    @property
    def _chat(self) -> Any:
        return vllm_patches.chat_handler(self.engine)

    async def _rendered(self, conversation: Sequence[Message]) -> str:
        """Return the prompt that the model reads."""
        chat = self._chat
        _, prompt = await chat.renderer.render_messages_async(
            messages(conversation), _chat_params(chat)
        )
        if text := prompt.get("prompt"):
            return str(text)
        return str(chat.renderer.tokenizer.decode(prompt["prompt_token_ids"]))

    def _taken(self, asked: tuple[Message, ...], *, apart: bool = False) -> tuple[Message, ...]:
        """Return the conversation in roles that the model's template takes.

        `apart` keeps a system text apart from the question, if the template takes that.
        """
        alone = self._needs_a_user and is_alone(asked)
        if self._lacks_system_role or alone:
            asked = folded(asked, apart=apart)
        return joined(asked) if apart and not self._takes_users_in_a_row else asked

    async def stream(self, requests: Sequence[Request]) -> AsyncIterator[Sequence[ReplicaEvent]]:
        """Answer the batch, replies with their places as soon as they are there.

        Those that finish in one step of the engine travel together: each message costs both sides
        a part of a millisecond. Heartbeats come between them.
        """
        async with aclosing(self._server.stream_groups(requests)) as groups:
            async for group in groups:
                yield group

    async def drain(self, *, cut_waiting: bool) -> None:
        """Take no more requests, and wait until those that are here are answered."""
        await self._server.drain(cut_waiting=cut_waiting)

    async def reopen(self) -> None:
        """Take requests again after a drain."""
        self._server.reopen()

    async def memory_after_load(self) -> ReplicaMemory | None:
        """Return what it takes after its load; None where that cannot be measured."""
        return await self._meter.end()

    async def put_to_sleep(self, level: int) -> ReplicaMemory | None:
        """Go to sleep after a drain; return what it takes then."""
        await self._meter.begin()
        await self._server.sleep(level)
        return await self._meter.end()

    async def wake_and_compare(self) -> bool:
        """Wake up; return False where it is not the model any more that went to sleep."""
        await self._meter.begin()
        is_same = await self._server.wake()
        await self._meter.end()
        return is_same

    async def chat(self, *asked: Any, **named: Any) -> AsyncGenerator[Any]:
        """Answer a request of the endpoint, which vLLM answers past `stream`."""
        return self._visiting(await super().chat(*asked, **named))

    async def completions(self, *asked: Any, **named: Any) -> AsyncGenerator[Any]:
        """Answer a request of the endpoint to complete a text."""
        return self._visiting(await super().completions(*asked, **named))

    async def _visiting(self, replies: AsyncGenerator[Any]) -> AsyncGenerator[Any]:
        """Let the replica neither sleep nor count as idle while it replies."""
        async with aclosing(replies):
            with self._server.visit():
                async for reply in replies:
                    yield reply

    async def _one(self, request: Request) -> Completion:
        from vllm.exceptions import VLLMClientError
        from vllm.v1.engine.exceptions import EngineDeadError

        engine, chat = self._client, self._chat
        begun = time.monotonic()
        images = shows(request)
        if images and not chat.model_config.is_multimodal_model:
            return Completion.failed(NO_IMAGES, finish="unsupported")
        asked = harmless(request.messages, self._control)
        template = _template(chat)
        thinking = Thinking.of(chat, template, constraint(request))
        try:
            _, (prompt,) = await engine.renderer.render_chat_async(
                [messages(self._taken(asked, apart=request.system_apart))],
                _chat_params(chat),
            )
        except Exception as refusal:  # what messages hold is data: an image may be anywhere
            return _refused(refusal, images=images, seconds=time.monotonic() - begun)
        asked_at, name = time.monotonic(), uuid4().hex
        try:
            final: Any = None
            async with ended_in_time(engine, name, request.deadline_s):
                async for output in engine.generate(
                    prompt,
                    sampling(request, **thinking.sampling),
                    name,
                    # For the engine itself, which constrains the answer and leaves the thinking
                    # free.
                    reasoning_parser_kwargs={"chat_template_kwargs": template},
                ):
                    final = output
        except EngineDeadError as death:
            raise self._dying(death) from death
        except (VLLMClientError, ValueError) as refusal:
            return _refused(refusal, images=images, seconds=time.monotonic() - begun)
        reply, seconds = final.outputs[0], time.monotonic() - begun
        own = _own(final.metrics, time.monotonic() - asked_at)
        waited = seconds - own
        late = reply.finish_reason == "abort" and own >= (request.deadline_s or math.inf)
        if reply.finish_reason in ("abort", "error") and not late:
            reason = f"the engine broke the reply off ({reply.finish_reason})"
            return Completion.failed(reason, seconds=seconds, waited=waited)
        try:
            text, reasoning = thinking.separated(reply.text, reply.token_ids)
        except Exception as error:  # what a parser makes of a model's words is data here
            reason = f"the reasoning parser cannot read the reply ({error})"
            return Completion.failed(reason, seconds=seconds, waited=waited)
        completion = answered(
            text,
            reply.finish_reason,
            reasoning=reasoning,
            prompt_tokens=len(final.prompt_token_ids or ()),
            output_tokens=len(reply.token_ids),
            cached_tokens=final.num_cached_tokens,
            seconds=seconds,
            waited=waited,
        )
        return completion.cut() if late else completion

    async def check_health(self) -> None:
        """Tell Serve at its first look that the engine is dead, also where nobody asks it.

        What comes to an endpoint goes past `_one`, and Serve itself looks three times.
        """
        from vllm.v1.engine.exceptions import EngineDeadError

        try:
            await super().check_health()
        except EngineDeadError as death:
            raise self._dying(death) from death

    def _dying(self, death: Exception) -> Exception:
        """Return the last words of a replica without an engine; it ends once they are out.

        Serve would find out in half a minute, and hand us every batch until then.
        """
        if not self._death:
            self._death = of_death(str(death), _printed())
            asyncio.get_running_loop().call_later(_LAST_WORDS_S, os._exit, 1)
        return RuntimeError(f"it died under its requests: {self._death}")


class AskedEngine:
    """vLLM's engine as a `ReplicaServer` sees it."""

    def __init__(self, client: Any, generate: Callable[[Request], Awaitable[Completion]]) -> None:
        """Take the engine's client, and what answers a request with it."""
        self._client = client
        self._generate = generate
        self._steps = watch_steps(client)
        self._answered_at = 0.0

    @property
    def max_num_seqs(self) -> int:
        """Return how many requests it works on at once."""
        return int(self._client.vllm_config.scheduler_config.max_num_seqs)

    @property
    def last_progress(self) -> float:
        """Return when it finished its last step; without vLLM's statistics, its last reply."""
        return max(self._answered_at, self._steps.at if self._steps else 0.0)

    async def generate(self, request: Request) -> Completion:
        """Answer one request."""
        completion = await self._generate(request)
        self._answered_at = time.monotonic()
        return completion

    async def generate_greedily(self, prompt: str, tokens: int) -> Fingerprint:
        """Continue a text with the likeliest tokens, with no prefix from its cache."""
        from vllm import SamplingParams
        from vllm.sampling_params import RequestOutputKind

        await self._client.reset_prefix_cache()
        greedy = SamplingParams(
            temperature=0.0,
            max_tokens=tokens,
            min_tokens=tokens,
            ignore_eos=True,
            logprobs=0,
            output_kind=RequestOutputKind.FINAL_ONLY,
        )
        final: Any = None
        async for output in self._client.generate(prompt, greedy, uuid4().hex):
            final = output
        reply = final.outputs[0]
        found = zip(reply.token_ids, reply.logprobs, strict=True)
        return Fingerprint(
            tuple(reply.token_ids), tuple(float(each[token].logprob) for token, each in found)
        )

    async def sleep(self, level: int) -> None:
        """Leave the devices."""
        await self._client.sleep(level)

    async def wake(self, level: int) -> None:
        """Come back from a sleep of this level, with the weights."""
        if level == 1:
            await self._client.wake_up()
            return
        await self._client.wake_up(["weights"])
        await self._client.collective_rpc("reload_weights")
        await self._client.wake_up(["kv_cache"])


class Steps:
    """One of vLLM's stat loggers, which notes when the engine finished a step."""

    def __init__(self) -> None:
        self.at = 0.0

    def record(self, *_: Any, **__: Any) -> None:
        """Take in the statistics of a step."""
        self.at = time.monotonic()

    def record_sleep_state(self, *_: Any) -> None:
        """Take in that the engine sleeps or is awake."""

    def log(self) -> None:
        """Print statistics, of which it has none."""

    def log_engine_initialized(self) -> None:
        """Print what the engine is."""


def watch_steps(client: Any) -> Steps | None:
    """Have an engine's steps noted; None where vLLM keeps no statistics (disable_log_stats)."""
    steps = Steps()
    return steps if vllm_patches.add_stat_logger(client, steps) else None


def load_vocabulary() -> None:
    """Load the vocabulary by which the parser of gpt-oss tells thoughts from answers.

    It may have to be downloaded. Without it, every reply would fail.
    """
    from vllm.entrypoints.openai.parser import harmony_utils

    try:
        harmony_utils.get_encoding()
    except Exception as error:
        raise RuntimeError(
            f"the vocabulary of the Harmony format, in which gpt-oss replies, cannot be loaded "
            f"({error}). Put o200k_base.tiktoken into a folder on the engine's node and name it in "
            "TIKTOKEN_ENCODINGS_BASE there"
        ) from error


def _template(chat: Any) -> dict[str, Any]:
    """Return what the model's chat template is told."""
    # Without it the model would first write the assistant's own header.
    return {"add_generation_prompt": True, **chat.default_chat_template_kwargs}


def _chat_params(chat: Any) -> Any:
    from vllm.renderers import ChatParams

    return ChatParams(
        chat_template=chat.chat_template,
        chat_template_content_format=chat.chat_template_content_format,
        chat_template_kwargs=_template(chat),
    )


def _refused(refusal: Exception, *, images: bool, seconds: float) -> Completion:
    return Completion.failed(
        f"{refusal}" or type(refusal).__name__,
        finish=turned_down(str(refusal), images=images) or "error",
        seconds=seconds,
        waited=seconds,  # the model never saw it
    )


def _own(metrics: Any, asked: float) -> float:
    """Return the seconds from the engine's first step for a request to its last token.

    An engine that counts nothing (disable_log_stats) tells neither: then all `asked` seconds since
    it got the request count, its queue with them.
    """
    if metrics is None or not metrics.scheduled_ts:
        return asked
    return float(metrics.last_token_ts - metrics.scheduled_ts)


def _printed() -> str:
    """Return the end of what this process and its children printed, where Ray keeps it."""
    found = ""
    for stream in (1, 2):
        with suppress(OSError), Path(f"/proc/self/fd/{stream}").open("rb") as file:
            if file.seekable():
                file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL))
                found += file.read().decode(errors="replace") + "\n"
    return found


class Thinking:
    """One reply's reasoning parser, where the model has one: vLLM makes one for every request."""

    def __init__(self, parser: Any, request: Any, sampling: dict[str, Any]) -> None:
        self._parser = parser
        self._request = request
        self.sampling = sampling
        """What the parser needs of a request's sampling: to see the marks that it looks for, and to
        constrain the answer but not the thinking before it."""

    @classmethod
    def of(
        cls, chat: Any, template: Mapping[str, Any], constrained: Any | None = None
    ) -> "Thinking":
        """Make the parser that vLLM's chat handler would use, and constrain replies as it does."""
        from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest

        if chat.parser_cls is None:
            return cls(None, None, {"structured_outputs": constrained})
        parser = chat.parser_cls(
            chat.renderer.tokenizer,
            None,
            chat_template_kwargs=template,
            model_config=chat.model_config,
        )
        request = parser.adjust_request(
            ChatCompletionRequest(messages=[], structured_outputs=constrained)
        )
        # gpt-oss puts thoughts and answer into channels: its parser turns a constraint of the reply
        # into one of the answer's channel.
        needed = ("skip_special_tokens", "spaces_between_special_tokens", "structured_outputs")
        return cls(parser, request, {name: getattr(request, name) for name in needed})

    def separated(self, text: str, tokens: Sequence[int]) -> tuple[str, str]:
        """Return the answer and the reasoning."""
        if self._parser is None:
            return text, ""
        reasoning, content, _ = self._parser.parse(
            text, self._request, model_output_token_ids=tokens
        )
        return content or "", reasoning or ""


def constraint(request: Request) -> Any | None:
    """Return what the reply is held to, in vLLM's words; None where it is free."""
    from vllm.sampling_params import StructuredOutputsParams

    if request.regex is not None:
        return StructuredOutputsParams(regex=request.regex)
    if request.json_schema is not None:
        return StructuredOutputsParams(json=dict(request.json_schema))
    return None


def sampling(request: Request, **more: Any) -> Any:
    """Return what vLLM calls the request's sampling; `more` are fields that a parser decides."""
    from vllm import SamplingParams
    from vllm.sampling_params import RequestOutputKind

    temperature = request.temperature or 0.0
    return SamplingParams(
        temperature=temperature,
        top_p=1.0 if request.top_p is None else request.top_p,
        max_tokens=request.max_tokens,
        # Greedy decoding draws nothing; a seed there would only cost a generator per request.
        seed=request.seed if temperature else None,
        output_kind=RequestOutputKind.FINAL_ONLY,
        **{"structured_outputs": constraint(request), **more},
    )

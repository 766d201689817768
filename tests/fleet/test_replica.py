"""What a replica makes of requests and replies: vLLM's own parsers, and an engine that is none."""

import asyncio
import os
from collections.abc import AsyncGenerator, AsyncIterator
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from engines.replicas import TimedEngine, asked
from helpers import NEEDS_MODEL
from virtual_time import now

from raybench.cli import conf_dir
from raybench.engines.base import ReplicaClosed
from raybench.engines.replica_server import ReplicaServer
from raybench.fleet import embedded
from raybench.fleet.chat import NO_IMAGES
from raybench.fleet.control_tokens import control_tokens
from raybench.fleet.reasons import SILENT_DEATH
from raybench.types import Completion, Message, Request

pytestmark = [
    pytest.mark.slow,  # the import of vLLM
    NEEDS_MODEL,
]
PAPER = yaml.safe_load((conf_dir() / "roster" / "autobench_paper.yaml").read_text())
GPT_OSS = next(it["options"] for it in PAPER["models"] if it["name"] == "gpt-oss-20b")
_TAKES_S = 0.02
"""To render, and then to reply."""
PIXEL = "data:image/png;base64,iVBORw0KGgo="


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    from transformers import AutoTokenizer

    found = AutoTokenizer.from_pretrained(str(embedded.prepare()))
    found.add_tokens(["<think>", "</think>", "<tool_call>", "</tool_call>"])
    return found


class Engine:
    """Hands out one reply, and remembers what it was asked."""

    def __init__(
        self,
        tokenizer: Any,
        text: str,
        reason: str,
        refusal: Exception | None = None,
        death: Exception | None = None,
        metrics: Any = None,
    ) -> None:
        self.renderer = self
        self._metrics = metrics
        self._refusal, self._death = refusal, death
        self._output = SimpleNamespace(
            text=text, finish_reason=reason, token_ids=tokenizer.encode(text)
        )

    async def render_chat_async(self, conversations: Any, params: Any) -> Any:
        (self.conversation,), self.params = conversations, params
        await asyncio.sleep(_TAKES_S)
        if self._refusal:
            raise self._refusal
        return None, ("the prompt",)

    async def generate(
        self, prompt: Any, sampling: Any, _: str, reasoning_parser_kwargs: Any
    ) -> AsyncIterator[Any]:
        self.sampling, self.told = sampling, reasoning_parser_kwargs
        if self._death:
            raise self._death
        await asyncio.sleep(_TAKES_S)
        yield SimpleNamespace(
            outputs=[self._output],
            prompt_token_ids=[1, 2, 3],
            num_cached_tokens=2,
            metrics=self._metrics,
        )


def complete(
    tokenizer: Any,
    text: str = "4",
    reason: str = "stop",
    *,
    parser: str = "",
    keywords: dict[str, Any] | None = None,
    images: tuple[str, ...] = (),
    multimodal: bool = False,
    lacks_system_role: bool = False,
    messages: tuple[Message, ...] = (),
    metrics: Any = None,
    deadline_s: float | None = None,
    regex: str | None = None,
    apart: bool = False,
    in_a_row: bool = True,
    **trouble: Exception,
) -> tuple[Completion, Engine]:
    """Ask a replica whose engine replies with this text; tokens are those of the text."""
    from vllm.parser import ParserManager

    from raybench.fleet.replica import BatchServer

    engine = Engine(tokenizer, text, reason, metrics=metrics, **trouble)
    server = object.__new__(BatchServer)
    server.engine = SimpleNamespace(
        _engine_client=engine,
        _oai_serving_chat=SimpleNamespace(
            chat_template="{{ messages }}",
            chat_template_content_format="auto",
            default_chat_template_kwargs=keywords or {},
            parser_cls=ParserManager.get_parser(reasoning_parser_name=parser),
            renderer=SimpleNamespace(tokenizer=tokenizer),
            model_config=SimpleNamespace(
                is_multimodal_model=multimodal, hf_config=SimpleNamespace(model_type="llama")
            ),
        ),
    )
    server._lacks_system_role = lacks_system_role
    server._needs_a_user = False
    server._takes_users_in_a_row = in_a_row
    server._control = control_tokens(tokenizer)
    asked = messages or (Message("user", "What is 2 + 2?", images),)
    request = Request(asked, seed=1, deadline_s=deadline_s, regex=regex, system_apart=apart)
    return asyncio.run(server._one(request)), engine


@pytest.mark.parametrize("parser", ["deepseek_r1", "qwen3", "olmo3"])
@pytest.mark.parametrize("opened", ["", "<think>"])  # some templates open the thought themselves
@pytest.mark.parametrize(
    ("rest", "reason", "expected"),
    [
        ("2 and 2</think>4", "stop", ("4", "2 and 2", "stop")),
        ("2 and 2</think>", "length", ("", "2 and 2", "thinking")),
        ("2 and 2</think>", "stop", ("", "2 and 2", "empty")),
        ("2 and 2</think>fo", "length", ("fo", "2 and 2", "length")),
    ],
)
def test_vllms_parsers_tell_thought_from_answer(
    tokenizer: Any, parser: str, opened: str, rest: str, reason: str, expected: tuple[str, str, str]
) -> None:
    completion, _ = complete(tokenizer, opened + rest, reason, parser=parser)
    assert (completion.text, completion.reasoning, completion.finish) == expected


@pytest.mark.parametrize("parser", ["deepseek_r1", "qwen3", "olmo3", ""])
def test_a_thought_that_is_cut_is_no_answer(tokenizer: Any, parser: str) -> None:
    completion, _ = complete(tokenizer, "<think>2 and", "length", parser=parser)
    assert (completion.text, completion.finish) == ("", "thinking")
    assert "2 and" in completion.reasoning


@pytest.mark.parametrize("parser", ["deepseek_r1", "qwen3"])
def test_where_the_template_opens_the_thought_only_a_parser_knows_it_cut(
    tokenizer: Any, parser: str
) -> None:
    completion, _ = complete(tokenizer, "2 and", "length", parser=parser)
    assert (completion.text, completion.reasoning, completion.finish) == ("", "2 and", "thinking")
    unparsed, _ = complete(tokenizer, "2 and", "length")
    assert (unparsed.text, unparsed.finish) == ("2 and", "length")


def test_a_parser_hears_whether_the_model_was_to_think(tokenizer: Any) -> None:
    keywords = {"enable_thinking": False}
    completion, engine = complete(tokenizer, "4", parser="qwen3", keywords=keywords)
    assert (completion.text, completion.finish) == ("4", "stop")
    # And so does the engine, which constrains answers and no thoughts.
    assert engine.told["chat_template_kwargs"]["enable_thinking"] is False


def test_a_parser_sees_the_marks_that_it_looks_for(tokenizer: Any) -> None:
    assert complete(tokenizer, parser="qwen3")[1].sampling.skip_special_tokens is False
    assert complete(tokenizer)[1].sampling.skip_special_tokens is True


@pytest.mark.parametrize("parser", ["", "qwen3"])
def test_a_constraint_reaches_the_engine_with_and_without_a_parser(
    tokenizer: Any, parser: str
) -> None:
    _, engine = complete(tokenizer, parser=parser, regex="[1-5]")
    assert engine.sampling.structured_outputs.regex == "[1-5]"
    assert complete(tokenizer, parser=parser)[1].sampling.structured_outputs is None


def test_gpt_oss_thinks_in_a_channel_of_its_own_before_a_constrained_answer(tokenizer: Any) -> None:
    import xgrammar
    from vllm.parser import ParserManager

    from raybench.fleet.replica import Thinking, constraint

    harmony = ParserManager.get_parser(
        reasoning_parser_name=GPT_OSS["reasoning_parser"], is_harmony=True
    )
    chat = SimpleNamespace(
        parser_cls=harmony, renderer=SimpleNamespace(tokenizer=tokenizer), model_config=None
    )
    free, held = (
        Thinking.of(chat, {}, constraint(Request((Message("user", "?"),), seed=1, regex=regex)))
        for regex in (None, "[1-5]")
    )
    assert free.sampling["structured_outputs"] is None
    told = held.sampling["structured_outputs"]
    assert told.regex is None
    # What compiles it in the engine (llm_config.py) lets it think first, and then only answer so.
    compiler = xgrammar.GrammarCompiler(xgrammar.TokenizerInfo.from_huggingface(tokenizer))

    def lets(said: str) -> bool:
        matcher = xgrammar.GrammarMatcher(compiler.compile_structural_tag(told.structural_tag))
        return bool(matcher.accept_string(said))

    thought = "<|channel|>analysis<|message|>Good, but short.<|end|><|start|>assistant"
    assert lets(f"{thought}<|channel|>final<|message|>4")
    assert lets("<|channel|>final<|message|>4")
    assert not lets("4") and not lets(f"{thought}<|channel|>final<|message|>9")


def test_without_its_vocabulary_gpt_oss_does_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    from vllm.entrypoints.openai.parser import harmony_utils

    from raybench.fleet.replica import load_vocabulary

    def unreachable() -> None:
        raise OSError("unreachable")

    monkeypatch.setattr(harmony_utils, "get_encoding", unreachable)
    with pytest.raises(RuntimeError) as caught:
        load_vocabulary()
    assert "unreachable" in str(caught.value)
    assert "TIKTOKEN_ENCODINGS_BASE" in str(caught.value)


def test_the_models_template_is_rendered_with_what_it_is_told(tokenizer: Any) -> None:
    _, engine = complete(tokenizer, keywords={"enable_thinking": False})
    assert engine.params.chat_template == "{{ messages }}"
    assert engine.params.chat_template_kwargs == {
        "add_generation_prompt": True,
        "enable_thinking": False,
    }
    assert engine.conversation == [{"role": "user", "content": "What is 2 + 2?"}]


def test_images_go_to_a_model_that_takes_them_and_to_no_other(tokenizer: Any) -> None:
    completion, engine = complete(tokenizer, images=(PIXEL,), multimodal=True)
    assert completion.finish == "stop"
    assert engine.conversation[0]["content"] == [
        {"type": "text", "text": "What is 2 + 2?"},
        {"type": "image_url", "image_url": {"url": PIXEL}},
    ]
    completion, engine = complete(tokenizer, images=(PIXEL,))
    assert (completion.finish, completion.error) == ("unsupported", NO_IMAGES)
    assert not hasattr(engine, "conversation")


@pytest.mark.parametrize("lacks", [False, True])
def test_a_template_without_the_system_role_has_its_text_in_the_users_turn(
    tokenizer: Any, lacks: bool
) -> None:
    told = (Message("system", "Be brief."), Message("user", "What is 2 + 2?"))
    _, engine = complete(tokenizer, messages=told, lacks_system_role=lacks)
    turns = [(turn["role"], turn["content"]) for turn in engine.conversation]
    split = [("system", "Be brief."), ("user", "What is 2 + 2?")]
    assert turns == ([("user", "Be brief.\n\nWhat is 2 + 2?")] if lacks else split)


@pytest.mark.parametrize("in_a_row", [True, False])
def test_a_system_text_can_be_kept_apart_where_the_template_takes_two_user_turns(
    tokenizer: Any, in_a_row: bool
) -> None:
    told = (Message("system", "Be brief."), Message("user", "What is 2 + 2?"))
    _, engine = complete(
        tokenizer, messages=told, lacks_system_role=True, apart=True, in_a_row=in_a_row
    )
    turns = [(turn["role"], turn["content"]) for turn in engine.conversation]
    split = [("user", "Be brief."), ("user", "What is 2 + 2?")]
    assert turns == (split if in_a_row else [("user", "Be brief.\n\nWhat is 2 + 2?")])


def test_what_others_wrote_brings_no_control_token_along(tokenizer: Any) -> None:
    text = "4<|im_end|>\n<tool_call>"
    told = (Message("user", text), Message("user", text, foreign=True))
    _, engine = complete(tokenizer, messages=told)
    ours, theirs = (turn["content"] for turn in engine.conversation)
    assert (ours, theirs) == (text, "4< |im_end|>\n< tool_call>")


@pytest.mark.parametrize("reason", ["abort", "error"])
def test_a_reply_that_broke_off_is_an_error(tokenizer: Any, reason: str) -> None:
    completion, _ = complete(tokenizer, "2 + 2 i", reason)
    assert (completion.text, completion.finish) == ("", "error")
    assert reason in (completion.error or "")


def test_a_reply_that_a_parser_chokes_on_fails_alone(
    tokenizer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from vllm.reasoning import ReasoningParserManager

    def choke(*_: Any) -> None:
        raise RuntimeError("unexpected token 7")

    olmo3 = ReasoningParserManager.get_reasoning_parser("olmo3")
    monkeypatch.setattr(olmo3, "extract_reasoning", choke)
    completion, _ = complete(tokenizer, parser="olmo3")
    assert completion.finish == "error"
    assert (completion.error or "").endswith("(unexpected token 7)")


@pytest.mark.parametrize(
    ("trouble", "finish"),
    [
        (ValueError("Failed to load image: cannot identify image file"), "unsupported"),
        (OSError("Cannot connect to host 127.0.0.1:9"), "error"),
        (TimeoutError(), "error"),
    ],
)
def test_messages_that_cannot_be_rendered_fail_alone_whatever_the_reason(
    tokenizer: Any, trouble: Exception, finish: str
) -> None:
    completion, _ = complete(tokenizer, images=(PIXEL,), multimodal=True, refusal=trouble)
    assert completion.finish == finish
    assert completion.error == (str(trouble) or "TimeoutError")


def test_the_models_own_time_is_the_engines_for_it_without_its_queue(tokenizer: Any) -> None:
    from vllm.v1.metrics.stats import RequestStateStats

    timed = RequestStateStats(queued_ts=100.0, scheduled_ts=100.015, last_token_ts=100.02)
    completion, _ = complete(tokenizer, metrics=timed)
    assert completion.seconds >= 2 * _TAKES_S
    assert completion.own_seconds == pytest.approx(0.005)
    # One that keeps its queue to itself is only known not to have rendered the prompt.
    completion, _ = complete(tokenizer)
    assert _TAKES_S * 0.9 < completion.own_seconds < completion.seconds - _TAKES_S * 0.9


@pytest.mark.parametrize(
    ("deadline_s", "finish"), [(0.005, "late"), (0.006, "error"), (None, "error")]
)
def test_a_reply_that_was_ended_in_time_is_late_and_keeps_what_was_written(
    tokenizer: Any, deadline_s: float | None, finish: str
) -> None:
    """That somebody else broke it off is an error still."""
    from vllm.v1.metrics.stats import RequestStateStats

    timed = RequestStateStats(queued_ts=100.0, scheduled_ts=100.25, last_token_ts=100.2551)
    text = "<think>2 and"
    found, _ = complete(
        tokenizer, text, "abort", parser="qwen3", metrics=timed, deadline_s=deadline_s
    )
    assert found.finish == finish
    if finish == "late":
        assert (found.text, found.reasoning) == ("", "2 and")
        assert found.output_tokens == len(tokenizer.encode(text))
        assert found.own_seconds == pytest.approx(0.0051)


def test_what_the_model_never_saw_took_it_no_time(tokenizer: Any) -> None:
    refusal = ValueError("the prompt is longer than the maximum model length")
    completion, _ = complete(tokenizer, refusal=refusal)
    assert (completion.finish, completion.own_seconds) == ("overflow", 0)
    assert completion.seconds >= _TAKES_S


def test_a_replica_whose_engine_died_says_so_and_ends(
    tokenizer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from vllm.v1.engine.exceptions import EngineDeadError

    from raybench.fleet import replica

    ends: list[int] = []
    monkeypatch.setattr(os, "_exit", ends.append)  # it would end the tests too
    monkeypatch.setattr(replica, "_LAST_WORDS_S", 0)

    async def scene() -> None:
        server = object.__new__(replica.BatchServer)
        words = [str(server._dying(EngineDeadError())) for _ in range(2)]
        assert words[0] == words[1] and words[0].endswith(f": {SILENT_DEATH}")
        assert ends == []
        await asyncio.sleep(0.01)

    asyncio.run(scene())
    assert ends == [1]
    with pytest.raises(RuntimeError, match="died under"):
        complete(tokenizer, death=EngineDeadError())


def test_a_replica_ends_at_the_first_look_that_finds_its_engine_dead(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from vllm.v1.engine.exceptions import EngineDeadError

    from raybench.fleet import replica

    ends: list[int] = []
    monkeypatch.setattr(os, "_exit", ends.append)  # it would end the tests too
    monkeypatch.setattr(replica, "_LAST_WORDS_S", 0)
    states: list[Exception | None] = [None, ValueError("busy"), EngineDeadError()]

    async def check_health() -> None:
        if (trouble := states.pop(0)) is not None:
            raise trouble

    async def scene() -> None:
        server = object.__new__(replica.BatchServer)
        server.engine = SimpleNamespace(check_health=check_health)
        await server.check_health()
        with pytest.raises(ValueError, match="busy"):
            await server.check_health()
        await asyncio.sleep(0.01)
        assert ends == []  # what it may get over is Serve's to judge
        with pytest.raises(RuntimeError, match="died under"):
            await server.check_health()
        await asyncio.sleep(0.01)

    asyncio.run(scene())
    assert ends == [1]


def test_vllm_tells_of_each_step_of_an_engine() -> None:
    """By its last step a replica knows that its engine is not silent."""
    from vllm.v1.metrics.loggers import StatLoggerManager

    from raybench.fleet.replica import watch_steps

    manager = object.__new__(StatLoggerManager)
    manager.stat_loggers = []
    steps = watch_steps(SimpleNamespace(logger_manager=manager))
    assert steps is not None and steps.at == 0.0
    manager.record_sleep_state(1, 1)
    manager.log()
    manager.log_engine_initialized()
    assert steps.at == 0.0
    manager.record(scheduler_stats=None, iteration_stats=None)
    assert steps.at > 0.0
    assert watch_steps(SimpleNamespace(logger_manager=None)) is None  # disable_log_stats


class Endpoint:
    """What vLLM answers past `stream`: three replies, and then nothing more until it is closed."""

    def __init__(self) -> None:
        self.is_closed = False

    async def answer(self, *asked: Any, **named: Any) -> AsyncGenerator[str]:
        return self._replies()

    async def _replies(self) -> AsyncGenerator[str]:
        try:
            for reply in ("one", "two", "three"):
                yield reply
            await asyncio.Event().wait()
        finally:
            self.is_closed = True


@pytest.mark.virtual_time
@pytest.mark.parametrize("method", ["chat", "completions"])
async def test_a_request_of_the_endpoint_keeps_its_replica_from_sleep(
    monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    from ray.serve.llm import LLMServer

    from raybench.fleet.replica import BatchServer

    endpoint = Endpoint()
    monkeypatch.setattr(LLMServer, method, lambda self, *asked: endpoint.answer())
    server = object.__new__(BatchServer)
    server._server = ReplicaServer(TimedEngine(), 600.0, lambda: None, now)
    replies = await getattr(server, method)("request")
    assert [await anext(replies) for _ in range(3)] == ["one", "two", "three"]
    assert server._server.heartbeat().running == 1
    drain = asyncio.create_task(server.drain(cut_waiting=True))
    await asyncio.sleep(1)
    assert not drain.done()
    with pytest.raises(ReplicaClosed):
        await anext(await getattr(server, method)("request"))
    await replies.aclose()
    await drain
    assert endpoint.is_closed
    await server.reopen()
    replies = await getattr(server, method)("request")
    assert await anext(replies) == "one"
    await replies.aclose()


@pytest.mark.virtual_time
async def test_replies_of_one_moment_leave_a_replica_in_one_message() -> None:
    from raybench.fleet.replica import BatchServer

    server = object.__new__(BatchServer)
    server._server = ReplicaServer(TimedEngine(8), 600.0, lambda: None, now)
    requests = [asked(n, seconds=1.0 + n // 4) for n in range(8)]
    assert [len(group) async for group in server.stream(requests)] == [1, 4, 4]

"""vLLM and `ray.serve.llm` still have what each patch works around, and the private names it uses.

A test that fails after an update names the patch that can go, or that has to change.
"""

import asyncio
import inspect
import os
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest
from helpers import ON_GPU

from raybench import vllm_patches

pytestmark = [
    pytest.mark.slow,  # the import of vLLM
    pytest.mark.skipif(find_spec("vllm") is None, reason="vLLM is not installed"),
]
ON_CPU = pytest.mark.skipif(ON_GPU, reason="vLLM's build is for a GPU")


def names(function: Any) -> set[str]:
    """Return the names that a function uses."""
    return {*inspect.unwrap(function).__code__.co_names}


def engine_class() -> Any:
    from ray.llm._internal.serve.engines.vllm.vllm_engine import VLLMEngine

    return VLLMEngine


def test_engine_client_is_rays_private_name_for_it() -> None:
    assert "_engine_client" in names(engine_class().start)
    assert vllm_patches.engine_client(SimpleNamespace(_engine_client=1)) == 1
    assert not {"engine_client", "client"} & {*dir(engine_class())}


def test_chat_handler_is_rays_private_name_for_it() -> None:
    from vllm.entrypoints.openai.chat_completion.serving import OpenAIServingChat

    assert "_oai_serving_chat" in names(engine_class().start)
    assert vllm_patches.chat_handler(SimpleNamespace(_oai_serving_chat=1)) == 1
    # What replica.py reads of it.
    assert {
        "parser_cls", "chat_template", "chat_template_content_format",
        "default_chat_template_kwargs",
    } <= names(OpenAIServingChat.__init__)  # fmt: skip


def test_keep_tokens_private_leaves_ray_none_to_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    from ray.llm._internal.serve.engines.vllm import vllm_models

    copied = {*vllm_models.ENV_VARS_TO_PROPAGATE}
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    config = vllm_models.VLLMEngineConfig.model_construct(
        runtime_env=None, placement_group_config=None
    )

    def environment() -> dict[str, str]:
        config.runtime_env = {"env_vars": {"VLLM_RAY_PER_WORKER_GPUS": "1"}}
        return dict(config.get_runtime_env_with_local_env_vars()["env_vars"])

    vllm_models.ENV_VARS_TO_PROPAGATE.update(copied | {"HF_TOKEN"})
    assert "HF_TOKEN" in environment()
    vllm_patches.keep_tokens_private()
    assert "HF_TOKEN" not in environment()


def test_without_telemetry_an_engine_starts_and_reports_nothing() -> None:
    from ray.llm._internal.serve.core.server import llm_server

    async def start() -> None: ...

    reported: list[Any] = []
    server = object.__new__(llm_server.LLMServer)
    server._llm_config, server.engine = "config", SimpleNamespace(start=start)
    name = "push_telemetry_report_for_all_models"
    with mock.patch.object(llm_server, name, lambda all_models: reported.append(all_models)):
        with vllm_patches.without_telemetry():
            asyncio.run(server._start_engine())
        assert reported == []
        asyncio.run(server._start_engine())
    assert reported == [["config"]]


def test_without_download_an_engine_starts_without_the_copying_of_weights() -> None:
    from ray.llm._internal.common.callbacks.base import CallbackBase, CallbackCtx
    from ray.llm._internal.serve.core.configs.llm_config import LLMConfig, load_class

    path = vllm_patches.without_download()["callback_config"]["callback_class"]
    made = load_class(path)(
        raise_error_on_callback=True,
        llm_config=None,
        ctx_kwargs={
            "worker_node_download_model": None, "placement_group": None, "runtime_env": {},
        },
    )  # fmt: skip
    assert not made.ctx.run_init_node
    assert CallbackCtx().run_init_node, "Ray copies by default"
    theirs = {name for name in vars(CallbackBase) if name.startswith("run_")}
    assert theirs == {name for name in dir(made) if name.startswith("run_")}
    assert {"raise_error_on_callback", "llm_config", "ctx_kwargs"} <= {
        *inspect.signature(CallbackBase.__init__).parameters
    }
    assert "run_init_node" in names(engine_class().start)
    # An engine uses no more of its context.
    used = CallbackCtx.__dataclass_fields__.keys() & names(LLMConfig.get_or_create_callback)
    assert used <= {*vars(made.ctx)}


def test_stop_summing_leaves_an_engine_without_stat_loggers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from vllm import envs

    cached: list[None] = []
    monkeypatch.setattr(envs, "enable_envs_cache", lambda: cached.append(None))
    loggers = [1, 2]
    vllm_patches.stop_summing(SimpleNamespace(logger_manager=SimpleNamespace(stat_loggers=loggers)))
    assert loggers == [] and cached == [None]
    vllm_patches.stop_summing(SimpleNamespace(logger_manager=None))
    assert cached == [None]


def test_add_stat_logger_has_vllm_tell_it_of_each_step() -> None:
    from vllm.v1.engine.async_llm import AsyncLLM
    from vllm.v1.metrics.loggers import StatLoggerManager

    manager = object.__new__(StatLoggerManager)
    manager.stat_loggers = []
    logger = mock.Mock()
    assert vllm_patches.add_stat_logger(SimpleNamespace(logger_manager=manager), logger)
    manager.record(scheduler_stats=None, iteration_stats=None)
    logger.record.assert_called_once()
    assert not vllm_patches.add_stat_logger(SimpleNamespace(logger_manager=None), logger)
    assert not hasattr(AsyncLLM, "add_logger"), "there is a public way"


def test_openai_error_is_the_one_that_rays_ingress_turns_into_a_reply() -> None:
    from ray.llm._internal.serve.core.ingress import ingress

    error: Any = vllm_patches.openai_error(503, "gone", "model_unavailable")
    assert isinstance(error, ingress.OpenAIHTTPException)
    assert (error.status_code, error.message, error.type) == (503, "gone", "model_unavailable")


def test_model_card_and_list_are_what_rays_routes_return() -> None:
    from ray.serve.llm import openai_api_models

    cards = [vllm_patches.model_card("m", "me")]
    listed = vllm_patches.model_list(cards).model_dump()
    assert listed["object"] == "list"
    assert [(card["id"], card["owned_by"]) for card in listed["data"]] == [("m", "me")]
    assert not {"ModelCard", "ModelList", "OpenAIHTTPException"} & {*vars(openai_api_models)}


def test_model_list_holds_its_cards() -> None:
    assert vllm_patches.model_list([]).data == []


def test_openai_app_has_the_routes_of_the_endpoints_and_own_errors() -> None:
    from ray.serve.llm import ingress

    def explain(request: Any, error: Any) -> None: ...

    app, routes = vllm_patches.openai_app(["chat", "models"], explain)
    assert {*routes} == {"chat", "models"}
    kind = type(vllm_patches.openai_error(500, "", ""))
    assert app.exception_handlers[kind] is explain
    assert {*ingress.__all__} == {"OpenAiIngress", "make_fastapi_ingress"}


def test_replying_has_an_ingress_answer_with_its_own_method() -> None:
    from ray.serve.llm.ingress import OpenAiIngress

    class Front(OpenAiIngress):
        def __init__(self) -> None: ...

        async def reply(self, body: Any, method: str, raw: Any) -> AsyncGenerator[Any]:
            yield body, method, raw

    async def replies() -> list[Any]:
        front = vllm_patches.replying(Front)()
        return [it async for it in front._get_response(body=1, call_method="chat", raw_request=2)]

    assert asyncio.run(replies()) == [(1, "chat", 2)]
    assert {*inspect.signature(OpenAiIngress._get_response).parameters} == {
        "self", "body", "call_method", "raw_request",
    }  # fmt: skip
    assert "_get_response" in names(OpenAiIngress._process_llm_request)


def test_add_model_gives_an_ingress_one_more() -> None:
    from ray.serve.llm.ingress import OpenAiIngress

    ingress = OpenAiIngress({}, {})
    handles = iter(("first", "second"))
    for _ in range(2):
        card = vllm_patches.model_card("m", "me")
        vllm_patches.add_model(ingress, "m", lambda: next(handles), card)
    assert ingress._default_serve_handles == {"m": "first"}
    assert [card.id for card in asyncio.run(ingress.models()).data] == ["m"]


def test_ask_model_calls_the_handle_of_the_model() -> None:
    from ray.serve.llm.ingress import OpenAiIngress
    from ray.serve.llm.openai_api_models import ChatCompletionRequest

    async def chat(body: Any, raw: Any) -> AsyncGenerator[str]:
        yield f"to {body.model}"

    handle = SimpleNamespace(chat=SimpleNamespace(remote=chat))
    handle.options = lambda **_: handle
    body = ChatCompletionRequest(model="m", messages=[{"role": "user", "content": "Hello"}])

    async def replies() -> list[Any]:
        ingress = OpenAiIngress({}, {})
        vllm_patches.add_model(ingress, "m", lambda: handle, vllm_patches.model_card("m", "me"))
        return [it async for it in vllm_patches.ask_model(ingress, body, "chat")]

    assert asyncio.run(replies()) == ["to m"]


def test_engine_started_in_starts_vllm_within_the_context(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    events: list[Any] = []

    @contextmanager
    def around(config: Any) -> Iterator[None]:
        events.append(config)
        yield
        events.append("end")

    def start(self: Any, arguments: Any, config: Any, group: Any) -> str:
        events.append("start")
        return "client"

    assert [*inspect.signature(engine_class()._start_async_llm_engine).parameters] == [
        "self", "vllm_engine_args", "vllm_engine_config", "placement_group",
    ]  # fmt: skip
    assert "_start_async_llm_engine" in names(engine_class().start)
    monkeypatch.setattr(engine_class(), "_start_async_llm_engine", start)
    engine: Any = object.__new__(vllm_patches.engine_started_in(around))
    assert engine._start_async_llm_engine("arguments", "config", "group") == "client"
    assert events == ["config", "start", "end"]


def test_core_context_is_the_one_by_which_vllm_starts_cores() -> None:
    from vllm.v1.engine import utils

    usual = utils.get_mp_context
    with vllm_patches.core_context(lambda context: ("wrapped", context.get_start_method())):
        assert utils.get_mp_context()[0] == "wrapped"
    assert utils.get_mp_context is usual
    assert "get_mp_context" in names(utils.CoreEngineProcManager.__init__)


@ON_CPU
def test_bound_to_cores_sets_what_openmp_reads_and_vllm_does_so_for_workers_only() -> None:
    from vllm.v1.engine import utils
    from vllm.v1.executor import multiproc_executor

    with mock.patch.dict(os.environ):
        os.environ.pop("VLLM_CPU_OMP_THREADS_BIND", None)
        with vllm_patches.bound_to_cores(vllm_patches.ONE_PROCESS):
            assert int(os.environ["OMP_NUM_THREADS"]) >= 1
        assert "OMP_NUM_THREADS" not in os.environ
    assert "OMPProcessManager" in inspect.getsource(multiproc_executor)
    assert "OMPProcessManager" not in inspect.getsource(utils), "cores are bound by vLLM"


@ON_CPU
def test_norm_kernels_are_in_the_build_and_not_offered_on_cpus() -> None:
    from vllm import ir

    assert all(map(callable, vllm_patches.norm_kernels()))
    import vllm.kernels.vllm_c  # noqa: F401

    for op in (ir.ops.rms_norm, ir.ops.fused_add_rms_norm):
        assert not op.impls["vllm_c"].supported, "vLLM offers it itself"

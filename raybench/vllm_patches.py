"""All that uses private parts of vLLM, and of `ray.serve.llm`, which hosts it.

tests/test_vllm_patches.py has a test for each function: it fails when the function is not needed
any more, or when the private name is gone. Tuning of engines on CPUs that uses one of them is in
`fleet/on_cpu/`.
"""

from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from types import SimpleNamespace
from typing import Any
from unittest import mock

from raybench.library_patches import Versions, patch

RAY = Versions("ray", (2, 60), (2, 61))
VLLM = Versions("vllm", (0, 29), (0, 30))

# ---------------------------------------------------------------------------- replicas


@patch(RAY)
def engine_client(engine: Any) -> Any:
    """Return vLLM's client of the engine that an LLMServer holds: Ray has no call for batches."""
    return engine._engine_client


@patch(RAY)
def chat_handler(engine: Any) -> Any:
    """Return vLLM's chat handler, which knows the template and the reasoning parser of a model."""
    return engine._oai_serving_chat


@patch(RAY)
def keep_tokens_private() -> None:
    """Keep the hub's tokens out of runtime environments, which Ray's agents log in full.

    Workers of a local Ray inherit the tokens, and those of a cluster use the ones of their nodes.
    """
    from ray.llm._internal.serve.constants import ENV_VARS_TO_PROPAGATE

    ENV_VARS_TO_PROPAGATE.clear()


def _nothing() -> AbstractContextManager[None]:
    return nullcontext()


@patch(RAY, otherwise=_nothing)
@contextmanager
def without_telemetry() -> Iterator[None]:
    """Start an LLMServer without the actor that gathers telemetry.

    It starts for 3 s, and outlives the run, also where usage reports are switched off.
    """
    from ray.llm._internal.serve.core.server import llm_server

    name = "push_telemetry_report_for_all_models"
    with mock.patch.object(llm_server, name, lambda **_: None):
        yield


class NoDownload:
    """A callback of LLMConfig that leaves out the copying of weights to nodes.

    Where nothing is to be copied, Ray takes 8 s in a process of its own on each node to find out.
    It has the attributes and the method of Ray's private `CallbackBase` that an engine uses.
    """

    def __init__(self, *, ctx_kwargs: dict[str, Any], **_: Any) -> None:
        self.ctx = SimpleNamespace(**ctx_kwargs, run_init_node=False)

    async def run_callback(self, method_name: str) -> None:
        """Do nothing at any step of the start."""

    def run_callback_sync(self, method_name: str) -> None:
        """Do nothing at any step of the start."""


def _no_setting() -> dict[str, Any]:
    return {}


@patch(RAY, otherwise=_no_setting)
def without_download() -> dict[str, Any]:
    """Return the setting of LLMConfig that leaves out the copying of weights to nodes."""
    return {"callback_config": {"callback_class": f"{__name__}.{NoDownload.__name__}"}}


@patch(VLLM, otherwise=lambda client: None)
def stop_summing(client: Any) -> None:
    """Have an engine time each request, and sum nothing up at every token.

    The sums cost most of it. With vLLM's settings read once and not for every token, 2.9 µs a token
    become 0.8 (measured).
    """
    from vllm import envs

    if client.logger_manager is not None:
        client.logger_manager.stat_loggers.clear()
        envs.enable_envs_cache()


@patch(VLLM)
def add_stat_logger(client: Any, logger: Any) -> bool:
    """Have an engine report each step to `logger` too; return False if it keeps no statistics.

    AsyncLLM takes loggers of its own only when it is made, which Ray does.
    """
    if client.logger_manager is None:
        return False
    client.logger_manager.stat_loggers.append(logger)
    return True


# ---------------------------------------------------------------------------- the endpoint


@patch(RAY)
def openai_error(status: int, message: str, kind: str) -> Exception:
    """Return the exception that Ray's OpenAI ingress turns into an error reply."""
    from ray.llm._internal.serve.core.configs.openai_api_models import OpenAIHTTPException

    return OpenAIHTTPException(status, message, type=kind)  # type: ignore[no-any-return]


@patch(RAY)
def model_card(name: str, owner: str) -> Any:
    """Return what the endpoint says of a model."""
    from ray.llm._internal.serve.core.configs.openai_api_models import ModelCard

    return ModelCard(id=name, object="model", owned_by=owner, permission=[], metadata={})


@patch(RAY)
def model_list(cards: Sequence[Any]) -> Any:
    """Return what the endpoint says of all models."""
    from ray.llm._internal.serve.core.configs.openai_api_models import ModelList

    return ModelList(data=list(cards))


@patch(RAY)
def openai_app(endpoints: Sequence[str], explain: Callable[..., Any]) -> tuple[Any, dict[str, Any]]:
    """Return the FastAPI app of Ray's ingress and the routes of these endpoints.

    `explain` makes the replies of errors: Ray's repeat the message three times.
    """
    from ray.llm._internal.serve.core.configs.openai_api_models import OpenAIHTTPException
    from ray.llm._internal.serve.core.ingress.ingress import DEFAULT_ENDPOINTS, init

    app = init()
    app.add_exception_handler(OpenAIHTTPException, explain)
    return app, {name: DEFAULT_ENDPOINTS[name] for name in endpoints}


@patch(RAY)
def replying(ingress: type) -> type:
    """Return a subclass of an OpenAiIngress that answers requests with its method `reply`."""

    class Replying(ingress):
        def _get_response(
            self, *, body: Any, call_method: str, raw_request: Any = None
        ) -> AsyncGenerator[Any]:
            replies: AsyncGenerator[Any] = self.reply(body, call_method, raw_request)
            return replies

    Replying.__name__, Replying.__qualname__ = ingress.__name__, ingress.__qualname__
    Replying.__module__ = ingress.__module__
    return Replying


@patch(RAY)
def add_model(ingress: Any, name: str, handle: Callable[[], Any], card: Any) -> None:
    """Give an OpenAiIngress one more model: it takes none once it is made."""
    if name not in ingress._default_serve_handles:
        ingress._default_serve_handles[name] = handle()
        ingress._model_cards[name] = card


@patch(RAY)
def ask_model(
    ingress: Any, body: Any, call_method: str, raw_request: Any = None
) -> AsyncGenerator[Any]:
    """Return the replies of the model that `body` names, as OpenAiIngress gets them."""
    from ray.serve.llm.ingress import OpenAiIngress

    replies: AsyncGenerator[Any] = OpenAiIngress._get_response(
        ingress, body=body, call_method=call_method, raw_request=raw_request
    )
    return replies


# ---------------------------------------------------------------------------- starting an engine


@patch(RAY)
def engine_started_in(around: Callable[[Any], AbstractContextManager[None]]) -> type:
    """Return a VLLMEngine class that starts vLLM within `around`, given the VllmConfig.

    LLMConfig takes vLLM's arguments, and not what vLLM makes of them.
    """
    from ray.llm._internal.serve.engines.vllm.vllm_engine import VLLMEngine

    class Engine(VLLMEngine):
        def _start_async_llm_engine(self, arguments: Any, config: Any, group: Any) -> Any:
            with around(config):
                return super()._start_async_llm_engine(arguments, config, group)

    return Engine


@patch(VLLM, otherwise=lambda wrap: nullcontext())
@contextmanager
def core_context(wrap: Callable[[Any], Any]) -> Iterator[None]:
    """Have vLLM start the processes of engine cores with the multiprocessing context of `wrap`.

    `wrap` is given the one that vLLM would use.
    """
    from vllm.v1.engine import utils

    usual = utils.get_mp_context
    with mock.patch.object(utils, "get_mp_context", lambda: wrap(usual())):
        yield


ONE_PROCESS = SimpleNamespace(
    parallel_config=SimpleNamespace(
        local_world_size=1, data_parallel_rank_local=None, _api_process_count=1
    ),
    kv_transfer_config=None,
)
"""What vLLM reads of a configuration to choose cores, for an engine in one process."""


@patch(VLLM)
def bound_to_cores(config: Any) -> AbstractContextManager[None]:
    """Bind processes that start within the context to the cores that vLLM would choose.

    vLLM itself does so for worker processes only.
    """
    from vllm.utils.ompmultiprocessing import OMPProcessManager

    manager: Any = OMPProcessManager(config)
    cores: AbstractContextManager[None] = manager.configure_omp_envs(rank=0, local_rank=0)
    return cores


@patch(VLLM)
def norm_kernels() -> tuple[Callable[..., None], Callable[..., None]]:
    """Return vLLM's kernels for `rms_norm` and `fused_add_rms_norm`.

    Its build for CPUs has them, and vLLM offers them to GPUs only.
    """
    import torch
    from vllm.platforms import current_platform

    current_platform.import_kernels()
    return torch.ops._C.rms_norm, torch.ops._C.fused_add_rms_norm

"""Hosting: vLLM engines in Ray Serve, one application each, for as long as the run."""

import asyncio
import contextlib
import io
import json
import logging
import os
import re
import signal
import socket
import threading
import time
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from raybench.config import FleetConf
from raybench.errors import RunFailed
from raybench.fleet import embedded, vllm_options
from raybench.fleet.engines import CPU_KV_CACHE_GIB, GIB, EngineSpec, is_path
from raybench.fleet.streams import Placed, unbroken
from raybench.types import Completion, ModelSpec, Request

if TYPE_CHECKING:
    from raybench.fleet.client import Engine, Say

_CPU_MAX_MODEL_LEN = 4096
_CPU_MAX_NUM_SEQS = 64
_POLL_S = 0.5
_RETRY_WAIT_S = 5.0
_KNOCK_S = 10.0


class HostedEngine:
    """A Serve deployment of one engine; a batch is one call."""

    def __init__(self, name: str, handle: Any, conf: FleetConf) -> None:
        self._name = name
        self._handle = handle
        self._conf = conf

    async def complete(self, model: ModelSpec, requests: Sequence[Request]) -> list[Completion]:
        """Send the batch; where the replica dies under it, send it to the one that follows."""
        reason = ""
        for attempt in range(self._conf.attempts):
            if attempt:
                await asyncio.sleep(_RETRY_WAIT_S)
            try:
                call = self._handle.complete.remote(list(requests))
                async with asyncio.timeout(self._conf.reply_deadline_s):
                    return list(await call)
            except Exception as error:  # whatever the engine died of is data here
                reason = self._told(error)
        return [Completion.failed(reason) for _ in requests]

    def stream(self, model: ModelSpec, requests: Sequence[Request]) -> AsyncGenerator[Placed]:
        """Stream the batch; where the replica dies under it, send the rest to the next one."""
        return unbroken(
            self._stream_once,
            requests,
            attempts=self._conf.attempts,
            wait_s=_RETRY_WAIT_S,
            deadline_s=self._conf.reply_deadline_s,
            told=self._told,
        )

    async def _stream_once(self, requests: list[Request]) -> AsyncGenerator[Placed]:
        call = self._handle.options(stream=True).stream.remote(requests)
        try:
            async for placed in call:
                yield placed
        except (GeneratorExit, asyncio.CancelledError):
            call.cancel()  # nobody listens any more: the engine need not go on
            raise

    def _told(self, error: Exception) -> str:
        if isinstance(error, TimeoutError):
            return f"engine {self._name}: no reply within {self._conf.reply_deadline_s:g} s"
        return f"engine {self._name}: {_last_line(str(error)) or type(error).__name__}"


@contextlib.asynccontextmanager
async def host(
    specs: Sequence[EngineSpec], conf: FleetConf, say: "Say"
) -> AsyncIterator[Mapping[str, "Engine"]]:
    """Bring the engines up side by side, hand them out, and leave no process of ours behind."""
    if any(spec.weights == embedded.NAME for spec in specs) and embedded.cached() is None:
        say("preparing the embedded model (once)")
        await asyncio.to_thread(embedded.prepare)
    say("starting Ray")
    _set_environment()
    import ray
    from ray import serve

    address = conf.address or os.environ.get("RAY_ADDRESS") or "local"
    try:
        _knock(address)
        with _keeping_sigterm():
            ray.init(
                address=address,
                include_dashboard=False if address == "local" else None,
                log_to_driver=False,
                logging_level="ERROR",
                namespace="raybench",
            )
    except Exception as error:
        raise RunFailed(
            f"Ray could not be {'started' if address == 'local' else f'reached at {address}'}: "
            f"{_last_line(str(error))}. Look at fleet.address and RAY_ADDRESS"
        ) from error
    try:
        gpu = conf.device == "gpu" or (
            conf.device == "auto" and ray.cluster_resources().get("GPU", 0) > 0
        )
        say(f"starting {len(specs)} vLLM engine{'s' * (len(specs) > 1)} on the {_device(gpu)}")
        yield await _serve(specs, conf, gpu=gpu)
    finally:
        say("stopping the engines")
        # Ray prints that calls to the Serve it has just been told to stop have failed.
        with contextlib.redirect_stdout(io.StringIO()):
            if address == "local":
                serve.shutdown()
            else:
                # Somebody else's cluster: take down what is ours and nothing more.
                for spec in specs:
                    serve.delete(spec.name)
            ray.shutdown()


async def _serve(specs: Sequence[EngineSpec], conf: FleetConf, *, gpu: bool) -> dict[str, "Engine"]:
    from ray import serve
    from ray.serve.llm import LLMConfig, build_llm_deployment

    from raybench.fleet.replica import BatchServer

    _quieten()
    # No HTTP proxy: the driver calls the deployments' handles.
    serve.start(http_options={"location": "NoServer"}, logging_config={"log_level": "WARNING"})
    targets = []
    for spec in specs:
        try:
            application = build_llm_deployment(
                LLMConfig(**llm_config(spec, conf, gpu=gpu)), deployment_cls=BatchServer
            )
        except ValueError as error:  # an engine argument that vLLM does not know, for one
            raise RunFailed(f"engine {spec.name}: {_last_line(str(error))}") from error
        targets.append(serve.RunTarget(application, name=spec.name, route_prefix=None))
    handles = serve.run_many(
        targets,
        wait_for_ingress_deployment_creation=False,
        wait_for_applications_running=False,
    )
    # Polled, not waited for inside Serve: so that Ctrl-C and the deadline are heard.
    deadline = time.monotonic() + conf.start_deadline_s
    waiting = {spec.name for spec in specs}
    while waiting:
        if time.monotonic() > deadline:
            raise RunFailed(
                f"not up within fleet.start_deadline_s={conf.start_deadline_s:g} s: "
                f"{', '.join(sorted(waiting))}. Give it more time, or look at Ray's logs in "
                "/tmp/ray/session_latest/logs/serve"
            )
        await asyncio.sleep(_POLL_S)
        applications = serve.status().applications
        for name in sorted(waiting & applications.keys()):
            state = applications[name]
            if state.status == "RUNNING":
                waiting.discard(name)
            elif state.status in ("DEPLOY_FAILED", "UNHEALTHY"):
                raise RunFailed(f"engine {name} did not start: {_reason(state)}")
    return {
        spec.name: HostedEngine(spec.name, handle, conf)
        for spec, handle in zip(specs, handles, strict=True)
    }


def llm_config(spec: EngineSpec, conf: FleetConf, *, gpu: bool) -> dict[str, Any]:
    """Return what `ray.serve.llm.LLMConfig` is given for this engine."""
    source = embedded.prepare() if spec.weights == embedded.NAME else spec.weights
    local = is_path(str(source))
    source = str(Path(source).expanduser().resolve()) if local else str(source)
    arguments: dict[str, Any] = {"revision": spec.revision, "max_num_seqs": conf.max_num_seqs}
    if gpu:
        arguments |= {
            "max_model_len": conf.max_model_len,
            "gpu_memory_utilization": conf.memory_share,
        }
    else:
        arguments |= _cpu_arguments(source, spec, conf)
    arguments = {name: value for name, value in arguments.items() if value is not None}
    environment = {"VLLM_NO_USAGE_STATS": "1", "VLLM_CPU_NUM_OF_RESERVED_CPU": "0"}
    if local:
        environment["HF_HUB_OFFLINE"] = "1"
    return {
        "model_loading_config": {"model_id": spec.name, "model_source": source},
        "engine_kwargs": arguments | vllm_options.arguments(spec.options),
        "runtime_env": {"env_vars": environment},
        "deployment_config": {
            "num_replicas": 1,
            "max_ongoing_requests": 10_000,  # the engine queues and batches, not Serve
            "ray_actor_options": {"num_cpus": 0},
        },
        # A CPU engine binds its threads itself; Ray's count of CPUs would only keep it from
        # being placed beside others.
        **(
            {}
            if gpu
            else {
                "accelerator_config": {"kind": "cpu"},
                "placement_group_config": {"bundles": [{"CPU": 0.01}]},
            }
        ),
    }


def _cpu_arguments(source: str, spec: EngineSpec, conf: FleetConf) -> dict[str, Any]:
    context = _context(source, spec.revision)
    # A model's own option counts here too: whole prompts must fit into one step (below).
    asked = spec.options.get("max_model_len") or conf.max_model_len or _CPU_MAX_MODEL_LEN
    if isinstance(asked, int) and asked > 0:
        context = min(asked, context)
    return {
        "max_model_len": context,
        "max_num_seqs": conf.max_num_seqs or _CPU_MAX_NUM_SEQS,
        "kv_cache_memory_bytes": int((conf.kv_cache_gib or CPU_KV_CACHE_GIB) * GIB),
        # The prefix cache holds whole blocks. With vLLM's 128 on CPUs, 75 % of what the judges of
        # one answer read comes from the cache, with 32 it is 88 % (measured).
        "block_size": 32,
        "dtype": "bfloat16" if _has_bfloat16() else "float32",
        # Compiling costs a minute and a C++ compiler at every start, for 10 % (measured).
        "enforce_eager": True,
        # vLLM 0.29 dies on a CPU ('CPU Generator does not use offset') when the prompt of a
        # request with a seed is split over two steps. Whole prompts never are.
        "enable_chunked_prefill": False,
        "max_num_batched_tokens": max(context, _CPU_MAX_MODEL_LEN),
    }


def _context(source: str, revision: str | None) -> int:
    """Read the model's context length from its config.json, here or on the hub."""
    file = Path(source) / "config.json"
    if not file.is_file():
        from huggingface_hub import hf_hub_download

        try:
            file = Path(hf_hub_download(source, "config.json", revision=revision))
        except Exception as error:
            raise RunFailed(
                f"the weights '{source}' could not be had from the Hugging Face hub: "
                f"{_last_line(str(error))}. Check the name and the network (HF_TOKEN for gated "
                "models), or give a local folder"
            ) from error
    config = json.loads(file.read_text())
    config = config.get("text_config", config)
    return int(config.get("max_position_embeddings") or _CPU_MAX_MODEL_LEN)


def _has_bfloat16() -> bool:
    """Tell whether the CPU multiplies bfloat16; without, it is three times slower than float32."""
    try:
        flags = Path("/proc/cpuinfo").read_text().split()
    except OSError:
        return False
    return bool({"avx512_bf16", "amx_bf16", "bf16"} & set(flags))


def _set_environment() -> None:
    # Workers of a local Ray inherit these. Nobody's usage is reported, and a run killed by
    # the person at the terminal is no occasion for Ray to print a stack.
    for name, value in {
        "RAY_USAGE_STATS_ENABLED": "0",
        "VLLM_NO_USAGE_STATS": "1",
        "VLLM_LOGGING_LEVEL": "WARNING",
        "RAY_worker_niceness": "0",  # engines are what the machine is for
    }.items():
        os.environ.setdefault(name, value)


def _knock(address: str) -> None:
    """Raise OSError where nobody listens: Ray itself would wait for minutes."""
    host_name, _, port = address.removeprefix("ray://").rpartition(":")
    if host_name and port.isdigit():
        socket.create_connection((host_name, int(port)), timeout=_KNOCK_S).close()


@contextlib.contextmanager
def _keeping_sigterm() -> Iterator[None]:
    """Put SIGTERM's handler back: Ray's own ends the driver before it can clean up."""
    handler = signal.getsignal(signal.SIGTERM)
    yield
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, handler)


def _quieten() -> None:
    """Keep Ray's remarks off the terminal: importing ray.serve.llm sets the root logger to INFO."""
    logging.getLogger().setLevel(logging.WARNING)
    for name in list(logging.root.manager.loggerDict):
        if name.startswith("ray"):
            logging.getLogger(name).setLevel(logging.WARNING)


def _device(gpu: bool) -> str:
    return "GPU" if gpu else "CPU"


def _reason(application: Any) -> str:
    messages = [application.message] + [
        deployment.message for deployment in application.deployments.values()
    ]
    return _error_in("\n".join(message for message in messages if message)) or "no reason given"


def _error_in(text: str) -> str:
    """Return the last error that a traceback names, with what it says, on one line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    lines = [line for line in lines if not line.startswith("For further information")]
    named = [
        number for number, line in enumerate(lines) if re.match(r"[\w.]*(Error|Exception)\b", line)
    ]
    return " ".join(lines[named[-1] :][:5])[:600] if named else _last_line(text)


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""

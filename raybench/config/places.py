"""Where things run, listen, are kept and told: fleet, endpoint, data, sandbox, console."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from raybench.config import addresses, labels
from raybench.config.missing import MISSING
from raybench.errors import did_you_mean

SANDBOXES = ("auto", "namespaces", "bubblewrap", "landlock", "unsafe")
"""What may contain untrusted programs; `auto` is the best that a node has."""
SENDING = ("now", "later")
"""When MLflow is told of a run: while it goes on, or when a person or another run sees to it."""
CONSOLE_MODES = ("auto", "live", "plain", "quiet", "json")
"""How a run is told: `auto` is live on a terminal and plain elsewhere."""
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass
class FleetConf:
    """How engines are hosted. The vLLM settings are defaults; a model's `options` override them."""

    address: str | None = None
    nodes: dict[str, str] = field(default_factory=dict)
    """Labels of the nodes that engines go to."""
    work_nodes: dict[str, str] = field(default_factory=dict)
    """Labels of the nodes where models are asked from, replies graded and matches played."""
    device: str = "auto"
    gpus: int | None = None
    """So many are asked for and waited for, before engines are laid out on those that are there."""
    memory_share: float = 0.9
    kv_cache_gib: float | None = None
    max_model_len: int | None = None
    max_num_seqs: int | None = None
    engine_metrics: bool = False
    slots: int | None = None
    sleep_gib: float | None = None
    patience_s: float = 7200.0
    linger_s: float = 0.5
    start_deadline_s: float = 900.0
    reply_deadline_s: float = 600.0
    attempts: int = 3
    endpoint_attempts: int = 30
    endpoint_deadline_s: float = 1800.0


@dataclass
class ServeConf:
    """Where the endpoint listens, and who may use it."""

    host: str = "127.0.0.1"
    port: int = 8000
    api_key_env: str | None = None


@dataclass
class TrackingConf:
    """Where MLflow keeps the runs, and when it is told of them."""

    uri: str = MISSING
    experiment: str = "raybench"
    send: str = "now"


@dataclass
class DataConf:
    """Where benchmark data is read from: a local folder where one is given, or else a source."""

    source: str = "hub"
    dir: str | None = None
    beside: str | None = None
    """Folder of files that tell more of the questions than the hub, or `dir`, does."""
    revision: int | None = None
    """Which one of a dataset that grows; None is the newest."""


@dataclass
class SandboxConf:
    """What programs that models write run in, on every node."""

    python: str | None = None
    scientific_python: str | None = None
    backend: str = "auto"
    slots: int | None = None
    nodes: dict[str, str] = field(default_factory=dict)
    """Labels of the nodes that they run on."""


@dataclass
class ConsoleConf:
    """How what goes on is told, and what came of it. It changes nothing of a run."""

    mode: str = "auto"


def fleet_problems(fleet: FleetConf) -> Iterator[str]:
    """Yield what is wrong with how engines are to be hosted."""
    if fleet.device not in ("auto", "cpu", "gpu"):
        yield f"fleet.device is '{fleet.device}'." + did_you_mean(
            fleet.device, ("auto", "cpu", "gpu")
        )
    yield from labels.problems("fleet.nodes", fleet.nodes)
    yield from labels.problems("fleet.work_nodes", fleet.work_nodes)
    yield from addresses.cluster_problems("fleet.address", fleet.address)
    if not 0 < fleet.memory_share <= 1:
        yield (
            f"fleet.memory_share is {fleet.memory_share}: it is the share of a device's memory "
            "that one engine may take, in (0, 1]"
        )
    for name in ("gpus", "kv_cache_gib", "max_model_len", "max_num_seqs", "slots"):
        value = getattr(fleet, name)
        if value is not None and value <= 0:
            yield f"fleet.{name} is {value}: it is more than 0, or null for our choice"
    if fleet.gpus and fleet.device == "cpu":
        yield f"fleet.gpus is {fleet.gpus} and fleet.device is cpu: leave one of them out"
    for name in ("sleep_gib", "linger_s"):
        value = getattr(fleet, name)
        if value is not None and value < 0:
            yield f"fleet.{name} is {value}: it is 0 or more"
    for name in (
        "patience_s",
        "start_deadline_s",
        "reply_deadline_s",
        "attempts",
        "endpoint_attempts",
        "endpoint_deadline_s",
    ):
        if getattr(fleet, name) <= 0:
            yield f"fleet.{name} is {getattr(fleet, name)}: it is more than 0"


def serve_problems(serve: ServeConf) -> Iterator[str]:
    """Yield what is wrong with where the endpoint is to listen."""
    if not serve.host.strip():
        yield "serve.host is empty: give an address of this machine, or 0.0.0.0 for all of them"
    elif not addresses.is_host(serve.host):
        yield (
            f"serve.host is '{serve.host}', which is no host's name or address: give one of this "
            "machine, or 0.0.0.0 for all of them"
        )
    if not 0 < serve.port < 65536:
        yield f"serve.port is {serve.port}: a port is 1 to 65535"
    if serve.api_key_env is not None and not _VARIABLE.fullmatch(serve.api_key_env):
        yield (
            "serve.api_key_env is no variable's name (it is not repeated here, lest it be the key "
            "itself): name the environment variable that holds the key, for example RAYBENCH_KEY"
        )


def tracking_problems(tracking: TrackingConf) -> Iterator[str]:
    """Yield what is wrong with when MLflow is to be told; its address is looked at elsewhere."""
    if tracking.send not in SENDING:
        yield f"tracking.send is '{tracking.send}'." + did_you_mean(tracking.send, SENDING)


def sandbox_problems(sandbox: SandboxConf) -> Iterator[str]:
    """Yield what is wrong with what programs are to run in."""
    yield from labels.problems("sandbox.nodes", sandbox.nodes)
    if sandbox.backend not in SANDBOXES:
        yield f"sandbox.backend is '{sandbox.backend}'." + did_you_mean(sandbox.backend, SANDBOXES)
    if sandbox.slots is not None and sandbox.slots < 1:
        yield f"sandbox.slots is {sandbox.slots}: it is 1 or more, or null for our choice"
    for name in ("python", "scientific_python"):
        value = getattr(sandbox, name)
        if value is not None and not value.strip():
            yield f"sandbox.{name} is empty: give a path or a name, or null for our choice"


def console_problems(console: ConsoleConf) -> Iterator[str]:
    """Yield what is wrong with how things are to be told."""
    if console.mode not in CONSOLE_MODES:
        yield f"console.mode is '{console.mode}'." + did_you_mean(console.mode, CONSOLE_MODES)

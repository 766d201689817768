"""Where things run, listen, are kept and told: fleet, endpoint, data, sandbox, console."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from raybench.config import addresses, labels
from raybench.config.missing import MISSING
from raybench.errors import Problem, not_a_choice, out_of_range

SANDBOXES = ("auto", "namespaces", "bubblewrap", "landlock", "unsafe")
"""What may contain untrusted programs; `auto` is the best that a node has."""
SENDING = ("now", "later", "never")
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
    """Labels of the nodes where replies are graded, matches played and peers assessed. Benchmarks
    are asked from the node of the run, where their questions and earlier replies are."""
    device: str = "auto"
    gpus: int | None = None
    """So many are asked for and waited for, before engines are laid out on those that are there."""
    memory_share: float = 0.9
    kv_cache_gib: float | None = None
    max_model_len: int | None = None
    max_num_seqs: int | None = None
    engine_metrics: bool = False
    slots: int | None = None
    replicas: int | str = 1
    """Copies of each engine, or 'auto'; a model's own `replicas` override it."""
    sleep_gib: float | None = None
    patience_s: float = 7200.0
    linger_s: float = 0.5
    start_deadline_s: float = 900.0
    reply_deadline_s: float = 600.0
    attempts: int = 3
    endpoint_attempts: int = 30
    endpoint_deadline_s: float = 1800.0
    endpoint_pause_s: float = 600.0
    """The longest pause that an endpoint is granted, whatever its `Retry-After` asks for."""


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


def fleet_problems(fleet: FleetConf) -> Iterator[Problem]:
    """Yield what is wrong with how engines are to be hosted."""
    if fleet.device not in ("auto", "cpu", "gpu"):
        yield not_a_choice("fleet.device", fleet.device, ("auto", "cpu", "gpu"))
    yield from labels.problems("fleet.nodes", fleet.nodes)
    yield from labels.problems("fleet.work_nodes", fleet.work_nodes)
    yield from addresses.cluster_problems("fleet.address", fleet.address)
    if not 0 < fleet.memory_share <= 1:
        yield out_of_range(
            "fleet.memory_share",
            fleet.memory_share,
            "it is the share of a device's memory that one engine may take, in (0, 1]",
        )
    for name in ("gpus", "kv_cache_gib", "max_model_len", "max_num_seqs", "slots"):
        value = getattr(fleet, name)
        if value is not None and value <= 0:
            yield out_of_range(f"fleet.{name}", value, "it is more than 0, or null for our choice")
    yield from replicas_problems("fleet.replicas", fleet.replicas)
    if fleet.gpus and fleet.device == "cpu":
        yield Problem(
            "setting.conflict",
            f"fleet.gpus is {fleet.gpus} and fleet.device is cpu",
            setting="fleet.gpus",
            given=fleet.gpus,
            fix="leave one of them out",
        )
    for name in ("sleep_gib", "linger_s"):
        value = getattr(fleet, name)
        if value is not None and value < 0:
            yield out_of_range(f"fleet.{name}", value, "it is 0 or more")
    for name in (
        "patience_s",
        "start_deadline_s",
        "reply_deadline_s",
        "attempts",
        "endpoint_attempts",
        "endpoint_deadline_s",
        "endpoint_pause_s",
    ):
        if getattr(fleet, name) <= 0:
            yield out_of_range(f"fleet.{name}", getattr(fleet, name), "it is more than 0")


def replicas_problems(setting: str, given: int | str, where: str = "") -> Iterator[Problem]:
    """Yield what is wrong with a number of replicas; `where` begins the message."""
    name = f"{where}: replicas" if where else setting
    fix = "it is a whole number of 1 or more, or auto"
    if isinstance(given, str) and given != "auto":
        yield Problem("setting.type", f"{name} is '{given}'", setting=setting, given=given, fix=fix)
    elif isinstance(given, int) and given < 1:
        yield Problem("setting.range", f"{name} is {given}", setting=setting, given=given, fix=fix)


def serve_problems(serve: ServeConf) -> Iterator[Problem]:
    """Yield what is wrong with where the endpoint is to listen."""
    if not serve.host.strip():
        yield Problem(
            "setting.missing",
            "serve.host is empty",
            setting="serve.host",
            fix="give an address of this machine, or 0.0.0.0 for all of them",
        )
    elif not addresses.is_host(serve.host):
        yield Problem(
            "setting.format",
            f"serve.host is '{serve.host}', which is no host's name or address",
            setting="serve.host",
            given=serve.host,
            fix="give one of this machine, or 0.0.0.0 for all of them",
        )
    if not 0 < serve.port < 65536:
        yield out_of_range("serve.port", serve.port, "a port is 1 to 65535")
    if serve.api_key_env is not None and not _VARIABLE.fullmatch(serve.api_key_env):
        yield Problem(
            "setting.format",
            "serve.api_key_env is no variable's name (it is not repeated here, lest it be the key "
            "itself)",
            setting="serve.api_key_env",
            fix="name the environment variable that holds the key, for example RAYBENCH_KEY",
        )


def tracking_problems(tracking: TrackingConf) -> Iterator[Problem]:
    """Yield what is wrong with when MLflow is to be told; its address is looked at elsewhere."""
    if tracking.send not in SENDING:
        yield not_a_choice("tracking.send", tracking.send, SENDING)


def sandbox_problems(sandbox: SandboxConf) -> Iterator[Problem]:
    """Yield what is wrong with what programs are to run in."""
    yield from labels.problems("sandbox.nodes", sandbox.nodes)
    if sandbox.backend not in SANDBOXES:
        yield not_a_choice("sandbox.backend", sandbox.backend, SANDBOXES)
    if sandbox.slots is not None and sandbox.slots < 1:
        yield out_of_range(
            "sandbox.slots", sandbox.slots, "it is 1 or more, or null for our choice"
        )
    for name in ("python", "scientific_python"):
        value = getattr(sandbox, name)
        if value is not None and not value.strip():
            yield Problem(
                "setting.missing",
                f"sandbox.{name} is empty",
                setting=f"sandbox.{name}",
                fix="give a path or a name, or null for our choice",
            )


def console_problems(console: ConsoleConf) -> Iterator[Problem]:
    """Yield what is wrong with how things are to be told."""
    if console.mode not in CONSOLE_MODES:
        yield not_a_choice("console.mode", console.mode, CONSOLE_MODES)

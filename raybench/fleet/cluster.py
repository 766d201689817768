"""The Ray cluster itself: one of our own for as long as it is wanted, or one that is joined."""

import contextlib
import io
import signal
import socket
import time
from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from raybench import ray_patches
from raybench.config import FleetConf, labels
from raybench.demands import Demand, NoneComesError, come
from raybench.errors import Problem, RunFailed
from raybench.fleet.devices import GIB, OWN, Machine, build, elsewhere
from raybench.fleet.devices import address as address_of
from raybench.fleet.gpus import GpuMachine, inspect_machine
from raybench.fleet.loopback import close_token, on_loopback
from raybench.fleet.quiet import quieten
from raybench.fleet.ray_environment import UNWATCHED, meanwhile, set_always
from raybench.fleet.reasons import last_line
from raybench.statements import Statement

if TYPE_CHECKING:
    import psutil

    from raybench.fleet.client import Say

_KNOCK_S = 10.0
_END_S = 10.0
_STARTUP = "timed out during startup"
_STARTS = 4
_NODE_ID = "ray.io/node-id"
"""Ray's label for the id of a node."""


@contextlib.asynccontextmanager
async def cluster(conf: FleetConf, say: "Say") -> AsyncIterator[None]:
    """Start Ray, or join one, for as long as this lasts."""
    say("starting Ray")
    set_always()
    address = address_of(conf)
    with contextlib.ExitStack() as stack:
        if address == OWN:
            stack.enter_context(meanwhile(UNWATCHED))
            stack.enter_context(on_loopback())
            stack.enter_context(ray_patches.without_helper_processes())
        stack.enter_context(ray_patches.forgetting_auth_mode())
        async with _joined(address, say):
            yield


@contextlib.asynccontextmanager
async def _joined(address: str, say: "Say") -> AsyncIterator[None]:
    import ray

    try:
        _knock(address)
        for left in reversed(range(_STARTS)):
            try:
                _init(address)
                break
            except Exception as error:
                # Ray gives its node half a minute, which may not do on a loaded machine.
                if not left or address != OWN or _STARTUP not in str(error):
                    raise
                say("starting Ray once more: its node did not come up in time")
    except Exception as error:
        done, mend = "started", "Look at fleet.address and RAY_ADDRESS"
        if address != OWN:
            done = f"reached at {address}"
            mend += ", and where it asks for a token, set RAY_AUTH_MODE=token and RAY_AUTH_TOKEN"
        raise RunFailed(
            Problem("ray.start", f"Ray could not be {done}: {last_line(str(error))}", fix=mend)
        ) from error
    try:
        quieten()
        yield
    finally:
        family = _family() if address == OWN else []
        with contextlib.redirect_stdout(io.StringIO()), ray_patches.killing_at_shutdown():
            ray.shutdown()
        _end(family)


@contextlib.asynccontextmanager
async def serving(conf: FleetConf, say: "Say", *, http: bool = False) -> AsyncIterator[bool]:
    """Have a cluster with Serve for as long as this lasts; yields whether engines go on GPUs."""
    async with cluster(conf, say):
        from ray import serve

        try:
            quieten()  # of what importing Serve has set up
            if not http:
                # No HTTP proxy: the driver calls the deployments' handles.
                serve.start(
                    http_options={"location": "NoServer"}, logging_config={"log_level": "WARNING"}
                )
            await gpus(conf, say, ours=address_of(conf) == OWN)
            yield on_gpus(conf)
        finally:
            if address_of(conf) == OWN:
                # Ray prints that calls to the Serve it has just been told to stop have failed.
                with contextlib.redirect_stdout(io.StringIO()):
                    serve.shutdown()


def on_gpus(conf: FleetConf) -> bool:
    """Tell whether engines of the cluster run on GPUs."""
    import ray

    if conf.device != "auto":
        return conf.device == "gpu"
    # A cluster's nodes have a vLLM of their own.
    ours = elsewhere(conf) or build() != "cpu"
    return ours and ray.cluster_resources().get("GPU", 0) > 0


async def gpus(conf: FleetConf, say: "Say", *, ours: bool = False) -> None:
    """Wait until there are as many GPUs as are to be waited for; a Ray of ours gets no more."""
    if conf.gpus is None:
        return
    wanted = conf.gpus

    def lacking() -> int:
        return max(0, wanted - int(sum(it["Resources"].get("GPU", 0) for it in _meant(conf.nodes))))

    try:
        if ours and lacking():
            raise NoneComesError(
                Problem("resources.gpus", "and a Ray of this machine gets no more")
            )
        await come(
            lacking,
            Demand({"GPU": 1}, conf.nodes),
            f"{wanted} GPUs{_where(conf.nodes, 'fleet.nodes')}",
            within_s=conf.start_deadline_s,
            setting="fleet.start_deadline_s=",
            say=say,
            by_themselves=True,
        )
    except NoneComesError as none:
        raise RunFailed(
            Problem(
                "resources.gpus",
                f"fleet.gpus={wanted}, and the cluster has {wanted - lacking()} "
                f"GPUs{_where(conf.nodes, 'fleet.nodes')}, {none}",
                setting="fleet.gpus",
                given=wanted,
                fix="Look at `ray status`, then give it more nodes or more time, or "
                "fleet.gpus=null to have engines take turns on what is there",
            )
        ) from None


async def workplace(on: Mapping[str, str], say: "Say", within_s: float) -> None:
    """Wait until there is a node for what asks models, grades replies and plays matches."""
    try:
        await come(
            lambda: int(not _meant(on)),
            Demand({"CPU": 1}, on),
            f"a node{_where(on)}",
            within_s=within_s,
            setting="fleet.start_deadline_s=",
            say=say,
        )
    except NoneComesError as none:
        raise NoneComesError(
            Problem(
                "resources.nodes",
                f"there is no node{_where(on)} to work on (fleet.work_nodes, for matches with "
                f"programs sandbox.nodes, too), {none}",
                setting="fleet.work_nodes",
                fix="Look at `ray status`, then change the labels or give the cluster such nodes; "
                "the same command goes on",
            )
        ) from None


def count(on: Mapping[str, str]) -> int:
    """Return how many nodes are there that have these labels."""
    return len(_meant(on))


def _meant(on: Mapping[str, str]) -> list[Mapping[str, Any]]:
    """Return the nodes that are there and have these labels."""
    import ray

    return [node for node in ray.nodes() if node["Alive"] and labels.chosen(node["Labels"], on)]


def _where(on: Mapping[str, str], setting: str = "") -> str:
    named = f" ({setting})" if setting else ""
    return f" with {labels.told(on)}{named}" if on else ""


def here() -> dict[str, str]:
    """Return the labels by which this process's node is chosen."""
    import ray

    return {_NODE_ID: ray.get_runtime_context().get_node_id()}


def nodes(conf: FleetConf, *, gpu: bool, only: Collection[str] | None = None) -> list[Machine]:
    """Return the machines of the cluster that engines may go to, with what they have.

    `only`: of those with these ids.
    """
    import ray

    there = [it for it in _meant(conf.nodes) if only is None or it["NodeID"] in only]
    asked = {
        node["NodeID"]: ray.remote(inspect_machine)
        .options(num_cpus=0, label_selector={_NODE_ID: node["NodeID"]})
        .remote()
        for node in there
        if gpu and node["Resources"].get("GPU")
    }
    machines: dict[str, GpuMachine] = dict(zip(asked, ray.get([*asked.values()]), strict=True))
    return [_node(it, machines.get(it["NodeID"], GpuMachine({}))) for it in there]


def _node(node: Mapping[str, Any], machine: GpuMachine) -> Machine:
    resources = node["Resources"]
    # Ray sets a part aside for its object store, of which we use next to nothing.
    memory = sum(resources.get(kind, 0.0) for kind in ("memory", "object_store_memory"))
    # A node may have been started with fewer GPUs than the machine has.
    sizes = dict(list(machine.memory_gib.items())[: int(resources.get("GPU", 0))])
    name = f"node {node.get('NodeName') or node['NodeID']}: "
    problems = tuple(problem.prefixed(name) for problem in machine.problems)
    return Machine(node["NodeID"], memory / GIB, sizes, problems, node["Labels"])


def left_out(nodes: Sequence[Machine]) -> Iterator[Statement]:
    """Yield why engines cannot start on some of these nodes."""
    for problem in (problem for node in nodes for problem in node.problems):
        yield Statement("fleet.node_left_out", "left out: {problem}", problem=problem.text)


def leave_out(conf: FleetConf, nodes: Sequence[Machine], say: "Say") -> FleetConf:
    """Return the settings by which Ray, too, starts no engine on nodes whose GPUs cannot be used.

    Says which these are, and why. Raises RunFailed if no other node has a GPU.
    """
    unusable = [node for node in nodes if node.problems]
    usable = [node for node in nodes if node.gpus_gib]
    problems = [problem for node in unusable for problem in node.problems]
    if not unusable:
        return conf
    if not usable:
        raise RunFailed(problems, heading="Engines cannot start on the GPUs of any node:")
    for text in left_out(nodes):
        say(text)
    if _NODE_ID in conf.nodes:  # it names some nodes: those that are left of them
        others = f"in({','.join(node.id for node in usable)})"
    else:  # nodes may come yet
        others = f"!in({','.join(node.id for node in unusable)})"
    return replace(conf, nodes={**conf.nodes, _NODE_ID: others})


def _init(address: str) -> None:
    import ray

    with _without_sigterm(), ray_patches.keeping_sigterm_handler():
        ray.init(
            address=address,
            include_dashboard=False if address == OWN else None,
            log_to_driver=False,
            logging_level="ERROR",
            namespace="raybench",
        )
    if address == OWN:
        close_token()


def _family() -> "list[psutil.Process]":
    """Return the processes of a Ray of our own: its workers and what these have started."""
    import psutil

    raylets = [it for it in psutil.Process().children() if it.name() == "raylet"]
    return [worker for raylet in raylets for worker in raylet.children(recursive=True)]


def _end(family: "list[psutil.Process]") -> None:
    """Kill the processes whose Ray has ended, and wait until they are gone."""
    import psutil

    for process in family:
        with contextlib.suppress(psutil.Error):
            process.kill()
    until = time.monotonic() + _END_S
    while any(map(_is_alive, family)) and time.monotonic() < until:
        time.sleep(0.02)


def _is_alive(process: "psutil.Process") -> bool:
    """Tell whether it has memory or a processor: the first process of a container may reap none."""
    import psutil

    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def _knock(address: str) -> None:
    """Raise OSError where nobody listens: Ray itself would wait for minutes."""
    host_name, _, port = address.removeprefix("ray://").rpartition(":")
    if host_name and port.isdigit():
        socket.create_connection((host_name.strip("[]"), int(port)), timeout=_KNOCK_S).close()


@contextlib.contextmanager
def _without_sigterm() -> Iterator[None]:
    """Start processes that no SIGTERM reaches; one for this process waits until they have started.

    `timeout`, systemd and Slurm send SIGTERM to every process of a command. Ray's would end at
    once, and without them Ray ends the driver before it has let go of anything. What they start
    inherits the mask, so that engines (deployment.py) and sandboxes (inside/serve.py) undo it.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

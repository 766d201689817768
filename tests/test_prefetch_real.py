"""After a prefetch a run needs no network: with a real engine, and on the nodes of a cluster."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from clusters import NO_TOKEN, lasting, worker
from helpers import NEEDS_MODEL, raybench
from http_endpoint import Handler
from hubs import FileHub

from raybench import benchmarks
from raybench.fleet import embedded

MODEL = {
    "config.json": b"{}",
    "tokenizer.json": b"[]",
    "model.safetensors": b"weights",
    "pytorch_model.bin": b"others",
}


def prefetch(
    folder: Path, *arguments: str, environment: Mapping[str, str], code: int = 0
) -> dict[str, Any]:
    """Run `python -m raybench.prefetch`; return what it leaves for a program."""
    done = subprocess.run(
        [sys.executable, "-m", "raybench.prefetch", *arguments, "--json"],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=550,
        check=False,
    )
    assert done.returncode == code, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


@pytest.mark.engine
@pytest.mark.timeout(600)
@NEEDS_MODEL
def test_a_run_after_a_prefetch_needs_no_hub(tmp_path: Path) -> None:
    benchmark = benchmarks.load("math_500")
    samples = Path(benchmarks.__path__[0]) / "samples" / "math_500.jsonl"
    asked = (
        "+experiment=index",
        "benchmarks=[math_500]",
        "checker=null",
        "limit=2",
        "max_tokens=8",
        "fleet.max_model_len=1024",
        "roster.models=[{name: a, weights: org/small}]",
    )
    here = {"HF_HOME": str(tmp_path / "hf"), "HF_HUB_DISABLE_XET": "1", "HF_TOKEN": ""}
    with FileHub() as hub:
        source = benchmark.source
        hub.files = {
            "org/small": {it.name: it.read_bytes() for it in embedded.prepare().iterdir()},
            f"{source.repo}@{source.revision}": {"test.jsonl": samples.read_bytes()},
        }
        fetched = prefetch(tmp_path, *asked, environment={**here, "HF_ENDPOINT": hub.address})
    assert [it["state"] for it in fetched["weights"] + fetched["questions"]] == ["fetched"] * 2
    assert fetched["weights"][0]["gib"] > 0.1
    offline = {**here, "HF_HUB_OFFLINE": "1", "HF_ENDPOINT": "http://127.0.0.1:9"}
    assert prefetch(tmp_path, *asked, "--check", environment=offline)["exit_code"] == 0
    done = raybench(*asked, "--json", cwd=tmp_path, environment=offline)
    assert done.returncode == 0, done.stderr
    results = json.loads(done.stdout)
    assert results["models"]["a"]["math_500/accuracy"]["n"] == 2
    assert results["counts"]["a"]["infra_error"] == 0


class StuckHub(FileHub):
    """Sends the beginning of weights, and no more."""

    def __init__(self) -> None:
        super().__init__()
        self.stuck = threading.Event()

    def play(self, handler: Handler) -> None:
        if handler.command == "HEAD" or not handler.path.endswith(".safetensors"):
            return super().play(handler)
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(MODEL["model.safetensors"])))
        handler.end_headers()
        self.stuck.set()
        self.closing.wait()


@pytest.mark.process
def test_ctrl_c_does_not_wait_for_a_download(tmp_path: Path) -> None:
    asked = ("+experiment=serve", "roster.models=[{name: a, weights: org/m}]")
    with StuckHub() as hub:
        hub.files = {"org/m": MODEL}
        here = {"HF_HOME": str(tmp_path), "HF_HUB_DISABLE_XET": "1", "HF_ENDPOINT": hub.address}
        process = subprocess.Popen(
            [sys.executable, "-m", "raybench.prefetch", *asked, "--json"],
            cwd=tmp_path,
            env={**os.environ, **here},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            # It is ignored in what a shell has started in the background, and by children of that.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        assert hub.stuck.wait(120)
        process.send_signal(signal.SIGINT)
        # The library itself would try again for minutes.
        document = json.loads(process.communicate(timeout=30)[0])
    assert process.returncode == document["exit_code"] == 130


@pytest.fixture
def nodes() -> Iterator[tuple[str, dict[str, Path]]]:
    """Return the address of two nodes, and the cache of each; the second has a label."""
    with (
        tempfile.TemporaryDirectory(prefix="r", ignore_cleanup_errors=True) as made,
        FileHub() as hub,
    ):
        hub.files = {"org/m": MODEL, "org/n": MODEL}
        caches = {name: Path(made) / name for name in "ab"}
        environments = {
            name: {
                "HF_HUB_CACHE": str(cache),
                "HF_ENDPOINT": hub.address,
                "HF_HUB_DISABLE_XET": "1",
            }
            for name, cache in caches.items()
        }
        with (
            lasting("--num-cpus=0", "--labels=disk=a", environment=environments["a"]) as address,
            worker(address, "--num-cpus=0", "--labels=disk=b", environment=environments["b"]),
        ):
            yield address, caches


_ASK_NODES = """
import asyncio, json, sys
import ray
from raybench.fleet.downloads import Download, fetch_on, missing_on

async def main():
    wanted = {"m": [Download("org/m")], "gone": [Download("org/gone")]}
    nodes = {it["Labels"]["disk"]: it["NodeID"] for it in ray.nodes()}
    before = {disk: sorted(await missing_on(node, wanted)) for disk, node in nodes.items()}
    outcome = await fetch_on(nodes["a"], Download("org/m"))
    after = sorted(await missing_on(nodes["a"], wanted))
    return {"before": before, "state": outcome.state, "after": after}

ray.init(address=sys.argv[1], log_to_driver=False)
print(json.dumps(asyncio.run(main())))
"""


@pytest.mark.ray
@pytest.mark.timeout(300)
def test_weights_are_fetched_on_the_nodes_of_a_cluster(
    nodes: tuple[str, dict[str, Path]], tmp_path: Path
) -> None:
    address, caches = nodes
    asked = (
        "+experiment=index",
        "data=samples",
        "roster.models=[{name: a, weights: org/m}, {name: b, weights: org/n}]",
        "fleet.device=cpu",
        f"fleet.address={address}",
        "--on-nodes",
    )
    labelled = prefetch(tmp_path, *asked, "fleet.nodes.disk=b", environment=NO_TOKEN)
    assert [it["state"] for it in labelled["weights"]] == ["fetched"] * 2
    assert (caches["b"] / "models--org--m").is_dir() and not caches["a"].exists()
    checked = prefetch(tmp_path, *asked, "--check", code=1, environment=NO_TOKEN)
    assert sorted(it["state"] for it in checked["weights"]) == ["here"] * 2 + ["missing"] * 2
    assert len({it["node"] for it in checked["weights"]}) == 2
    (problem,) = checked["error"]["problems"]
    assert problem["code"] == "model.weights"
    answers = subprocess.run(
        [sys.executable, "-c", _ASK_NODES, address],
        cwd=tmp_path,
        env={**os.environ, **NO_TOKEN},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert answers.returncode == 0, answers.stderr
    assert json.loads(answers.stdout.splitlines()[-1]) == {
        "before": {"a": ["gone", "m"], "b": ["gone"]},
        "state": "fetched",
        "after": ["gone"],
    }
    lost = prefetch(tmp_path, *asked, "fleet.nodes.disk=c", code=1, environment=NO_TOKEN)
    assert lost["error"]["code"] == "resources.nodes"

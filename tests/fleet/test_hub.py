"""Weights are weighed before they are downloaded, at a hub of this machine."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

import huggingface_hub.constants
import pytest
from http_endpoint import Handler, HttpEndpoint

from raybench.fleet import embedded, group_engines, hub
from raybench.fleet.devices import GIB
from raybench.types import ModelSpec

MiB = 2**20


class Hub(HttpEndpoint):
    """Knows the files of some repositories, by name and revision."""

    def __init__(self) -> None:
        super().__init__()
        self.files: dict[tuple[str, str], dict[str, int]] = {}

    def play(self, handler: Handler) -> None:
        name, _, revision = (
            unquote(urlsplit(handler.path).path)
            .removeprefix("/api/models/")
            .partition("/revision/")
        )
        files = self.files.get((name, revision or "main"))
        if files is None:
            handler.send(404, {"error": "Repository not found"})
            return
        siblings = [{"rfilename": file, "size": size} for file, size in files.items()]
        handler.send(200, {"id": name, "siblings": siblings})


@pytest.fixture
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    with Hub() as server:
        monkeypatch.setenv("HF_ENDPOINT", server.url.removesuffix("/v1"))
        yield server


def test_what_vllm_would_load_is_weighed(there: Hub) -> None:
    there.files = {
        ("org/m", "main"): {
            "config.json": 999,
            "model-00001-of-2.safetensors": 300 * MiB,
            "model-00002-of-2.safetensors": 212 * MiB,
            "pytorch_model.bin": 600 * MiB,
            "original/model.safetensors": 700 * MiB,
        },
        ("org/m", "abc"): {"pytorch_model.bin": 256 * MiB},
    }
    assert hub.weights_gib("org/m") == 0.5
    assert hub.weights_gib("org/m", "abc") == 0.25


async def test_nobody_waits_for_what_the_hub_does_not_tell(
    there: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    there.files = {("org/bare", "main"): {"config.json": 999}}
    specs = group_engines(
        [ModelSpec("a", "vllm", "org/bare"), ModelSpec("b", "vllm", "org/no-such-model")]
    )
    assert await hub.sizes(specs) == {}
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    assert await hub.sizes(specs) == {}


async def test_weights_of_this_machine_are_nobodys_to_tell(there: Hub, tmp_path: Path) -> None:
    there.files = {("org/m", "main"): {"model.safetensors": GIB}}
    *_, away = specs = group_engines(
        [
            ModelSpec("here", "vllm", str(tmp_path)),
            ModelSpec("shipped", "vllm", embedded.NAME),
            ModelSpec("away", "vllm", "org/m"),
        ]
    )
    assert await hub.sizes(specs) == {away.name: 1.0}


def test_what_was_downloaded_is_weighed_without_the_hub(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    commit = "0" * 40
    folder = tmp_path / "models--org--m"
    (folder / "refs").mkdir(parents=True)
    (folder / "refs" / "main").write_text(commit)
    (folder / "snapshots" / commit).mkdir(parents=True)
    (folder / "snapshots" / commit / "model.safetensors").write_bytes(bytes(MiB))
    assert hub.weights_gib("org/m") == hub.weights_gib("org/m", commit) == 1 / 1024
    assert hub.weights_gib("org/m", "1" * 40) == 0.0

"""What engines need of a hub of this machine: weighed, checked, fetched."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import huggingface_hub.constants
import huggingface_hub.utils._http
import pytest
from hubs import FileHub, file_hub

from raybench.fleet import downloads, embedded, group_engines
from raybench.fleet.devices import GIB
from raybench.fleet.downloads import (
    Download,
    check,
    downloads_of,
    fetch,
    needed_files,
    weights_gib,
)
from raybench.fleet.hub import sizes
from raybench.fleet.weight_files import weight_files
from raybench.types import ModelSpec

MiB = 2**20
INDEX = "model.safetensors.index.json"
SHARDS = ("model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors")
TEXT = {"config.json": b"{}", "tokenizer.json": b"[]", "chat_template.jinja": b"{{ messages }}"}
WHOLE = {
    **TEXT,
    "model.safetensors": b"weights",
    "pytorch_model.bin": b"the same weights",
    "original/consolidated.00.pth": b"the same weights",
    "onnx/model.onnx": b"the same weights",
    "README.md": b"about",
}
NEEDED = {*TEXT, "model.safetensors"}
OFFLINE = "http://127.0.0.1:9"


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FileHub]:
    monkeypatch.setattr(downloads, "_WAITS_S", ())
    with file_hub(tmp_path / "cache") as server:
        yield server


def asked_files(hub: FileHub) -> set[str]:
    """Return the names of the files that were fetched."""
    return {it.rpartition("/")[2] for it in hub.asked if it.startswith("GET") and "resolve" in it}


def of(weights: str, revision: str | None = None, **options: Any) -> tuple[Download, ...]:
    (engine,) = group_engines([ModelSpec("m", "vllm", weights, revision, options=options)])
    return downloads_of(engine)


# ------------------------------------------------------------------------------------------- sizes


def test_only_the_weights_that_vllm_loads_are_weighed(hub: FileHub) -> None:
    hub.files = {
        "org/m": {
            "config.json": 999,
            "model-00001-of-00002.safetensors": 300 * MiB,
            "model-00002-of-00002.safetensors": 212 * MiB,
            "pytorch_model.bin": 600 * MiB,
            "original/model.safetensors": 700 * MiB,
        },
        "org/m@abc": {"pytorch_model.bin": 256 * MiB, "training_args.bin": MiB},
        "org/both": {
            "consolidated.safetensors": 512 * MiB,
            "model.safetensors": 512 * MiB,
            "params.json": 9,
        },
    }
    assert weights_gib("org/m") == 0.5
    assert weights_gib("org/m", "abc") == 0.25
    assert weights_gib("org/both") == 0.5


async def test_an_unknown_size_is_left_out_at_once(
    hub: FileHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.files = {"org/bare": {"config.json": 999}}
    specs = group_engines(
        [ModelSpec("a", "vllm", "org/bare"), ModelSpec("b", "vllm", "org/no-such-model")]
    )
    assert await sizes(specs) == {}
    monkeypatch.setenv("HF_ENDPOINT", OFFLINE)
    assert await sizes(specs) == {}


async def test_the_hub_is_not_asked_about_weights_of_this_machine(
    hub: FileHub, tmp_path: Path
) -> None:
    hub.files = {"org/m": {"model.safetensors": GIB}, "org/draft": {"model.safetensors": GIB // 4}}
    draft = {"speculative_config": {"model": "org/draft"}}
    *_, away, drafting = specs = group_engines(
        [
            ModelSpec("here", "vllm", str(tmp_path)),
            ModelSpec("shipped", "vllm", embedded.NAME),
            ModelSpec("away", "vllm", "org/m"),
            ModelSpec("drafting", "vllm", "org/m", options=draft),
        ]
    )
    assert await sizes(specs) == {away.name: 1.0, drafting.name: 1.25}


def test_fetched_weights_are_weighed_without_the_hub(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", OFFLINE)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    commit = "0" * 40
    folder = tmp_path / "models--org--m"
    (folder / "refs").mkdir(parents=True)
    (folder / "refs" / "main").write_text(commit)
    (folder / "snapshots" / commit).mkdir(parents=True)
    (folder / "snapshots" / commit / "model.safetensors").write_bytes(bytes(MiB))
    assert weights_gib("org/m") == weights_gib("org/m", commit) == 1 / 1024
    assert weights_gib("org/m", "1" * 40) == 0.0


def test_weights_are_weighed_offline_though_other_files_were_not_fetched(
    hub: FileHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.files = {"org/m": {**WHOLE, "model.safetensors": bytes(MiB)}}
    assert fetch(Download("org/m")).state == "fetched"
    monkeypatch.setenv("HF_ENDPOINT", OFFLINE)
    assert weights_gib("org/m") == 1 / 1024


# ------------------------------------------------------------------------------------ which files


@pytest.mark.parametrize(
    ("load_format", "expected"),
    [
        ("auto", ["a.safetensors"]),
        ("safetensors", ["a.safetensors"]),
        ("pt", ["d.pt"]),
        ("npcache", ["c.bin"]),
        ("dummy", []),
        ("mistral", []),
        ("bitsandbytes", ["a.safetensors"]),
    ],
)
def test_one_format_of_the_weights_is_chosen(load_format: str, expected: list[str]) -> None:
    names = ["d.pt", "c.bin", "a.safetensors", "below/b.safetensors", "optimizer.pt"]
    assert weight_files(names, load_format) == expected


def test_mistrals_own_format_is_preferred_wherever_the_repository_has_it() -> None:
    names = ["consolidated.safetensors", *SHARDS]
    assert weight_files(names) == ["consolidated.safetensors"]
    assert weight_files(names, "safetensors") == sorted(names)


def test_an_index_says_which_files_are_the_weights(tmp_path: Path) -> None:
    index = {"weight_map": {"a": SHARDS[0], "b": SHARDS[1], "c": SHARDS[1]}}
    (tmp_path / INDEX).write_text(json.dumps(index))
    assert weight_files([INDEX, *SHARDS, "other.safetensors"], "auto", tmp_path) == [*SHARDS]
    (tmp_path / INDEX).write_text("[]")
    assert weight_files([INDEX, *SHARDS], "auto", tmp_path) == [*SHARDS]


def test_the_number_of_shards_is_in_their_names() -> None:
    assert weight_files([SHARDS[1]]) == [*SHARDS]


def test_small_files_of_the_top_folder_are_needed_and_templates_below() -> None:
    names = [
        *WHOLE, "original/params.json", "additional_chat_templates/tool_use.jinja", "code/model.py",
        ".gitattributes", "assets/picture.png",
    ]  # fmt: skip
    below = {"additional_chat_templates/tool_use.jinja", "code/model.py"}
    assert {*needed_files(Download("org/m"), names)} == NEEDED | below
    assert {*needed_files(Download("org/m", kind="text"), names)} == {*TEXT} | below
    assert {*needed_files(Download("org/m", kind="whole"), names)} == {*names}


def test_options_name_further_repositories(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "org" / "local").mkdir(parents=True)
    found = of(
        "org/m",
        "abc",
        tokenizer="org/tokens",
        tokenizer_revision="v1",
        generation_config="auto",
        hf_config_path="org/local",
        load_format="safetensors",
        speculative_config={"model": "org/draft", "revision": "d", "num_speculative_tokens": 3},
        lora_modules=[{"name": "x", "path": "org/adapter"}, "y=org/other", {"name": "z"}],
        default_mm_loras={"image": "org/adapter"},
    )
    named = [(it.repository, it.revision, it.kind, it.setting.split(".", 1)[1]) for it in found]
    assert named == [
        ("org/m", "abc", "model", "models[].weights"),
        ("org/tokens", "v1", "text", "models[].options.tokenizer"),
        ("org/draft", "d", "whole", "models[].options.speculative_config.model"),
        ("org/adapter", None, "whole", "models[].options.lora_modules"),
        ("org/other", None, "whole", "models[].options.lora_modules"),
        ("org/adapter", None, "whole", "models[].options.default_mm_loras"),
    ]
    assert found[0].load_format == "safetensors"


def test_engines_that_are_not_hosted_need_nothing_of_the_hub(tmp_path: Path) -> None:
    models = [
        ModelSpec("a", "openai", "gpt", options={"base_url": "http://x/v1"}),
        ModelSpec("b", "simulated", ""),
        ModelSpec("c", "vllm", embedded.NAME),
        ModelSpec("d", "vllm", str(tmp_path)),
    ]
    assert [downloads_of(engine) for engine in group_engines(models)] == [()] * 4


# ------------------------------------------------------------------------------- fetch and check


def test_a_model_is_fetched_once_with_what_its_engine_reads(hub: FileHub) -> None:
    hub.files = {"org/m": WHOLE}
    model = Download("org/m")
    assert (check(model).state, check(model).files) == ("missing", ())
    assert hub.asked == []
    first = fetch(model)
    assert (first.state, first.problem) == ("fetched", None)
    assert round(first.gib * GIB) == sum(len(WHOLE[name]) for name in NEEDED)
    assert downloads.cached_gib(model) == first.gib
    assert downloads.cached_gib(Download("org/other")) == 0.0
    assert asked_files(hub) == NEEDED
    hub.asked.clear()
    assert check(model).state == "here" and hub.asked == []
    assert fetch(model).state == "here" and asked_files(hub) == set()


def test_a_download_without_room_on_the_disk_does_not_begin(
    hub: FileHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.files = {"org/m": WHOLE, "org/large": {**TEXT, "model.safetensors": 40 * GIB}}
    free = SimpleNamespace(free=41 * GIB)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: free)
    problem = fetch(Download("org/large", setting="it")).problem
    assert problem is not None
    assert (problem.code, problem.setting, problem.given) == ("resources.disk", "it", "org/large")
    assert asked_files(hub) == set()
    assert fetch(Download("org/m")).state == "fetched"
    free.free = 0  # what is here needs no room
    assert fetch(Download("org/m")).state == "here"


def test_a_commit_that_is_here_is_not_looked_up(hub: FileHub) -> None:
    hub.files = {"org/m": WHOLE}
    pinned = Download("org/m", hub.commit("org/m"))
    assert fetch(pinned).state == "fetched"
    hub.asked.clear()
    assert fetch(pinned).state == "here" and hub.asked == []


def test_a_branch_that_moved_is_fetched_again(hub: FileHub) -> None:
    hub.files = {"org/m@dev": WHOLE}
    model = Download("org/m", "dev")
    assert fetch(model).state == "fetched"
    hub.files = {"org/m@dev": {**WHOLE, "config.json": b"{1: 2}"}}
    hub.asked.clear()
    assert fetch(model).state == "fetched"
    assert asked_files(hub) == {"config.json"}
    hub.down = True
    assert fetch(model).state == "here"  # a hub that cannot be reached has nothing newer
    hub.down = False
    hub.files = {"org/m@dev": {**WHOLE, "model.safetensors": 7}}
    assert fetch(model).state == check(model).state == "missing"


def test_small_files_come_before_weights(hub: FileHub) -> None:
    index = {"weight_map": {"a": SHARDS[0], "b": SHARDS[1]}}
    hub.files = {
        "org/m": {
            **TEXT, INDEX: json.dumps(index).encode(), SHARDS[0]: b"1", SHARDS[1]: b"2",
            "consolidated.00.pth": b"3",
        }
    }  # fmt: skip
    assert fetch(Download("org/m")).state == "fetched"
    fetched = [it.rpartition("/")[2] for it in hub.asked if it.startswith("GET") and "reso" in it]
    assert {*fetched[-2:]} == {*SHARDS} and len(fetched) == len(TEXT) + 3


def test_an_interrupted_fetch_is_missing_what_it_lacks(hub: FileHub) -> None:
    hub.files = {"org/m": {**TEXT, SHARDS[0]: b"1", SHARDS[1]: 7}}
    broken = fetch(Download("org/m"))
    assert (broken.state, broken.problem and broken.problem.code) == ("missing", "hub.missing")
    assert check(Download("org/m")).files == (SHARDS[1],)
    hub.files = {"org/m": {**TEXT, SHARDS[0]: b"1", SHARDS[1]: b"2"}}
    hub.asked.clear()
    assert fetch(Download("org/m")).state == "fetched"
    assert asked_files(hub) == {SHARDS[1]}


def test_a_folder_that_other_programs_filled_lacks_a_configuration(hub: FileHub) -> None:
    folder = Path(huggingface_hub.constants.HF_HUB_CACHE) / "models--org--m" / "snapshots"
    (folder / ("0" * 40)).mkdir(parents=True)
    (folder / ("0" * 40) / SHARDS[0]).write_bytes(b"1")
    assert check(Download("org/m", "0" * 40)).files == (SHARDS[1], "config.json")


def test_a_tokenizer_comes_without_weights_and_an_adapter_whole(hub: FileHub) -> None:
    hub.files = {"org/m": WHOLE}
    assert fetch(Download("org/m", kind="text")).state == "fetched"
    assert asked_files(hub) == {*TEXT}
    assert check(Download("org/m")).files == ("model.safetensors",)
    assert fetch(Download("org/m", kind="whole")).state == "fetched"
    assert check(Download("org/m", kind="whole")).state == "here"


@pytest.mark.parametrize(
    ("repository", "revision", "code"),
    [
        ("org/closed", None, "hub.access"),
        ("org/gone", None, "hub.missing"),
        ("org/m", "no-such-branch", "hub.missing"),
        ("org/empty", None, "model.weights"),
    ],
)
def test_what_the_hub_refuses_is_named_with_setting_and_fix(
    hub: FileHub, repository: str, revision: str | None, code: str
) -> None:
    hub.files = {"org/m": WHOLE, "org/closed": WHOLE, "org/empty": TEXT}
    hub.gated = {"org/closed"}
    setting = "roster.models[].options.tokenizer"
    outcome = fetch(Download(repository, revision, setting))
    assert outcome.state == "missing" and outcome.problem is not None
    assert (outcome.problem.code, outcome.problem.setting) == (code, setting)
    assert outcome.problem.given == repository and outcome.problem.fix


def test_a_hub_that_is_down_or_forbidden_cannot_be_reached(
    hub: FileHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.down = True
    down = fetch(Download("org/m")).problem
    monkeypatch.setenv("HF_ENDPOINT", OFFLINE)
    away = fetch(Download("org/m")).problem
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    huggingface_hub.utils._http.close_session()
    forbidden = fetch(Download("org/m")).problem
    assert down and away and forbidden
    assert {it.code for it in (down, away, forbidden)} == {"hub.unreachable"}
    assert "HF_HUB_OFFLINE" in str(forbidden.fix) and "HF_HUB_OFFLINE" not in str(away.fix)

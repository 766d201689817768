"""`python -m raybench.prefetch`: what a run needs of the hub, fetched or only checked."""

import json
import subprocess
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import huggingface_hub.constants
import pytest
from command import run_command
from hubs import FileHub, file_hub
from omegaconf import OmegaConf

from raybench import benchmarks, cli
from raybench.benchmarks import Benchmark
from raybench.fleet import downloads
from raybench.fleet.downloads import Download, Outcome
from raybench.pipeline import hanging
from raybench.prefetch import transfers
from raybench.prefetch.command import main
from raybench.statements import Statement
from raybench.tracking import console

MODEL = {
    "config.json": b"{}",
    "tokenizer.json": b"[]",
    "model.safetensors": b"weights",
    "pytorch_model.bin": b"others",
}
ROSTER = (
    "roster.models=[{name: a, weights: org/m}, {name: b, weights: org/m, sampling: "
    "{temperature: 0.5}}, {name: c, weights: org/n}]"
)
INDEX = ("+experiment=index", "benchmarks=[math_500]", ROSTER)


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FileHub]:
    monkeypatch.setattr(downloads, "_WAITS_S", ())
    with file_hub(tmp_path / "cache") as server:
        server.files = {"org/m": MODEL, "org/n": {**MODEL, "model.safetensors": b"other"}}
        publish(server, benchmarks.load("math_500"))
        yield server


def publish(hub: FileHub, benchmark: Benchmark) -> None:
    """Have the hub hand out a benchmark's files, which nobody reads here."""
    sources = [benchmark.source.of(language) for language in benchmark.languages]
    for source in [*sources, *filter(None, benchmark.beside.values())]:
        files = {file: b"rows" for name in source.files for file in source.listed(name)}
        hub.files[f"{source.repo}@{source.revision}"] = files


def command(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return run_command(*arguments, cwd=folder, environment=environment, main=main)


def as_json(folder: Path, *arguments: str, code: int = 0) -> dict[str, Any]:
    """Return what the command leaves for a program, after its exit code proved right."""
    ended = command(folder, *arguments, "--json")
    document: dict[str, Any] = json.loads(ended.stdout)
    assert ended.returncode == document["exit_code"] == code
    return document


def states(document: dict[str, Any]) -> Counter[str]:
    return Counter(it["state"] for it in (*document["weights"], *document["questions"]))


def codes(document: dict[str, Any]) -> list[str]:
    return [it["code"] for it in document["error"]["problems"]]


def test_weights_and_questions_are_fetched_once(hub: FileHub, tmp_path: Path) -> None:
    first = as_json(tmp_path, *INDEX)
    assert states(first) == {"fetched": 3}
    assert [(it["repository"], it["models"]) for it in first["weights"]] == [
        ("org/m", ["a", "b"]),
        ("org/n", ["c"]),
    ]
    (questions,) = first["questions"]
    source = benchmarks.load("math_500").source
    assert questions == {
        "benchmark": "math_500",
        "repository": source.repo,
        "revision": source.revision,
        "file": "test.jsonl",
        "state": "fetched",
    }
    assert states(as_json(tmp_path, *INDEX)) == {"here": 3}


def test_a_check_asks_no_hub_and_names_what_is_missing(hub: FileHub, tmp_path: Path) -> None:
    before = as_json(tmp_path, *INDEX, "--check", code=1)
    assert states(before) == {"missing": 3}
    assert codes(before) == ["model.weights", "data.missing"]
    assert [it["given"] for it in before["error"]["problems"]] == [
        str(["org/m", "org/n"]),
        str(["math_500"]),
    ]
    assert hub.asked == []
    as_json(tmp_path, *INDEX)
    hub.asked.clear()
    assert states(as_json(tmp_path, *INDEX, "--check")) == {"here": 3}
    assert hub.asked == []


def test_a_person_reads_tables_and_each_reason(hub: FileHub, tmp_path: Path) -> None:
    del hub.files["org/n"]
    ended = command(tmp_path, *INDEX)
    assert ended.returncode == 1
    rows = [line.split() for line in ended.stdout.splitlines() if line]
    assert [row[0] for row in rows] == ["weights", "fetched", "missing", "questions", "fetched"]
    assert "org/n" in ended.stderr and "HF_TOKEN" in ended.stderr
    assert command(tmp_path, *INDEX, "--quiet").stdout == ""


def test_each_failure_is_reported_and_the_rest_is_fetched(hub: FileHub, tmp_path: Path) -> None:
    hub.gated = {"org/m"}
    hub.files = {name: files for name, files in hub.files.items() if "@" not in name}
    document = as_json(tmp_path, *INDEX, code=1)
    assert states(document) == {"missing": 2, "fetched": 1}
    assert codes(document) == ["hub.access", "hub.missing"]


def test_a_hub_that_is_away_cannot_be_reached(
    hub: FileHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    document = as_json(tmp_path, *INDEX, code=1)
    assert states(document) == {"missing": 3}
    # It is tried once; the rest is missing.
    assert codes(document) == ["hub.unreachable", "model.weights"]


@pytest.mark.parametrize("at_once", [1, 2])
def test_what_is_here_is_found_though_the_hub_is_away(
    hub: FileHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    monkeypatch.setattr(transfers, "_AT_ONCE", at_once)
    del hub.files["org/m"]
    as_json(tmp_path, *INDEX, code=1)
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    document = as_json(tmp_path, *INDEX, code=1)
    assert states(document) == {"here": 2, "missing": 1}
    assert codes(document) == ["hub.unreachable"]


def test_one_file_that_fails_does_not_keep_the_others(hub: FileHub, tmp_path: Path) -> None:
    hub.files["org/m"] = {**MODEL, "model.safetensors": 1}
    document = as_json(tmp_path, *INDEX, code=1)
    assert states(document) == {"missing": 1, "fetched": 2}
    assert document["weights"][0]["missing"] == ["model.safetensors"]


def test_gated_questions_need_a_token(hub: FileHub, tmp_path: Path) -> None:
    document = as_json(tmp_path, "+experiment=index", "benchmarks=[gpqa_diamond]", ROSTER, code=1)
    assert codes(document) == ["hub.access"]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ((), "setting.missing"),
        (("+experiment=index", "limt=5"), "setting.unknown"),
        (("+experiment=indx",), "setting.choice"),
        (("+experiment=index", "roster=none.yaml"), "file.missing"),
        ((*INDEX, "limit=0"), "setting.range"),
        ((*INDEX, "benchmarks=[multilingual_mmlu]", "languages=[xx]"), "setting.choice"),
        ((*INDEX, "roster.models=[{name: a, weights: /no/such/folder}]"), "model.weights"),
        ((*INDEX, "roster.models=[{name: a, weights: 's3://bucket/m'}]"), "model.weights"),
        ((*INDEX, "--on-nodes"), "setting.missing"),
        (("--from", "none.yaml"), "file.unreadable"),
    ],
)
def test_mistakes_are_those_of_a_run(tmp_path: Path, arguments: tuple[str, ...], code: str) -> None:
    assert codes(as_json(tmp_path, *arguments, "--check", code=2)) == [code]


def test_an_unknown_flag_is_refused(tmp_path: Path) -> None:
    assert command(tmp_path, *INDEX, "--chek").returncode == 2


def test_this_machine_need_not_be_able_to_run_the_engines(hub: FileHub, tmp_path: Path) -> None:
    large = "{name: a, weights: org/m, options: {tensor_parallel_size: 64}}"
    models = f"roster.models=[{large}, {{name: b, weights: org/n}}]"
    arguments = ("+experiment=games", models, "fleet.device=gpu")
    assert states(as_json(tmp_path, *arguments)) == {"fetched": 2}


def test_what_needs_no_fetch_is_said(hub: FileHub, tmp_path: Path) -> None:
    (tmp_path / "weights").mkdir()
    for name, content in MODEL.items():
        (tmp_path / "weights" / name).write_bytes(content)
    models = (
        "roster.models=[{name: a, weights: ./weights}, {name: b, engine: simulated, weights: ''}, "
        "{name: c, engine: openai, weights: gpt, options: {base_url: 'http://127.0.0.1:9/v1'}}]"
    )
    document = as_json(tmp_path, "+experiment=index", "data=samples", models)
    assert states(document) == {}
    assert len(document["left_out"]) == 4


def test_judges_and_checkers_count_and_a_self_check_asks_none(hub: FileHub, tmp_path: Path) -> None:
    judges = "roster.judges=[{name: j, weights: org/n}]"
    models = "roster.models=[{name: a, weights: org/m}]"
    asked = ("+experiment=index", "benchmarks=[math_500]", models, judges, "--check")
    names = [
        [it["repository"] for it in as_json(tmp_path, *asked, *more, code=1)["weights"]]
        for more in (["checker=j"], ["checker=null"], ["validate=true"])
    ]
    assert names == [["org/m", "org/n"], ["org/m"], []]


def test_a_suite_needs_what_its_parts_need(hub: FileHub, tmp_path: Path) -> None:
    judged = "roster.judges=[{name: j, weights: org/n}]"
    arguments = ("+experiment=suite", ROSTER, judged, "hle.judges=[j]", "--check")
    document = as_json(tmp_path, *arguments, code=1)
    assert {it["repository"] for it in document["weights"]} == {"org/m", "org/n"}
    asked = {it["benchmark"] for it in document["questions"]}
    assert {"hle", "mmlu_pro", "math_500"} <= asked


def test_a_saved_configuration_is_taken(hub: FileHub, tmp_path: Path) -> None:
    OmegaConf.save(cli.composed(INDEX), tmp_path / "config.yaml", resolve=True)
    document = as_json(tmp_path, "--from", "config.yaml", "--check", code=1)
    assert states(document) == {"missing": 3}


def test_a_long_fetch_reports_how_far_it_is(
    hub: FileHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reported = threading.Event()

    def fetch(download: Download) -> Outcome:
        assert reported.wait(60)
        return Outcome("fetched", 2.0)

    def say(text: str) -> None:
        if isinstance(text, Statement) and text.code == "prefetch.progress":
            reported.set()

    monkeypatch.setattr(transfers, "_EVERY_S", 0.01)
    monkeypatch.setattr(console, "say", say)
    monkeypatch.setattr(downloads, "fetch", fetch)
    assert states(as_json(tmp_path, *INDEX))["fetched"] == 3


def test_files_go_where_the_library_keeps_them(hub: FileHub, tmp_path: Path) -> None:
    as_json(tmp_path, *INDEX)
    folders = {it.name for it in Path(huggingface_hub.constants.HF_HUB_CACHE).iterdir()}
    assert {"models--org--m", "models--org--n"} <= folders


def test_ctrl_c_while_a_download_begins_leaves_it_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the command waits at its end for a download that may hang."""
    release, left = threading.Event(), list[threading.Thread]()
    start = threading.Thread.start

    def interrupted(thread: threading.Thread) -> None:
        start(thread)
        raise KeyboardInterrupt

    monkeypatch.setattr(threading.Thread, "start", interrupted)
    monkeypatch.setattr(hanging, "leave", left.append)
    try:
        with pytest.raises(KeyboardInterrupt):
            transfers._two_at_once([release.wait])
        assert len(left) == 1 and left[0].is_alive()
    finally:
        release.set()

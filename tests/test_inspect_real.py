"""Exported logs, read back by Inspect itself, and looked at in its viewer."""

import json
import math
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from socket import socket
from time import monotonic, sleep
from typing import Any
from urllib.request import urlopen

import finished
import pytest
from browsing import Seen

from raybench import benchmarks, inspect

SAID = re.compile("^assistant$", re.IGNORECASE)
pytestmark = [pytest.mark.process, pytest.mark.timeout(900)]

SETTINGS = ("benchmarks=[mmlu_pro,mgsm,aime_2024,humaneval]", "data=samples", "limit=6")
HOSTILE = (
    "<script>document.title='owned'</script><img src=http://127.0.0.1:9/a.png onerror=alert(1)>"
    "![x](http://127.0.0.1:9/seen.png) \ud83d alone, \0, \u202e \U0001f600 $x^2$ "
    + "long "
    * 20_000
)


def reply(benchmark: Any, row: Any, record: Mapping[str, Any]) -> dict[str, Any]:
    """Return what becomes of each model's units: 02's may break, 03 writes what it should not."""
    told = finished.gold(benchmark, row, record)
    if record["model"] == "sim-02" and told["correct"]:
        return told | {"finish": "error", "error": "the server hung", "by": None, "response": ""}
    if record["model"] == "sim-03":
        return told | {"response": HOSTILE, "reasoning": HOSTILE, "answer": HOSTILE}
    return told


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("finished")
    folder = finished.folder(place, *SETTINGS, reply=reply)
    inspect.main([str(folder)])
    return folder


def inspected(bin_: Path, *arguments: str, cwd: Path) -> str:
    """Return what the command `inspect` prints."""
    done = subprocess.run(
        [bin_ / "inspect", *arguments],
        cwd=cwd,
        env={**os.environ, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def read_back(bin_: Path, logs: Path, into: Path) -> list[dict[str, Any]]:
    """Return what Inspect reads in the logs of a folder."""
    script = Path(__file__).parent / "read_back.py"
    done = subprocess.run(
        [bin_ / "python", script, logs, into], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return [*json.loads(into.read_text()).values()]


@pytest.fixture(scope="module")
def logs(
    with_inspect: Path, run: Path, tmp_path_factory: pytest.TempPathFactory
) -> list[dict[str, Any]]:
    into = tmp_path_factory.mktemp("read") / "read.json"
    return read_back(with_inspect, run / "inspect", into)


def of(logs: list[dict[str, Any]], model: str, benchmark: str) -> dict[str, Any]:
    (found,) = (
        it
        for it in logs
        if (it["head"]["eval"]["model"], it["head"]["eval"]["task"])
        == (f"raybench/{model}", benchmark)
    )
    return found


def test_inspect_reads_every_log_and_every_sample(run: Path, logs: list[dict[str, Any]]) -> None:
    assert len(logs) == 12 * 4
    assert {it["head"]["status"] for it in logs} == {"success"}
    assert {it["task"] for it in logs} == {"mmlu-pro", "mgsm", "aime-2024", "humaneval"}
    units = len((run / "journal" / "units.jsonl").read_bytes().splitlines())
    assert sum(len(it["samples"]) for it in logs) == sum(it["listed"] for it in logs) == units


def test_what_was_said_comes_back(run: Path, logs: list[dict[str, Any]]) -> None:
    lines = (run / "journal" / "units.jsonl").read_bytes().splitlines()
    units = [json.loads(line) for line in lines]
    said = {
        (it["benchmark"], it["language"], it["key"], it["repeat"] + 1): it
        for it in units
        if it["model"] == "sim-01"
    }
    for benchmark in ("mmlu_pro", "mgsm", "aime_2024", "humaneval"):
        for sample in of(logs, "sim-01", benchmark)["samples"]:
            about = sample["metadata"]
            unit = said.pop((benchmark, about["language"], about["key"], sample["epoch"]))
            assert sample["output"]["completion"] == unit["response"]
            assert sample["target"] == unit["truth"]
            assert sample["scores"][benchmark]["value"] == ("C" if unit["correct"] else "I")
            assert sample["scores"][benchmark]["answer"] == unit["answer"]
            assert sample["messages"][-1]["content"] == unit["response"]
            usage = sample["model_usage"]["raybench/sim-01"]
            assert (usage["input_tokens"], usage["output_tokens"]) == (10, 3)
    assert not said


def test_messages_are_found_by_the_tables_of_inspect(logs: list[dict[str, Any]]) -> None:
    for log in logs:
        for sample, messages in zip(log["samples"], log["messages"], strict=True):
            asked = [it["content"] for it in sample["input"]]
            assert messages[: len(asked)] == asked
            said = [] if sample["error"] else [sample["output"]["completion"]]
            assert messages[len(asked) :] == said


def test_inspect_s_own_metrics_of_the_samples_are_our_scores(logs: list[dict[str, Any]]) -> None:
    compared = 0
    for log in logs:
        name = log["head"]["eval"]["task"]
        ours = log["scores"][name]
        if not ours:
            continue  # refused
        theirs = log["recomputed"][name]
        assert theirs["accuracy"] == pytest.approx(ours["accuracy"], abs=1e-12)
        # Of questions asked once ours is that of a share, p(1−p)/n, where Inspect divides by n−1.
        n = log["head"]["eval"]["dataset"]["samples"]
        once = name in ("mmlu_pro", "humaneval")
        factor = math.sqrt(n / (n - 1)) if once else 1.0
        assert theirs["stderr"] == pytest.approx(ours["stderr"] * factor, abs=1e-9)
        compared += 1
    assert compared >= 30


def test_what_broke_is_an_error_and_withholds_the_score(logs: list[dict[str, Any]]) -> None:
    log = of(logs, "sim-02", "mmlu_pro")
    broken = [it for it in log["samples"] if it["error"]]
    assert broken
    assert {it["error"]["message"] for it in broken} == {"the server hung"}
    assert all(not it["scores"] for it in broken)
    (score,) = log["head"]["results"]["scores"]
    assert score["metrics"] == {}
    assert "await" in score["metadata"]["method"]
    assert log["head"]["results"]["completed_samples"] == len(log["samples"]) - len(broken)


def test_what_models_should_not_write_is_text(logs: list[dict[str, Any]]) -> None:
    log = of(logs, "sim-03", "mmlu_pro")
    assert set(log["texts"]) == {HOSTILE.replace("\ud83d", "?")}


def test_inspect_s_commands_read_them(with_inspect: Path, run: Path, tmp_path: Path) -> None:
    folder = run / "inspect"
    listed = inspected(with_inspect, "list", "logs", "--log-dir", str(folder), cwd=tmp_path)
    assert len(re.findall(r"\.eval", listed)) == 48
    one = min(folder.glob("*_mmlu-pro_sim-03_*.eval"))
    dumped = json.loads(inspected(with_inspect, "log", "dump", str(one), cwd=tmp_path))
    assert len(dumped["samples"]) == 6
    (head,) = json.loads(inspected(with_inspect, "log", "headers", str(one), cwd=tmp_path))
    assert head["eval"]["dataset"]["samples"] == 6
    # Another scorer's word beside ours: no model of Inspect's own has a part in that.
    one = Path(shutil.copy(min(folder.glob("*_mmlu-pro_sim-01_*.eval")), tmp_path))
    scoring = ("--model", "none", "--scorer", "match", "--action", "append", "--overwrite")
    inspected(with_inspect, "score", str(one), *scoring, "--display", "plain", cwd=tmp_path)
    again = json.loads(inspected(with_inspect, "log", "dump", str(one), cwd=tmp_path))
    found = {it["name"]: it["metrics"]["accuracy"]["value"] for it in again["results"]["scores"]}
    assert found["match"] == found["mmlu_pro"]


def test_unfinished_runs_and_withheld_texts_are_read_too(
    with_inspect: Path, tmp_path: Path
) -> None:
    own = tmp_path / "own"
    own.mkdir()
    shutil.copy(Path(benchmarks.__path__[0]) / "samples" / "gpqa_diamond.jsonl", own)
    run = finished.folder(tmp_path, "benchmarks=[gpqa_diamond]", f"data.dir={own}", done=False)
    inspect.main([str(run)])
    found = read_back(with_inspect, run / "inspect", tmp_path / "read.json")
    assert {it["head"]["status"] for it in found} == {"started"}
    assert {len(it["samples"]) for it in found} == {12 * 5}
    texts = {sample["input"] for it in found for sample in it["samples"]}
    assert texts == {"(withheld: the authors of this benchmark ask not to publish its questions)"}


@pytest.fixture(scope="module")
def viewer(
    with_inspect: Path, run: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """The address of Inspect's viewer of three models' logs: a long list shows a part of itself."""
    folder = tmp_path_factory.mktemp("shown")
    for name in ("sim-01", "sim-02", "sim-03"):
        shutil.copy(min((run / "inspect").glob(f"*_mmlu-pro_{name}_*.eval")), folder)
    with socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [with_inspect / "inspect", "view", "--log-dir", folder, "--port", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        stdin=subprocess.DEVNULL,
    )
    address, deadline = f"http://127.0.0.1:{port}/", monotonic() + 120
    try:
        while True:
            try:
                urlopen(address, timeout=5).close()
                break
            except OSError:
                assert process.poll() is None
                assert monotonic() < deadline
                sleep(0.2)
        yield address
    finally:
        process.terminate()
        process.wait(30)


QUESTION = "Answer the following multiple choice question"
STEP_BY_STEP = "Think step by step before answering."


def open_row(page: Any, label: str, *, shows: "str | re.Pattern[str]") -> None:
    """Click on a row until what it opens is shown: the viewer loses clicks while it draws rows."""
    from playwright.sync_api import TimeoutError as PlaywrightTimeout

    deadline = monotonic() + 180
    while True:
        page.get_by_text(label).first.click()
        try:
            page.get_by_text(shows).first.wait_for(timeout=10_000)
        except PlaywrightTimeout:
            if monotonic() > deadline:
                raise
        else:
            return


def test_the_viewer_shows_models_samples_and_messages(viewer: str, seen: Seen) -> None:
    page = seen.page
    page.set_default_timeout(60_000)
    page.goto(viewer)
    page.get_by_text("sim-01").first.wait_for()
    assert "mmlu_pro" in page.inner_text("body")
    seen.picture("inspect-logs")
    open_row(page, "sim-01", shows=QUESTION)
    text = page.inner_text("body")
    for told in ("mmlu_pro", "simulated", "ACCURACY", "6 Samples"):
        assert told in text
    seen.picture("inspect-samples")
    open_row(page, QUESTION, shows=SAID)
    text = page.inner_text("body")
    assert STEP_BY_STEP in text
    assert text.index("USER") < text.rindex(QUESTION) < text.index("ASSISTANT")
    assert re.search(r"ASSISTANT\s+Answer: ([A-J]|\?)", text)
    seen.picture("inspect-transcript")
    page.locator("a#messages").click()
    page.get_by_text(SAID).first.wait_for()
    assert re.search(r"ASSISTANT\s+2\s+Answer: ([A-J]|\?)", page.inner_text("body"))
    seen.picture("inspect-sample")
    # Of a server that runs no evaluations of its own it asks for one thing in vain.
    assert not [it for it in seen.complaints if "404" not in it]


def test_the_viewer_shows_hostile_replies_as_text(viewer: str, seen: Seen) -> None:
    page = seen.page
    page.set_default_timeout(60_000)
    page.goto(viewer)
    open_row(page, "sim-03", shows=QUESTION)
    open_row(page, QUESTION, shows=SAID)
    page.get_by_text("<script>").first.wait_for()
    seen.picture("inspect-hostile")
    assert page.title() != "owned"
    assert not [it for it in seen.asked if ":9/" in it]

"""What need not be asked again: after a kill, in a longer run, with a model more."""

import json
import os
import shutil
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from helpers import SIMULATED, last_run, raybench, results_of, start_raybench, with_store

from raybench import cli

FOUR = ", ".join(
    f"{{name: m{n}, engine: simulated, options: {{ability: 0.{n}}}}}" for n in (3, 5, 7, 9)
)
FIVE = FOUR + ", {name: m8, engine: simulated, options: {ability: 0.8}}"


def settings_of(roster: str = FOUR) -> list[str]:
    """Return what makes a command of these models."""
    return cli.own_roster(["+experiment=autobench", f"roster.models=[{roster}]"])


def run(folder: Path, *settings: str, roster: str = FOUR) -> dict[str, Any]:
    """Run the experiment in a folder, in this process; return its results."""
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(folder)
        assert cli._job(cli.compose([*settings_of(roster), *settings])) == 0
    return results_of(folder, "autobench")


def journal(folder: Path, name: str = "iterations") -> list[dict[str, Any]]:
    lines = (last_run(folder, "autobench") / "journal" / f"{name}.jsonl").read_bytes()
    return [json.loads(line) for line in lines.splitlines()]


def untimed(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {name: value for name, value in record.items() if name not in ("seconds", "ended_ms")}
        for record in records
    ]


@pytest.fixture(scope="module")
def ten(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = with_store(tmp_path_factory.mktemp("ten"))
    run(folder, "autobench.iterations=10")
    return folder


def test_iterations_more_ask_only_what_is_new(ten: Path) -> None:
    before = untimed(journal(ten))
    first = results_of(ten, "autobench")["fleet"]["this_session"]["total"]["requests"]
    results = run(ten, "autobench.iterations=15", "autobench.extends=last")
    after = untimed(journal(ten))
    assert after[:10] == before
    assert len(after) == 15
    calls = results["run"]["calls"]
    assert calls["reused"] == first
    asked = results["fleet"]["this_session"]["total"]["requests"]
    assert asked == calls["calls"] - calls["reused"]
    said = (last_run(ten, "autobench") / "leaderboard.md").read_text()
    assert f"{calls['reused']:,} of {calls['calls']:,} replies" in said
    assert results["fleet"]["this_session"]["total"]["output_tokens"] == sum(
        it[-1]
        for record in journal(ten, "replies")
        if record["iteration"] > 10
        for it in record.get("replies", ())
    )
    # The same without what was there before: nothing is different but what it cost.
    alone = run(ten, "autobench.iterations=15")
    assert untimed(journal(ten)) == after
    assert alone["models"] == results["models"]
    assert alone["run"]["calls"]["reused"] == 0


def test_the_last_run_is_none_of_the_same_command(ten: Path) -> None:
    first = last_run(ten, "autobench")
    extending = ("autobench.iterations=12", "autobench.extends=last")
    run(ten, *extending)
    done = last_run(ten, "autobench")
    assert done != first
    (ten / "order.csv").write_text("model,score\nm3,1\nm5,2\nm7,3\nm9,4\n")
    run(ten, *extending, "++autobench.external.order=order.csv")
    assert last_run(ten, "autobench") == done  # concluded anew, not run anew
    assert "concluded_with" in results_of(ten, "autobench")["run"]


def test_a_model_more_asks_only_what_concerns_it(ten: Path) -> None:
    run(ten, "autobench.iterations=10", "resume=false")
    results = run(ten, "autobench.iterations=10", "autobench.extends=last", roster=FIVE)
    extended = untimed(journal(ten))
    calls = results["run"]["calls"]
    # Of an iteration's 1 + 5 + 5 + 25 calls one rating, one answer and nine ratings are new.
    assert 0.3 * calls["calls"] < calls["reused"] < 25 / 36 * calls["calls"]
    run(ten, "autobench.iterations=10", roster=FIVE)
    assert untimed(journal(ten)) == extended


def test_replies_that_no_longer_fit_are_not_reused(ten: Path) -> None:
    first = f"autobench.extends={last_run(ten, 'autobench')}"
    other = run(ten, "autobench.iterations=3", first, "autobench.answer_tokens=64", roster=FIVE)
    kept = journal(ten, "replies")
    assert 0 < other["run"]["calls"]["reused"] < other["run"]["calls"]["calls"]
    assert {record["kind"] for record in kept if "kind" in record} >= {"answer"}
    changed = FIVE.replace("0.7", "0.71")
    run(ten, "autobench.iterations=3", first, roster=changed)
    assert untimed(journal(ten)) != []


@pytest.mark.parametrize("more", [(), ("dry_run=true",)])
@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ("autobench.extends=last", "holds no finished run"),
        ("autobench.extends=nowhere", "nowhere is not the folder of a peer assessment"),
        ("autobench.extends=other", "there is no other/journal/replies.jsonl"),
        ("autobench.extends=unreadable", "unreadable/journal/replies.jsonl cannot be read"),
        ("autobench.extends=nonsense", "nonsense/journal/replies.jsonl, line 2, is not what a run"),
        ("autobench.extends=textless", "textless/journal/replies.jsonl, line 1, is not what a run"),
        ("autobench.tasks=nowhere.jsonl", "nowhere.jsonl cannot be read"),
        ("autobench.tasks=broken.jsonl", "broken.jsonl, line 2, is no task"),
        ("autobench.tasks=empty.jsonl", "empty.jsonl holds no task"),
        ("autobench.external.order=nowhere.csv", "there is no file 'nowhere.csv'"),
        ("autobench.external.order=broken.csv", "broken.csv has 0 of the roster's models, but m1"),
    ],
)
def test_what_cannot_be_read_is_told_before_anything_starts(
    setting: str,
    told: str,
    more: tuple[str, ...],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "broken.jsonl").write_text('{"task": "What is a boat?"}\nWhy?\n')
    (tmp_path / "empty.jsonl").write_text('{"task": null}\n')
    (tmp_path / "broken.csv").write_text("model,score\nm1,3\n")
    for name in ("other", "unreadable", "nonsense", "textless"):
        (tmp_path / name / "journal").mkdir(parents=True)
    # A file of which every read fails, whoever reads it.
    (tmp_path / "unreadable" / "journal" / "replies.jsonl").symlink_to("/proc/self/mem")
    (tmp_path / "nonsense" / "journal" / "replies.jsonl").write_text('{"replies": []}\n[1]\n')
    (tmp_path / "textless" / "journal" / "replies.jsonl").write_text('{"replies": [["a", 1]]}\n')
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(tmp_path)
        patched.setattr("sys.argv", ["raybench", *SIMULATED, setting, *more])
        with pytest.raises(SystemExit) as ended:
            cli.main()
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert told in said
    assert "Traceback" not in said
    assert not (tmp_path / "runs").exists()


def test_a_plan_says_what_is_there_to_reuse(
    ten: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(ten, "autobench.iterations=4", "seed=6")
    first = last_run(ten, "autobench")
    count = sum(len(it.get("replies", ())) for it in journal(ten, "replies"))
    extending = ("autobench.iterations=5", "seed=6", "autobench.extends=last")
    told = f"what fits of the {count} replies of runs/autobench/{first.name} is reused"
    run(ten, *extending)
    capsys.readouterr()
    monkeypatch.chdir(ten)
    # The last run is none of this very command's.
    assert cli._job(cli.compose([*settings_of(), *extending, "dry_run=true"])) == 0
    assert told in capsys.readouterr().out
    tasks = f"autobench.tasks={first / 'journal' / 'iterations.jsonl'}"
    assert cli._job(cli.compose([*settings_of(), tasks, "dry_run=true"])) == 0
    assert "4 tasks from " in capsys.readouterr().out


def test_given_tasks_are_those_of_another_run(ten: Path) -> None:
    run(ten, "autobench.iterations=4", "seed=5")
    earlier = journal(ten)
    path = last_run(ten, "autobench") / "journal" / "iterations.jsonl"
    run(ten, "autobench.iterations=5", f"autobench.tasks={path}", "autobench.judges=[m9]")
    again = journal(ten)
    tasks = [record["task"] for record in earlier if record["task"]]
    assert [record["task"] for record in again] == [tasks[n % len(tasks)] for n in range(5)]
    assert {tuple(record["judgments"]) for record in again} == {("m9",)}
    assert all(not record["attempts"] for record in again)


def test_a_killed_run_asks_nothing_twice_that_was_replied(tmp_path: Path) -> None:
    folder = with_store(tmp_path)
    # All at once: no iteration is over before all are nearly so.
    slow = FOUR.replace("{ability: 0.3}", "{ability: 0.3, latency_s: 1.0}")
    command = (
        "+experiment=autobench", f"roster.models=[{slow}]", "autobench.iterations=8",
    )  # fmt: skip
    process = start_raybench(*command, cwd=folder)
    deadline = time.monotonic() + 120
    kept: list[Path] = []
    while not kept or kept[0].read_bytes().count(b"answer_rating") < 12:
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.05)
        kept = list(folder.glob("runs/autobench/*/journal/replies.jsonl"))
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert len(journal(folder)) < 8
    before = replies(folder)
    done = raybench(*command, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "Resuming" in done.stderr
    results = results_of(folder, "autobench")
    after = replies(folder)
    assert len(after) == len(set(after))  # nothing twice
    assert set(before) < set(after)
    asked = results["fleet"]["this_session"]["total"]["requests"]
    assert asked == len(after) - len(before)
    killed = untimed(journal(folder))
    run(folder, "autobench.iterations=8", "resume=false", roster=slow)
    assert untimed(journal(folder)) == killed


@pytest.mark.parametrize(
    ("name", "change", "why"),
    [
        ("replies", {"iteration": "x"}, "not supported between"),
        ("replies", {"replies": [["1/1/task/m3", 7]]}, "a reply is no text"),
        ("replies", {"replies": 5}, "not iterable"),
        ("iterations", {"scores": None}, "its 'scores' is None"),
        ("iterations", {"attempts": [{}]}, "it lacks 'generator'"),
        ("iterations", {"ended_ms": "now"}, "its 'ended_ms' is 'now'"),
    ],
)
def test_a_journal_that_was_changed_is_told_without_a_traceback(
    ten: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    name: str,
    change: dict[str, Any],
    why: str,
) -> None:
    shutil.copytree(ten, tmp_path, dirs_exist_ok=True)
    (folder, *_) = sorted((tmp_path / "runs" / "autobench").iterdir())
    (folder / "results.json").unlink()
    file = folder / "journal" / f"{name}.jsonl"
    lines = file.read_bytes().splitlines()
    if name == "replies":  # those to iterations that are done are not looked at
        (folder / "journal" / "iterations.jsonl").write_bytes(b"")
    lines[2] = json.dumps(json.loads(lines[2]) | change).encode()
    file.write_bytes(b"\n".join([*lines, b""]))
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(tmp_path)
        assert cli._job(cli.compose([*settings_of(), "autobench.iterations=10"])) == 1
    told = capsys.readouterr().err
    assert f"{name}.jsonl, line 3, is not what a run leaves" in told
    assert why in told
    assert "resume=false" in told
    assert "the same command goes on" not in told.replace("with what was wrong mended, the", "")


def replies(folder: Path) -> list[str]:
    return [where for it in journal(folder, "replies") for where, *_ in it.get("replies", ())]

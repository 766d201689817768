"""What need not be asked again: after a kill, in a longer run, with a model more."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from command import run_command
from helpers import SIMULATED, last_run, results_of, with_store
from in_process import Ended, run_here
from refusals import json_refusals
from stopped_runs import cut_off

from raybench.errors import Code

pytestmark = pytest.mark.slow

FOUR = ", ".join(
    f"{{name: m{n}, engine: simulated, options: {{ability: 0.{n}}}}}" for n in (3, 5, 7, 9)
)
FIVE = FOUR + ", {name: m8, engine: simulated, options: {ability: 0.8}}"


def ended(folder: Path, *settings: str, roster: str = FOUR) -> Ended:
    """Run the experiment in a folder, in this process."""
    return run_here("+experiment=autobench", f"roster.models=[{roster}]", *settings, cwd=folder)


def run(folder: Path, *settings: str, roster: str = FOUR) -> dict[str, Any]:
    """Run the experiment in a folder, in this process; return its results."""
    done = ended(folder, *settings, roster=roster)
    assert done.returncode == 0, done.stderr
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
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one run of six iterations, to read."""
    folder = with_store(tmp_path_factory.mktemp("six"))
    run(folder, "autobench.iterations=6")
    return folder


@pytest.fixture
def six(finished: Path, tmp_path: Path) -> Path:
    """A copy of that folder, to write to."""
    return shutil.copytree(finished, tmp_path / "six")


def test_iterations_more_ask_only_what_is_new(six: Path) -> None:
    before = untimed(journal(six))
    first = results_of(six, "autobench")["fleet"]["this_session"]["total"]["requests"]
    results = run(six, "autobench.iterations=9", "autobench.extends=last")
    after = untimed(journal(six))
    assert after[:6] == before
    assert len(after) == 9
    calls = results["run"]["calls"]
    assert calls["reused"] == first
    asked = results["fleet"]["this_session"]["total"]["requests"]
    assert asked == calls["calls"] - calls["reused"]
    said = (last_run(six, "autobench") / "leaderboard.md").read_text()
    assert f"{calls['reused']:,} of {calls['calls']:,} replies" in said
    assert results["fleet"]["this_session"]["total"]["output_tokens"] == sum(
        it[-1]
        for record in journal(six, "replies")
        if record["iteration"] > 6
        for it in record.get("replies", ())
    )
    # The same without what was there before: nothing is different but what it cost.
    alone = run(six, "autobench.iterations=9")
    assert untimed(journal(six)) == after
    assert alone["models"] == results["models"]
    assert alone["run"]["calls"]["reused"] == 0


def test_the_last_run_is_none_of_the_same_command(six: Path) -> None:
    first = last_run(six, "autobench")
    extending = ("autobench.iterations=8", "autobench.extends=last")
    run(six, *extending)
    done = last_run(six, "autobench")
    assert done != first
    (six / "order.csv").write_text("model,score\nm3,1\nm5,2\nm7,3\nm9,4\n")
    run(six, *extending, "++autobench.external.order=order.csv")
    assert last_run(six, "autobench") == done  # concluded anew, not run anew
    assert "concluded_with" in results_of(six, "autobench")["run"]


def test_a_model_more_asks_only_what_concerns_it(six: Path) -> None:
    results = run(six, "autobench.iterations=6", "autobench.extends=last", roster=FIVE)
    extended = untimed(journal(six))
    calls = results["run"]["calls"]
    # Of an iteration's 1 + 5 + 5 + 25 calls one rating, one answer and nine ratings are new.
    assert 0.3 * calls["calls"] < calls["reused"] < 25 / 36 * calls["calls"]
    run(six, "autobench.iterations=6", roster=FIVE)
    assert untimed(journal(six)) == extended


def test_replies_that_no_longer_fit_are_not_reused(six: Path) -> None:
    first = f"autobench.extends={last_run(six, 'autobench')}"
    other = run(six, "autobench.iterations=3", first, "autobench.answer_tokens=64", roster=FIVE)
    kept = journal(six, "replies")
    assert 0 < other["run"]["calls"]["reused"] < other["run"]["calls"]["calls"]
    assert {record["kind"] for record in kept if "kind" in record} >= {"answer"}
    changed = FIVE.replace("0.7", "0.71")
    run(six, "autobench.iterations=3", first, roster=changed)
    assert untimed(journal(six)) != []


@pytest.mark.parametrize("more", [(), ("dry_run=true",)])
@pytest.mark.parametrize(
    ("setting", "code", "told"),
    [
        ("autobench.extends=last", "run.missing", ""),
        ("autobench.extends=nowhere", "run.missing", "nowhere"),
        ("autobench.extends=other", "run.missing", "other/journal/replies.jsonl"),
        ("autobench.extends=unreadable", "file.unreadable", "unreadable/journal/replies.jsonl"),
        ("autobench.extends=nonsense", "journal.invalid", "nonsense/journal/replies.jsonl, line 2"),
        ("autobench.extends=textless", "journal.invalid", "textless/journal/replies.jsonl, line 1"),
        ("autobench.tasks=nowhere.jsonl", "file.unreadable", "nowhere.jsonl"),
        ("autobench.tasks=broken.jsonl", "file.format", "broken.jsonl, line 2"),
        ("autobench.tasks=empty.jsonl", "file.format", "empty.jsonl"),
        ("autobench.external.order=nowhere.csv", "file.missing", "'nowhere.csv'"),
        ("autobench.external.order=broken.csv", "file.format", "broken.csv"),
    ],
)
def test_what_cannot_be_read_is_told_before_anything_starts(
    setting: str, code: Code, told: str, more: tuple[str, ...], tmp_path: Path
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
    done = run_command(*SIMULATED, setting, *more, "--json", cwd=tmp_path)
    assert done.returncode == 2
    assert [it for it, _ in json_refusals(json.loads(done.stdout))] == [code]
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "runs").exists()


def unwrapped(plan: str) -> str:
    return " ".join(plan.split())


def test_a_plan_says_what_is_there_to_reuse(finished: Path, six: Path) -> None:
    first = last_run(six, "autobench")
    count = sum(len(it.get("replies", ())) for it in journal(six, "replies"))
    extending = ("autobench.iterations=7", "autobench.extends=last")
    told = f"{count} replies in runs/autobench/{first.name}"
    run(six, *extending)
    # The last run is none of this very command's.
    assert told in unwrapped(ended(six, *extending, "dry_run=true").stdout)
    tasks = f"autobench.tasks={first / 'journal' / 'iterations.jsonl'}"
    posed = sum(record["task"] is not None for record in journal(finished))
    assert f"{posed} tasks from " in unwrapped(ended(six, tasks, "dry_run=true").stdout)


def test_given_tasks_are_those_of_another_run(six: Path) -> None:
    earlier = journal(six)
    path = last_run(six, "autobench") / "journal" / "iterations.jsonl"
    run(six, "autobench.iterations=5", f"autobench.tasks={path}", "autobench.judges=[m9]")
    again = journal(six)
    tasks = [record["task"] for record in earlier if record["task"]]
    assert [record["task"] for record in again] == [tasks[n % len(tasks)] for n in range(5)]
    assert {tuple(record["judgments"]) for record in again} == {("m9",)}
    assert all(not record["attempts"] for record in again)


def test_a_killed_run_asks_nothing_twice_that_was_replied(finished: Path, tmp_path: Path) -> None:
    """No iteration but the first was over, and most of the replies to the others were there."""
    whole = last_run(finished, "autobench")
    lines = (whole / "journal" / "replies.jsonl").read_bytes().count(b"\n")
    cut = cut_off(whole, tmp_path / "runs", {"iterations": 1, "replies": lines * 3 // 4})
    kept = (cut / "journal" / "replies.jsonl").read_bytes().splitlines()[:-1]
    before = {where for line in kept for where, *_ in json.loads(line).get("replies", ())}
    done = ended(tmp_path, "autobench.iterations=6")
    assert done.returncode == 0, done.stderr
    assert "Resuming" in done.stderr
    after = replies(tmp_path)
    assert len(after) == len(set(after))  # nothing twice
    assert before < set(after)
    asked = results_of(tmp_path, "autobench")["fleet"]["this_session"]["total"]["requests"]
    assert asked == len(after) - len(before)
    assert untimed(journal(tmp_path)) == untimed(journal(finished))


@pytest.mark.parametrize(
    ("name", "change", "why"),
    [
        ("replies", {"iteration": "x"}, "not supported between"),
        ("replies", {"replies": [["1/1/task/m3", 7]]}, "no text"),
        ("replies", {"replies": 5}, "not iterable"),
        ("iterations", {"scores": None}, "'scores'"),
        ("iterations", {"attempts": [{}]}, "'generator'"),
        ("iterations", {"ended_ms": "now"}, "'ended_ms'"),
    ],
)
def test_a_journal_that_was_changed_is_told_without_a_traceback(
    finished: Path,
    tmp_path: Path,
    name: str,
    change: dict[str, Any],
    why: str,
) -> None:
    # Of the iterations none is over: replies to those that are over are not read.
    counts = {"iterations": 0} if name == "replies" else {"iterations": 5}
    folder = cut_off(last_run(finished, "autobench"), tmp_path / "runs", counts, torn="")
    file = folder / "journal" / f"{name}.jsonl"
    lines = file.read_bytes().splitlines()
    lines[2] = json.dumps(json.loads(lines[2]) | change).encode()
    file.write_bytes(b"\n".join([*lines, b""]))
    done = ended(tmp_path, "autobench.iterations=6")
    assert done.returncode == 1
    told = done.stderr
    assert f"{name}.jsonl, line 3, " in told
    assert why in told
    assert "resume=false" in told
    assert told.count("same command") <= 1, "it does not help but where all is mended"


def replies(folder: Path) -> list[str]:
    return [where for it in journal(folder, "replies") for where, *_ in it.get("replies", ())]

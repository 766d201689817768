import fcntl
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from refusals import refused

from raybench.errors import RunFailed
from raybench.pipeline.store import RESULTS, Run, begun, inputs_of, open_run

CONFIG = {"experiment": "autobench", "seed": 0, "roster": {"models": ["a", "b"]}}


def finish(run: Run) -> None:
    with run:
        run.write_json(RESULTS, {})


def test_the_same_configuration_goes_on_with_its_unfinished_run(tmp_path: Path) -> None:
    with open_run(tmp_path, "autobench", CONFIG) as first:
        assert not first.resumed
        first.journal("iterations").append({"iteration": 1})
    with open_run(tmp_path, "autobench", dict(reversed(CONFIG.items()))) as second:
        assert second.resumed
        assert second.folder == first.folder
        assert second.folder.parent == tmp_path / "autobench"
        assert second.journal("iterations").records == [{"iteration": 1}]


@pytest.mark.parametrize(
    "other",
    [CONFIG | {"seed": 1}, CONFIG | {"roster": {"models": ["b", "a"]}}, CONFIG | {"new": None}],
)
def test_another_configuration_makes_a_run_of_its_own(tmp_path: Path, other: Any) -> None:
    with open_run(tmp_path, "autobench", CONFIG) as first:
        pass
    with open_run(tmp_path, "autobench", other) as second:
        assert not second.resumed
        assert second.folder != first.folder
    with open_run(tmp_path, "autobench", CONFIG) as again:
        assert again.folder == first.folder


def test_another_experiment_makes_a_run_of_its_own(tmp_path: Path) -> None:
    with open_run(tmp_path, "autobench", CONFIG):
        pass
    with open_run(tmp_path, "games", CONFIG) as other:
        assert not other.resumed


def test_how_a_run_is_invoked_does_not_tell_it_apart(tmp_path: Path) -> None:
    with open_run(tmp_path, "autobench", CONFIG | {"resume": True, "dry_run": False}) as first:
        pass
    with open_run(tmp_path, "autobench", CONFIG | {"resume": None, "dry_run": True}) as second:
        assert second.resumed
        assert second.folder == first.folder


def test_resume_false_starts_anew_and_the_newest_unfinished_run_is_resumed(tmp_path: Path) -> None:
    with open_run(tmp_path, "autobench", CONFIG) as first:
        pass
    with open_run(tmp_path, "autobench", CONFIG, resume=False) as second:
        assert not second.resumed
        assert second.folder != first.folder
    with open_run(tmp_path, "autobench", CONFIG) as third:
        assert third.resumed
        assert third.folder == second.folder


def test_a_finished_run_is_never_touched_again(tmp_path: Path) -> None:
    first = open_run(tmp_path, "autobench", CONFIG)
    finish(first)
    before = {path: path.stat().st_mtime_ns for path in first.folder.rglob("*")}
    with open_run(tmp_path, "autobench", CONFIG) as second:
        assert not second.resumed
        assert second.folder != first.folder
    assert {path: path.stat().st_mtime_ns for path in first.folder.rglob("*")} == before


def test_a_run_that_read_something_else_is_not_gone_on_with(tmp_path: Path) -> None:
    began = {"mgsm": "aa", "mmlu_pro": "bb"}
    with open_run(tmp_path, "index", CONFIG, inputs=began) as first:
        first.journal("units").append({"unit": 1})
    with open_run(tmp_path, "index", CONFIG, inputs=began | {"mgsm": "cc"}) as second:
        assert not second.resumed
        (said,) = second.passed
        assert said.startswith(f"{first.folder} ") and " mgsm " in said and "mmlu_pro" not in said
    with open_run(tmp_path, "index", CONFIG, inputs=began) as third:
        assert third.folder == first.folder


def test_a_run_that_was_killed_before_it_said_what_it_reads_says_so_when_it_goes_on(
    tmp_path: Path,
) -> None:
    with open_run(tmp_path, "index", CONFIG, inputs={"mgsm": "aa"}) as first:
        (first.folder / "inputs.json").unlink()
    with open_run(tmp_path, "index", CONFIG, inputs={"mgsm": "bb"}) as second:
        assert second.folder == first.folder
    with open_run(tmp_path, "index", CONFIG, inputs={"mgsm": "aa"}) as third:
        assert third.folder != first.folder


INDEX = {"experiment": "index", "index": {"limit": 5, "partial": False}}
PARTIAL = {"experiment": "index", "index": {"limit": 5, "partial": True}}
CONCLUSIONS = ("index.partial",)


def concluded(run: Run, *, partial: bool) -> None:
    with run:
        run.write_json(RESULTS, {"run": {"concluded_with": {"index.partial": partial}}})


def test_a_finished_run_is_opened_again_to_conclude_something_else(tmp_path: Path) -> None:
    first = open_run(tmp_path, "index", INDEX, conclusions=CONCLUSIONS)
    concluded(first, partial=False)
    with open_run(tmp_path, "index", PARTIAL, conclusions=CONCLUSIONS) as again:
        assert again.folder == first.folder
        assert again.finished
    for other in (
        open_run(tmp_path, "index", PARTIAL, conclusions=CONCLUSIONS, resume=False),
        open_run(tmp_path, "index", INDEX | {"seed": 1}, conclusions=CONCLUSIONS),
    ):
        with other:
            assert not other.resumed


def test_only_the_last_run_is_concluded_anew_and_only_by_other_settings(tmp_path: Path) -> None:
    first = open_run(tmp_path, "index", PARTIAL, conclusions=CONCLUSIONS)
    concluded(first, partial=True)
    second = open_run(tmp_path, "index", PARTIAL, conclusions=CONCLUSIONS)
    assert second.folder != first.folder
    concluded(second, partial=False)
    with open_run(tmp_path, "index", INDEX, conclusions=CONCLUSIONS) as third:
        assert not third.resumed


LIMITS: dict[str, Any] = {"limits": ["games.matches", "games.cycles"], "aside": ["games.at_once"]}


def of(matches: int, cycles: int | None, at_once: int | None = None) -> dict[str, Any]:
    return {"seed": 0, "games": {"matches": matches, "cycles": cycles, "at_once": at_once}}


def test_an_unfinished_run_goes_on_to_other_limits(tmp_path: Path) -> None:
    with open_run(tmp_path, "games", of(40, None), **LIMITS) as first:
        pass
    with open_run(tmp_path, "games", of(60, 1, at_once=4), **LIMITS) as again:
        assert again.folder == first.folder
    with open_run(tmp_path, "games", of(60, 1)) as other:
        assert not other.resumed


@pytest.mark.parametrize(
    ("had", "wanted", "taken"),
    [
        (of(40, None), of(60, None), True),
        (of(40, 1), of(40, None), True),
        (of(40, None), of(60, 1), False),
        (of(40, 2), of(60, 1), False),
        (of(40, 2), of(40, 2, at_once=4), False),
    ],
)
@pytest.mark.parametrize("more", [{}, {"failed": {"a": "it is away"}}])
def test_where_limits_are_raised_a_new_run_takes_over_what_a_finished_one_has(
    tmp_path: Path, had: dict[str, Any], wanted: dict[str, Any], taken: bool, more: dict[str, Any]
) -> None:
    limits = {f"games.{name}": had["games"][name] for name in ("matches", "cycles")}
    with open_run(tmp_path, "games", had, **LIMITS) as first:
        journal = first.journal("matches")
        journal.append({"match": 1})
        first.write_json(RESULTS, {"run": {"limits": limits, **more}})
    with open_run(tmp_path, "games", wanted, **LIMITS) as second:
        assert second.folder != first.folder and not second.resumed
        assert second.journal("matches").records == [{"match": 1}] * (taken and not more)
        assert bool(second.passed) is (taken and not more)
        second.journal("matches").append({"match": 2})
    assert journal.path.read_bytes() == b'{"match": 1}\n', "a finished run is never touched again"
    with open_run(tmp_path, "games", wanted, resume=False, **LIMITS) as third:
        assert third.journal("matches").records == []


@pytest.mark.parametrize("cut", ["before it", "within it"])
def test_a_copy_that_a_kill_cut_off_is_made_again(tmp_path: Path, cut: str) -> None:
    with open_run(tmp_path, "games", of(40, None), **LIMITS) as first:
        first.journal("matches").append({"match": 1})
        limits = {"games.matches": 40, "games.cycles": None}
        first.write_json(RESULTS, {"run": {"limits": limits}})
    with open_run(tmp_path, "games", of(60, None), **LIMITS) as second:
        pass
    (second.folder / "journal").rename(second.folder / ".journal.tmp")
    if cut == "before it":
        (second.folder / ".journal.tmp" / "matches.jsonl").unlink()
        (second.folder / ".journal.tmp").rmdir()
    with open_run(tmp_path, "games", of(60, None), **LIMITS) as again:
        assert again.folder == second.folder and again.resumed
        assert again.journal("matches").records == [{"match": 1}]


def test_a_finished_run_whose_inputs_changed_is_left_as_it_is(tmp_path: Path) -> None:
    inputs = {"mgsm": "aa"}
    first = open_run(tmp_path, "index", INDEX, conclusions=CONCLUSIONS, inputs=inputs)
    concluded(first, partial=False)
    other = {"mgsm": "bb"}
    with open_run(tmp_path, "index", PARTIAL, conclusions=CONCLUSIONS, inputs=other) as second:
        assert not second.resumed
        assert not second.passed


@pytest.mark.parametrize("results", ["{", "[]", '{"run": {}}', '{"run": null}'])
def test_a_finished_run_that_does_not_say_how_it_was_concluded_is_left(
    tmp_path: Path, results: str
) -> None:
    with open_run(tmp_path, "index", INDEX, conclusions=CONCLUSIONS) as first:
        first.write(RESULTS, results)
    with open_run(tmp_path, "index", PARTIAL, conclusions=CONCLUSIONS) as second:
        assert second.folder != first.folder


def test_a_run_that_finishes_while_it_is_looked_at_is_not_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = open_run(tmp_path, "autobench", CONFIG)
    flock = fcntl.flock

    def finish_first(handle: int, operation: int) -> None:
        # Its results appear and its lock is let go between the look and the lock.
        if not (running.folder / RESULTS).exists():
            finish(running)
        flock(handle, operation)

    monkeypatch.setattr(fcntl, "flock", finish_first)
    with open_run(tmp_path, "autobench", CONFIG) as other:
        assert not other.resumed
        assert other.folder != running.folder


@pytest.fixture
def other_process(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """Another process, at work on a run of the same configuration, and that run's folder."""
    process = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import json, sys; from pathlib import Path\n"
            "from raybench.pipeline.store import open_run\n"
            "run = open_run(Path(sys.argv[1]), 'autobench', json.loads(sys.argv[2]))\n"
            "run.journal('iterations').append({'iteration': 1})\n"
            "print(run.folder, flush=True)\n"
            "sys.stdin.read()",
            str(tmp_path),
            json.dumps(CONFIG),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    folder = Path(process.stdout.readline().strip())
    with process:
        yield process, folder
        process.kill()


@pytest.mark.process
def test_a_run_that_another_process_works_on_is_left_to_it(
    tmp_path: Path, other_process: tuple[subprocess.Popen[str], Path]
) -> None:
    process, folder = other_process
    with open_run(tmp_path, "autobench", CONFIG) as mine:
        assert not mine.resumed
        assert mine.folder != folder
        (said,) = mine.passed
        assert str(folder) in said
    assert process.poll() is None


@pytest.mark.process
def test_a_killed_process_leaves_its_run_to_the_next(
    tmp_path: Path, other_process: tuple[subprocess.Popen[str], Path]
) -> None:
    process, folder = other_process
    process.send_signal(signal.SIGKILL)
    process.wait()
    with open_run(tmp_path, "autobench", CONFIG) as mine:
        assert mine.resumed
        assert mine.folder == folder
        assert mine.journal("iterations").records == [{"iteration": 1}]


@pytest.mark.slow  # each waits a moment for the locks of the others
def test_runs_that_begin_together_each_get_their_own_folder(tmp_path: Path) -> None:
    runs = [open_run(tmp_path, "autobench", CONFIG) for _ in range(4)]
    assert len({run.id for run in runs}) == 4
    assert sorted(run.id for run in runs) == [run.id for run in runs]


@pytest.mark.parametrize("below", ["file", "file/runs"])
def test_a_runs_dir_that_cannot_be_written_is_named(tmp_path: Path, below: str) -> None:
    (tmp_path / "file").touch()
    with refused("file.unwritable", "runs_dir"):
        open_run(tmp_path / below, "autobench", CONFIG)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_runs_dir_without_permission_is_named(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with refused("file.unwritable", "runs_dir", kind=RunFailed):
        open_run(tmp_path, "autobench", CONFIG)


# --------------------------------------------------------------------------------------- files


def test_files_are_written_whole(tmp_path: Path) -> None:
    with open_run(tmp_path, "autobench", CONFIG) as run:
        assert run.write("leaderboard.md", "größer ≥\n").read_text("utf-8") == "größer ≥\n"
        assert json.loads(run.write_json("results.json", {"é": [1, None]}).read_text()) == {
            "é": [1, None]
        }
        lines = run.write_lines("failures.jsonl", [{"unit": 1}, {"unit": "zwei\n"}])
        assert [json.loads(line) for line in lines.read_text().splitlines()] == [
            {"unit": 1},
            {"unit": "zwei\n"},
        ]
        assert run.write_lines("none.jsonl", []).read_text() == ""


def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    with open_run(tmp_path, "autobench", CONFIG) as run:
        path = run.write("leaderboard.md", "old")
        (
            run.folder / f".leaderboard.md.{os.getpid()}.tmp"
        ).mkdir()  # in the way, as a full disk would be
        with refused("file.unwritable"):
            run.write("leaderboard.md", "new")
        assert path.read_text() == "old"


def test_text_that_no_file_can_hold_loses_its_broken_characters_only(tmp_path: Path) -> None:
    with open_run(tmp_path, "autobench", CONFIG) as run:
        assert run.write("leaderboard.md", "a \ud800 b").read_text() == "a ? b"


def test_whoever_reads_meanwhile_sees_the_old_file_or_the_new_one(tmp_path: Path) -> None:
    with open_run(tmp_path, "autobench", CONFIG) as run:
        path = run.write("leaderboard.md", "old" * 100_000)
        with path.open() as reader:
            assert reader.read(3) == "old"
            run.write("leaderboard.md", "new" * 100_000)
            assert reader.read() == "old" * 99_999
        assert path.read_text() == "new" * 100_000


def test_files_reach_the_disk_before_they_count(tmp_path: Path, synced: list[bytes]) -> None:
    with open_run(tmp_path, "autobench", CONFIG) as run:
        run.write("leaderboard.md", "ranks")
        assert synced == [b"ranks"]
        run.write_json(RESULTS, {})
        assert synced == [b"ranks", b"{}"]


@pytest.mark.parametrize("write", ["write_json", "write_lines"])
def test_results_hold_no_nan(tmp_path: Path, write: str) -> None:
    with (
        open_run(tmp_path, "autobench", CONFIG) as run,
        pytest.raises(ValueError, match="JSON"),
    ):
        getattr(run, write)("results.json", [float("nan")])
    assert not (run.folder / "results.json").exists()


def test_the_runs_that_a_command_may_go_on_with_are_those_it_goes_on_with(tmp_path: Path) -> None:
    assert begun(tmp_path, "hle", CONFIG) == []
    told: dict[str, Any] = {"inputs": {"toy": "1"}, "conclusions": ["seed"]}
    with open_run(tmp_path, "hle", CONFIG, **told) as run:
        assert inputs_of(run.folder) == {"toy": "1"}
    assert begun(tmp_path, "hle", CONFIG) == []  # of that the seed is a part
    assert begun(tmp_path, "hle", CONFIG | {"roster": {}}, conclusions=["seed"]) == []
    for seed in (0, 1):
        assert begun(tmp_path, "hle", CONFIG | {"seed": seed}, conclusions=["seed"]) == [run.folder]
    run.write_json(RESULTS, {"run": {"concluded_with": {"seed": 0}}})
    assert begun(tmp_path, "hle", CONFIG, conclusions=["seed"]) == []
    # Finished, but to be concluded otherwise.
    assert begun(tmp_path, "hle", CONFIG | {"seed": 1}, conclusions=["seed"]) == [run.folder]
    assert inputs_of(tmp_path) == {}

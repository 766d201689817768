import fcntl
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raybench.errors import RunFailed
from raybench.pipeline.store import RESULTS, Journal, Run, begun, inputs_of, open_run

CONFIG = {"experiment": "autobench", "seed": 0, "roster": {"models": ["a", "b"]}}

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    # Line ends of every kind, among them those that only str.splitlines knows.
    | st.text() | st.sampled_from(["a\nb", "a\r\nb", "a\u2028b", "a\x85b", "\x00"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
json_records = st.lists(st.dictionaries(st.text(), json_values, max_size=4), max_size=5)


def reopened(path: Path) -> list[dict[str, Any]]:
    journal = Journal(path)
    journal.close()
    return journal.records


def finish(run: Run) -> None:
    with run:
        run.write_json(RESULTS, {})


# ------------------------------------------------------------------------------------- journals


def test_a_record_is_on_disk_when_append_returns(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal" / "units.jsonl")
    journal.append({"unit": 1, "text": "größer ≥"})
    # Read by another handle while the first is still open.
    assert reopened(tmp_path / "journal" / "units.jsonl") == [{"unit": 1, "text": "größer ≥"}]
    journal.append({"unit": 2})
    assert [record["unit"] for record in journal.records] == [1, 2]
    assert reopened(tmp_path / "journal" / "units.jsonl") == journal.records


def test_a_journal_keeps_in_memory_what_it_is_told_to(tmp_path: Path) -> None:
    path = tmp_path / "units.jsonl"
    journal = Journal(path, lambda record: record["unit"])
    journal.extend([{"unit": 1, "text": "long"}, {"unit": 2, "text": "longer"}])
    journal.close()
    assert journal.records == [1, 2]
    assert Journal(path, lambda record: record["unit"]).records == [1, 2]
    assert [record["text"] for record in reopened(path)] == ["long", "longer"]


def test_half_a_surrogate_pair_is_kept_as_it_came(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "units.jsonl")
    journal.append({"text": "\ud83e"})
    assert reopened(tmp_path / "units.jsonl") == [{"text": "\ud83e"}]


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """What files held when they were sent to the disk."""
    seen: list[bytes] = []
    fsync = os.fsync

    def keep(handle: int) -> None:
        seen.append(Path(f"/proc/self/fd/{handle}").read_bytes())
        fsync(handle)

    monkeypatch.setattr(os, "fsync", keep)
    return seen


def test_a_record_is_sent_to_the_disk_before_it_counts(tmp_path: Path, synced: list[bytes]) -> None:
    journal = Journal(tmp_path / "units.jsonl")
    journal.append({"unit": 1})
    journal.append({"unit": 2})
    assert synced == [b'{"unit": 1}\n', b'{"unit": 1}\n{"unit": 2}\n']


@given(json_records)
def test_every_json_record_comes_back(
    tmp_path_factory: pytest.TempPathFactory, records: list[dict[str, Any]]
) -> None:
    path = tmp_path_factory.mktemp("journal") / "units.jsonl"
    journal = Journal(path)
    for record in records:
        journal.append(record)
    journal.close()
    assert journal.records == records
    assert reopened(path) == records
    assert path.read_bytes().count(b"\n") == len(records)


@given(json_records, st.data())
def test_wherever_the_last_line_was_torn_the_whole_ones_stay(
    tmp_path_factory: pytest.TempPathFactory, records: list[dict[str, Any]], data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("journal") / "units.jsonl"
    journal = Journal(path)
    for record in records:
        journal.append(record)
    journal.close()
    kept = data.draw(st.integers(0, path.stat().st_size), label="bytes that reached the disk")
    os.truncate(path, kept)
    whole = records[: path.read_bytes().count(b"\n")]

    journal = Journal(path)
    assert journal.records == whole
    journal.append({"after": "the tear"})
    journal.close()
    assert reopened(path) == [*whole, {"after": "the tear"}]


@pytest.mark.parametrize(
    "damage",
    [b'{"unit": 2', b"", b"\x00\x00\x00", b"\xff\xfe", b"<<<<<<< HEAD", b'"no record"', b"2"],
)
def test_a_damaged_line_in_the_middle_is_named_and_nothing_is_changed(
    tmp_path: Path, damage: bytes
) -> None:
    path = tmp_path / "units.jsonl"
    path.write_bytes(b'{"unit": 1}\n' + damage + b'\n{"unit": 3}\n')
    before = path.read_bytes()
    with pytest.raises(RunFailed, match=f"{re.escape(str(path))}, line 2, .*resume=false"):
        Journal(path)
    assert path.read_bytes() == before


def test_a_record_that_is_not_json_leaves_no_trace(tmp_path: Path) -> None:
    path = tmp_path / "units.jsonl"
    journal = Journal(path)
    journal.append({"unit": 1})
    with pytest.raises(ValueError, match="not JSON compliant"):
        journal.append({"unit": 2, "score": float("nan")})
    with pytest.raises(TypeError):
        journal.append({"unit": 2, "score": object()})
    journal.append({"unit": 3})
    assert reopened(path) == journal.records == [{"unit": 1}, {"unit": 3}]


def test_what_was_acknowledged_survives_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "units.jsonl"
    writer = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys; from pathlib import Path; from raybench.pipeline.store import Journal\n"
            "journal = Journal(Path(sys.argv[1]))\n"
            "for unit in range(10**6):\n"
            "    journal.append({'unit': unit, 'text': 'x' * 5000})\n"
            "    print(unit, flush=True)",
            str(path),
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert writer.stdout is not None
    for _ in range(20):
        writer.stdout.readline()
    writer.kill()
    acknowledged = [*range(20), *(int(line) for line in writer.stdout if line.endswith("\n"))]
    writer.wait()
    writer.stdout.close()
    units = [record["unit"] for record in reopened(path)]
    # The last one may have reached the disk without having been acknowledged.
    assert units in (acknowledged, [*acknowledged, len(acknowledged)])


def test_a_full_disk_is_said_and_what_was_whole_stays(tmp_path: Path) -> None:
    path = tmp_path / "units.jsonl"
    written = subprocess.run(
        [
            sys.executable,
            "-c",
            "import resource, sys; from pathlib import Path\n"
            "from raybench.errors import RunFailed\n"
            "from raybench.pipeline.store import Journal\n"
            "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
            "journal = Journal(Path(sys.argv[1]))\n"
            "journal.append({'unit': 1, 'text': 'x' * 500})\n"
            "try:\n"
            "    journal.append({'unit': 2, 'text': 'x' * 500})\n"
            "except RunFailed as error:\n"
            "    print(error)\n"
            "journal.close()\n"
            "print(len(journal.records))",
            str(path),
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    said, counted = written.stdout.splitlines()
    assert f"{path} cannot be written" in said
    assert "File too large" in said
    assert counted == "1"
    assert path.stat().st_size == 1000
    assert [record["unit"] for record in reopened(path)] == [1]


# ---------------------------------------------------------------------------------- run folders


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
        assert said.startswith(f"{first.folder} is unfinished, but mgsm changed since it began")
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
    assert reopened(journal.path) == [{"match": 1}], "a finished run is never touched again"
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


def test_a_run_that_another_process_works_on_is_left_to_it(
    tmp_path: Path, other_process: tuple[subprocess.Popen[str], Path]
) -> None:
    process, folder = other_process
    with open_run(tmp_path, "autobench", CONFIG) as mine:
        assert not mine.resumed
        assert mine.folder != folder
        (said,) = mine.passed
        assert said.startswith(f"Another process is at work on {folder}")
    assert process.poll() is None


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


def test_runs_that_begin_together_each_get_their_own_folder(tmp_path: Path) -> None:
    runs = [open_run(tmp_path, "autobench", CONFIG) for _ in range(20)]
    assert len({run.id for run in runs}) == 20
    assert sorted(run.id for run in runs) == [run.id for run in runs]


@pytest.mark.parametrize("below", ["file", "file/runs"])
def test_a_runs_dir_that_cannot_be_written_is_named(tmp_path: Path, below: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(RunFailed, match=r"cannot be written: .*file.*runs_dir"):
        open_run(tmp_path / below, "autobench", CONFIG)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_runs_dir_without_permission_is_named(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(RunFailed, match=r"cannot be written: .*Permission.*runs_dir"):
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
        with pytest.raises(RunFailed, match=r"leaderboard\.md cannot be written"):
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
        pytest.raises(ValueError, match="not JSON compliant"),
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

import json
import multiprocessing
import os
import shutil
import signal
import tempfile
from pathlib import Path
from typing import Any

import pytest
from examples import examples
from filelock import FileLock
from hle_rows import Row, exact
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused

from raybench.errors import Code
from raybench.pipeline import files, revisions
from raybench.pipeline.revisions import Made, Revision, publish

FORK = multiprocessing.get_context("fork")


def rows(*keys: str) -> list[Row]:
    return [exact(key) for key in keys]


def published(folder: Path, *keys: str, private: tuple[str, ...] = (), **more: Any) -> Revision:
    made = more.pop("made", Made("run-1", 7))
    there = publish(folder, rows(*keys), rows(*private), made=made, **more)
    assert there is not None
    return there


def ids(of: Any) -> list[str]:
    return [row["id"] for row in of]


def test_a_revision_has_the_rows_of_the_one_before_what_came_and_not_what_went(
    tmp_path: Path,
) -> None:
    first = published(tmp_path, "a", "b", private=("p",))
    second = published(tmp_path, "c", private=("q",), removed=["a", "p", "never"])
    assert (ids(first.public), ids(first.private)) == (["a", "b"], ["p"])
    assert (ids(second.public), ids(second.private)) == (["b", "c"], ["q"])
    assert ids(second.rows) == ["b", "c", "q"]
    about = json.loads((second.folder / "revision.json").read_text())
    assert about == dict(second.about)
    assert about.pop("created").endswith("+00:00")
    assert about.pop("digest") != first.about["digest"]
    assert about == {
        "number": 2,
        "parent": 1,
        "run": "run-1",
        "seed": 7,
        "public": 2,
        "private": 1,
        "simulated": False,
        "version": 2,
        "review": "skip",
        "late": 0,
        "searched": 0,
        "unreviewed": ["b", "c"],
        "added": ["c"],
        "removed": ["a"],
    }
    # The old one is as it was, and what data.dir is given holds the rows.
    assert revisions.read(tmp_path, 1) == first
    assert revisions.read(tmp_path) == second
    assert second.folder == tmp_path / "revisions" / "0002"
    assert [row for _, row in files.rows(second.folder / "hle.jsonl")] == rows("b", "c")


def test_there_is_none_until_something_is_published(tmp_path: Path) -> None:
    folder = tmp_path / "new"
    assert revisions.newest(folder) is None
    assert revisions.read(folder) is None
    assert publish(folder, removed=["a"], made=Made("r", 0)) is None
    assert revisions.newest(folder) is None


def test_nothing_of_what_is_held_out_is_published(tmp_path: Path) -> None:
    published(tmp_path, "a", private=("held-1", "held-2"))
    published(tmp_path, private=("held-3",), removed=["held-1"])
    published(tmp_path, "b", removed=["held-2"])
    for path in (tmp_path / "revisions").rglob("*"):
        assert path.is_dir() or b"held" not in path.read_bytes()
    there = revisions.read(tmp_path)
    assert there is not None
    assert ids(there.private) == ["held-3"]
    assert there.about["private"] == 1


def test_what_changes_nothing_makes_no_revision(tmp_path: Path) -> None:
    first = published(tmp_path, "a", "b", private=("p",))
    assert published(tmp_path, "b", "a", private=("p",)) == first  # a run that goes on
    assert published(tmp_path, removed=["none of them"]) == first
    assert published(tmp_path, "p", private=("a",)) == first  # each stays where it is
    assert revisions.newest(tmp_path) == 1


def test_a_row_is_replaced_where_it_stands_and_never_silently(tmp_path: Path) -> None:
    published(tmp_path, "a", private=("p",))
    better = [exact("p", answer="43"), exact("a", answer="44")]
    with refused("data.invalid", given="p"):
        publish(tmp_path, better, made=Made("r", 0))
    with refused("data.invalid", given="z"):
        publish(tmp_path, rows("z"), [exact("z", answer="1")], made=Made("r", 0))
    assert revisions.newest(tmp_path) == 1
    # Given the wrong way round: what was held out is still, and what was public is public.
    there = publish(tmp_path, better[:1], better[1:], removed=["a", "p"], made=Made("r", 0))
    assert there is not None
    assert [(row["id"], row["answer"]) for row in there.public] == [("a", "44")]
    assert [(row["id"], row["answer"]) for row in there.private] == [("p", "43")]
    assert (there.about["added"], there.about["removed"]) == (["a"], ["a"])


def test_the_digest_is_the_rows_in_whatever_order(tmp_path: Path) -> None:
    one, other = (published(tmp_path / name, *keys) for name, keys in (("x", "abc"), ("y", "cab")))
    third = published(tmp_path / "z", "a", "b", "d")
    assert one.about["digest"] == other.about["digest"] != third.about["digest"]


@pytest.mark.parametrize(
    ("path", "change", "code"),
    [
        ("revisions/0001/hle.jsonl", lambda text: text.replace("42", "43"), "data.changed"),
        ("private/0001/hle.jsonl", lambda text: text.replace("42", "43"), "data.changed"),
        ("revisions/0001/hle.jsonl", lambda text: text + text, "data.changed"),
        ("revisions/0001/hle.jsonl", lambda text: text[:-9], "data.changed"),
        ("private/0001/hle.jsonl", None, "file.unreadable"),
        ("private/0001/revision.json", None, "file.unreadable"),
        ("revisions/0001/revision.json", lambda text: text[:9], "file.unreadable"),
        ("revisions/0001/revision.json", lambda text: "{}", "file.unreadable"),
    ],
)
def test_a_revision_that_is_not_what_was_published_is_refused(
    tmp_path: Path, path: str, change: Any, code: Code
) -> None:
    published(tmp_path, "a", "b", private=("p", "q"))
    file = tmp_path / path
    if change is None:
        file.unlink()
    else:
        file.write_text(change(file.read_text()))
    for use in (revisions.read, lambda folder: published(folder, "c")):
        with refused(code) as told:
            use(tmp_path)
        assert str(file) in str(told.value)
    assert revisions.newest(tmp_path) == 1


def test_a_number_that_is_not_there_is_said(tmp_path: Path) -> None:
    published(tmp_path, "a")
    published(tmp_path, "b")
    with refused("data.missing", "data.revision"):
        revisions.read(tmp_path, 7)


def test_the_newest_is_by_number_and_not_by_name(tmp_path: Path) -> None:
    for number in (9, 9999, 10_000):
        (tmp_path / "revisions" / f"{number:04d}").mkdir(parents=True)
    (tmp_path / "revisions" / "notes").mkdir()
    assert revisions.newest(tmp_path) == 10_000


def test_what_is_published_is_read_without_what_is_held_out(tmp_path: Path) -> None:
    first = published(tmp_path, "a", private=("p",))
    second = published(tmp_path, "b")
    shutil.rmtree(tmp_path / "private")
    assert revisions.published(tmp_path) == second.folder
    assert revisions.published(tmp_path, 1) == first.folder
    (second.folder / "hle.jsonl").write_text("")
    with refused("data.changed"):
        revisions.published(tmp_path)
    with refused("data.missing", "data.revision"):
        revisions.published(tmp_path, 3)
    with refused("data.missing", "data.revision"):
        revisions.published(tmp_path / "nothing")


def test_what_stand_ins_had_a_say_in_is_told_ever_after(tmp_path: Path) -> None:
    revisions_ = [
        published(tmp_path, "a"),
        published(tmp_path, "b", made=Made("run-1", 7, simulated=True)),
        published(tmp_path, "c"),
    ]
    assert [
        bool((stamp := revisions.stamp(it.folder)) and stamp.simulated) for it in revisions_
    ] == [False, True, True]


def test_what_left_is_known_with_the_revision_that_lost_it(tmp_path: Path) -> None:
    published(tmp_path, "a", "b", private=("p", "q"))
    assert list(revisions.taken_out(tmp_path)) == []
    published(tmp_path, removed=["a", "p"])
    publish(tmp_path, [exact("b", answer="43")], removed=["b"], made=Made("r", 0))
    gone = [(it.row["id"], it.number, it.part) for it in revisions.taken_out(tmp_path)]
    assert sorted(gone) == [("a", 2, "public"), ("b", 3, "public"), ("p", 2, "private")]
    assert {it.row["answer"] for it in revisions.taken_out(tmp_path)} == {"42"}


# ---------------------------------------------------------------------- killed, and all at once


def publish_until(folder: Path, moment: int) -> None:
    """Publish, and be killed before the step of this number that reaches the disk."""
    steps = iter(range(moment))

    def killing(step: Any) -> Any:
        def instead(*given: Any) -> Any:
            if next(steps, None) is None:
                os.kill(os.getpid(), signal.SIGKILL)
            return step(*given)

        return instead

    os.fsync = killing(os.fsync)
    for name in ("rename", "mkdir", "open"):
        setattr(Path, name, _method(killing, getattr(Path, name)))
    publish(folder, rows("new"), rows("held"), removed=["a"], made=Made("r", 0))


def _method(killing: Any, step: Any) -> Any:
    def instead(path: Path, *given: Any, **named: Any) -> Any:
        if ".lock" not in path.name:
            return killing(lambda *_: step(path, *given, **named))()
        return step(path, *given, **named)

    return instead


@pytest.mark.process
def test_whenever_a_process_is_killed_the_revision_before_stays_or_the_next_is_whole(
    tmp_path: Path,
) -> None:
    killed = 0
    for moment in range(100):
        folder = tmp_path / str(moment)
        first = published(folder, "a", "b", private=("p",))
        process = FORK.Process(target=publish_until, args=(folder, moment))
        process.start()
        process.join()
        there = revisions.read(folder)
        assert there is not None
        if there != first:
            assert (ids(there.public), ids(there.private)) == (["b", "new"], ["p", "held"])
        # The next one finds its way, and leaves nothing unfinished behind.
        after = publish(folder, rows("new"), rows("held"), removed=["a"], made=Made("r", 0))
        assert after is not None
        assert (ids(after.public), ids(after.private)) == (["b", "new"], ["p", "held"])
        assert revisions.read(folder, 1) == first
        unfinished = [it for it in folder.rglob("*") if it.name.startswith(".unfinished")]
        assert not unfinished or there == after  # killed when all was done
        for path in (folder / "revisions").rglob("hle.jsonl"):
            assert "held" not in path.read_text()
        if process.exitcode == 0:
            break
        assert process.exitcode == -signal.SIGKILL
        killed += 1
    assert killed > 15


@pytest.mark.process
def test_processes_that_publish_at_once_get_numbers_of_their_own(tmp_path: Path) -> None:
    names = [f"q{place}" for place in range(6)]
    processes = [FORK.Process(target=published, args=(tmp_path, name)) for name in names]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * 6
    assert revisions.newest(tmp_path) == 6
    for number in range(1, 7):
        there = revisions.read(tmp_path, number)
        assert there is not None
        assert len(there.public) == number
    assert there is not None
    assert sorted(ids(there.public)) == names


def test_a_lock_that_is_held_too_long_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(revisions, "PATIENCE", 0.1)
    with (
        FileLock(tmp_path / ".lock"),
        refused("run.taken", "hle_screen.dataset"),
    ):
        publish(tmp_path, rows("a"), made=Made("r", 0))


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with refused("file.unwritable", "hle_screen.dataset"):
        publish(tmp_path / "file", rows("a"), made=Made("r", 0))
    (tmp_path / "revisions").write_text("")
    with refused("file.unwritable", "hle_screen.dataset"):
        publish(tmp_path, rows("a"), made=Made("r", 0))


steps = st.lists(
    st.tuples(*[st.lists(st.sampled_from("abcdef"), max_size=3)] * 3), min_size=1, max_size=5
)


@examples(30)
@given(steps)
def test_many_revisions_are_what_was_added_and_removed(some: list[Any]) -> None:
    expected: dict[str, bool] = {}
    with tempfile.TemporaryDirectory() as name:
        folder, last = Path(name), None
        for public, private, removed in some:
            before = dict(expected)
            was = {key: expected.pop(key) for key in removed if key in expected}
            for half, keys in enumerate((public, private)):
                for key in keys:
                    expected.setdefault(key, was.get(key, bool(half)))
            there = publish(
                folder, rows(*public), rows(*private), removed=removed, made=Made("r", 0)
            )
            found = [] if there is None else [(row["id"], False) for row in there.public]
            found += [] if there is None else [(row["id"], True) for row in there.private]
            assert sorted(found) == sorted(expected.items())
            number = there.number if there else None
            assert (number == last) == (before == expected)
            last = number

"""Runs lent by a real store, on a file system and by a server that speaks S3's protocol."""

import asyncio
import json
import os
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from pyarrow import fs
from refusals import refused
from stores import Store, VirtualTime, serving

from raybench.config.storage import below
from raybench.pipeline.storage import Storage, hold, lease, reading, trouble
from raybench.pipeline.storage.lease import Timing
from raybench.pipeline.storage.objects import Objects
from raybench.pipeline.storage.patience import REAL, Clock, Patience
from raybench.pipeline.storage.segments import Piece, digest
from raybench.pipeline.store import RESULTS, Run, open_run

CONFIG = {"seed": 1}


@pytest.fixture(scope="module")
def server() -> Iterator[Store]:
    with serving() as found:
        yield found


@pytest.fixture(params=["file", "s3"])
def uri(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "file":
        return f"file://{tmp_path}/stored"
    found: str = request.getfixturevalue("server").uri(tmp_path.name)
    return found


SILENT = Timing(beat_s=3600)
"""Of processes that show no sign of life during a test."""


def storage(uri: str, timing: Timing = SILENT, clock: Clock | None = None) -> Storage:
    return Storage.at(uri, 1, lambda _: None, timing, clock or VirtualTime().clock())


def begun(folder: Path, uri: str, timing: Timing = SILENT, clock: Clock | None = None) -> Run:
    stored = storage(uri, timing, clock)
    return open_run(folder, "exp", CONFIG, inputs={"data": "d"}, storage=stored)


def killed(run: Run) -> None:
    """Have it look as if its process had gone: the lock of its folder goes with that."""
    os.close(run._lock)


def test_a_run_is_found_whole_by_a_machine_that_has_nothing(uri: str, tmp_path: Path) -> None:
    first = begun(tmp_path / "a", uri)
    journal = first.journal("units")
    journal.extend([{"id": 1}, {"id": 2}])
    journal.append({"id": 3})
    first.write("plots/one.svg", "<svg/>")
    killed(first)
    with begun(tmp_path / "b", uri) as run:
        assert run.resumed
        assert run.id == first.id
        assert [it["id"] for it in run.journal("units").records] == [1, 2, 3]
        assert (run.folder / "plots" / "one.svg").read_text() == "<svg/>"
        assert json.loads((run.folder / "inputs.json").read_text()) == {"data": "d"}
        run.journal("units").append({"id": 4})
        run.write_json(RESULTS, {"run": {}})
        (run.folder / "mlflow.jsonl").write_text("told after the results\n")
    objects = Objects(uri)
    path = f"exp/{first.id}"
    assert objects.get(f"{path}/journal/units.jsonl") == b"".join(
        b'{"id": %d}\n' % each for each in (1, 2, 3, 4)
    )
    assert objects.files(f"{path}/journal") == ["units.jsonl"]
    assert objects.get(f"{path}/mlflow.jsonl") == b"told after the results\n"
    # The first machine's folder is behind, and the run is over: it learns of that.
    with begun(tmp_path / "a", uri) as another:
        assert another.id != first.id
    assert (first.folder / RESULTS).exists()
    assert (first.folder / "journal" / "units.jsonl").read_bytes().count(b"\n") == 4


def test_who_shows_signs_of_life_is_left_alone(uri: str, tmp_path: Path) -> None:
    timing = Timing(beat_s=0.05, stale_s=120)  # the first sign ends the watch
    with begun(tmp_path / "a", uri, timing, REAL) as first:
        first.journal("units").append({"id": 1})
        with begun(tmp_path / "b", uri, timing, REAL) as second:
            assert second.id != first.id
            assert f"exp/{first.id}" in second.passed[0]
            assert [it.name for it in second.folder.parent.iterdir()] == [second.id]
        first.journal("units").append({"id": 2})


def test_who_is_taken_over_learns_of_it_and_counts_no_more(uri: str, tmp_path: Path) -> None:
    time = VirtualTime()
    first = begun(tmp_path / "a", uri, clock=time.clock())
    journal = first.journal("units")
    journal.append({"id": 1})
    with begun(tmp_path / "b", uri) as second:
        assert second.id == first.id
        time.sleep(SILENT.stale_s)  # since it has last seen that the lease is its own
        with refused("run.taken"):
            journal.append({"id": 2})
        with refused("run.taken"):
            first.write_json(RESULTS, {})
        first.__exit__()
        assert not Objects(uri).there(f"exp/{first.id}/{RESULTS}")
        units = second.journal("units")
        units.append({"id": 3})
        assert [it["id"] for it in units.records] == [1, 3]
    with refused("storage.changed") as told:
        begun(tmp_path / "a", uri)
    assert f"Move {first.folder} away" in str(told.value)


def test_of_two_that_take_a_deserted_run_at_once_one_has_it(uri: str, tmp_path: Path) -> None:
    first = begun(tmp_path / "a", uri)
    first.journal("units").append({"id": 1})
    killed(first)
    both_have_written = threading.Barrier(2)
    found: list[Run] = []

    def take(name: str) -> None:
        time = VirtualTime()

        def sleep(seconds: float) -> None:
            time.sleep(seconds)
            if seconds == SILENT.settle_s:
                with suppress(threading.BrokenBarrierError):  # the other was late, and left it
                    both_have_written.wait(200)

        clock = Clock(lambda: time.now, sleep, time.clock().is_done)
        found.append(begun(tmp_path / name, uri, clock=clock))
        both_have_written.abort()

    both = [threading.Thread(target=take, args=(name,)) for name in ("b", "c")]
    for each in both:
        each.start()
    for each in both:
        each.join()
    assert sorted(run.id == first.id for run in found) == [False, True]
    for run in found:
        run.journal("units").append({"id": 2})
        run.__exit__()


@pytest.mark.parametrize("what", ["journal/units", "lease.json"])
def test_what_was_removed_from_the_store_is_told(uri: str, tmp_path: Path, what: str) -> None:
    for name in ("a", "b"):  # of the second, the lease tells what the first had written
        run = begun(tmp_path / name, uri)
        run.journal("units").append({"id": 1})
        killed(run)
    files, root = fs.FileSystem.from_uri(uri)
    for each in Objects(uri).files(f"exp/{run.id}"):
        if each.startswith(what):
            files.delete_file(f"{root}/exp/{run.id}/{each}")
    with refused("storage.changed"):
        begun(tmp_path / "c", uri)


def test_a_run_begun_without_a_storage_is_there_whole_when_it_goes_on_with_one(
    uri: str, tmp_path: Path
) -> None:
    with open_run(tmp_path / "a", "exp", CONFIG) as run:
        run.journal("units").extend([{"id": 1}, {"id": 2}])
    killed(begun(tmp_path / "a", uri))
    with begun(tmp_path / "b", uri) as found:
        assert [it["id"] for it in found.journal("units").records] == [1, 2]


def test_what_the_store_was_away_for_counts_when_the_run_goes_on(
    server: Store, tmp_path: Path
) -> None:
    uri = server.uri(tmp_path.name)
    run = begun(tmp_path / "a", uri)
    units = run.journal("units")
    units.append({"id": 1})
    server.stop()
    try:
        with refused("storage.unreachable", "storage") as failed:
            units.append({"id": 2})
        run.__exit__()  # it does not wait once more
    finally:
        server.start()
    assert failed.value.given == uri.partition("?")[0]
    assert "storage_patience_s" in str(failed.value)
    assert [it["id"] for it in units.records] == [1]
    with begun(tmp_path / "a", uri) as again:
        assert again.id == run.id
        assert [it["id"] for it in again.journal("units").records] == [1, 2]
    with begun(tmp_path / "b", uri) as elsewhere:
        assert [it["id"] for it in elsewhere.journal("units").records] == [1, 2]


def test_what_a_kill_left_empty_is_no_reason_to_leave_the_run_of_another(
    uri: str, tmp_path: Path
) -> None:
    first = begun(tmp_path / "a", uri)
    first.journal("units").append({"id": 1})
    killed(first)
    newer = tmp_path / "b" / "exp" / f"9{first.id[1:]}"  # killed before its lease was there
    newer.mkdir(parents=True)
    with begun(tmp_path / "b", uri) as run:
        assert run.id == first.id


def test_raised_limits_go_on_from_a_copy_that_is_stored_as_well(uri: str, tmp_path: Path) -> None:
    def opened(machine: str, limit: int) -> Run:
        return open_run(tmp_path / machine, "exp", {"n": limit}, limits=["n"], storage=storage(uri))

    with opened("a", 1) as run:
        run.journal("units").append({"id": 1})
        run.write_json(RESULTS, {"run": {"limits": {"n": 1}}})
    further = opened("b", 2)
    assert [it["id"] for it in further.journal("units").records] == [1]
    killed(further)
    with opened("c", 2) as again:
        assert again.id == further.id != run.id
        assert [it["id"] for it in again.journal("units").records] == [1]


def test_trouble_is_none_where_a_store_can_be_written_to(uri: str) -> None:
    assert trouble(uri) is None


def test_a_server_of_ones_own_may_be_named_in_the_environment(
    server: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.port}")
    assert trouble(f"s3://bucket/{tmp_path.name}") is None
    assert server.names(tmp_path.name) == [".raybench"]


def test_trouble_is_told_in_a_line(server: Store) -> None:
    told = trouble(f"s3://nobody/made/this?{server.query}")
    assert told
    assert "s3://nobody" in told or "bucket" in told
    assert "\n" not in told
    assert trouble("s3://bucket/x?bogus=1")


def test_who_only_reads_a_run_has_it_in_the_cache(
    uri: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    run = begun(tmp_path / "a", uri)
    units = run.journal("units")
    units.append({"id": 1})
    address = below(uri, "exp", run.id)
    folder = reading.fetched(address)
    assert folder
    assert (folder / "journal" / "units.jsonl").read_bytes() == b'{"id": 1}\n'
    units.append({"id": 2})
    run.write_json(RESULTS, {"run": {}})
    assert reading.fetched(address) == folder
    assert (folder / "journal" / "units.jsonl").read_bytes() == b'{"id": 1}\n{"id": 2}\n'
    assert (folder / RESULTS).exists()
    run.__exit__()
    assert reading.fetched(below(uri, "exp", "none")) is None
    (folder / "journal" / "units.jsonl").write_text("{}\n")
    assert reading.fetched(address) == folder
    assert (folder / "journal" / "units.jsonl").read_bytes() == b'{"id": 1}\n{"id": 2}\n'
    assert [it.name for it in folder.parent.iterdir()] == [run.id]


@pytest.mark.parametrize("name", ["/{0}/mine", "../../../../../../../../../../{0}/mine"])
def test_a_stranger_s_run_writes_nowhere_but_into_the_cache(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    mine = tmp_path / "mine.jsonl"
    mine.write_bytes(b'{"a": 1}\n{"b": 2}')  # without a line's end: a journal would be cut
    stranger = tmp_path / "stored" / "exp" / "run"
    stranger.mkdir(parents=True)
    named = name.format(str(tmp_path).strip("/"))
    said = {"generation": 1, "owner": "aa", "beat": 0, "at_work": False, "tail": [1, "aa"]}
    said["journals"] = {named: {"merged": None, "first": 0, "spans": []}}
    (stranger / lease.PATH).write_text(json.dumps(said))
    with refused("storage.unreachable"):
        reading.fetched(f"file://{stranger}")
    assert mine.read_bytes() == b'{"a": 1}\n{"b": 2}'


def test_a_reader_is_told_of_a_store_that_is_away(
    server: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    gone = server.uri("exp/run").replace(f":{server.port}", ":9")
    with refused("storage.unreachable") as failed:
        reading.fetched(gone, patience_s=0)
    assert "storage_patience_s" not in str(failed.value)  # there is no run that would wait


class Overtaken(Objects):
    """A store in which another process takes a run's lease while its segments are listed."""

    at = ""

    def files(self, path: str) -> list[str]:
        if self.at and path.endswith("/journal"):
            raw = self.get(self.at)
            assert raw
            self.put(self.at, lease.Lease.of(raw).taken("bb").text().encode())
            self.at = ""
        return super().files(path)


def test_who_is_overtaken_while_it_looks_at_what_there_is_leaves_the_lease(
    uri: str, tmp_path: Path
) -> None:
    first = begun(tmp_path / "a", uri)
    first.journal("units").append({"id": 1})
    killed(first)
    objects, at = Overtaken(uri), f"exp/{first.id}/{lease.PATH}"
    objects.at = at
    patience, clock = Patience("the store", 1, lambda _: None), VirtualTime().clock()
    stored = Storage(objects, patience, SILENT, clock)
    with open_run(tmp_path / "b", "exp", CONFIG, inputs={"data": "d"}, storage=stored) as run:
        assert not run.resumed
        assert run.id != first.id
    raw = objects.get(at)
    assert raw and lease.Lease.of(raw).term.owner == "bb"


def test_who_waits_for_the_pieces_of_a_journal_can_leave(tmp_path: Path) -> None:
    lines = [b'{"id": %d}\n' % each for each in range(40)]
    pieces = [Piece(len(it), digest(it), f"{each}") for each, it in enumerate(lines)]
    hold.agree(tmp_path / "whole.jsonl", pieces, lambda it: lines[int(it.path)])
    assert (tmp_path / "whole.jsonl").read_bytes() == b"".join(lines)

    begun, over = threading.Event(), threading.Event()

    def fetched(piece: Piece) -> bytes:
        if piece.path == "9":
            begun.set()
            over.wait(100)
        return lines[int(piece.path)]

    async def leave() -> None:
        async def waiting() -> None:
            hold.agree(tmp_path / "left.jsonl", pieces, fetched)

        task = asyncio.create_task(waiting())
        threading.Thread(target=lambda: (begun.wait(), task.cancel())).start()
        await task

    try:
        with pytest.raises(asyncio.CancelledError):
            asyncio.run(leave())
        assert not over.is_set()
        assert (tmp_path / "left.jsonl").read_bytes() == lines[0]
    finally:
        over.set()

"""Questions from a hub of this machine, and what is said where it hands out none."""

import errno
import hashlib
import os
import re
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import huggingface_hub.constants
import huggingface_hub.utils._http
import pytest
from http_endpoint import Handler, HttpEndpoint
from refusals import refused
from toys import REVISION, WRITERS, Closed, Dialects, Tongues, Toy, rows

from raybench.benchmarks import Benchmark, Source
from raybench.config import DataConf
from raybench.errors import ConfigurationError
from raybench.pipeline import datasets, hub_files, sources
from raybench.pipeline.datasets import Dataset, Selection

ALL = Selection()


class Hub(HttpEndpoint):
    """Has some files, and hands out those of one dataset to one person only."""

    def __init__(self) -> None:
        super().__init__()
        self.files: dict[str, bytes] = {}
        self.asked: list[str] = []
        self.down = False
        self.busy = 0

    def play(self, handler: Handler) -> None:
        path = unquote(urlsplit(handler.path).path).removeprefix("/datasets/")
        self.asked.append(path)
        repository, _, file = path.partition(f"/resolve/{REVISION}/")
        if self.down or self.busy:
            self.busy -= bool(self.busy)
            handler.send(503, {"error": "busy"})
        elif repository == "org/closed" and handler.headers["Authorization"] != "Bearer mine":
            handler.send(403, {"error": "GatedRepo"}, **{"X-Error-Code": "GatedRepo"})
        elif repository not in {name.rpartition(":")[0] for name in self.files}:
            handler.send(404, {"error": "RepoNotFound"}, **{"X-Error-Code": "RepoNotFound"})
        elif (content := self.files.get(f"{repository}:{file}")) is None:
            handler.send(404, {"error": "EntryNotFound"}, **{"X-Error-Code": "EntryNotFound"})
        else:
            mark = f'"{hashlib.sha1(content).hexdigest()}"'
            handler.send(200, content, **{"X-Repo-Commit": REVISION, "ETag": mark})


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(huggingface_hub.constants, "HF_TOKEN_PATH", str(tmp_path / "token"))
    monkeypatch.delenv("HF_TOKEN", raising=False)
    # The library tries again for half a minute; nobody's hub comes back here.
    monkeypatch.setattr(huggingface_hub.utils._http.time, "sleep", lambda seconds: None)
    with Hub() as server:
        monkeypatch.setenv("HF_ENDPOINT", server.url.removesuffix("/v1"))
        yield server
    huggingface_hub.utils._http.close_session()  # what a test set, it would keep


def prepared(folder: Path, benchmark: Benchmark, selection: Selection = ALL) -> Dataset:
    (dataset,) = datasets.prepare([benchmark], DataConf(), selection, folder / "chosen")
    return dataset


def refusal(folder: Path, *asked: Benchmark) -> str:
    """Return why what the hub has cannot be asked."""
    with pytest.raises(ConfigurationError) as refused:
        datasets.prepare(asked, DataConf(), ALL, folder / "chosen")
    return str(refused.value)


def test_questions_are_fetched_once_at_the_pinned_revision(hub: Hub, tmp_path: Path) -> None:
    hub.files = {"org/toy:data/test-0.parquet": WRITERS["parquet"](rows(30))}
    one = prepared(tmp_path, Toy())
    assert (one.questions, one.by_language) == (30, {"en": 30})
    assert one.origin == f"hub: org/toy@{REVISION}"
    assert one.files == ("org/toy/data/test-0.parquet",)
    assert set(hub.asked) == {f"org/toy/resolve/{REVISION}/data/test-0.parquet"}
    hub.down = True
    hub.asked.clear()
    assert prepared(tmp_path, Toy()) == one
    assert hub.asked == []


def test_questions_of_the_hub_are_those_of_a_folder(hub: Hub, tmp_path: Path) -> None:
    content = WRITERS["parquet"](rows(30))
    hub.files = {"org/toy:data/test-0.parquet": content}
    (tmp_path / "toy.parquet").write_bytes(content)
    (local,) = datasets.prepare([Toy()], DataConf(dir=str(tmp_path)), ALL, tmp_path / "local")
    assert prepared(tmp_path, Toy()).digest == local.digest


def test_only_the_languages_asked_for_are_fetched(hub: Hub, tmp_path: Path) -> None:
    english = [{"topic": row["field"], **row} for row in rows(4)]
    hub.files = {
        "org/tongues:test/tongues_DE-DE.csv": WRITERS["csv"](rows(3)),
        "org/tongues:test/tongues_SW-KE.csv": WRITERS["csv"](rows(2)),
        "org/english:all.jsonl": WRITERS["jsonl"](english),
    }
    dataset = prepared(tmp_path, Tongues())
    assert dataset.by_language == {"de": 3, "en": 4, "sw": 2}
    assert dataset.origin == f"hub: org/tongues@{REVISION}, org/english@{REVISION}"
    hub.asked.clear()
    with refused("hub.missing", given="test/tongues_TE.csv"):
        prepared(tmp_path, Tongues(), Selection(languages=("te",)))
    assert {path.rpartition("/")[2] for path in hub.asked} == {"tongues_TE.csv"}


def test_what_lacks_the_languages_is_left_out_and_not_fetched(hub: Hub, tmp_path: Path) -> None:
    hub.files = {"org/tongues:test/tongues_TE.csv": WRITERS["csv"](rows(3))}
    asked, chosen = (Tongues(), Dialects()), Selection(languages=("te",), subjects=("logic",))
    found = datasets.prepare(asked, DataConf(), chosen, tmp_path / "chosen")
    assert [(part.benchmark, part.by_language) for part in found] == [("tongues", {"te": 1})]
    assert [*found.left_out] == ["dialects"] and found.left_out["dialects"].endswith(" te")
    assert {path.partition("/resolve/")[0] for path in hub.asked} == {"org/tongues"}
    hub.files["org/tongues:test/tongues_DE-DE.csv"] = WRITERS["csv"](rows(3))
    found = datasets.prepare(
        [Tongues()], DataConf(), Selection(languages=("de",)), tmp_path / "chosen"
    )
    assert found.notes == ()  # what was not asked for is not missed


def test_a_wrong_row_of_the_hub_is_named(hub: Hub, tmp_path: Path) -> None:
    hub.files = {"org/toy:data/test-0.parquet": WRITERS["parquet"](rows(3) + rows(1))}
    with refused("data.invalid", "data.dir"):
        prepared(tmp_path, Toy())


def test_gated_questions_are_for_those_who_accepted_the_terms(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.files = {"org/closed:all.csv": WRITERS["csv"](rows(5))}
    with refused("hub.access", given="org/closed") as caught:
        prepared(tmp_path, Closed())
    said = str(caught.value)
    for part in (f"{hub.url.removesuffix('/v1')}/datasets/org/closed", "HF_TOKEN", "data=samples"):
        assert part in said
    others = (Toy(), Closed(), Tongues())
    both = refusal(tmp_path, *others)
    assert both.startswith(said) and both.endswith("benchmarks=[toy,tongues]")
    assert hub.asked == []  # it is known without asking
    monkeypatch.setenv("HF_TOKEN", "another's")
    assert refusal(tmp_path, Closed()) == said
    monkeypatch.setenv("HF_TOKEN", "mine")
    assert prepared(tmp_path, Closed()).questions == 5
    # What is here needs no permission any more.
    monkeypatch.delenv("HF_TOKEN")
    assert prepared(tmp_path, Closed()).questions == 5


def test_a_dataset_that_was_withdrawn_is_named(hub: Hub, tmp_path: Path) -> None:
    with refused("hub.missing", given="data/test-0.parquet") as caught:
        prepared(tmp_path, Toy())
    for part in ("toy: ", "org/toy", REVISION, "HF_TOKEN"):
        assert part in str(caught.value)


def test_a_hub_that_is_busy_or_not_there_is_told_with_the_mend(
    hub: Hub,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    hub.down = True
    with refused("hub.unreachable"):
        prepared(tmp_path, Toy())
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with refused("hub.unreachable") as failed:
        prepared(tmp_path, Toy())
    assert failed.value.given == "data/test-0.parquet"
    for part in ("org/toy", os.strerror(errno.ECONNREFUSED), "data.dir=FOLDER", "data=samples"):
        assert part in str(failed.value)
    # Of nothing else that could be asked, for nothing else was wanted.
    assert "benchmarks=" not in str(failed.value)
    assert "".join(capfd.readouterr()) == ""  # of the library's own remarks, nothing


def test_a_hub_that_is_not_there_is_not_waited_for(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []
    monkeypatch.setattr(time, "sleep", waits.append)
    hub.files = {"org/closed:all.csv": WRITERS["csv"](rows(5))}
    monkeypatch.setenv("HF_TOKEN", "mine")
    prepared(tmp_path, Closed())
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with refused("hub.unreachable"):
        datasets.prepare([Toy(), Closed()], DataConf(), ALL, tmp_path / "chosen")
    assert 0 < sum(waits) <= 5


def test_a_hub_that_never_answers_is_waited_for_once(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub_files, "_DEADLINE_S", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{silent.getsockname()[1]}")
        with refused("hub.unreachable"):
            prepared(tmp_path, Toy())
        silent.accept()[0].close()
        silent.setblocking(False)
        with pytest.raises(BlockingIOError):
            silent.accept()  # nobody came a second time


def test_a_hub_that_is_busy_for_a_moment_is_asked_again(hub: Hub, tmp_path: Path) -> None:
    hub.files = {"org/toy:data/test-0.parquet": WRITERS["parquet"](rows(3))}
    hub.busy = 2
    assert prepared(tmp_path, Toy()).questions == 3


def test_a_library_that_is_told_to_stay_offline_is_not_asked_again(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []
    monkeypatch.setattr(time, "sleep", waits.append)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    huggingface_hub.utils._http.close_session()
    with refused("hub.unreachable"):
        prepared(tmp_path, Toy())
    assert waits == []


def test_without_a_network_open_questions_are_no_problem_yet(hub: Hub) -> None:
    hub.down = True
    hub_files.check_access(Toy.source, "data/test-0.parquet")
    assert hub.asked == []


class Parted(Toy):
    """Questions in several files."""

    name = "parted"
    source = Source("org/parted", REVISION, {"en": ("1.jsonl", "2.jsonl", "3.csv")}, licence="MIT")
    size = 7


def test_questions_may_be_in_several_files(hub: Hub, tmp_path: Path) -> None:
    hub.files = {
        "org/parted:1.jsonl": WRITERS["jsonl"](rows(3)),
        "org/parted:2.jsonl": WRITERS["jsonl"](rows(2, start=3)),
    }
    assert not sources.is_here(Parted(), ("en",))
    with refused("hub.missing", given="3.csv"):
        prepared(tmp_path, Parted())
    hub.files["org/parted:3.csv"] = WRITERS["csv"](rows(2, start=5))
    dataset = prepared(tmp_path, Parted())
    assert (dataset.questions, dataset.by_language) == (7, {"en": 7})
    assert dataset.files == ("org/parted/1.jsonl", "org/parted/2.jsonl", "org/parted/3.csv")
    assert dataset.origin == f"hub: org/parted@{REVISION}"
    assert sources.is_here(Parted(), ("en",))


def test_what_is_there_twice_in_several_files_is_told(hub: Hub, tmp_path: Path) -> None:
    hub.files = {
        "org/parted:1.jsonl": WRITERS["jsonl"](rows(3)),
        "org/parted:2.jsonl": WRITERS["jsonl"](rows(1)),
        "org/parted:3.csv": WRITERS["csv"](rows(2, start=5)),
    }
    said = refusal(tmp_path, Parted())
    assert re.search(r"org/parted/2\.jsonl, line 1: [\w ]+: org/parted/1\.jsonl, line 1", said)


def test_another_number_of_questions_than_the_methodologys_is_told(
    hub: Hub, tmp_path: Path
) -> None:
    hub.files = {
        "org/parted:1.jsonl": WRITERS["jsonl"](rows(3)),
        "org/parted:2.jsonl": WRITERS["jsonl"](rows(2, start=3)),
        "org/parted:3.csv": WRITERS["csv"](rows(2, start=5)),
    }

    def notes(chosen: Selection, **conf: Any) -> tuple[str, ...]:
        made = datasets.prepare([Parted()], DataConf(**conf), chosen, tmp_path / "chosen")
        return made.notes

    assert notes(ALL) == notes(Selection(limit=2)) == ()
    assert notes(ALL, dir=str(local_copy(tmp_path, hub))) == ()
    hub.files["org/parted:3.csv"] = WRITERS["csv"](rows(1, start=5))
    folder = str(local_copy(tmp_path, hub))
    (told,) = notes(ALL, dir=folder)
    assert told.startswith("parted: 6 ") and told.endswith(" 7")
    assert notes(Selection(limit=2), dir=folder) == (told,)
    assert notes(Selection(subjects=("logic",)), dir=folder) == ()


def local_copy(folder: Path, hub: Hub) -> Path:
    """Copy a repository as `git clone` would."""
    (folder / "copies" / "parted").mkdir(parents=True, exist_ok=True)
    for name, content in hub.files.items():
        (folder / "copies" / "parted" / name.partition(":")[2]).write_bytes(content)
    return folder / "copies"

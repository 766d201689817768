"""How a run's telling ends: what is said to be all there is, and nobody waits for others long."""

import itertools
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from statements import code, codes, values
from stores import VirtualTime
from tracked import UNEXPECTED, wait_for

from raybench.tracking.mlflow import sender, sync
from raybench.tracking.mlflow.sender import Sender
from raybench.tracking.mlflow.sync import Done
from raybench.tracking.mlflow.writer import Writer

NOWHERE = "http://127.0.0.1:1"
"""Nothing is sent there: what sends is put aside."""


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Writer, "send", lambda self, over: over)
    for name, seconds in {"_PAUSE_S": 0.01, "_AGAIN_S": 0.01, "_PATIENCE_S": 200.0}.items():
        monkeypatch.setattr(sender, name, seconds)


def test_what_a_server_has_only_heard_the_beginning_of_is_not_said_to_be_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    silent = threading.Event()

    def send(_: Writer, over: bool) -> bool:
        return silent.wait(60) if over else True

    monkeypatch.setattr(Writer, "send", send)
    monkeypatch.setattr(sender, "_PATIENCE_S", 0.2)
    warnings: list[str] = []
    run = Sender(tmp_path, NOWHERE, warn=warnings.append, say=UNEXPECTED.append)
    run.start()
    wait_for(lambda: run.complete, 60)
    run.close()
    assert not run.complete
    assert code(values(warnings[0])["why"]) == "mlflow.no_answer"
    silent.set()
    run._thread.join(60)
    assert not run.complete  # the person was told so, and how it is mended


def test_each_outage_is_told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ends = iter([False, False, True, False, True])

    def send(_: Writer, over: bool) -> bool:
        if not next(ends, True):
            raise ConnectionError("down")
        return True

    monkeypatch.setattr(Writer, "send", send)
    told: list[str] = []
    run = Sender(tmp_path, NOWHERE, warn=told.append, say=UNEXPECTED.append)
    run.start()
    wait_for(lambda: len(told) == 2, 60)
    run.wake()
    wait_for(lambda: len(told) == 4, 60)
    run.close()
    assert ["failed" in it for it in told] == [True, False] * 2
    assert ["answers again" in it for it in told] == [False, True] * 2


def others(monkeypatch: pytest.MonkeyPatch, send: Callable[..., Done]) -> None:
    """Have earlier runs without end, each sent in this way."""

    def waiting(*_: object, **__: object) -> Iterator[Path]:
        return (Path(f"/runs/{number}") for number in itertools.count())

    monkeypatch.setattr(sync, "waiting", waiting)
    monkeypatch.setattr(sync, "send", send)


def test_earlier_runs_hold_up_the_end_for_a_while_only_and_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended, told, said = threading.Event(), threading.Event(), list[str]()
    time = VirtualTime()

    def own(_: Writer, over: bool) -> bool:
        if over:
            ended.set()
        return True

    def send(folder: Path, uri: str, *, moved: Callable[[], None]) -> Done:
        if ended.is_set():
            told.wait(60)
        time.sleep(1)
        return Done("sent")

    def say(text: str) -> None:
        said.append(text)
        told.set()

    monkeypatch.setattr(Writer, "send", own)
    others(monkeypatch, send)
    monkeypatch.setattr(sender, "_TELL_S", 0.01)
    run = Sender(
        tmp_path, NOWHERE, warn=UNEXPECTED.append, say=say, runs_dir=tmp_path,
        clock=lambda: time.now,
    )  # fmt: skip
    run.start()
    run.close()
    run._thread.join(60)
    assert not run._thread.is_alive()
    assert run.complete
    assert codes(said) == ["mlflow.sending_earlier", "mlflow.sent_earlier", "mlflow.more_left"]
    assert values(said[0]) == {"seconds": sender._OTHERS_S}
    assert f"python -m raybench.tracking sync {tmp_path}" in said[2]


def test_an_earlier_run_of_which_there_is_much_does_not_keep_this_one_from_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []
    time = VirtualTime()

    def own(_: Writer, over: bool) -> bool:
        order.append("own end" if over else "own")
        return True

    def send(folder: Path, uri: str, *, moved: Callable[[], None]) -> Done:
        order.append(folder.name)
        if order.count(folder.name) > 1:
            time.sleep(2 * sender._OTHERS_S)  # there is no more time then
        while True:
            moved()

    monkeypatch.setattr(Writer, "send", own)
    others(monkeypatch, send)
    said: list[str] = []
    run = Sender(
        tmp_path, NOWHERE, warn=UNEXPECTED.append, say=said.append, runs_dir=tmp_path,
        clock=lambda: time.now,
    )  # fmt: skip
    run.start()
    wait_for(lambda: "0" in order, 60, every_s=0.01)
    run.close()
    run._thread.join(60)
    assert run.complete
    assert order == ["own", "0", "own end", "0"]  # it is gone on with while there is time
    assert code(said[-1]) == "mlflow.more_left"


def test_what_mlflow_refuses_of_an_earlier_run_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    warnings: list[str] = []
    monkeypatch.setattr(sync, "waiting", lambda *_, **__: iter([tmp_path / "one"]))
    monkeypatch.setattr(sync, "send", lambda *_, **__: Done("sent", "id", ["'too-long'"]))
    run = Sender(tmp_path, NOWHERE, warn=warnings.append, say=print, runs_dir=tmp_path)
    run.start()
    run.close()
    (told,) = warnings
    assert str(tmp_path / "one") in told
    assert "'too-long'" in told


@pytest.mark.parametrize("done", [Done("busy"), ConnectionError("down")])
def test_a_run_is_not_all_there_before_its_parts_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, done: Done | Exception
) -> None:
    def send(*_: object, **__: object) -> Done:
        if isinstance(done, Exception):
            raise done
        return done

    warnings: list[str] = []
    monkeypatch.setattr(sync, "left", lambda *_: iter([tmp_path / "parts" / "demo" / "one"]))
    monkeypatch.setattr(sync, "send", send)
    run = Sender(tmp_path, NOWHERE, warn=warnings.append, say=UNEXPECTED.append)
    run.start()
    run.close()
    assert not run.complete
    assert len(warnings) == isinstance(done, Exception)

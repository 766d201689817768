"""Waiting for a store, also for one that hangs."""

import asyncio
import signal
import socket
import threading
from collections.abc import Iterator
from types import FrameType

import pytest
from refusals import refused
from stores import CREDENTIALS, VirtualTime

from raybench.errors import RunFailed
from raybench.pipeline.storage.objects import Objects
from raybench.pipeline.storage.patience import AwayError, Patience, SilentError, answer, reason


class Hanging:
    """A call that comes to nothing until it is let go."""

    def __init__(self) -> None:
        self.begun, self.over = threading.Event(), threading.Event()

    def __call__(self) -> None:
        self.begun.set()
        self.over.wait(200)


@pytest.fixture
def hanging() -> Iterator[Hanging]:
    found = Hanging()
    yield found
    found.over.set()


def patience(seconds: float = 100.0) -> Patience:
    return Patience("the store", seconds, lambda _: None)


def test_what_it_comes_to_is_returned_or_raised() -> None:
    def missing() -> None:
        raise FileNotFoundError("it")

    assert patience().call(lambda: 7) == 7
    with pytest.raises(FileNotFoundError, match="it"):
        patience().call(missing)
    with pytest.raises(ZeroDivisionError):
        patience().call(lambda: 1 // 0)


def test_what_fails_for_long_is_away() -> None:
    def ask() -> None:
        raise OSError("refused")

    said: list[str] = []
    time = VirtualTime()
    with refused("storage.unreachable", "storage", kind=AwayError) as failed:
        Patience("the store", 1800, said.append, time.clock()).call(ask)
    assert isinstance(failed.value, RunFailed)
    assert time.now == 1800
    (remark,) = said
    assert "refused" in remark


def test_who_waits_for_one_that_hangs_can_leave(hanging: Hanging) -> None:
    async def waiting() -> None:
        patience().call(hanging)

    async def leave() -> None:
        # As Ctrl-C does, which runs between two steps of whoever blocks the loop.
        task = asyncio.create_task(waiting())
        threading.Thread(target=lambda: (hanging.begun.wait(), task.cancel())).start()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(leave())
    assert not hanging.over.is_set()


def test_a_signal_ends_the_wait(hanging: Hanging) -> None:
    def stop(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    former = signal.signal(signal.SIGUSR1, stop)
    main = threading.main_thread().ident
    assert main

    def send() -> None:
        hanging.begun.wait()
        signal.pthread_kill(main, signal.SIGUSR1)

    try:
        threading.Thread(target=send).start()
        with pytest.raises(KeyboardInterrupt):
            patience().call(hanging)
    finally:
        signal.signal(signal.SIGUSR1, former)
    assert not hanging.over.is_set()


def test_a_server_that_takes_requests_and_says_nothing_is_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    with socket.create_server(("127.0.0.1", 0), backlog=50) as server:
        where = f"scheme=http&endpoint_override=127.0.0.1:{server.getsockname()[1]}"
        with refused("storage.unreachable", "storage", kind=AwayError):
            patience(0).call(
                lambda: Objects(f"s3://bucket/place?{where}", silence_s=0.2, tries=1).put("it", b"")
            )


@pytest.mark.parametrize(("seconds", "waited"), [(0.2, 120), (1800, 1800)])
def test_one_that_hangs_is_told_of_and_given_up(
    hanging: Hanging, seconds: float, waited: float
) -> None:
    said: list[float] = []
    time = VirtualTime()
    found = Patience("the store", seconds, lambda _: said.append(time.now), time.clock(hangs=True))
    with refused("storage.unreachable", "storage", kind=AwayError):
        found.call(hanging)  # a try has its time however little is waited for
    assert found.away
    assert time.now == waited
    assert said == [10]  # seconds after which a user learns of it


def test_an_answer_is_waited_for_so_long(hanging: Hanging) -> None:
    said: list[str] = []
    clock = VirtualTime().clock(hangs=True)
    with pytest.raises(SilentError, match=" 50 s"):
        answer(hanging, 50, slow=lambda: said.append("slow"), slow_s=10, clock=clock)
    assert said == ["slow"]
    assert answer(lambda: 7, 5) == 7


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("refused\n at once (Request ID: 1)", "refused at once"),
        ("Failed to get token.\nSee Azure::Core::Diagnostics::Logger for", "Failed to get token."),
        (
            "google::cloud::Status(UNAVAILABLE: Retry policy exhausted. Learn more at https://x. "
            "The underlying error message was: CURL error [6]=no host error_info={reason=}",
            "CURL error [6]=no host",
        ),
    ],
)
def test_what_a_store_says_is_told_in_a_line(text: str, told: str) -> None:
    assert reason(OSError(text)) == told

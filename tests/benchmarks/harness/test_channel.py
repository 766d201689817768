"""Messages arrive whole, and what is none is told from an end."""

import os
from collections.abc import Iterator

import pytest

from raybench.benchmarks.parts.harness import channel
from raybench.benchmarks.parts.harness.channel import Channel, Ended, Garbled


@pytest.fixture
def pipe() -> Iterator[tuple[Channel, int]]:
    """Yield an end, and the descriptor that feeds it."""
    reading, writing = os.pipe()
    end = Channel(reading, os.dup(writing))
    yield end, writing
    end.close()
    os.close(writing)


def framed(body: bytes) -> bytes:
    return len(body).to_bytes(8, "big") + body


def test_messages_arrive_as_they_were_sent(pipe: tuple[Channel, int]) -> None:
    end, _ = pipe
    for message in (None, [1, "\ud800", {"a": [1.5]}], "x" * 30_000):
        end.send(message)
        assert end.receive() == message


def test_a_message_may_come_in_parts(pipe: tuple[Channel, int]) -> None:
    end, feed = pipe
    for byte in framed(b"[1, 2]"):
        os.write(feed, bytes([byte]))
    assert end.receive() == [1, 2]


@pytest.mark.parametrize("body", [b"", b"[1, 2", b"\xff\xfe\xfd", b"[" * 5_000, b"1" * 5_000])
def test_what_is_no_message_is_garbled(pipe: tuple[Channel, int], body: bytes) -> None:
    end, feed = pipe
    os.write(feed, framed(body))
    with pytest.raises(Garbled):
        end.receive()


def test_a_flood_is_refused_before_it_is_read(
    pipe: tuple[Channel, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    end, feed = pipe
    monkeypatch.setattr(channel, "LONGEST", 3 << 20)
    os.write(feed, (1 << 60).to_bytes(8, "big"))
    with pytest.raises(Garbled, match="3 MiB"):
        end.receive()


def test_an_end_is_told_in_the_middle_too() -> None:
    for some in (b"", b"\x00\x00", framed(b"[1, 2]")[:-1]):
        reading, writing = os.pipe()
        os.write(writing, some)
        os.close(writing)
        with pytest.raises(Ended):
            Channel(reading, 0).receive()
        os.close(reading)


def test_sending_to_nobody_is_an_end() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with pytest.raises(Ended):
        Channel(0, writing).send([1])
    os.close(writing)

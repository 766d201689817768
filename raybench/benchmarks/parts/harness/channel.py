"""Messages over a pair of pipes: plain data, each preceded by its length.

Runs in the sandbox: the standard library only, Python 3.11 and 3.12.
"""

import json
import os
from typing import Any

LONGEST = 64 << 20
"""Bytes of a message. A longer one is a flood."""
_HEAD = 8


class Ended(Exception):
    """The other end is closed."""


class Garbled(Exception):
    """What came is no message."""


class Channel:
    """One end. Messages wait for each other: nobody sends two without an answer between."""

    def __init__(self, reading: int, writing: int) -> None:
        self._reading, self._writing = reading, writing

    def send(self, message: Any) -> None:
        """Send plain data."""
        body = json.dumps(message).encode("ascii")
        left = memoryview(len(body).to_bytes(_HEAD, "big") + body)
        try:
            while left:
                left = left[os.write(self._writing, left) :]
        except OSError as error:
            raise Ended(str(error)) from None

    def receive(self) -> Any:
        """Return what the other end sends next."""
        length = int.from_bytes(self._exactly(_HEAD), "big")
        if length > LONGEST:
            raise Garbled(f"it is longer than {LONGEST >> 20} MiB")
        body = self._exactly(length)
        try:
            return json.loads(body)
        except (ValueError, RecursionError) as error:
            raise Garbled(str(error)[:200]) from None

    def close(self) -> None:
        """Close this end."""
        os.close(self._reading)
        os.close(self._writing)

    def _exactly(self, length: int) -> bytes:
        parts = bytearray()
        while len(parts) < length:
            try:
                part = os.read(self._reading, min(length - len(parts), 1 << 20))
            except OSError as error:
                raise Ended(str(error)) from None
            if not part:
                raise Ended("it closed its end")
            parts += part
        return bytes(parts)

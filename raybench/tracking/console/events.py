"""Progress for programs: JSON objects, a line each, on stderr."""

import json
import sys
from datetime import UTC, datetime
from typing import Any

from raybench.tracking.console.plain import Paced
from raybench.tracking.console.streams import write


def event(kind: str, /, **facts: Any) -> str:
    """Return an event as one line: what it is, when it was, and what there is to know of it."""
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    # All in ASCII, so that no stream lacks a letter of it and no reader is led astray by one.
    return json.dumps({"event": kind, "time": now, **facts}, default=str)


def emit(kind: str, /, **facts: Any) -> None:
    """Write an event down."""
    write(sys.stderr, event(kind, **facts))


class Events(Paced):
    """Tells in events."""

    def tell(self) -> None:
        """Write how far the run is."""
        write(self._stream, event("progress", **self._state.to_json()))

    def say(self, text: str) -> None:
        """Write what a person would be told."""
        write(self._stream, event("note", text=text))

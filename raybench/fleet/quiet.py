"""Keeping Ray's remarks off the terminal."""

import logging
import os
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_STDERR, _CHUNK = 2, 65_536


def quieten() -> None:
    """Quieten Ray's loggers: importing ray.serve.llm sets the root logger to INFO."""
    logging.getLogger().setLevel(logging.WARNING)
    for name in list(logging.root.manager.loggerDict):
        if name.startswith("ray"):
            logging.getLogger(name).setLevel(logging.WARNING)


@contextmanager
def without_lines(of: str) -> Iterator[None]:
    """Keep lines with this text off stderr for as long as this lasts, whoever prints them.

    Ray's C++ core prints there itself; its level of logging, which would silence this, would
    silence the logs of the whole cluster.
    """
    unwanted = re.compile(rb"[^\r\n]*" + re.escape(of.encode()) + rb"[^\n]*\n")
    sys.stderr.flush()
    terminal = os.dup(_STDERR)
    reader, writer = os.pipe()

    def pass_on() -> None:
        while chunk := os.read(reader, _CHUNK):
            os.write(terminal, unwanted.sub(b"", chunk))

    passing = threading.Thread(target=pass_on, daemon=True)
    passing.start()
    os.dup2(writer, _STDERR)
    os.close(writer)
    try:
        yield
    finally:
        sys.stderr.flush()
        os.dup2(terminal, _STDERR)  # closes the pipe's last end: what is in it is passed on
        passing.join()
        os.close(reader)
        os.close(terminal)

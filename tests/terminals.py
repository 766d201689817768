"""A terminal in a test: a real pseudo-terminal, and what a person would see on its screen."""

import fcntl
import io
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


class Terminal(io.StringIO):
    """A stream that says it is a terminal, and keeps what is written."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        """Say so."""
        return True


_CODE = re.compile(r"\x1b\[([?\d;]*)([A-Za-z])|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b.")


class Screen:
    """What was written, as lines: the few orders that progress gives a terminal, and no others."""

    def __init__(self, columns: int) -> None:
        self.columns = columns
        self.lines: list[str] = [""]
        self.row = self.column = 0
        self.unknown: set[str] = set()
        """Orders that this screen does not know."""
        self.hidden = False
        """The cursor is."""
        self.styles: set[str] = set()

    def write(self, text: str) -> None:
        """Take what a program wrote; it has to end between two orders."""
        at = 0
        while at < len(text):
            if found := _CODE.match(text, at):
                self._obey(found)
                at = found.end()
                continue
            self._put(text[at])
            at += 1

    def _put(self, character: str) -> None:
        if character == "\n":
            self.row += 1
            self._grow()
        elif character == "\r":
            self.column = 0
        else:
            if self.column >= self.columns:  # the line is full: terminals go on in the next one
                self.row, self.column = self.row + 1, 0
                self._grow()
            line = self.lines[self.row].ljust(self.column)
            self.lines[self.row] = line[: self.column] + character + line[self.column + 1 :]
            self.column += 1

    def _grow(self) -> None:
        while len(self.lines) <= self.row:
            self.lines.append("")

    def _obey(self, found: re.Match[str]) -> None:
        match found[2], found[1]:
            case "A", count:
                self.row = max(0, self.row - int(count or 1))
            case "K", "2":
                self.lines[self.row] = ""
            case "m", style:
                self.styles.add(style)
            case (("h" | "l" as what), "?25"):
                self.hidden = what == "l"
            case _:
                self.unknown.add(found[0])

    @property
    def text(self) -> str:
        """What stands there now."""
        return "\n".join(line.rstrip() for line in self.lines)


@dataclass
class Sitting:
    """What somebody saw who sat before a terminal while a program ran there."""

    code: int
    written: str
    screen: Screen
    moments: list[str] = field(default_factory=list)
    """The screen each time that something was written on it."""
    out: str = ""
    """What went to stdout, where that is no terminal."""


def sit(
    *command: str,
    cwd: Path,
    columns: int = 100,
    lines: int = 30,
    environment: Mapping[str, str] | None = None,
    piped: bool = False,
    interrupt_at: str = "",
    timeout: float = 500,
) -> Sitting:
    """Run a command in a terminal of this size, and look at it until it ends.

    `piped` has only its stderr there; `interrupt_at` presses Ctrl-C once that is on the screen.
    """
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    plain = {name: it for name, it in os.environ.items() if name not in ("CI", "NO_COLOR")}
    for name in ("COLUMNS", "LINES", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        plain.pop(name, None)
    process = subprocess.Popen(
        [sys.executable, *command],
        cwd=cwd,
        env={**plain, "TERM": "xterm-256color", "PYTHONUTF8": "1", **(environment or {})},
        stdin=slave,
        stdout=subprocess.PIPE if piped else slave,
        stderr=slave,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    os.close(slave)
    screen, written, waiting, moments = Screen(columns), "", b"", list[str]()
    deadline = time.monotonic() + timeout
    try:
        while time.monotonic() < deadline:
            if not select.select([master], [], [], 1.0)[0]:
                continue
            try:
                waiting += os.read(master, 65536)
            except OSError:  # the last one who had it open has ended
                break
            # No character and no order may be cut in two.
            whole = max(waiting.rfind(b"\n"), waiting.rfind(b"m"), waiting.rfind(b"l")) + 1
            text, waiting = waiting[:whole].decode(), waiting[whole:]
            written += text
            screen.write(text)
            moments.append(screen.text)
            if interrupt_at and interrupt_at in screen.text:
                process.send_signal(signal.SIGINT)
                interrupt_at = ""
        else:
            raise TimeoutError(f"still running after {timeout:g} s:\n{screen.text}")
        out = process.stdout.read().decode() if process.stdout else ""
        code = process.wait(timeout=120)
    finally:
        os.close(master)
        if process.poll() is None:
            process.kill()
        if process.stdout:
            process.stdout.close()
    text = waiting.decode()
    screen.write(text)
    return Sitting(code, written + text, screen, [*moments, screen.text], out)

"""What Ray prints past Python is kept off the terminal, and nothing else is."""

import os
from pathlib import Path

import pytest

from raybench.fleet.quiet import without_lines

DESCRIPTORS = Path("/proc/self/fd")


def test_only_the_unwanted_lines_are_left_out(capfd: pytest.CaptureFixture[str]) -> None:
    with without_lines("in the object store"):
        os.write(2, b"begins\n")
        os.write(2, b"[E] core_worker.cc: arguments in the object store\n")
        os.write(2, b"50 % \r75 %")  # a live line ends in no line's end
        os.write(2, b" rest\n")
    after = "after: in the object store\n"
    os.write(2, after.encode())
    assert capfd.readouterr().err == f"begins\n50 % \r75 % rest\n{after}"


def test_stderr_is_back_when_something_breaks(capfd: pytest.CaptureFixture[str]) -> None:
    before = len([*DESCRIPTORS.iterdir()])
    with pytest.raises(ValueError, match="broken"), without_lines("x"):
        os.write(2, b"told\n")
        raise ValueError("broken")
    os.write(2, b"x\n")
    assert capfd.readouterr().err == "told\nx\n"
    assert len([*DESCRIPTORS.iterdir()]) == before

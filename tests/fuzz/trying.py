"""Tries a parser: nothing but its own errors comes out of it, soon, and what it promises."""

import random
import signal
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from fuzz.texts import data, drawn, drawn_data, swept, texts
from hypothesis import HealthCheck, given, settings

MOST_S = 6.0
"""Of a processor's time for one text: a hundred times what any needs, and far below what quadratic
work on a long one would take. Not the clock's: a busy machine makes no test fail."""


class TooLong(BaseException):
    """A parser was still at work; no handler of its own takes this for an error of its own."""


@dataclass(frozen=True)
class Parser:
    """Something that reads what others wrote."""

    name: str
    call: Callable[[Any], object]
    own: tuple[str, ...]
    """Pieces of what it reads."""
    returns: type | tuple[type, ...] = object
    raises: tuple[type[Exception], ...] = ()
    """What it says is wrong, where something is."""
    binary: bool = False
    most: int = 30_000
    """Letters of a long text."""
    heavy: bool = False
    """Each text takes a while: fewer are tried."""

    def tried(self, what: str | bytes) -> None:
        """Try one text. Raises what is wrong with the parser."""
        try:
            with within(MOST_S):
                found = self.call(what)
        except self.raises:
            return
        assert isinstance(found, self.returns), f"{self.name} returned {type(found).__name__}"


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Raise TooLong where what is done takes longer; regular expressions are ended, too."""

    def end(number: int, frame: FrameType | None) -> None:
        raise TooLong(f"still at work after {seconds:g} s of a processor's time")

    before = signal.signal(signal.SIGVTALRM, end)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def told(parser: Parser, what: str | bytes) -> None:
    """Try one text. Raises what is wrong with the parser, with the text."""
    try:
        parser.tried(what)
    except TooLong as error:
        raise AssertionError(f"{parser.name}: {error}: {_shown(what)}") from error
    except Exception as error:
        error.add_note(f"{parser.name}: {_shown(what)}")
        raise


def searched(parser: Parser, examples: int) -> None:
    """Have hypothesis look for a text that the parser does not get along with."""

    @settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck))
    @given(data(parser.own, parser.most) if parser.binary else texts(parser.own, parser.most))
    def run(what: str | bytes) -> None:
        told(parser, what)

    run()


def attempts(parser: Parser, count: int, rng: random.Random) -> tuple[int, str]:
    """Try so many texts drawn at random; return how many, and what went wrong."""
    draw = drawn_data if parser.binary else drawn
    return _each(parser, (draw(rng, parser.own, parser.most) for _ in range(count)))


def sweep(parser: Parser) -> tuple[int, str]:
    """Try each piece again and again behind each other; return how many, and what went wrong."""
    every = swept(parser.own, parser.most)
    if parser.binary:
        return _each(parser, (it.encode("utf-8", "surrogatepass") for it in every))
    return _each(parser, every)


def _each(parser: Parser, every: Iterable[str | bytes]) -> tuple[int, str]:
    count = 0
    for count, what in enumerate(every, start=1):
        try:
            told(parser, what)
        except Exception as error:
            notes = " ".join(getattr(error, "__notes__", ()))
            *_, last = traceback.extract_tb(error.__traceback__)
            place = f"{Path(last.filename).name}:{last.lineno}"
            return count, f"{type(error).__name__} at {place}: {str(error)[:400]} {notes}"
    return count, ""


def _shown(what: str | bytes) -> str:
    ends = f"{what!r}" if len(what) < 300 else f"{what[:150]!r} … {what[-100:]!r}"
    return f"{ends} ({len(what)} long)"

"""The end that holds the tests: a script that defines `check(candidate)`, as HumanEval's do.

Runs in the sandbox: the standard library only, Python 3.11 and 3.12.
"""

import ast
import builtins
import json
import os
import random
import reprlib
from typing import Any

from raybench.benchmarks.parts.harness import channel, codec
from raybench.benchmarks.parts.harness.apart import Child
from raybench.benchmarks.parts.harness.solver import serve

_TESTS = "<tests>"
_SHOWN = 200
"""Characters of a text that a reason quotes."""


class Fault(Exception):
    """The tests cannot be put to any program."""


class Lost(Exception):
    """The program's process no longer answers."""


class Candidate:
    """Stands in for the function: it is called in the other process."""

    def __init__(self, child: Child) -> None:
        self.calls = 0
        self.returned = ""
        """What the last call returned, shortened."""
        self.raised: BaseException | None = None
        self.lost = ""
        self.fault = ""
        self._child = child

    def begin(self, prompt: str, program: str, name: str) -> str:
        """Load the program; return why it cannot be tested, or ''."""
        told = self._asked({"prompt": prompt, "program": program, "name": name}, "began")
        match told:
            case ["ready"]:
                return ""
            case ["missing"]:
                return f"no function {name}"
            case ["uncompiled", str(text), int() | None as line]:
                return f"the program does not compile: {_short(text)}{_at(line)}"
            case ["failed", str(kind), str(), str(text), int() | None as line]:
                return f"the program fails before its tests: {_short(f'{kind}: {text}')}{_at(line)}"
        raise Lost(self._lose("its reply is garbled"))

    def __call__(self, *positional: Any, **named: Any) -> Any:
        """Call the function, with what it does to its arguments done to these."""
        known = codec.Known()
        try:
            request = codec.Encoder(known, strict=True).encode((positional, named))
        except codec.Unsendable as error:
            self.fault = str(error)
            raise Fault(self.fault) from None
        self.calls += 1
        given = len(known.containers)
        reply = self._asked([self.calls, request], "were over")
        decoder = codec.Decoder(known)
        value: Any = None
        raised: Exception | None = None
        try:
            match reply:
                case [int(number), ["returned", coded], list(changes)] if number == self.calls:
                    value = decoder.decode(coded)
                case [
                    int(number), ["raised", str(kind), str(base), str(text)], list(changes)
                ] if number == self.calls:  # fmt: skip
                    raised = _exception(kind, base, text)
                case _:
                    raise codec.Garbled("it is no answer to what was asked")
            for place, content in changes:
                if type(place) is not int or place >= given:
                    raise codec.Garbled("it changes what it was not given")
                decoder.update(place, content)
        except (codec.Garbled, TypeError, ValueError) as garbled:
            raise Lost(self._lose(f"its reply is garbled: {_short(str(garbled))}")) from None
        if raised is not None:
            self.raised = raised
            raise raised
        self.returned = _shown(value)
        return value

    def _asked(self, message: Any, ending: str) -> Any:
        if self.lost:
            raise Lost(self.lost)
        try:
            self._child.channel.send(message)
            return self._child.channel.receive()
        except channel.Ended:
            how = self._child.end()
            raise Lost(self._lose(f"ended before its tests {ending} ({how})")) from None
        except channel.Garbled as garbled:
            raise Lost(self._lose(f"its reply is garbled: {_short(str(garbled))}")) from None

    def _lose(self, why: str) -> str:
        self.lost = self.lost or why
        return self.lost


def main() -> None:
    """Read the task, run the tests, write the verdict."""
    child = Child.start(serve)  # before the task is read: it holds the tests
    task = json.loads(_everything(0))
    verdict = os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nothing, standard)
    candidate = Candidate(child)
    try:
        told = _judged(task, candidate)
    except Fault as fault:
        told = {"verdict": "fault", "reason": str(fault)}
    except BaseException as error:
        told = {"verdict": "failed", "reason": candidate.lost or _named(error)}
    # The program never sees the word: it proves who speaks.
    left = json.dumps({**told, "word": task["word"]}).encode("ascii")
    os.write(verdict, left)
    child.kill()
    os._exit(0)


def _judged(task: dict[str, str], candidate: Candidate) -> dict[str, Any]:
    prompt, tests, name = task["prompt"], task["tests"], task["name"]
    space: dict[str, Any] = {"__name__": "tests"}
    try:
        exec(compile(prompt, "<prompt>", "exec"), space)
        code, tree = compile(tests, _TESTS, "exec"), ast.parse(tests)
    except Exception as error:
        raise Fault(f"the question's own code fails: {_named(error)}") from None
    assertions = [node for node in ast.walk(tree) if isinstance(node, ast.Assert)]
    assertions.sort(key=lambda node: node.lineno)
    told: dict[str, Any] = {"assertions": len(assertions)}
    if why := candidate.begin(prompt, task["program"], name):
        return {**told, "verdict": "failed", "reason": why}
    space[name] = candidate
    random.seed(0)  # the same tests every time
    try:
        exec(code, space)
        space["check"](candidate)
    except Exception as error:
        if candidate.fault or (
            not candidate.calls and not isinstance(error, MemoryError | OSError)
        ):
            raise Fault(f"the tests fail by themselves: {_named(error)}") from None
        number, reason = _failure(error, candidate, tests, assertions)
        if number:
            told["assertion"] = number
        return {**told, "verdict": "failed", "reason": candidate.lost or reason}
    if candidate.lost:  # the tests took it for an answer
        return {**told, "verdict": "failed", "reason": candidate.lost}
    if candidate.fault or not candidate.calls:
        raise Fault(candidate.fault or "the tests never call the function")
    return {**told, "verdict": "passed", "reason": "right"}


def _failure(
    error: Exception, candidate: Candidate, tests: str, assertions: list[ast.Assert]
) -> tuple[int | None, str]:
    """Return the number of the assertion that was at work, and what became of it."""
    line, trace = 0, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == _TESTS:
            line = trace.tb_lineno
        trace = trace.tb_next
    number, source = None, tests.split("\n")[line - 1].strip() if line else ""
    for place, node in enumerate(assertions, start=1):
        if node.lineno <= line <= (node.end_lineno or node.lineno):
            number, source = place, ast.unparse(ast.Assert(node.test, None))
    where = f"assertion {number} of {len(assertions)}" if number else f"line {line} of its tests"
    if error is candidate.raised:
        return number, f"it raises {_named(error)} at {where}: {_short(source)}"
    if isinstance(error, AssertionError):
        returned = f" (it returned {candidate.returned})"
        return number, f"{where} fails: {_short(source)}{returned}"
    return number, f"{where} cannot use what it returned ({_named(error)}): {_short(source)}"


def _exception(kind: str, base: str, text: str) -> Exception:
    """Return a builtin exception of the kind that a program raised."""
    found = getattr(builtins, base, None)
    told = text if kind == base else f"{kind}: {text}"
    if isinstance(found, type) and issubclass(found, Exception):
        try:
            return found(told)
        except TypeError:  # a few want more than a text
            pass
    return Exception(told)


def _at(line: int | None) -> str:
    return f" (line {line})" if line else ""


def _named(error: BaseException) -> str:
    return _short(f"{type(error).__name__}: {error}".removesuffix(": "))


def _shown(value: Any) -> str:
    try:
        return _short(reprlib.repr(value))
    except Exception:
        return f"a {type(value).__name__}"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}…"


def _everything(descriptor: int) -> bytes:
    parts = bytearray()
    while part := os.read(descriptor, 1 << 20):
        parts += part
    return bytes(parts)

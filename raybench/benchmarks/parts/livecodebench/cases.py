"""A problem's tests, read from what the dataset packs them into. Nothing in there is ever run."""

import base64
import binascii
import json
import pickletools
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from raybench.errors import Problem
from raybench.statements import Statement

MOST_BYTES = 512 * 2**20
"""Of one problem's tests, unpacked: several times what the largest of the dataset come to."""
NONE_HIDDEN = (
    "no private tests, so that programs pass which are wrong; scores cannot be compared with "
    "published ones"
)
_TEXT = ("SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8", "UNICODE")
_CALLED = "functional"
_KINDS = ("stdin", _CALLED)
_COLUMNS = ("metadata", "public_test_cases", "private_test_cases")
_AROUND = ("PROTO", "FRAME", "MEMOIZE", "BINPUT", "LONG_BINPUT", "PUT", "STOP")


@dataclass(frozen=True, slots=True)
class Case:
    """What a program is given, and what it should make of it."""

    given: str
    expected: str
    called: bool = field(default=False, compare=False)
    """It says that it is for a function."""


@dataclass(frozen=True, slots=True)
class Cases:
    """All tests of a problem, public ones first."""

    function: str | None
    """What is called; None where programs read and write text."""
    cases: tuple[Case, ...]
    hidden: bool = True
    """Some of them are private ones."""


def of(row: Mapping[str, Any]) -> Cases:
    """Return a row's tests; raise ValueError, which names the question, where they are unsound."""
    try:
        return _read(*(_text(row.get(column)) for column in _COLUMNS))
    except ValueError as error:
        raise ValueError(
            Statement(
                "cases.unsound",
                "question {question}: {why}",
                question=row["question_id"],
                why=error.args[0],
            )
        ) from error


def problems(row: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield what is wrong with a row's tests, or with what tells of the function they call."""
    try:
        name = of(row).function
    except ValueError as error:
        yield Problem("data.invalid", error.args[0])
        return
    if name and not re.search(rf"\bdef\s+{name}\b", str(row.get("starter_code") or "")):
        yield Problem(
            "data.invalid",
            Statement(
                "cases.not_begun",
                "question {question}: 'metadata' names '{name}' as the function, which "
                "'starter_code' does not begin",
                question=row["question_id"],
                name=name,
            ),
            setting="metadata",
            fix="name the one that it does",
        )


@lru_cache(maxsize=1)  # the repeats of a question are graded one after another
def _read(metadata: str, public: str, private: str) -> Cases:
    about = _json("metadata", metadata.strip() or "{}")
    if not isinstance(about, dict):
        raise ValueError(
            Statement(
                "cases.metadata",
                "'metadata' is no JSON object: give {{}} or {{\"func_name\": NAME}}",
            )
        )
    function = about.get("func_name")
    if function is not None and not (isinstance(function, str) and function.isidentifier()):
        raise ValueError(
            Statement(
                "cases.function",
                "'metadata' names {function!r} as the function: give a name",
                function=function,
            )
        )
    hidden = _listed("private_test_cases", private)
    cases = (*_listed("public_test_cases", public), *hidden)
    if not cases:
        raise ValueError(
            Statement(
                "cases.none",
                "there is no test in 'public_test_cases' or 'private_test_cases'",
            )
        )
    if function is None and any(case.called for case in cases):
        raise ValueError(
            Statement(
                "cases.no_function",
                "its tests call a function, and 'metadata' has no 'func_name'",
            )
        )
    for case in cases if function else ():
        _json("output of a test", case.expected)
        for line in case.given.split("\n"):
            if line.strip():
                _json("input of a test", line)
    return Cases(function, cases, bool(hidden))


def _text(value: Any) -> str:
    """Return a column as the hub has it: some copies of the dataset hold what the JSON says."""
    return value if isinstance(value, str) else "" if value is None else json.dumps(value)


def _listed(column: str, packed: str) -> list[Case]:
    tests = _unpacked(column, packed) if packed.strip() else []
    if not isinstance(tests, list):
        raise ValueError(
            Statement(
                "cases.no_list",
                "'{column}' is no list of tests",
                column=column,
            )
        )
    found = []
    for number, test in enumerate(tests, start=1):
        match test:
            case {"testtype": str(kind)} if kind not in _KINDS:
                known = " or ".join(_KINDS)
                raise ValueError(
                    Statement(
                        "cases.kind",
                        "test {number} of '{column}' has testtype '{kind}': give {known}",
                        number=number,
                        column=column,
                        kind=kind,
                        known=known,
                    )
                )
            case {"input": str(given), "output": str(expected)}:
                found.append(Case(given, expected, test.get("testtype") == _CALLED))
            case _:
                raise ValueError(
                    Statement(
                        "cases.no_text",
                        "test {number} of '{column}' lacks a text for input or output",
                        number=number,
                        column=column,
                    )
                )
    return found


def _unpacked(column: str, packed: str) -> Any:
    """Return what JSON says, be it plain or, as base64, a compressed pickle of a text."""
    if packed.lstrip()[:1] in ("[", "{"):
        return _json(column, packed)
    try:
        data = _inflated(base64.b64decode(packed, validate=True))
        return _json(column, _pickled_text(data))
    except (binascii.Error, zlib.error) as error:
        raise ValueError(
            Statement(
                "cases.packed",
                "'{column}' is neither JSON nor base64 of compressed data ({error})",
                column=column,
                error=str(error),
            )
        ) from error


def _inflated(data: bytes) -> bytes:
    inflater = zlib.decompressobj()
    found = inflater.decompress(data, MOST_BYTES)
    if not inflater.eof:
        if len(found) >= MOST_BYTES:
            raise ValueError(
                Statement(
                    "cases.large",
                    "its tests are larger than {most:,} bytes when unpacked",
                    most=MOST_BYTES,
                )
            )
        raise ValueError(Statement("cases.cut", "its tests are cut short"))
    return found


def _pickled_text(data: bytes) -> str:
    """Return the text that a pickle is; raise ValueError where it is anything else.

    A pickle is a program. One of a text has one instruction that holds it and some that say
    nothing, so that it can be read and needs not be run: whatever would build an object, call
    something or fill the memory is none of these.
    """
    texts: list[str] = []
    try:
        for instruction, argument, _ in pickletools.genops(data):
            if instruction.name in _TEXT:
                texts.append(str(argument))
            elif instruction.name not in _AROUND:
                raise ValueError(f"a pickle of more than a text ({instruction.name})")
    except ValueError as error:
        raise ValueError(
            Statement(
                "cases.pickle",
                "its tests are not the pickle of a text: {why}",
                why=str(error),
            )
        ) from error
    if len(texts) != 1:
        raise ValueError(
            Statement(
                "cases.pickle",
                "its tests are not the pickle of a text: {why}",
                why=f"there are {len(texts)}",
            )
        )
    return texts[0]


def _json(what: str, text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(
            Statement(
                "cases.no_json",
                "'{what}' is no JSON ({error})",
                what=what,
                error=str(error),
            )
        ) from error

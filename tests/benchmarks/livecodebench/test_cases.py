"""Tests as the dataset packs them: read, and never run."""

import base64
import json
import os
import pickle
import pickletools
import struct
import time
import zlib
from pathlib import Path
from typing import Any

import pytest
from contest import HEADS, LCB, SUMS, packed, plain, row, squeezed
from hypothesis import given
from hypothesis import strategies as st
from statements import code, values

from raybench.benchmarks.parts.livecodebench import cases
from raybench.benchmarks.parts.livecodebench.cases import Case

TEXT = plain(SUMS)


def test_public_and_private_tests_are_one_list() -> None:
    found = cases.of(row(SUMS[:1], SUMS[1:]))
    assert found.cases == tuple(Case(*pair) for pair in SUMS)
    assert found.function is None
    assert cases.of(row(HEADS, function="head")).function == "head"


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_both_ways_to_pack_them_say_the_same(protocol: int) -> None:
    text = plain((("é\n" * 300, "漢 \\u0041\n"), *SUMS))
    there = {**row(()), "private_test_cases": squeezed(pickle.dumps(text, protocol))}
    assert cases.of(there) == cases.of({**row(()), "private_test_cases": text})


def test_columns_may_hold_what_their_json_says() -> None:
    packed_ = row(HEADS[:1], HEADS[1:], function="head")
    names = ("metadata", "public_test_cases", "private_test_cases")
    read = {name: json.loads(packed_[name]) for name in names}
    assert cases.of({**packed_, **read}) == cases.of(packed_)
    assert cases.of({**row(), "private_test_cases": None}) == cases.of(row())


@given(st.text(max_size=70_000), st.integers(0, pickle.HIGHEST_PROTOCOL))
def test_every_text_comes_back(text: str, protocol: int) -> None:
    assert cases._pickled_text(pickle.dumps(text, protocol)) == text


class Evil:
    """Makes a file wherever it is unpickled."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return os.mkdir, (self.path,)


def test_what_is_no_text_is_refused_and_not_run(tmp_path: Path) -> None:
    made = tmp_path / "made"
    for value in (Evil(str(made)), [TEXT], (TEXT, Evil(str(made))), json.loads(TEXT), 1, None):
        with pytest.raises(ValueError, match="rb9_a") as raised:
            cases.of({**row(()), "private_test_cases": packed(value)})
        assert code(values(raised.value)["why"]) == "cases.pickle"
    assert not made.exists()


def test_a_pickle_cannot_fill_the_memory() -> None:
    # To the interpreter, 'remember this as number 2³¹' is an order for a table of 32 GB.
    bomb = (
        b"\x80\x04" + b"X" + struct.pack("<I", 2) + b"[]" + b"r" + struct.pack("<I", 2**31) + b"."
    )
    assert [opcode.name for opcode, *_ in pickletools.genops(bomb)][2] == "LONG_BINPUT"
    begun = time.process_time()
    assert cases._pickled_text(bomb) == "[]"
    assert time.process_time() - begun < 10  # no time at all: no slow machine is to decide


def test_what_unpacks_to_too_much_is_refused_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cases, "MOST_BYTES", 1_000_000)
    whole = {**row(()), "private_test_cases": squeezed(pickle.dumps(TEXT))}
    assert len(cases.of(whole).cases) == 2
    bomb = base64.b64encode(zlib.compress(bytes(50_000_000), 9)).decode()
    with pytest.raises(ValueError, match="rb9_a") as raised:
        cases.of({**row(()), "private_test_cases": bomb})
    assert values(values(raised.value)["why"]) == {"most": 1_000_000}


UNSOUND = {
    "cut short": (
        base64.b64encode(zlib.compress(pickle.dumps(TEXT))[:-20]).decode(),
        "cut",
    ),
    "no base64": ("%%%%", "packed"),
    "not compressed": (
        base64.b64encode(pickle.dumps(TEXT)).decode(),
        "packed",
    ),
    "no JSON within": (packed("["), "no_json"),
    "no JSON": ("[1, 2", "no_json"),
    "nested": ("[" * 100_000, "no_json"),
    "no list": ('{"input": "", "output": ""}', "no_list"),
    "no test": ('[{"input": "1"}]', "no_text"),
    "a number": ('[{"input": "", "output": 1}]', "no_text"),
    "no pickle": (squeezed(b"\x80\x04hello"), "pickle"),
    "an empty pickle": (squeezed(b"\x80\x04."), "pickle"),
}


@pytest.mark.parametrize("name", UNSOUND)
def test_unsound_tests_are_told_with_their_question(name: str) -> None:
    text, told = UNSOUND[name]
    (problem,) = LCB.problems({**row(), "private_test_cases": text})
    assert values(problem.message)["question"] == "rb9_a"
    assert code(values(problem.message)["why"]) == f"cases.{told}"


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ({"public_test_cases": "[]"}, "cases.none"),
        (
            {"public_test_cases": plain(HEADS, "head")},
            "cases.no_function",
        ),
        ({"metadata": "[]"}, "cases.metadata"),
        ({"metadata": '{"func_name": "a b"}'}, "cases.function"),
        ({"metadata": '{"func_name": "f"}'}, "cases.no_json"),
        ({"public_test_cases": plain([("1", "a")]), "metadata": '{"func_name": "f"}'},
         "cases.no_json"),
        ({"public_test_cases": plain(SUMS).replace("stdin", "other")},
         "cases.kind"),
        ({**row(HEADS, function="head"), "starter_code": "class Solution:\n    def heads(self):"},
         "cases.not_begun"),
        ({**row(HEADS, function="head"), "starter_code": None}, "cases.not_begun"),
    ],
)  # fmt: skip
def test_unsound_columns_are_told(columns: dict[str, str], told: str) -> None:
    (problem,) = LCB.problems({**row(), **columns})
    told_of = values(problem.message)
    assert told_of["question"] == "rb9_a"
    assert code(told_of.get("why", problem.message)) == told

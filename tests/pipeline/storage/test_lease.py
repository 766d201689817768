"""A lease as a stranger's store may hold it: read right, or refused."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raybench.pipeline.storage.lease import Broken, Lease
from raybench.pipeline.storage.segments import Segment, Term, read

WHOLE: dict[str, Any] = {
    "generation": 2, "owner": "ab", "beat": 3, "at_work": False, "tail": [2, "ab"],
    "journals": {"units": {"merged": [9, "0f"], "first": 1, "spans": [[1, "cd", 0, 4]]}},
}  # fmt: skip


def of(**changed: Any) -> Lease:
    return Lease.of(json.dumps(WHOLE | changed).encode())


def journal(**changed: Any) -> dict[str, Any]:
    return {"units": WHOLE["journals"]["units"] | changed}


def test_what_is_written_is_read_again() -> None:
    assert Lease.of(of().text().encode()) == of()


@pytest.mark.parametrize(
    "name",
    ["../units", "/etc/units", "a/b", "..", ".", "", "a\0b", ".a", "a" * 101, "größe", "a\n"],
)
def test_a_name_that_is_not_a_journal_s_leads_nowhere(name: str) -> None:
    with pytest.raises(Broken, match="journal"):
        of(journals={name: WHOLE["journals"]["units"]})
    own = Segment("units", Term(1, "ab"), 0, 3, "0" * 16).path
    assert [it.journal for it in read([own, own.replace("units", name, 1)])] == ["units"]


@pytest.mark.parametrize(
    "changed",
    [
        {"generation": 1.5},
        {"generation": True},
        {"generation": -1},
        {"generation": 2**63},
        {"owner": 7},
        {"beat": float("inf")},
        {"beat": "1"},
        {"tail": [1]},
        {"tail": ["ab", 1]},
        {"journals": []},
        {"journals": None},
        {"journals": journal(merged=[-1, "0f"])},
        {"journals": journal(merged=["9", "0f"])},
        {"journals": journal(merged="9")},
        {"journals": journal(spans=[[1, "cd", "0", "4"]])},
        {"journals": journal(spans=[[1, "cd", 0]])},
        {"journals": journal(spans=7)},
        {"journals": journal(first=None)},
    ],
    ids=str,
)
def test_what_is_no_lease_is_told(changed: dict[str, Any]) -> None:
    with pytest.raises(Broken, match=r"lease\.json"):
        of(**changed)


@pytest.mark.parametrize("text", [b"", b"[" * 100_000, b"{}", b"null", b"\xff", b"9" * 10_000])
def test_neither_is_any_other_text(text: bytes) -> None:
    with pytest.raises(Broken):
        Lease.of(text)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=9,
)


@given(st.dictionaries(st.sampled_from([*WHOLE]), _JSON), _JSON)
def test_whatever_is_said_it_is_a_lease_or_broken(changed: dict[str, Any], chapter: Any) -> None:
    for said in (WHOLE | changed, WHOLE | {"journals": {"units": chapter}}):
        try:
            lease = Lease.of(json.dumps(said).encode())
            lease.history([])
        except Broken:
            continue
        assert Lease.of(lease.text().encode()) == lease

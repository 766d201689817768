"""Values come back as they went, and nothing that a program sends is believed."""

import contextlib
import json
import math
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Iterator
from decimal import Decimal
from enum import Enum, IntEnum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raybench.benchmarks.parts.harness import codec
from raybench.benchmarks.parts.harness.codec import (
    Decoder,
    Encoder,
    Garbled,
    Known,
    Opaque,
    TooLarge,
    Unsendable,
)

Pair = namedtuple("Pair", "first second")


class Number(IntEnum):
    ONE = 1


class Colour(Enum):
    RED = "red"


def sent(value: Any) -> Any:
    """Return what arrives of a value at the other end of a pipe."""
    wire = json.dumps(Encoder(Known()).encode(value)).encode("ascii")
    return Decoder(Known()).decode(json.loads(wire))


def alike(one: Any, other: Any) -> bool:
    """Tell whether two values are the same to the last bit, types included."""
    if type(one) is not type(other):
        return False
    if isinstance(one, list | tuple | deque):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, dict):
        return alike(list(one.items()), list(other.items()))
    if isinstance(one, set | frozenset):
        return sorted(map(repr, one)) == sorted(map(repr, other))
    return bool(one == other) if isinstance(one, int) else repr(one) == repr(other)


keys = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.binary(), st.fractions(),
    st.text(st.characters(exclude_categories=())), st.complex_numbers(),
    st.decimals(allow_nan=False),
)  # fmt: skip
values = st.recursive(
    st.one_of(keys, st.binary().map(bytearray)),
    lambda inner: st.one_of(
        st.lists(inner),
        st.lists(inner).map(tuple),
        st.lists(inner).map(deque),
        st.dictionaries(keys, inner),
        st.sets(keys),
        st.frozensets(keys),
    ),
)


@given(values)
def test_plain_values_come_back_as_they_went(value: Any) -> None:
    assert alike(sent(value), value)


@pytest.mark.parametrize(
    "value",
    [
        *([10**5000], [-(10**5000)], 2**63, -(2**63), 2**63 - 1, True, 1, 1.0, -0.0, 1e308, 5e-324),
        *(
            math.inf,
            -math.inf,
            math.nan,
            complex(-0.0, math.nan),
            "\ud800",
            Decimal("sNaN"),
            "\x00",
            b"\xff",
        ),
        *(range(0, 10, 3), range(5, -(10**30), -2), {1: {2: [3]}}, {(1, (2,)): {3}}, [[]]),
    ],
)
def test_the_odd_ones_too(value: Any) -> None:
    assert alike(sent(value), value)


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (Counter("aab"), {"a": 2, "b": 1}),
        (defaultdict(int, {1: 2}), {1: 2}),
        (OrderedDict([(2, 1), (1, 2)]), {2: 1, 1: 2}),
        (Pair(1, 2), (1, 2)),
        (Number.ONE, 1),
        ([Number.ONE, {Pair(1, Number.ONE): Counter()}], [1, {(1, 1): {}}]),
    ],
)
def test_a_subclass_arrives_as_its_base(value: Any, plain: Any) -> None:
    assert alike(sent(value), plain)


def test_a_moved_key_of_an_ordered_dict_stays_moved() -> None:
    ordered = OrderedDict([(1, "a"), (2, "b")])
    ordered.move_to_end(1)
    assert list(sent(ordered)) == [2, 1]


def test_overrides_of_a_subclass_are_never_asked() -> None:
    def refuse(*_: Any) -> Any:
        raise AssertionError("asked")

    names = [
        *(
            "__eq__",
            "__ne__",
            "__hash__",
            "__iter__",
            "__len__",
            "__getitem__",
            "__repr__",
            "items",
        ),
        *("__str__", "__int__", "__float__", "__index__", "__bool__", "hex"),
        *(
            "__getattribute__",
            "__instancecheck__",
            "__pos__",
            "__reduce__",
            "__getattr__",
            "__trunc__",
        ),
    ]
    for value in (7, 1.5, "text", b"bytes", 2j, [1, 2], (1, 2), {1: 2}, {1}, frozenset({1})):
        base: Any = type(value)
        made = type("Sly", (base,), {})(value)
        for name in names:
            setattr(type(made), name, refuse)
        assert alike(sent([made]), [value])


def test_what_is_no_plain_value_arrives_as_an_object_equal_to_nothing() -> None:
    class Always:
        def __eq__(self, other: object) -> bool:
            return True

    for value in (Always(), object(), len, int, lambda: 1, Colour.RED, ...):
        (arrived,) = sent([value])
        assert type(arrived) is Opaque
        assert not arrived == value  # noqa: SIM201 - 'not equal' is asked below
        assert arrived != value
        assert arrived != arrived
        assert arrived not in (1, None, "", arrived.kind)
    assert repr(sent(Always())) == "<Always object>"


def test_iterators_and_views_arrive_as_such() -> None:
    def three() -> Iterator[int]:
        yield from (1, 2, 3)

    for value in (three(), iter([1, 2, 3]), map(abs, [1, 2, 3]), reversed([3, 2, 1])):
        arrived = sent(value)
        assert next(arrived) == 1
        assert list(arrived) == [2, 3]
    held = {"a": 1, "b": [2]}
    assert sent(held.keys()) == {"a", "b"}
    assert list(sent(held.values())) == [1, [2]]
    assert list(sent(held.items())) == [("a", 1), ("b", [2])]


def test_an_iterator_without_an_end_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codec, "STREAM", 3)
    endless = sent(iter(int, 1))
    assert [next(endless) for _ in range(3)] == [0, 0, 0]
    with pytest.raises(RuntimeError, match="3 items"):
        next(endless)


def test_a_cycle_and_what_is_shared_arrive_so() -> None:
    shared: list[Any] = [1]
    value: list[Any] = [shared, shared, {"again": shared}]
    value.append(value)
    arrived = sent(value)
    assert arrived[0] is arrived[1] is arrived[2]["again"]
    assert arrived[0] == [1]
    assert arrived[3] is arrived


def test_what_a_function_did_to_its_arguments_can_be_told() -> None:
    here, there = Known(), Known()
    inner: list[Any] = [3]
    argument: dict[str, Any] = {"a": inner, "b": bytearray(b"x"), "c": deque([1]), "d": {5}}
    theirs = Decoder(there).decode(Encoder(here).encode(argument))
    theirs["a"].append({"new": theirs})
    theirs["b"] += b"y"
    theirs["c"].appendleft(0)
    theirs["d"].clear()
    theirs["e"] = theirs["a"]
    encoder, decoder = Encoder(there), Decoder(here)
    changes = [encoder.content(it) for it in list(there.containers)]
    for number, content in enumerate(json.loads(json.dumps(changes))):
        decoder.update(number, content)
    assert argument["a"] is inner is argument["e"]
    assert inner[0] == 3
    assert inner[1]["new"] is argument
    assert (argument["b"], argument["c"], argument["d"]) == (b"xy", deque([0, 1]), set())


def test_what_holds_too_much_is_refused_and_what_is_too_deep_is_opaque(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    deep: list[Any] = []
    for _ in range(codec.DEPTH + 50):
        deep = [deep]
    arrived = sent(deep)
    for _ in range(codec.DEPTH + 1):
        (arrived,) = arrived
    assert type(arrived) is Opaque
    wide: tuple[Any, ...] = ()
    for _ in range(60):
        wide = (wide, wide)
    monkeypatch.setattr(codec, "ITEMS", 10_000)
    with pytest.raises(TooLarge):
        sent(wide)


def test_a_strict_encoder_refuses_what_has_no_plain_form() -> None:
    strict = Encoder(Known(), strict=True)
    with pytest.raises(Unsendable, match="builtin_function_or_method"):
        strict.encode([1, len])
    assert strict.encode(Opaque("Node")) == ["opaque", "Node"]  # it came from the other end


@pytest.mark.parametrize(
    "wire",
    [
        *([], [1], [1, 2], ["list"], ["list", 1], ["list", {}], ["nothing", []], {}, {"a": 1}),
        *(["known", 0], ["known", -1], ["known", "0"], ["known", True], ["list", [["known", 1]]]),
        *(["dict", [1]], ["dict", [[1]]], ["dict", [[1, 2, 3]]], ["dict", [[["list", []], 1]]]),
        *(["set", [["list", []]]], ["frozenset", [["set", []]]], ["int", "x"], ["int", 5]),
        *(["float", "x"], ["float", []], ["complex", ["1"]], ["complex", 1], ["bytes", "0"]),
        *(["range", ["1", "2", "0"]], ["range", []], ["Fraction", ["1", "0"]], ["Decimal", "x"]),
        *(["Decimal", 1], ["Decimal", "1" * 5000], ["bytearray", "zz"], ["bytearray", 5]),
        *(["Decimal", ["x"]], ["iterator", None], ["dict_items", [1]], [["list"], []]),
        *(["opaque"], ["list", [["list", []], []]]),
    ],
)
def test_what_no_encoder_made_is_garbled(wire: Any) -> None:
    with pytest.raises(Garbled):
        Decoder(Known()).decode(wire)


def test_garbled_changes_are_told_too() -> None:
    known = Known()
    known.add([1])
    decoder = Decoder(known)
    for number, wire in ((1, ["list", []]), (0, ["set", []]), (0, 5), (None, ["list", []])):
        with pytest.raises(Garbled):
            decoder.update(number, wire)


def test_nesting_and_width_without_end_are_garbled(monkeypatch: pytest.MonkeyPatch) -> None:
    deep: Any = 1
    for _ in range(300):
        deep = ["list", [deep]]
    with pytest.raises(Garbled):
        Decoder(Known()).decode(deep)
    monkeypatch.setattr(codec, "ITEMS", 10)
    with pytest.raises(Garbled):
        Decoder(Known()).decode(["list", [1] * 20])


json_like = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text()),
    lambda inner: st.one_of(
        st.lists(inner),
        st.tuples(
            st.sampled_from([*codec._MADE, *codec._EMPTY, *codec._BUILT, "known"]), inner
        ).map(list),
    ),
)


@given(json_like)
def test_any_data_is_a_value_or_garbled(wire: Any) -> None:
    with contextlib.suppress(Garbled):
        Decoder(Known()).decode(wire)

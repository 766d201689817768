"""Values as plain data, both ways: what goes between a program and whoever checks it.

Each end of an exchange keeps a table of the mutable containers that went by in either direction;
both list them in the same order. What went by before goes as its number: so shared and cyclic
values arrive as they were, and what a function did to its arguments can be told.

What a program returns is its own: a subclass arrives as the value of its base, read with the
base's methods, and what is none of the types here arrives as an `Opaque`, equal to nothing. The
decoder believes nothing: whatever it is given, it returns plain values or raises `Garbled`.

Runs in the sandbox too: the standard library only, Python 3.11 and 3.12.
"""

from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

DEPTH = 100
ITEMS = 1_000_000
"""How deep a message may be nested, and how many values it may hold."""
STREAM = 100_000
"""How many items of an iterator are sent; it may have no end."""
_DIGITS = 4_000
"""Of a decimal number: more, and reading it would take quadratic time."""
_EXACT = 1 << 63

Coded = Any
"""None, bool, small int, finite float, str; all else is a list of a tag and what it holds."""


class Garbled(Exception):
    """What was to be read is no message of an encoder."""


class TooLarge(Exception):
    """A value holds more than a message may."""


class Unsendable(Exception):
    """A strict encoder met a value that has no plain form."""


class Opaque:
    """Stands for an object that could not be sent. It equals nothing, itself included."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def __eq__(self, other: object) -> bool:
        return False

    def __ne__(self, other: object) -> bool:
        return True

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return f"<{self.kind} object>"


class Known:
    """The mutable containers that went by, at one end of an exchange."""

    def __init__(self) -> None:
        self.containers: list[Any] = []
        self._numbers: dict[int, int] = {}

    def add(self, container: Any) -> None:
        """Number a container."""
        self._numbers[id(container)] = len(self.containers)
        self.containers.append(container)  # so it lives on, and its id stays its own

    def number(self, value: Any) -> int | None:
        """Return a container's number, None where it did not go by."""
        return self._numbers.get(id(value))

    def forget(self, after: int) -> None:
        """Drop all containers but the first ones: what was to be sent is not."""
        for container in self.containers[after:]:
            del self._numbers[id(container)]
        del self.containers[after:]

    def at(self, number: Any) -> Any:
        """Return the container of a number; raise Garbled where there is none."""
        if type(number) is not int or not 0 <= number < len(self.containers):
            raise Garbled("there is no such container")
        return self.containers[number]


class Encoder:
    """Turns values into plain data. A strict one refuses what it would have to send opaquely."""

    def __init__(self, known: Known, *, strict: bool = False) -> None:
        self._known, self._strict = known, strict
        self._left = ITEMS

    def encode(self, value: Any) -> Coded:
        """Return a value as plain data."""
        self._left = ITEMS
        return self._encode(value, DEPTH)

    def content(self, container: Any) -> Coded:
        """Return what a known container holds now."""
        self._left = ITEMS
        return self._content(container, DEPTH)

    def _encode(self, value: Any, depth: int) -> Coded:
        self._left -= 1
        if self._left < 0:
            raise TooLarge(f"a value holds more than {ITEMS} values")
        if depth < 0:
            return self._opaque(value, "too deeply nested")
        kind = type(value)
        if value is None or kind is bool:
            return value
        if (number := self._known.number(value)) is not None:
            return ["known", number]
        for base, tag, read in _SCALARS:
            if issubclass(kind, base):
                return [tag, read(value)] if tag else read(value)
        for base, tag, items in _IMMUTABLE:
            if issubclass(kind, base):
                return [tag, [self._encode(item, depth - 1) for item in items(value)]]
        if issubclass(kind, _MUTABLE):
            self._known.add(value)
            return self._content(value, depth)
        if issubclass(kind, _VIEWS):
            tag = type(value).__name__
            return [tag, [self._encode(item, depth - 1) for item in value]]
        if kind.__module__ == "numpy" and kind.__name__ != "ndarray" and hasattr(kind, "item"):
            return self._encode(value.item(), depth)  # one of its numbers, as Python's own
        if hasattr(kind, "__next__"):
            return self._stream(value, depth)
        return self._opaque(value, kind.__name__)

    def _content(self, value: Any, depth: int) -> Coded:
        kind = type(value)
        if issubclass(kind, dict):
            items = OrderedDict.items if issubclass(kind, OrderedDict) else dict.items
            pairs = list(items(value))
            deeper = depth - 1
            return ["dict", [[self._encode(it, deeper) for it in pair] for pair in pairs]]
        if issubclass(kind, bytearray):
            return ["bytearray", bytes(value).hex()]
        base: Any = next(base for base in (list, set, deque) if issubclass(kind, base))
        return [base.__name__, [self._encode(item, depth - 1) for item in base.__iter__(value)]]

    def _stream(self, value: Iterator[Any], depth: int) -> Coded:
        items: list[Coded] = []
        for item in value:
            if len(items) == STREAM:
                return ["endless", items]
            items.append(self._encode(item, depth - 1))
        return ["iterator", items]

    def _opaque(self, value: Any, kind: str) -> Coded:
        if self._strict and type(value) is not Opaque:
            raise Unsendable(f"a value of type {type(value).__name__} cannot be sent")
        return ["opaque", value.kind if type(value) is Opaque else kind[:100]]


class Decoder:
    """Turns plain data into values."""

    def __init__(self, known: Known) -> None:
        self._known = known
        self._left = ITEMS

    def decode(self, data: Coded) -> Any:
        """Return the value that an encoder made the data of."""
        self._left = ITEMS
        return self._guarded(lambda: self._decode(data, DEPTH))

    def update(self, number: Any, data: Coded) -> None:
        """Make a known container hold what the data says it holds now."""
        self._left = ITEMS
        self._guarded(lambda: self._update(number, data))

    def _guarded(self, read: Callable[[], Any]) -> Any:
        try:
            return read()
        except Garbled:
            raise
        except (ArithmeticError, LookupError, TypeError, ValueError, RecursionError) as error:
            raise Garbled(f"{type(error).__name__}: {error}"[:200]) from None

    def _update(self, number: Any, data: Coded) -> None:
        container = self._known.at(number)
        tag, payload = data
        if tag != type(container).__name__:
            raise Garbled(f"a {type(container).__name__} became a {tag}")
        held = list(self._items(tag, payload, DEPTH))
        container.clear()
        _fill(container, held)

    def _decode(self, data: Coded, depth: int) -> Any:
        self._left -= 1
        if self._left < 0 or depth < -1:
            raise Garbled("it is too large")
        if data is None or type(data) in (bool, int, float, str):
            return data
        if type(data) is not list or len(data) != 2 or type(data[0]) is not str:
            raise Garbled("it is no value")
        tag, payload = data
        if tag == "known":
            return self._known.at(payload)
        if make := _MADE.get(tag):
            return make(payload)
        if empty := _EMPTY.get(tag):
            container = empty()
            self._known.add(container)
            _fill(container, self._items(tag, payload, depth))
            return container
        if build := _BUILT.get(tag):
            return build(list(self._items(tag, payload, depth)))
        raise Garbled("it has an unknown tag")

    def _items(self, tag: str, payload: Any, depth: int) -> Iterator[Any]:
        if tag == "bytearray":
            yield from bytes.fromhex(payload)
            return
        if type(payload) is not list:
            raise Garbled("what it holds is no list")
        for item in payload:
            if tag == "dict":
                key, value = item
                yield self._decode(key, depth - 1), self._decode(value, depth - 1)
            else:
                yield self._decode(item, depth - 1)


def _fill(container: Any, items: Iterable[Any]) -> None:
    (container.update if isinstance(container, dict | set) else container.extend)(items)


def _whole(value: Any) -> Coded:
    plain = int.__int__(value)
    return plain if -_EXACT < plain < _EXACT else ["int", format(plain, "x")]


def _real(value: Any) -> Coded:
    plain = float.__float__(value)
    return plain if plain - plain == 0 else ["float", repr(plain)]


def _parts(value: Any) -> Coded:
    plain = complex.__pos__(value)
    return [repr(plain.real), repr(plain.imag)]


def _complex(payload: Any) -> complex:
    real, imaginary = payload
    return complex(float(real), float(imaginary))


def _ratio(value: Any) -> Coded:
    return [format(int(value._numerator), "x"), format(int(value._denominator), "x")]


def _decimal(text: Any) -> Decimal:
    if type(text) is not str or len(text) > _DIGITS:
        raise Garbled("it is no decimal number")
    return Decimal(text)


def _span(value: Any) -> Coded:
    return [format(part, "x") for part in (value.start, value.stop, value.step)]


def _numbers(payload: Any) -> list[int]:
    return [int(part, 16) for part in payload]


def _text(payload: Any) -> str:
    return payload[:100] if type(payload) is str else "unnamed"


def _endless(items: list[Any]) -> Iterator[Any]:
    yield from items
    raise RuntimeError(f"an iterator has more than {STREAM} items")


_Read = Callable[[Any], Coded]
_SCALARS: tuple[tuple[type, str, _Read], ...] = (
    (int, "", _whole),
    (float, "", _real),
    (str, "", str.__str__),
    (bytes, "bytes", lambda value: bytes.hex(value)),
    (complex, "complex", _parts),
    (range, "range", _span),
    (Fraction, "Fraction", _ratio),
    (Decimal, "Decimal", Decimal.__str__),
)
_IMMUTABLE: tuple[tuple[type, str, Callable[[Any], Iterable[Any]]], ...] = (
    (tuple, "tuple", tuple.__iter__),
    (frozenset, "frozenset", frozenset.__iter__),
)
_MUTABLE = (list, dict, set, deque, bytearray)
_VIEWS: tuple[type, ...] = (type({}.keys()), type({}.values()), type({}.items()))

_MADE: dict[str, Callable[[Any], Any]] = {
    "int": lambda payload: int(payload, 16),
    "float": lambda payload: float(payload),
    "bytes": bytes.fromhex,
    "complex": _complex,
    "range": lambda payload: range(*_numbers(payload)),
    "Fraction": lambda payload: Fraction(*_numbers(payload)),
    "Decimal": _decimal,
    "opaque": lambda payload: Opaque(_text(payload)),
}
_EMPTY: dict[str, Callable[[], Any]] = {
    "list": list,
    "dict": dict,
    "set": set,
    "deque": deque,
    "bytearray": bytearray,
}
_BUILT: dict[str, Callable[[list[Any]], Any]] = {
    "tuple": tuple,
    "frozenset": frozenset,
    "iterator": iter,
    "endless": _endless,
    "dict_keys": lambda items: dict.fromkeys(items).keys(),
    "dict_values": lambda items: dict(enumerate(items)).values(),
    "dict_items": lambda items: dict(items).items(),
}

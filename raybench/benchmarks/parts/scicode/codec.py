"""Plain data between processes that do not trust each other: values as tagged JSON.

The program that grades and the program that it grades both run this file's text; so does whoever
reads targets. What comes out are values of Python, numpy and scipy alone: decoding runs nothing of
the sender's. An object of another kind crosses as `Opaque`, which equals nothing but itself.

    {"t": "tuple", "v": [{"t": "float", "v": "0.5"}, {"t": "array", "dtype": "<f8", …}]}
"""

import base64
import sys
from collections.abc import Callable
from typing import Any

_WHOLE = "biufcSUMm"
"""Kinds of numpy's types that are their bytes and nothing else."""
_SPARSE = ("csr", "csc", "coo", "bsr", "dia", "lil", "dok")


class Opaque:
    """Something that does not cross: what kind it was, and nothing else of it."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def __repr__(self) -> str:
        return f"<an object of type {self.kind}>"


def encode(value: Any) -> Any:
    """Return a value as JSON can hold it; subclasses cross as what they are built on."""
    if value is None or value is True or value is False:
        return value
    for module, encoder in _LIBRARIES:  # before Python's own: numpy's floats are floats, too
        if module in sys.modules and (told := encoder(value)) is not None:
            return told
    for kind, tag, plain in _BUILT_IN:
        if isinstance(value, kind):
            return {"t": tag, "v": plain(value)}
    return {"t": "opaque", "v": type(value).__name__[:100]}


def decode(plain: Any) -> Any:
    """Return the value that `encode` was given; raise ValueError where it is none of ours."""
    if plain is None or isinstance(plain, bool):
        return plain
    try:
        return _DECODERS[plain["t"]](plain)
    except (LookupError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"no value of ours: {type(error).__name__}: {error}") from error


def _each(values: Any) -> list[Any]:
    return [encode(value) for value in values]


def _pairs(value: Any) -> list[Any]:
    return [[encode(key), encode(inner)] for key, inner in dict.items(value)]


_BUILT_IN: tuple[tuple[Any, str, Callable[[Any], Any]], ...] = (
    (str, "str", lambda value: "".join(value)),
    (int, "int", lambda value: hex(int(value))),
    (float, "float", lambda value: float.__repr__(value)),
    (complex, "complex", lambda it: [float.__repr__(it.real), float.__repr__(it.imag)]),
    ((bytes, bytearray), "bytes", lambda value: base64.b64encode(value).decode()),
    (tuple, "tuple", lambda value: _each(tuple.__iter__(value))),
    (list, "list", lambda value: _each(list.__iter__(value))),
    (dict, "dict", _pairs),
    (frozenset, "frozenset", lambda value: _each(frozenset.__iter__(value))),
    (set, "set", lambda value: _each(set.__iter__(value))),
    (range, "range", lambda it: [hex(it.start), hex(it.stop), hex(it.step)]),
)


def _of_numpy(value: Any) -> Any:
    np = sys.modules["numpy"]
    if not isinstance(value, np.ndarray | np.generic):
        return None
    array = np.asarray(value)
    if array.dtype.kind in _WHOLE:
        told: Any = {"dtype": array.dtype.str, "v": base64.b64encode(array.tobytes()).decode()}
    elif array.dtype.kind == "O":
        told = {"dtype": "O", "v": _each(array.ravel().tolist())}
    else:
        return None
    if isinstance(value, np.generic):
        return {"t": "scalar", **told}
    return {"t": "array", "shape": list(array.shape), **told}


def _of_scipy(value: Any) -> Any:
    sparse = sys.modules["scipy.sparse"]
    if not sparse.issparse(value):
        return None
    # All formats of sparse matrices say the same in coordinates; none is compared but as a table.
    entries = value.tocoo()
    kind = value.format if value.format in _SPARSE else "coo"
    parts = [encode(part) for part in (entries.data, entries.row, entries.col)]
    return {"t": "sparse", "format": kind, "shape": list(entries.shape), "v": parts}


def _of_sympy(value: Any) -> Any:
    sympy = sys.modules["sympy"]
    if isinstance(value, sympy.Symbol):
        return {"t": "symbol", "v": str(value.name)}
    if isinstance(value, sympy.Integer):
        return encode(int(value))
    if isinstance(value, sympy.Float | sympy.Rational):
        return encode(float(value))
    return None


_LIBRARIES: tuple[tuple[str, Callable[[Any], Any]], ...] = (
    ("numpy", _of_numpy),
    ("scipy.sparse", _of_scipy),
    ("sympy", _of_sympy),
)


def _array(plain: Any) -> Any:
    import numpy as np

    if plain["dtype"] == "O":
        flat = np.empty(len(plain["v"]), dtype=object)
        for place, item in enumerate(plain["v"]):
            flat[place] = decode(item)
    else:
        dtype = np.dtype(str(plain["dtype"]))
        if dtype.kind not in _WHOLE:
            raise ValueError(f"no values of ours: numpy's type {dtype}")
        # A copy: what lies in a message cannot be written to.
        flat = np.frombuffer(base64.b64decode(plain["v"]), dtype=dtype).copy()
    return flat.reshape([int(length) for length in plain.get("shape", [len(flat)])])


def _sparse(plain: Any) -> Any:
    import scipy.sparse

    data, row, column = (decode(part) for part in plain["v"])
    shape = tuple(int(length) for length in plain["shape"])
    if plain["format"] not in _SPARSE:
        raise ValueError(f"no format of ours: {plain['format']}")
    return scipy.sparse.coo_matrix((data, (row, column)), shape=shape).asformat(plain["format"])


def _symbol(plain: Any) -> Any:
    import sympy  # type: ignore[import-untyped]

    return sympy.Symbol(str(plain["v"]))


def _decoded(plain: Any) -> list[Any]:
    return [decode(item) for item in plain["v"]]


_DECODERS: dict[str, Callable[[Any], Any]] = {
    "str": lambda plain: str(plain["v"]),
    "int": lambda plain: int(plain["v"], 16),
    "float": lambda plain: float(plain["v"]),
    "complex": lambda plain: complex(*(float(part) for part in plain["v"])),
    "bytes": lambda plain: base64.b64decode(plain["v"]),
    "tuple": lambda plain: tuple(_decoded(plain)),
    "list": _decoded,
    "dict": lambda plain: {decode(key): decode(value) for key, value in plain["v"]},
    "frozenset": lambda plain: frozenset(_decoded(plain)),
    "set": lambda plain: set(_decoded(plain)),
    "range": lambda plain: range(*(int(part, 16) for part in plain["v"])),
    "scalar": lambda plain: _array(plain)[0],
    "array": _array,
    "sparse": _sparse,
    "symbol": _symbol,
    "opaque": lambda plain: Opaque(str(plain["v"])),
}

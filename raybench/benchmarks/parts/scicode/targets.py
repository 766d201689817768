"""The values that SciCode's test cases compare with: read from files beside the questions.

Two layouts are known: upstream's HDF5 file (a group '13.2' for each step, in it 'test1', 'test2' …)
and JSON lines, one target each, as they are regenerated from solutions:

    {"step": "10.1", "test_index": 0, "target": {"t": "float", "v": "4.330127018922193"}}

A step's targets become a list with None where there is none, else {"value": …}, encoded (codec.py),
or {"_path": …, "step": …, "case": …, "bytes": …} for what is too large to travel with a question.
"""

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from raybench.benchmarks.parts.scicode import codec
from raybench.errors import Problem

Targets = list[Any]
_INLINE = 1 << 18
"""Bytes of a target that travels with its question; of a larger one, the place does."""
_NUMBER = re.compile(r"np\.\w+\((.*)\)")
"""How a number was written where numpy's own was asked for its text."""


def read(path: Path, step: str, cases: int) -> Targets:
    """Return a step's targets; None for each that the file lacks.

    Raises ValueError where the file is none of targets.
    """
    if path.suffix == ".h5":
        return [_of_hdf5(path, step, case) for case in range(1, cases + 1)]
    known = _of_lines(path, path.stat().st_mtime_ns)
    return [known.get((step, number)) for number in range(cases)]


def problems(listed: Any) -> Iterator[Problem]:
    """Yield what is wrong with the targets that stand in a question."""
    if not isinstance(listed, list | tuple):
        yield Problem("data.invalid", f"the targets are {type(listed).__name__}, and no list")
        return
    for number, target in enumerate(listed, start=1):
        match target:
            case None | {"_path": str(), "step": str(), "case": int(), "bytes": int()}:
                continue
            case {"value": value}:
                try:
                    codec.decode(value)
                except ValueError as error:
                    yield Problem("data.invalid", f"target {number} cannot be read: {error}")
            case _:
                yield Problem(
                    "data.invalid",
                    f'target {number} is neither null nor {{"value": …}}',
                    fix="mend it",
                )


def fetched(target: Any) -> Any:
    """Return a target's value, encoded; raise OSError or ValueError where it cannot be had."""
    if "value" in target:
        return target["value"]
    path = Path(target["_path"])
    found = _of_hdf5(path, target["step"], target["case"], whole=True)
    if found is None or path.stat().st_size != target["bytes"]:
        raise ValueError(f"{path} is no longer what it was when the questions were read")
    return found["value"]


# ------------------------------------------------------------------------------------ JSON lines


@cache
def _of_lines(path: Path, stamp: int) -> Mapping[tuple[str, int], Any]:
    found = {}
    for number, line in enumerate(path.read_bytes().splitlines(), start=1):
        try:
            told = json.loads(line)
            # One that its own solution does not reach is no target.
            if told["target"] is not None and told.get("ground_truth_passes") is not False:
                value = codec.encode(_value(told["target"]))
                found[str(told["step"]), int(told["test_index"])] = {"value": value}
        except (ValueError, LookupError, TypeError) as error:
            raise ValueError(f"{path.name}, line {number}, is no target: {error!r}") from error
    return found


def _value(told: Any) -> Any:
    """Return a target of the regenerated layout."""
    import numpy as np

    match told:
        case {"t": "ndarray", "dtype": dtype, "shape": shape, "v": flat}:
            return np.array([_item(it) for it in flat], dtype=np.dtype(dtype)).reshape(shape)
        case {"t": "ndarray", "dtype": dtype, "shape": shape, "re": real, "im": imaginary}:
            pairs = zip(real, imaginary, strict=True)
            flat = [complex(_number(one), _number(other)) for one, other in pairs]
            return np.array(flat, dtype=np.dtype(dtype)).reshape(shape)
        case {"t": "np", "dtype": dtype, "v": value}:
            return np.dtype(dtype).type(_value(value))
        case {"t": "list" | "tuple" as kind, "v": items}:
            values = [_value(it) for it in items]
            return values if kind == "list" else tuple(values)
        case {"t": "dict", "v": pairs}:
            return {_value(key): _value(value) for key, value in pairs}
        case {"t": "float" | "complex" | "int" | "bool" | "str" as kind, "v": value}:
            return _scalar(kind, value)
        case None | bool() | int() | float() | str():
            return told
    raise ValueError(f"a target of kind {told.get('t') if isinstance(told, dict) else told!r}")


def _item(told: Any) -> Any:
    """Return an array's item; what JSON has no number for is a text."""
    if isinstance(told, dict):
        return _value(told)
    return _number(told) if isinstance(told, str) else told


def _scalar(kind: str, value: Any) -> Any:
    match kind:
        case "float":
            return _number(value)
        case "complex":
            return complex(*(_number(part) for part in value))
        case "int":
            return int(value)
    return value


def _number(told: Any) -> float:
    text = str(told)
    inner = _NUMBER.fullmatch(text)
    return float(inner[1] if inner else text)


# ------------------------------------------------------------------------------------------ HDF5


def _of_hdf5(path: Path, step: str, case: int, *, whole: bool = False) -> Any:
    import h5py

    try:
        with h5py.File(path, "r") as file:
            if file.get(step, getlink=True) is not None:
                _keep_inside(file, step, h5py)
            group = file.get(f"{step}/test{case}")
            if not isinstance(group, h5py.Group) or not len(group):
                return None
            if not whole and _bytes(group, h5py) > _INLINE:
                size = path.stat().st_size
                return {"_path": str(path), "step": step, "case": case, "bytes": size}
            return {"value": codec.encode(_test(group, h5py))}
    except FileNotFoundError:
        raise
    except OSError as error:
        raise ValueError(f"{path} cannot be read as HDF5: {error}") from error


def _keep_inside(file: Any, step: str, h5py: Any) -> None:
    """Raise ValueError where a step's targets lie in other files: those are not to be read.

    HDF5 follows links to any file of the machine, and takes any file's bytes for a dataset's.
    """
    pairs = [(step, file.get(step, getlink=True))]
    if isinstance(pairs[0][1], h5py.HardLink) and isinstance(file[step], h5py.Group):
        file[step].visititems_links(lambda name, link: pairs.append((f"{step}/{name}", link)))
    for name, link in pairs:
        if not isinstance(link, h5py.HardLink):
            raise ValueError(f"'{name}' is a link, where a target should be")
        if isinstance(item := file[name], h5py.Dataset) and (item.external or item.is_virtual):
            raise ValueError(f"'{name}' lies in another file")


def _bytes(group: Any, h5py: Any) -> int:
    sizes: list[int] = []

    def add(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset):
            sizes.append(int(item.nbytes))

    group.visititems(add)
    return sum(sizes)


def _test(group: Any, h5py: Any) -> Any:
    """Return a test's target: its one value, or a tuple of them all."""
    values = [
        _leaf(inner) if isinstance(inner, h5py.Dataset) else _group(inner, h5py)
        for inner in group.values()
    ]
    return values[0] if len(values) == 1 else tuple(values)


def _group(group: Any, h5py: Any) -> Any:
    """Return what a group stands for, told by the first name in it as upstream tells it."""
    first = next(iter(group.keys()), None)
    if first == "list":
        return [_leaf(group["list"][key], raw=True) for key in group["list"]]
    if first == "sparse_matrix":
        return _matrix(group["sparse_matrix"])
    found: dict[Any, Any] = {}
    for key, inner in group.items():
        if isinstance(inner, h5py.Group):
            found[key] = _matrix(inner["sparse_matrix"])
            continue
        value = _leaf(inner)
        try:
            found[key if isinstance(value, str) else float(key)] = value
        except ValueError:
            found[key] = value
    return found


def _leaf(dataset: Any, *, raw: bool = False) -> Any:
    value = dataset[()]
    return value.decode() if isinstance(value, bytes) and not raw else value


def _matrix(group: Any) -> Any:
    import scipy.sparse

    data, shape = group["data"][()], tuple(int(length) for length in group["shape"][()])
    if "row" in group and "col" in group:
        places = (group["row"][()], group["col"][()])
        return scipy.sparse.coo_matrix((data, places), shape=shape)
    parts = (data, group["indices"][()], group["indptr"][()])
    if "blocksize" in group:
        size = tuple(int(length) for length in group["blocksize"][()])
        return scipy.sparse.bsr_matrix(parts, shape=shape, blocksize=size)
    return scipy.sparse.csr_matrix(parts, shape=shape)

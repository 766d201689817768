"""The comparisons that SciCode's test cases import, with the decisions of `scicode.compare.cmp`.

They run where no candidate's code does: beside numpy, scipy and sympy as they were installed.
"""

from typing import Any

import numpy as np


def hollow(check: dict[str, Any], space: dict[str, Any]) -> bool:
    """Tell whether a value is empty where a check (empties.py) tells that it must not be."""
    try:
        value = eval(check["value"], space)
    except Exception:  # the assertion will tell, where it comes to this
        return False
    try:
        beside = eval(check["beside"], space)
    except Exception:  # something that has no such part, so it is not empty
        beside = None
    gone = _size(value) > 0 and any(_size(space[name]) == 0 for name in check["names"])
    return gone or vacuous(value, beside)


def vacuous(value: Any, target: Any) -> bool:
    """Tell whether a value is empty where something is expected: it would compare as equal.

    numpy stretches what is empty over what is not, and all of nothing is true.
    """
    if isinstance(value, dict):
        there = target if isinstance(target, dict) else {}
        return any(vacuous(it, there[key]) for key, it in value.items() if key in there)
    if _size(value) == 0:
        return _size(target) > 0
    both = isinstance(value, list | tuple) and isinstance(target, list | tuple)
    return both and len(value) == len(target) and any(map(vacuous, value, target))


def _size(value: Any) -> int:
    if hasattr(value, "toarray"):  # sparse
        return int(value.shape[0] * value.shape[1])
    try:
        return int(np.size(value))
    except ValueError:  # of parts that differ in their shapes, so it has some
        return 1


def cmp_tuple_or_list(var1: Any, var2: Any) -> bool:
    """Tell whether two sequences are close, item by item. The first one's kinds decide how."""
    import scipy.sparse

    tables = (scipy.sparse.csr_matrix, scipy.sparse.csc_matrix)
    if len(var1) != len(var2):
        return False
    for one, other in zip(var1, var2, strict=True):
        if isinstance(one, dict):
            same = are_dicts_close(one, other)
        elif isinstance(one, tables):
            same = are_csc_matrix_close(one, other)
        elif isinstance(one, bool):
            same = bool(one == other)
        else:
            same = _close(one, other)
        if not same:
            return False
    return True


def are_dicts_close(dict1: Any, dict2: Any, atol: float = 1e-8, rtol: float = 1e-5) -> bool:
    """Tell whether two dicts have the same keys, a symbol being its name, and close values."""
    import scipy.sparse
    import sympy  # type: ignore[import-untyped]

    one, other = process_symbol_in_dict(dict1), process_symbol_in_dict(dict2)
    if one.keys() != other.keys():
        return False
    tables = tuple(getattr(scipy.sparse, f"{kind}_matrix") for kind in ("csr", "csc", "bsr", "coo"))
    for key, value in one.items():
        if isinstance(value, str | sympy.Symbol):
            same = bool(value == other[key])
        elif isinstance(value, tables):
            same = np.allclose(value.toarray(), other[key].toarray(), atol=atol, rtol=rtol)
        else:
            same = _close(value, other[key], atol=atol, rtol=rtol)
        if not same:
            return False
    return True


def are_csc_matrix_close(matrix1: Any, matrix2: Any) -> bool:
    """Tell whether two sparse matrices are close."""
    return bool(np.allclose(matrix1.toarray(), matrix2.toarray()))


def process_symbol_in_dict(dict: Any) -> Any:
    """Return the dict with the names of symbols for the symbols, of keys and of values."""
    import sympy

    def plain(value: Any) -> Any:
        return str(value) if isinstance(value, sympy.Symbol) else value

    # As upstream has it: the value of a key that is a symbol stays what it is.
    return {
        plain(key): value if isinstance(key, sympy.Symbol) else plain(value)
        for key, value in dict.items()
    }


def _close(one: Any, other: Any, **tolerances: Any) -> bool:
    try:
        return bool(np.allclose(one, other, **tolerances))
    except ValueError:  # of shapes that do not go together, say
        return bool(one == other)

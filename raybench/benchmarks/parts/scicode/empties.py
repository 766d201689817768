"""Where a test case may expect emptiness, and where what is empty would pass for anything.

numpy stretches what is empty over what is not, and all of nothing is true. So the judge looks at
every handed-over value together with what stands beside it in a comparison:

    assert np.allclose((_0, _1), target) and len(_2) == 0
        _0 beside target[0], _1 beside target[1]; _2 is asked for its length, which tells
"""

import ast
import re
from collections.abc import Iterator
from typing import TypeGuard

Check = dict[str, str | list[str]]
"""`value`: an expression. `beside`: one that must be empty, too, where the value is. `names`: what
was handed over for the value, and must not be empty where the value is not."""
_HANDED = re.compile(r"_\d+")
_EXTENT = {"len", "isinstance", "type", "shape", "size", "ndim"}
"""What tells an empty thing from another: nothing is stretched."""
_EXACT = (ast.NotEq, ast.Is, ast.IsNot, ast.In, ast.NotIn)
"""Comparisons that what is empty may pass by right."""
_CLOSE = re.compile(r".*(close|equal|equiv)|cmp_tuple_or_list")
_NOTHING = ast.Constant(None)
"""Beside this no value may be empty."""


def checks(statement: ast.stmt) -> list[Check]:
    """Return what the judge looks at before it runs a statement."""
    if isinstance(statement, ast.Assert):
        return list(_asked(statement.test, _NOTHING))
    # What comes of the values is compared later, with the target or a part of it.
    names = sorted({it.id for it in ast.walk(statement) if _is_handed(it)})
    return [{"value": name, "beside": "target", "names": []} for name in names]


def _asked(node: ast.expr, beside: ast.expr) -> Iterator[Check]:
    match node:
        case ast.BoolOp(values=parts):
            for part in parts:
                yield from _asked(part, _NOTHING)
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            yield from _alone(inner)
        case ast.Compare(left=left, ops=operators, comparators=others):
            for one, operator, other in zip([left, *others], operators, others, strict=False):
                exact = isinstance(operator, _EXACT)
                yield from [*_alone(one), *_alone(other)] if exact else _pair(one, other)
        case ast.Call(args=[one, other, *_]) if _compares(node):
            yield from _pair(one, other)
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            for place, part in enumerate(parts):
                yield from _asked(part, _part(beside, place))
        case _:
            yield from _worked_out(node, beside)


def _alone(node: ast.expr) -> Iterator[Check]:
    """Yield the checks of what is not stretched over anything."""
    if not _is_handed(node):
        yield from _asked(node, _NOTHING)


def _pair(one: ast.expr, other: ast.expr) -> Iterator[Check]:
    yield from _asked(one, _NOTHING if _has_handed(other) else other)
    yield from _asked(other, _NOTHING if _has_handed(one) else one)


def _part(whole: ast.expr, place: int) -> ast.expr:
    """Return the expression for a part of what stands beside a tuple."""
    if whole is _NOTHING:
        return whole
    if isinstance(whole, ast.Tuple | ast.List):
        return whole.elts[place] if place < len(whole.elts) else _NOTHING
    return ast.Subscript(whole, ast.Constant(place), ast.Load())


def _worked_out(node: ast.expr, beside: ast.expr) -> Iterator[Check]:
    """Yield the checks of an expression, and of the comparisons in it."""
    names: list[str] = []
    waiting: list[ast.AST] = [node]
    while waiting:
        match it := waiting.pop():
            case ast.Attribute(attr=name) if name in _EXTENT:
                continue
            case ast.Call(func=function) if _last(function) in _EXTENT:
                continue
            case ast.Compare():
                yield from _asked(it, _NOTHING)
                continue
            case ast.Call() if _compares(it):
                yield from _asked(it, _NOTHING)
                continue
            case ast.Name(id=name) if _is_handed(it):
                names.append(name)
        waiting.extend(ast.iter_child_nodes(it))
    if names:
        found = {"value": ast.unparse(node), "beside": ast.unparse(beside)}
        yield {**found, "names": sorted(set(names))}


def _compares(call: ast.Call) -> bool:
    """Tell whether a call compares its first two arguments, to judge by its name or by them."""
    told = any(isinstance(it, ast.Name) and it.id == "target" for it in call.args[:2])
    return len(call.args) > 1 and (told or _CLOSE.match(_last(call.func)) is not None)


def _last(function: ast.expr) -> str:
    match function:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def _is_handed(node: ast.AST) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and _HANDED.fullmatch(node.id) is not None


def _has_handed(node: ast.AST) -> bool:
    return any(map(_is_handed, ast.walk(node)))

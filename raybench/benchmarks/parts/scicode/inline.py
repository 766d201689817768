"""Test cases that hide their statements in a function without arguments: taken out of it."""

import ast
from collections.abc import Sequence

from raybench.benchmarks.parts.scicode import names


def flat(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """Return a test case with the functions that it only calls once, without arguments, spread out.

    Their assertions then stand where they can be judged, and not where the candidate's code runs.
    """
    functions = {it.name: it for it in body if isinstance(it, ast.FunctionDef) and _is_plain(it)}
    calls = {name: _calls(body, name) for name in functions}
    spread = {
        name
        for name, places in calls.items()
        if len(places) == 1 and any(_is_call(statement, name) for statement in body)
    }
    found: list[ast.stmt] = []
    for statement in body:
        here = [name for name in spread if _is_call(statement, name)]
        if isinstance(statement, ast.FunctionDef) and statement.name in spread:
            continue
        if here:
            found += _spread(statement, functions[here[0]], calls[here[0]][0])
        else:
            found.append(statement)
    return found


def _is_plain(function: ast.FunctionDef) -> bool:
    """Tell whether a function takes nothing and returns at its end or never."""
    args = function.args
    if args.posonlyargs or args.args or args.kwonlyargs or args.vararg or args.kwarg:
        return False
    inner = [node for statement in function.body for node in ast.walk(statement)]
    last = function.body[-1]
    scopes = ast.Return | ast.Yield | ast.YieldFrom | ast.Global | ast.Nonlocal | ast.FunctionDef
    odd = [node for node in inner if isinstance(node, scopes) and node is not last]
    return not odd and not function.decorator_list


def _calls(body: Sequence[ast.stmt], name: str) -> list[ast.Name]:
    """Return where a name is read."""
    nodes = (node for statement in body for node in ast.walk(statement))
    return [it for it in nodes if isinstance(it, ast.Name) and it.id == name]


def _is_call(statement: ast.stmt, name: str) -> bool:
    """Tell whether a statement is a call of the function, or asserts something of one."""
    if not isinstance(statement, ast.Expr | ast.Assert):
        return False
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == name
        and not node.args
        and not node.keywords
        for node in ast.walk(statement)
    )


def _spread(statement: ast.stmt, function: ast.FunctionDef, call: ast.Name) -> list[ast.stmt]:
    own = {name for inner in function.body for name in names.bound(inner)}
    # A fresh reading of the text: what is renamed here is used nowhere else.
    body = ast.parse(ast.unparse(function)).body[0]
    assert isinstance(body, ast.FunctionDef)
    renamed: list[ast.stmt] = [_Rename(own, function.name).visit(inner) for inner in body.body]
    result: ast.expr = ast.Constant(None)
    if isinstance(renamed[-1], ast.Return):
        result = renamed[-1].value or result
        renamed.pop()
    return [*renamed, _Replace(call, result).visit(statement)]


class _Rename(ast.NodeTransformer):
    """Keeps a function's own names apart from the module's."""

    def __init__(self, own: set[str], function: str) -> None:
        self._own, self._function = own, function

    def visit_Name(self, node: ast.Name) -> ast.Name:
        """Give one of the function's names the function's prefix."""
        if node.id in self._own:
            node.id = f"_{self._function}_{node.id}"
        return node


class _Replace(ast.NodeTransformer):
    """Puts what a function returns in the place of its call."""

    def __init__(self, call: ast.Name, result: ast.expr) -> None:
        self._call, self._result = call, result

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Replace the one call."""
        return self._result if node.func is self._call else self.generic_visit(node)

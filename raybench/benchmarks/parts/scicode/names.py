"""What a piece of a test case reads and binds, by its syntax."""

import ast
from collections.abc import Iterable, Iterator

_SCOPES = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef


def loaded(node: ast.AST) -> set[str]:
    """Return the names that a piece of code reads from around it, be it now or when called."""
    found, own = set(), set(_bound_inside(node))
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load):
            found.add(inner.id)
    return found - own


def bound(node: ast.AST) -> set[str]:
    """Return the names that a statement gives a value, in the module's own scope."""
    found: set[str] = set()
    for inner in _in_scope(node):
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store | ast.Del):
            found.add(inner.id)
        elif isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(inner.name)
        elif isinstance(inner, ast.Import | ast.ImportFrom):
            found |= imported(inner)
    return found


def imported(node: ast.Import | ast.ImportFrom) -> set[str]:
    """Return the names that an import gives; those of a star stay unknown."""
    names = {alias.asname or alias.name.partition(".")[0] for alias in node.names}
    return names - {"*"}


def roots(node: ast.AST) -> set[str]:
    """Return the names of which a statement changes something inside: of `a[0] = …`, a."""
    targets: Iterable[ast.AST] = ()
    if isinstance(node, ast.Assign | ast.Delete):
        targets = node.targets
    elif isinstance(node, ast.AugAssign | ast.AnnAssign):
        targets = [node.target]
    return {name for target in targets if (name := root(target))}


def root(node: ast.AST) -> str | None:
    """Return the name that a chain of attributes and items begins with."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def _bound_inside(node: ast.AST) -> Iterator[str]:
    """Yield what functions and comprehensions in the code name for themselves."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.comprehension):
            yield from _stored(inner.target)
        elif isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from (it.arg for it in _arguments(inner.args))
            if not isinstance(inner, ast.Lambda):
                for statement in inner.body:
                    yield from bound(statement)


def _arguments(arguments: ast.arguments) -> Iterator[ast.arg]:
    yield from (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    yield from (it for it in (arguments.vararg, arguments.kwarg) if it is not None)


def _stored(node: ast.AST) -> Iterator[str]:
    return (inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name))


def _in_scope(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a statement and what is in it, but not what has a scope of its own."""
    yield node
    if isinstance(node, _SCOPES):
        return
    for inner in ast.iter_child_nodes(node):
        if not isinstance(inner, ast.comprehension):
            yield from _in_scope(inner)

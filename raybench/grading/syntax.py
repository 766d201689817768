"""Reads Python without running it."""

import ast
import symtable
import warnings
from collections.abc import Callable
from dataclasses import dataclass

LONGEST = 200_000
"""Characters. No answer to a question is longer, and reading takes time."""
_DEFINES = ast.Import | ast.ImportFrom | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_YIELDS = ast.Yield | ast.YieldFrom


@dataclass(frozen=True, slots=True)
class Names:
    """The names of a program's outermost level."""

    defined: frozenset[str]
    """Functions, classes and variables."""
    imported: frozenset[str]
    read: frozenset[str]
    """What is looked up there from anywhere in the program, be it defined or not."""

    @property
    def bound(self) -> frozenset[str]:
        """What the program has there once it has run."""
        return self.defined | self.imported


def parsed(source: str) -> ast.Module | None:
    """Return the syntax tree of a program, None where it is none, or longer than any answer."""
    if len(source) > LONGEST:
        return None
    try:
        with warnings.catch_warnings(action="ignore"):  # '\d' is no concern of ours
            return ast.parse(source)
    # A null character is a ValueError; the others are what deep nesting brings.
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def failing_line(source: str) -> int | None:
    """Return the line at which a program's syntax breaks, None where it does not or none is known.

    Lines are counted from 1.
    """
    if len(source) > LONGEST:
        return None
    try:
        with warnings.catch_warnings(action="ignore"):
            ast.parse(source)
    except SyntaxError as error:
        return error.lineno
    except (ValueError, RecursionError, MemoryError):
        return None
    return None


def names(source: str) -> Names | None:
    """Return the names of a program, None where it is none, or longer than any answer."""
    if len(source) > LONGEST:
        return None
    try:
        with warnings.catch_warnings(action="ignore"):
            top = symtable.symtable(source, "<program>", "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    own = [it for it in top.get_symbols() if it.is_assigned() or it.is_imported()]
    read, tables = set[str](), [top]
    while tables:
        table = tables.pop()
        read |= {it.get_name() for it in table.get_symbols() if it.is_global()}
        tables += table.get_children()
    return Names(
        defined=frozenset(it.get_name() for it in own if not it.is_imported()),
        imported=frozenset(it.get_name() for it in own if it.is_imported()),
        read=frozenset(read),
    )


def returns(source: str) -> bool:
    """Tell whether a program returns or yields outside its functions: then it is a part of one."""
    tree = parsed(source)
    parts: list[ast.AST] = [tree] if tree else []
    for part in parts:  # it grows
        if isinstance(part, ast.Return | _YIELDS):
            return True
        if not isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            parts += ast.iter_child_nodes(part)
    return False


def without_end(source: str, drop: Callable[[ast.stmt], bool]) -> str:
    """Return a program without those of its last statements that are to be dropped."""
    tree = parsed(source)
    if tree is None:
        return source
    while tree.body and drop(tree.body[-1]):
        tree.body.pop()
    end = tree.body[-1].end_lineno if tree.body else 0
    return "\n".join(source.split("\n")[:end])


def is_said(statement: ast.stmt) -> bool:
    """Tell whether a statement may be prose: 'Done' is a name, and 'Answer: A' declares one."""
    if isinstance(statement, ast.Expr):
        return not isinstance(statement.value, ast.Call | _YIELDS)
    return isinstance(statement, ast.AnnAssign) and statement.value is None


def _acts(statement: ast.stmt) -> bool:
    """Tell whether a statement does more than define, say or ask for something."""
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, _YIELDS)
    return not is_said(statement) and not isinstance(statement, _DEFINES)


def is_stub(source: str, name: str) -> bool:
    """Tell whether a program leaves the function to be written."""
    tree = parsed(source) or parsed(f"{source}\n    ...")  # a signature alone
    for it in reversed(tree.body if tree else []):
        if isinstance(it, ast.FunctionDef | ast.AsyncFunctionDef) and it.name == name:
            return all(_is_left_open(part) for part in it.body)
    return False


def _is_left_open(statement: ast.stmt) -> bool:
    """Tell whether a statement may stand in a function that is still to be written."""
    match statement:
        case ast.Raise(exc=ast.Name(id=error) | ast.Call(func=ast.Name(id=error))):
            return error == "NotImplementedError"
        case ast.Expr(value=value):
            return isinstance(value, ast.Constant)
    return isinstance(statement, ast.Pass | ast.Import | ast.ImportFrom)


def completes(whole: str, shown: str, name: str) -> bool:
    """Tell whether a program goes on with the function that was shown last, and does something."""
    after, before = parsed(whole), parsed(shown)
    if after is None or before is None or not before.body or returns(whole):
        return False
    match before.body[-1], after.body[len(before.body) - 1 :]:
        case ast.FunctionDef(body=was), [ast.FunctionDef(body=now, name=known), *_]:
            return known == name and any(_acts(it) for it in now[len(was) :])
    return False

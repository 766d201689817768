"""Look at the code and the values of a statement instead of its words (raybench/statements.py).

    python tests/statements.py        # write tests/statements.txt after a text was reworded

tests/statements.txt holds all templates by code; `make goldens` writes it as well.
"""

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import raybench
from raybench.errors import Problem
from raybench.statements import Statement

FILE = Path(__file__).parent / "statements.txt"


def code(text: object) -> str:
    """Return the code of a statement, or of an exception whose first argument is one.

    For a RaybenchError use tests/refusals.py.
    """
    return _statement(text).code


def values(text: object) -> dict[str, Any]:
    """Return the values of a statement, or of an exception whose first argument is one."""
    return dict(_statement(text).values)


def codes(texts: Iterable[object]) -> list[str]:
    """Return the codes of several statements, in their order."""
    return [code(text) for text in texts]


def the(wanted: str, texts: Iterable[object]) -> dict[str, Any]:
    """Return the values of the one statement with this code; other texts may stand beside it."""
    found = [it for it in texts if isinstance(it, Statement) and it.code == wanted]
    assert len(found) == 1, f"{len(found)} statements have the code {wanted}"
    return values(found[0])


def deviating(texts: Iterable[object]) -> dict[str, Any]:
    """Return the settings that the notes of a plan name as deviations, with their values."""
    named = [it for it in texts if isinstance(it, Statement) and it.code == "deviation.named"]
    return {it.values["setting"]: it.values["given"] for it in named}


def templates() -> dict[str, list[str]]:
    """Return the templates of every code that the sources of raybench name."""
    found: dict[str, set[str]] = {}
    for path in sorted(Path(raybench.__file__).parent.rglob("*.py")):
        for name, template in _made(ast.parse(path.read_text("utf-8"))):
            found.setdefault(name, set()).add(template)
    return {name: sorted(found[name]) for name in sorted(found)}


def text() -> str:
    """Return the content of tests/statements.txt."""
    return "".join(f"{name}\n    {' | '.join(it)}\n" for name, it in templates().items())


def write() -> None:
    """Keep the statements as they are now."""
    FILE.write_text(text(), "utf-8")


def _statement(text: object) -> Statement:
    if isinstance(text, BaseException):
        text = text.args[0]
    if isinstance(text, tuple) and text and isinstance(text[0], Problem):
        raise TypeError("a RaybenchError has its codes in problems: use tests/refusals.py")
    assert isinstance(text, Statement), f"no Statement: {text!r}"
    return text


def _made(tree: ast.AST) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", None) == "Statement":
            yield ast.literal_eval(node.args[0]), ast.literal_eval(node.args[1])


if __name__ == "__main__":
    write()

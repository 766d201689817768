"""No test compares prose: a text that is reworded breaks snapshots alone.

A comparison counts if a string of three or more words stands in `in`, `==`, `match=`,
`startswith`, `endswith` or a regular expression. Assert on a code, a setting, a number or a key
instead (tests/refusals.py, tests/statements.py), or on a constant that the product exports. The
sentences themselves are kept in tests/messages.txt and tests/statements.txt.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
_WORD = re.compile(r"[^\W\d_]{2,}")
_LEAST = 3
_METHODS = ("startswith", "endswith", "search", "fullmatch")
_COMPARING = (ast.In, ast.NotIn, ast.Eq, ast.NotEq)


def test_no_test_compares_prose() -> None:
    found = [
        f"tests/{path.relative_to(TESTS)}:{node.lineno}: {ast.unparse(node)}"
        for path in sorted(TESTS.rglob("*.py"))
        for node in _comparisons(ast.parse(path.read_text("utf-8")))
    ]
    if found:
        pytest.fail("comparisons with prose:\n" + "\n".join(found), pytrace=False)


@pytest.mark.parametrize(
    ("source", "prose"),
    [
        ("assert why == 'the model is away'", True),
        ("assert 'the model is away' in told", True),
        ("assert f'the model is {where}' in told", True),
        ("raises(ValueError, match='no such model')", True),
        ("assert told.startswith('the model is')", True),
        ("assert why == 'away'", False),
        ("assert code == 'model.unreachable'", False),
        ("assert path == 'runs/index/report.html'", False),
        ("text = 'the model is away'", False),
    ],
)
def test_what_counts_as_prose(source: str, prose: bool) -> None:
    assert any(_comparisons(ast.parse(source))) == prose


def _comparisons(tree: ast.AST) -> Iterator[ast.expr]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and any(isinstance(op, _COMPARING) for op in node.ops):
            compared = [node.left, *node.comparators]
        elif isinstance(node, ast.Call):
            compared = [keyword.value for keyword in node.keywords if keyword.arg == "match"]
            if isinstance(node.func, ast.Attribute) and node.func.attr in _METHODS:
                compared += node.args[:1]
        else:
            continue
        if any(_is_prose(each) for each in compared):
            yield node


def _is_prose(node: ast.expr) -> bool:
    if isinstance(node, ast.JoinedStr):
        parts = [it.value for it in node.values if isinstance(it, ast.Constant)]
        return _words(" ".join(map(str, parts))) >= _LEAST
    if isinstance(node, ast.Tuple | ast.List):
        return any(_is_prose(each) for each in node.elts)
    if isinstance(node, ast.BinOp):
        return _is_prose(node.left) or _is_prose(node.right)
    return isinstance(node, ast.Constant) and _words(node.value) >= _LEAST


def _words(text: object) -> int:
    """Return the number of words; addresses, paths and code have few."""
    if not isinstance(text, str):
        return 0
    return sum(1 for word in text.split() if _WORD.fullmatch(word.strip(".,:;!?'\"()")))

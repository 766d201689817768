"""Count comparisons with prose in tests, which break when a text is reworded.

    python tests/prose.py            # write tests/prose.txt after comparisons were removed

A comparison counts if a string of three or more words stands in `in`, `==`, `match=`,
`startswith`, `endswith` or a regular expression. Assert on a code, a setting, a number or a key
instead (tests/refusals.py); the sentences themselves are kept in tests/messages.txt.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parent
COUNTS = TESTS / "prose.txt"
_WORD = re.compile(r"[^\W\d_]{2,}")
_LEAST = 3
_METHODS = ("startswith", "endswith", "search", "fullmatch")
_COMPARING = (ast.In, ast.NotIn, ast.Eq, ast.NotEq)


def counted() -> dict[str, int]:
    """Return the number of comparisons with prose by test file; files without any are left out."""
    found = {}
    for path in sorted(TESTS.rglob("*.py")):
        if number := sum(1 for _ in _comparisons(ast.parse(path.read_text("utf-8")))):
            found[path.relative_to(TESTS).as_posix()] = number
    return found


def allowed() -> dict[str, int]:
    """Return the numbers that were committed."""
    lines = COUNTS.read_text("utf-8").splitlines() if COUNTS.exists() else []
    return {name: int(number) for number, name in (line.split() for line in lines)}


def write(counts: dict[str, int]) -> None:
    """Commit these numbers."""
    lines = (f"{number:4} {name}\n" for name, number in sorted(counts.items()))
    COUNTS.write_text("".join(lines), "utf-8")


def _comparisons(tree: ast.AST) -> Iterator[ast.AST]:
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


if __name__ == "__main__":
    now, before = counted(), allowed()
    if grown := {name: now[name] for name in now if now[name] > before.get(name, 0) and before}:
        print(f"more than before, and written all the same: {grown}")
    write(now)
    print(f"{sum(now.values()):,} comparisons with prose in {len(now)} files")

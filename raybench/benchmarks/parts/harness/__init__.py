"""What is trusted inside the sandbox: it runs programs and checks what they return.

Its files are sent as text and run there, on Python 3.11 or 3.12 with the standard library only.
Two processes: one runs the program, the other holds the tests and compares. Plain data goes between
them, so nothing that a program defines, patches or reads reaches a comparison.
"""

import json
from functools import cache
from importlib.resources import files
from typing import Any

_LOADER = """\
import sys, types
sys.modules[{package!r}] = types.ModuleType({package!r})
for name, text in {texts!r}:
    sys.modules[name] = module = types.ModuleType(name)
    exec(compile(text, name, "exec"), module.__dict__)
module.main()
"""


@cache
def source(*modules: str) -> str:
    """Return one program of some of the modules here, each after those it imports.

    It calls the last one's `main()`.
    """
    folder = files(__name__)
    texts = [
        (f"{__name__}.{module}", (folder / f"{module}.py").read_text(encoding="utf-8"))
        for module in modules
    ]
    return _LOADER.format(package=__name__, texts=texts)


def told(output: str, word: str) -> dict[str, Any]:
    """Return what the harness says, which alone knows the word; nothing where it says nothing."""
    for line in reversed(output.splitlines()):
        try:
            said = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(said, dict) and said.get("word") == word:
            return said
    return {}

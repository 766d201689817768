"""Nothing that is read becomes code: no pickle, no eval, no loader that runs what it loads."""

import ast
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

import pytest

import raybench

PACKAGE = Path(raybench.__file__).parent
MODULES = frozenset(
    ("pickle", "cPickle", "cloudpickle", "dill", "marshal", "shelve", "joblib", "jsonpickle")
)
"""Whatever loads with them runs what the file says."""
CALLS = frozenset(("eval", "exec", "compile", "__import__"))
LOADERS = ("read_pickle", "to_pickle", "unsafe_load", "full_load", "UnsafeLoader", "FullLoader")
ATTRIBUTES = frozenset((*LOADERS, "extractall", "parse_expr", "sympify", "instantiate"))
"""Of modules of others: loaders that build objects, archives written where they like, shells."""
YES = frozenset(("allow_pickle", "trust_remote_code", "shell", "weights_only"))
"""What must not be switched on, or (the last one) off."""
ALLOWED = {
    "sandbox/inside/program.py": "the untrusted program itself, within the sandbox",
    "benchmarks/parts/harness/*.py": "sent into the sandbox as text, and run there",
    "benchmarks/parts/livecodebench/inside.py": "sent into the sandbox as text, and run there",
    "benchmarks/parts/scicode/harness.py": "sent into the sandbox as text, and run there",
    "benchmarks/parts/scicode/compare.py": "sent into the sandbox as text, and run there",
}
"""Files that may, and why."""


def _named(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _owner(node: ast.expr) -> str:
    return _named(node.value) if isinstance(node, ast.Attribute) else ""


def found(source: str) -> Iterator[str]:
    """Yield what of a module would make code, or objects of any class, of what it reads."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names=names):
                yield from (it.name for it in names if it.name.partition(".")[0] in MODULES)
            case ast.ImportFrom(module=str(module), names=names):
                wanted = {module.partition(".")[0], *(it.name for it in names)}
                yield from sorted(wanted & (MODULES | ATTRIBUTES))
            case ast.Call(func=ast.Name(id=name)) if name in CALLS:
                yield name
            case ast.Attribute(attr=name) if name in ATTRIBUTES:
                yield name
            case ast.Attribute(attr="system" | "popen" as name) if _owner(node) == "os":
                yield f"os.{name}"
            case ast.Call(func=ast.Attribute(attr="load" | "load_all") as call, keywords=given):
                loader = next((_named(it.value) for it in given if it.arg == "Loader"), "")
                if _owner(call) == "torch" or (_owner(call) == "yaml" and "Safe" not in loader):
                    yield f"{_owner(call)}.{call.attr}"
        if isinstance(node, ast.Call):
            for it in node.keywords:
                off = it.arg == "weights_only"
                if it.arg in YES and not (
                    isinstance(it.value, ast.Constant) and bool(it.value.value) is off
                ):
                    yield f"{it.arg}={ast.unparse(it.value)}"


def _places() -> list[str]:
    return sorted(str(it.relative_to(PACKAGE)) for it in PACKAGE.rglob("*.py"))


def _allowed(place: str) -> bool:
    return any(fnmatch(place, pattern) for pattern in ALLOWED)


def test_nothing_that_is_read_becomes_code() -> None:
    places = _places()
    assert len(places) > 400
    wrong = {
        place: names
        for place in places
        if not _allowed(place) and (names := list(found((PACKAGE / place).read_text())))
    }
    assert wrong == {}


@pytest.mark.parametrize("pattern", ALLOWED)
def test_an_exception_is_needed(pattern: str) -> None:
    files = [it for it in _places() if fnmatch(it, pattern)]
    assert any(list(found((PACKAGE / it).read_text())) for it in files)


@pytest.mark.parametrize(
    "line",
    [
        "import pickle",
        "import os, cloudpickle.compat",
        "from pickle import loads",
        "from ray import cloudpickle",
        "from yaml import unsafe_load",
        "eval(text)",
        "exec(text, {})",
        "torch.load(path)",
        "np.load(path, allow_pickle=True)",
        "np.load(path, allow_pickle=trusted)",
        "pd.read_pickle(path)",
        "yaml.load(text)",
        "yaml.load(text, Loader=yaml.Loader)",
        "yaml.unsafe_load(text)",
        "AutoModel.from_pretrained(name, trust_remote_code=True)",
        "load(path, weights_only=False)",
        "archive.extractall(folder)",
        "sympy.parse_expr(text)",
        "subprocess.run(text, shell=True)",
        "os.system(text)",
        "hydra.utils.instantiate(conf)",
    ],
)
def test_what_is_looked_for_is_found(line: str) -> None:
    assert list(found(line))


@pytest.mark.parametrize(
    "line",
    [
        "import pickletools",
        "np.load(path, allow_pickle=False)",
        "yaml.safe_load(text)",
        "yaml.load(text, Loader=yaml.SafeLoader)",
        "yaml.load(text, Loader=CSafeLoader)",
        "json.load(file)",
        "literal_eval(text)",
        "re.compile(text)",
    ],
)
def test_what_is_harmless_is_not(line: str) -> None:
    assert not list(found(line))

"""Patches of libraries apply to the versions that they were written for, and stand in two files."""

import ast
import logging
from collections.abc import Callable, Iterator

import pytest
from helpers import ROOT
from refusals import refused

from raybench import library_patches, ray_patches, vllm_patches
from raybench.library_patches import PATCHES, Versions, patch

HOLDERS = {"ray_patches.py", "vllm_patches.py"}
RAY = Versions("ray", (2, 60), (2, 62))


@patch(RAY)
def needed(number: int) -> int:
    return number + 1


@patch(RAY, otherwise=lambda number: number)
def optional(number: int) -> int:
    return number + 1


def install(monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    monkeypatch.setattr(library_patches, "installed", lambda library: version)


@pytest.mark.parametrize(
    ("version", "included"),
    [
        ("2.60.0", True),
        ("2.61.3rc1", True),
        ("2.59.9", False),
        ("2.62.0", False),
        ("3.0.0.dev0", False),
        ("", False),
    ],
)
def test_a_patch_is_applied_to_its_versions_only(
    monkeypatch: pytest.MonkeyPatch, version: str, included: bool
) -> None:
    install(monkeypatch, version)
    assert RAY.include_installed() is included
    assert optional(1) == (2 if included else 1)


def test_a_patch_that_is_needed_says_which_versions_are_supported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    install(monkeypatch, "2.60.1")
    assert needed(1) == 2
    install(monkeypatch, "2.70.0")
    with refused("package.missing") as raised:
        needed(1)
    (problem,) = raised.value.problems
    assert str(RAY) in problem.text and "2.70.0" in problem.text


def test_a_patch_that_is_left_out_is_logged_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    install(monkeypatch, "2.70.0")
    monkeypatch.setattr(library_patches, "_left_out", set())
    with caplog.at_level(logging.WARNING):
        optional(1)
        optional(1)
    (record,) = caplog.records
    assert str(RAY) in record.getMessage()


@pytest.mark.parametrize(
    "patched", [ray_patches.listen_on_loopback, vllm_patches.keep_tokens_private]
)
def test_a_patch_that_keeps_something_safe_is_never_left_out(
    monkeypatch: pytest.MonkeyPatch, patched: Callable[[], None]
) -> None:
    install(monkeypatch, "2.99.0")
    with refused("package.missing"):
        patched()


def test_the_pinned_versions_have_all_patches() -> None:
    for each in (ray_patches.RAY, vllm_patches.RAY, vllm_patches.VLLM):
        assert each.include_installed() or not library_patches.installed(each.library)


def test_every_patch_has_a_test_of_its_own() -> None:
    for module in HOLDERS:
        tests = (ROOT / "tests" / f"test_{module}").read_text()
        names = [
            name.rpartition(".")[2]
            for name in PATCHES
            if name.startswith(f"raybench.{module.removesuffix('.py')}.")
        ]
        assert names
        assert [name for name in names if f"def test_{name}_" not in tests] == []


def test_private_names_of_ray_and_vllm_stand_in_two_files() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for path in sorted((ROOT / "raybench").rglob("*.py"))
        if path.name not in HOLDERS
        for line, name in private_names(ast.parse(path.read_text("utf-8")))
    ]
    assert found == []


@pytest.mark.parametrize(
    ("source", "private"),
    [
        ("from ray._private import worker", True),
        ("from ray.data._internal import stats", True),
        ("import ray._raylet", True),
        ("from ray import _raylet", True),
        ("from vllm import _custom_ops", True),
        ("module = 'ray.serve._private.replica'", True),
        ("serve.delete(name, _blocking=False)", True),
        ("executor._topology", True),
        ("getattr(engine, '_engine_client')", True),
        ("class Front(Ingress):\n    def _get_response(self): ...", True),
        ("from ray import serve", False),
        ("self._topics", False),
        ("os._exit(1)", False),
    ],
)
def test_what_counts_as_a_private_name(source: str, private: bool) -> None:
    assert any(private_names(ast.parse(source))) is private


def private_names(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the lines that use a private name of Ray or vLLM, and the name."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                paths = [alias.name for alias in names]
            case ast.ImportFrom(module=str(module), names=names, level=0):
                paths = [f"{module}.{alias.name}" for alias in names]
            case ast.Constant(value=str(text)):
                paths = [text, f"ray.{text}" if text in KNOWN else ""]
            case ast.Attribute(attr=name) if name in KNOWN:
                paths = [f"ray.{name}"]
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) if name in KNOWN:
                paths = [f"ray.{name}"]
            case ast.Call(keywords=keywords):
                paths = [f"ray.{it.arg}" for it in keywords if it.arg in KNOWN]
            case _:
                continue
        for path in paths:
            library, *names_within = path.split(".")
            is_path = all(part.isidentifier() for part in names_within)
            if (
                library in ("ray", "vllm")
                and is_path
                and any(part.startswith("_") and part != "__name__" for part in names_within)
            ):
                yield node.lineno, path


def _known() -> set[str]:
    """Return the private attributes, methods and keywords that the two files use."""
    known: set[str] = set()
    for holder in HOLDERS:
        tree = ast.parse((ROOT / "raybench" / holder).read_text("utf-8"))
        for node in ast.walk(tree):
            match node:
                case ast.Attribute(value=value, attr=name) if ast.unparse(value) != "self":
                    known |= {name} if name.startswith("_") else set()
                case ast.FunctionDef(name=name) if name.startswith("_") and _is_method(tree, node):
                    known |= {name}
                case ast.Call(keywords=keywords):
                    known |= {it.arg for it in keywords if it.arg and it.arg.startswith("_")}
                case ast.Constant(value=str(text)) if text.startswith("_") and text.isidentifier():
                    known |= {text}
    return {name for name in known if not name.startswith("__")} - {"_", "_C"}


def _is_method(tree: ast.AST, function: ast.FunctionDef) -> bool:
    return any(isinstance(it, ast.ClassDef) and function in it.body for it in ast.walk(tree))


KNOWN = _known()

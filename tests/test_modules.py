"""What is in a package is found by name: whatever lies there, however it is spelled."""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused

from raybench import games, modules


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    folder = tmp_path / "some_trees"
    (folder / "oak").mkdir(parents=True)
    (folder / "parts").mkdir()
    (folder / "samples").mkdir()
    for file in ("__init__", "old_elm", "oak/__init__", "parts/__init__"):
        (folder / f"{file}.py").write_text("LEAVES = True")
    (folder / "samples" / "leaf.json").write_text("{}")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("some_trees")
    yield "some_trees"
    for name in [it for it in sys.modules if it.partition(".")[0] == "some_trees"]:
        del sys.modules[name]
    modules.named.cache_clear()


def test_files_and_folders_are_found_and_what_serves_them_is_not(package: str) -> None:
    assert modules.names(package) == ["oak", "old_elm"]
    assert modules.names(package, but=("oak",)) == ["old_elm", "parts"]
    assert modules.named(package, "Old Elm", "tree") is modules.named(package, "oldelm", "tree")


@pytest.mark.parametrize("name", ["parts", "samples", "", "elm.old_elm", "os"])
def test_nothing_else_is(package: str, name: str) -> None:
    with refused("setting.choice"):
        modules.named(package, name, "tree")


def test_what_was_meant_is_said_and_that_ones_own_will_do(package: str) -> None:
    with refused("setting.choice") as found:
        modules.named(package, "oka", "tree")
    said = "unknown tree 'oka'. Did you mean 'oak'? There is: oak, old_elm."
    assert str(found.value) == said
    with refused("setting.choice") as found:
        modules.named(package, "oka", "tree", own=True)
    assert str(found.value) == f"{said} Your own: MODULE:NAME."


@given(st.sampled_from(games.names()), st.data())
def test_capitals_and_what_stands_between_letters_make_no_difference(
    name: str, data: st.DataObject
) -> None:
    def spelled(letter: str) -> str:
        between = data.draw(st.text("_- '.", max_size=2))
        return between if letter == "_" else data.draw(st.sampled_from([letter, letter.upper()]))

    assert games.load("".join(map(spelled, name))) is games.load(name)

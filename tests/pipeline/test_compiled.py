"""Compiled players on the disk: found by what they were made from, and by nothing else."""

import json
import shutil
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from refusals import refused

from raybench.pipeline import compiled

ABOUT = {"model": {"weights": "w"}, "game": "chess", "actions": ["move"], "module": "predict"}
MADE = {"model": "a model", "on": "2026-01-01"}
STATE = {"signature": {"instructions": "Win."}, "demos": []}
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)
abouts = st.dictionaries(st.text(max_size=5), values, max_size=4)


@given(abouts, abouts)
def test_a_key_is_that_of_its_contents(one: dict[str, Any], other: dict[str, Any]) -> None:
    turned = dict(reversed(one.items()))
    assert compiled.key_of(one) == compiled.key_of(turned)
    same = json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
    assert (compiled.key_of(one) == compiled.key_of(other)) == same


def test_what_was_kept_is_found_and_read_as_it_was(tmp_path: Path) -> None:
    assert compiled.find(tmp_path / "nowhere", ABOUT) is None
    path = compiled.keep(tmp_path / "players", "a model/of mine", ABOUT, MADE, STATE)
    assert path.name == f"a_model_of_mine.{compiled.key_of(ABOUT)}.json"
    found = compiled.find(tmp_path / "players", ABOUT)
    assert found is not None
    assert (found.about, found.made, found.state, found.path) == (ABOUT, MADE, STATE, path)
    assert compiled.find(tmp_path / "players", {**ABOUT, "module": "chain_of_thought"}) is None
    assert [*compiled.every(tmp_path / "players")] == [path]


def test_a_copy_is_the_same_player(tmp_path: Path) -> None:
    path = compiled.keep(tmp_path / "mine", "m", ABOUT, MADE, STATE)
    copy = compiled.copied(compiled.read(path), tmp_path / "yours")
    assert copy.read_bytes() == path.read_bytes()
    assert compiled.find(tmp_path / "yours", ABOUT) is not None


def test_a_folder_has_one_player_of_a_key(tmp_path: Path) -> None:
    old = compiled.keep(tmp_path / "mine", "aa", ABOUT, MADE, STATE)
    new = compiled.keep(tmp_path / "mine", "zz", ABOUT, MADE, {**STATE, "demos": [{"move": "e4"}]})
    assert not old.exists() and [*compiled.every(tmp_path / "mine")] == [new]
    theirs = compiled.read(compiled.keep(tmp_path / "theirs", "aa", ABOUT, MADE, STATE))
    with refused("file.changed"):
        compiled.copied(theirs, tmp_path / "mine")
    same = compiled.read(compiled.keep(tmp_path / "yours", "b", ABOUT, MADE, STATE))
    assert compiled.copied(same, tmp_path / "theirs") == theirs.path, "it is there"


def test_a_file_that_was_changed_is_told(tmp_path: Path) -> None:
    path = compiled.keep(tmp_path, "m", ABOUT, MADE, STATE)
    for part, value in (("made", {**MADE, "gain": 99}), ("program", {**STATE, "demos": [1]})):
        whole = json.loads(path.read_text())
        path.write_text(json.dumps({**whole, part: value}))
        with refused("file.changed"):
            compiled.read(path)
        path.write_text(json.dumps(whole))


def test_what_is_no_player_is_told(tmp_path: Path) -> None:
    path = compiled.keep(tmp_path, "m", ABOUT, MADE, STATE)
    renamed = tmp_path / "m.000000000000.json"
    shutil.copy(path, renamed)
    with refused("file.changed"):
        compiled.read(renamed)
    changed = json.loads(path.read_text())
    changed["about"]["game"] = "poker"
    path.write_text(json.dumps(changed))
    with refused("file.changed"):
        compiled.find(tmp_path, ABOUT)
    for text in ("{", "[]", "{}", '{"about": 3, "made": {}, "program": {}}'):
        path.write_text(text)
        with refused("file.format"):
            compiled.read(path)
    with refused("file.format"):
        compiled.read(tmp_path / "gone.json")


def test_a_folder_that_cannot_be_written_to_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with refused("file.unwritable"):
        compiled.keep(tmp_path / "file", "m", ABOUT, MADE, STATE)

"""Names that data, models and strangers give make files where ours are to lie, and nowhere else."""

import os
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused
from vision import picture

from raybench.experiments.hle_screen import sheets
from raybench.experiments.parts import kept
from raybench.pipeline import compiled
from raybench.pipeline.store import Run
from raybench.tracking.inspect import headers
from raybench.tracking.inspect.headers import About, Task
from raybench.tracking.report import Section
from raybench.types import ModelSpec

HOSTILE = ("../x", "/etc/passwd", "a/../../b", "..", ".", "", "a\x00b", "x" * 5000, "é" * 300, "~")
NAMES = st.one_of(
    st.sampled_from((*HOSTILE, "a\u2028b", "a\u202eb", "con", "-rf", "a\nb", "\ud800", "🂡" * 90)),
    st.text(max_size=400),
)
ABOUT = About("run", "hle", "r", 1, "2026-01-02T03:04:05+00:00", "", False, {})
TASK = Task("hle", "hub", "0" * 64, 1, {"en": 1}, 1, withheld=False)
PNG = picture("red")


def inside(folder: Path, name: str) -> bool:
    """Tell whether it names one file in the folder, which can be made."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"")
    return path.resolve().parent.is_relative_to(folder.resolve()) and "/" not in path.name


@given(NAMES)
def test_a_models_name_makes_one_file_of_a_player_and_of_a_log(name: str) -> None:
    with TemporaryDirectory() as folder:
        assert inside(Path(folder), compiled.file_of(name, {"model": name}))
        file = headers.file_name(ABOUT, TASK, ModelSpec(name, "simulated", "w"))
        assert os.sep not in file
        assert inside(Path(folder), file)


@given(NAMES)
def test_a_candidates_id_makes_one_file_of_its_image(key: str) -> None:
    registered = SimpleNamespace(key=key, row={"image": PNG})
    with TemporaryDirectory() as folder:
        place = sheets._image(Path(folder), 1, cast(Any, registered))
        assert place.count("/") == 1
        assert inside(Path(folder), place)


@given(st.lists(NAMES, max_size=3))
def test_a_plots_title_makes_one_file_of_it(titles: Sequence[str]) -> None:
    with TemporaryDirectory() as folder:
        sections = [Section(title, figure="<svg></svg>") for title in titles]
        kept.plots(Run(Path(folder), -1, resumed=False), sections)
        assert len([*Path(folder).rglob("*.svg")]) == len(titles)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_player_from_somebody_else_is_kept_under_its_own_name(name: str, tmp_path: Path) -> None:
    ours, theirs = tmp_path / "a" / "ours", tmp_path / "theirs"
    given_to_us = compiled.keep(theirs, name, {"model": name}, {}, {"state": 1})
    copied = compiled.copied(compiled.read(given_to_us), ours)
    assert copied.parent == ours
    # One that says it is called otherwise than its file is none.
    given_to_us.rename(theirs / "other.json")
    with refused("file.changed"):
        compiled.read(theirs / "other.json")

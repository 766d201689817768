"""Targets of a stranger stay in their file: no link, no bytes of another, no other place."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import pytest

from raybench import benchmarks
from raybench.benchmarks.parts.scicode import targets
from raybench.pipeline.files import rows

SAMPLES = Path(benchmarks.__file__).parent / "samples" / "scicode.jsonl"


def external_storage(file: Any, secret: Path) -> None:
    file.create_group("1.1/test1").create_dataset(
        "var1", (8,), dtype="u1", external=[(str(secret), 0, 8)]
    )


def link_to_a_file(file: Any, secret: Path) -> None:
    file.create_group("1.1")["test1"] = h5py.ExternalLink(str(secret.with_suffix(".h5")), "/all")


def link_to_a_step(file: Any, secret: Path) -> None:
    file["1.1"] = h5py.ExternalLink(str(secret.with_suffix(".h5")), "/")


def link_within(file: Any, secret: Path) -> None:
    file.create_group("1.1/test1")
    file["1.1/test1/var1"] = h5py.SoftLink("/elsewhere")
    file["elsewhere"] = 1.0


def virtual(file: Any, secret: Path) -> None:
    layout = h5py.VirtualLayout(shape=(1,), dtype="f8")
    layout[:] = h5py.VirtualSource(str(secret.with_suffix(".h5")), "all/var1", shape=(1,))
    file.create_group("1.1/test1").create_virtual_dataset("var1", layout)


@pytest.mark.parametrize(
    "made", [external_storage, link_to_a_file, link_to_a_step, link_within, virtual]
)
def test_other_files_are_not_read(made: Callable[[Any, Path], None], tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(b"password")
    with h5py.File(secret.with_suffix(".h5"), "w") as file:
        file.create_group("all").create_dataset("var1", data=[1.0])
    with h5py.File(tmp_path / "test_data.h5", "w") as file:
        made(file, secret)
    with pytest.raises(ValueError, match=r"' is a link|another file"):
        targets.read(tmp_path / "test_data.h5", "1.1", 1)


def test_what_lies_in_the_file_is_read(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "test_data.h5", "w") as file:
        file.create_group("1.1/test1").create_dataset("var1", data=2.5)
        file.create_group("1.1/test2/var1/list").create_dataset("a", data=[1, 2])
    found = targets.read(tmp_path / "test_data.h5", "1.1", 3)
    assert [it is not None for it in found] == [True, True, False]


def test_a_row_that_says_where_its_targets_lie_is_not_believed(tmp_path: Path) -> None:
    row = next(it for _, it in rows(SAMPLES) if isinstance(it, dict))
    of = benchmarks.load("scicode")
    known = next(iter(of.questions(row, {})))
    place = {"_path": str(tmp_path / "any.h5"), "step": "1.1", "case": 1, "bytes": 1}
    (read,) = of.questions({**known, "targets": [place, {"value": 1}]}, {})
    assert read["targets"] == [None, {"value": 1}]

"""The list of packages: read from the names of folders, and the same as their metadata says."""

import sys
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

from raybench.experiments.parts.surroundings import packages


def plain(name: str) -> str:
    """Return a package's name as its equals."""
    return name.lower().replace("_", "-").replace(".", "-")


def test_it_is_what_the_metadata_of_this_environment_says() -> None:
    told: dict[str, str] = {}
    for it in metadata.distributions():
        told.setdefault(plain(it.metadata["Name"]), it.version)
    assert packages() == "".join(f"{name}=={told[name]}\n" for name in sorted(told))
    assert "raybench==" in packages()


def package(place: Path, folder: str, name: str, version: str, file: str = "METADATA") -> None:
    (place / folder).mkdir(parents=True)
    told = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    (place / folder / file).write_text(told)


def test_only_what_has_no_standard_name_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    (first / "ruamel_yaml-0.18.1.dist-info").mkdir(parents=True)  # with nothing in it to open
    (first / "torch-2.13.0+cpu.dist-info").mkdir()
    (first / "~orch-2.12.0.dist-info").mkdir()  # what an interrupted installation leaves
    package(first, "odd-name-1.0_1.dist-info", "odd.name", "1.0-1")
    package(first, "Old.egg-info", "Old", "3", "PKG-INFO")
    (first / "ancient-0.1.egg-info").write_text("Name: ancient\nVersion: 0.1\n")
    (second / "torch-1.0.dist-info").mkdir(parents=True)  # not what is imported
    with zipfile.ZipFile(tmp_path / "third.zip", "w") as archive:
        archive.writestr("zipped-4.0.dist-info/METADATA", "Name: zipped\nVersion: 4.0\n")
    places = [first, second, tmp_path / "third.zip", tmp_path / "missing"]
    monkeypatch.setattr(sys, "path", [str(it) for it in places])
    assert packages().splitlines() == [
        "ancient==0.1", "odd-name==1.0-1", "old==3", "ruamel-yaml==0.18.1", "torch==2.13.0+cpu",
        "zipped==4.0",
    ]  # fmt: skip

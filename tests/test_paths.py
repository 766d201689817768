"""What may not be looked into is told as what is not there, in words and without a traceback."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from command import run_command
from refusals import json_refusals, refused

from raybench import paths, problems
from raybench.cli import check, compose
from raybench.errors import ConfigurationError
from raybench.saved import experiment_of
from raybench.tracking.uri import check_uri


@pytest.fixture
def closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that nobody may look into: tests may run as root, whom no permission stops."""
    folder, real = tmp_path / "closed", os.stat
    folder.mkdir()

    def stat(path: Any, *arguments: Any, **options: Any) -> os.stat_result:
        if str(path).startswith(f"{folder}/"):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path, *arguments, **options)

    monkeypatch.setattr(os, "stat", stat)
    return folder


def test_a_closed_folder_is_the_nearest_that_is_seen(closed: Path) -> None:
    assert not paths.exists(closed / "x")
    assert not paths.is_folder(closed / "x") and not paths.is_file(closed / "x")
    assert paths.nearest(closed / "x" / "y") == closed
    assert paths.expanded("~no-such-user/x") == Path("~no-such-user/x")
    assert paths.expanded("~/x") == Path.home() / "x"


def test_places_in_a_closed_folder_are_told(closed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = check(compose(["+experiment=index", "roster=simulated", "data=samples"]))
    monkeypatch.setattr(os, "access", lambda path, _: not str(path).startswith(str(closed)))
    config.runs_dir = str(closed / "runs")
    config.data.dir = str(closed / "data")
    config.tracking.uri = f"sqlite:///{closed}/m/m.db"
    found = list(problems.of(config))
    settings = [(it.code, it.setting) for it in found]
    assert ("file.unwritable", "runs_dir") in settings
    assert "data.dir" in [it.setting for it in found]
    assert ("tracking.store", "tracking.uri") in settings
    with refused("tracking.store", "tracking.uri", kind=ConfigurationError):
        check_uri(config.tracking.uri)
    with refused("file.unreadable", "--from", kind=ConfigurationError):
        experiment_of(str(closed / "config.yaml"))


@pytest.mark.parametrize(
    ("setting", "others"),
    [
        ("data.dir", ["+experiment=index"]),
        ("autobench.tasks", ["+experiment=autobench"]),
        ("hle_screen.candidates", ["+experiment=hle_screen"]),
        ("sandbox.python", ["+experiment=index", "data=samples"]),
    ],
)
def test_places_in_the_home_of_nobody_are_told(
    setting: str, others: list[str], tmp_path: Path
) -> None:
    given = f"{setting}='~no-such-user/x'"
    done = run_command(*others, "roster=simulated", "dry_run=true", given, "--json", cwd=tmp_path)
    assert done.returncode == 2
    document = json.loads(done.stdout)
    assert setting in [about for _, about in json_refusals(document)]
    assert "~no-such-user/x" in document["error"]["message"]
    assert "Traceback" not in done.stderr


def test_a_store_in_the_home_of_nobody_has_another_mend() -> None:
    with refused("tracking.store", "tracking.uri"):
        check_uri("sqlite:///~no-such-user/mlflow.db")


def test_homes_are_spelt_out_in_one_place() -> None:
    """`Path.expanduser` raises RuntimeError where a path names the home of nobody."""
    package = Path(paths.__file__).parent
    those = [it for it in package.rglob("*.py") if ".expanduser()" in it.read_text("utf-8")]
    assert those == []

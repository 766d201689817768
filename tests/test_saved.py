"""A run can be had again from what it saved, and gives the same numbers."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from command import run_command
from helpers import SIMULATED, only_run, raybench
from omegaconf import DictConfig, OmegaConf
from refusals import refused
from shared_runs import AUTOBENCH, SharedRuns

from raybench import cli, saved
from raybench.config import Config
from raybench.errors import ConfigurationError
from raybench.tracking.uri import redacted

TIMES = {"id", "finished", "seconds_this_session", "mlflow_run_id", "command", "git"}


def test_the_flag_is_taken_wherever_it_stands() -> None:
    assert saved.taken(["a=1"]) == (None, ["a=1"])
    assert saved.taken(["--from", "x", "a=1"]) == ("x", ["a=1"])
    assert saved.taken(["a=1", "--from=x"]) == ("x", ["a=1"])
    with refused("setting.missing", "--from", kind=ConfigurationError):
        saved.taken(["a=1", "--from"])


@pytest.fixture
def config(tmp_path: Path) -> Path:
    file = tmp_path / "config.yaml"
    file.write_text(
        OmegaConf.to_yaml(cli.compose([*SIMULATED, "autobench.iterations=3"]), resolve=True),
        encoding="utf-8",
    )
    return file


def test_what_is_saved_is_what_was_composed(config: Path) -> None:
    composed = cli.check(cli.compose([*SIMULATED, "autobench.iterations=3"]))
    assert cli.check(saved.compose(str(config), [])) == composed
    assert cli.check(saved.compose(str(config.parent), [])) == composed  # the folder will do
    assert saved.experiment_of(str(config)) == "autobench"


def test_settings_can_be_changed(config: Path) -> None:
    changed = cli.check(saved.compose(str(config), ["seed=5", "autobench.topics=[a,b]"]))
    assert (changed.seed, changed.autobench.topics) == (5, ["a", "b"])


@pytest.mark.parametrize(
    ("overrides", "why"),
    [
        (["roster=small"], "holds 'roster' whole"),
        (["experiment=index"], "has settled it"),
        (["+experiment=index"], "has settled it"),
        (["seed=1,2"], "has settled it"),
        (["--multirun"], "do not go together"),
        (["seed"], "is not an override"),
    ],
)
def test_what_cannot_be_chosen_is_said(config: Path, overrides: list[str], why: str) -> None:
    with pytest.raises(ConfigurationError, match=why):
        saved.compose(str(config), overrides)


def test_an_unknown_setting_is_refused(config: Path) -> None:
    with pytest.raises(ConfigurationError, match="unknown setting"):
        cli.check(saved.compose(str(config), ["autobench.nonsense=1"]))


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("a: [", "YAML"),
        ("- a\n", "experiment"),
        ("seed: 1\n", "experiment"),
        ("!!python/object/apply:os.system [exit]\n", "YAML"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, text: str, named: str) -> None:
    file = tmp_path / "f.yaml"
    file.write_text(text, encoding="utf-8")
    with refused("file.format", "--from", given=str(file), kind=ConfigurationError) as caught:
        saved.compose(str(file), [])
    assert named in str(caught.value)
    missing = tmp_path / "none.yaml"
    with refused("file.unreadable", "--from", given=str(missing), kind=ConfigurationError):
        saved.compose(str(missing), [])


@pytest.mark.parametrize(
    "uri",
    [
        "postgresql://me:secret@host/db",
        "http://secret@host:5000",
        "postgresql://host/db?user=me&password=secret",
    ],
)
def test_a_password_that_was_not_saved_is_asked_for(config: Path, uri: str) -> None:
    masked = redacted(uri)
    assert "secret" not in masked
    with refused("setting.missing", "tracking.uri", kind=ConfigurationError):
        saved.compose(str(config), [f"tracking.uri='{masked}'"])


@pytest.mark.parametrize(
    ("override", "named"),
    [
        ("roster.models.999.name=x", "999"),
        ("roster.models.a=3", "'a'"),
        ("seed=${nope}", "'nope'"),
    ],
)
def test_what_cannot_be_changed_is_told_with_the_setting(
    config: Path, override: str, named: str
) -> None:
    setting = override.partition("=")[0]
    with refused("setting.unknown", setting, given=override, kind=ConfigurationError) as caught:
        saved.compose(str(config), [override])
    assert named in str(caught.value)


def test_the_home_of_nobody_is_a_place_that_is_not_there() -> None:
    file = "~no-such-user/config.yaml"
    with refused("file.unreadable", "--from", given=file, kind=ConfigurationError):
        saved.experiment_of(file)


@pytest.mark.parametrize("asked", ["saved", "given"])
def test_nothing_but_the_document_is_on_stdout(
    config: Path, asked: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    noise = "noise of a library"

    def check(composed: DictConfig) -> Config:
        print(noise)
        return real(composed)

    real = cli.check
    monkeypatch.setattr(cli, "check", check)
    flags = ["--json"]
    if asked == "saved":
        held = yaml.safe_load(config.read_text())
        held["console"]["mode"] = "json"
        config.write_text(yaml.safe_dump(held))
        flags = []
    done = run_command("--from", str(config), "dry_run=true", *flags, cwd=config.parent)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["plan"]["experiment"] == "autobench"
    assert noise in done.stderr


@pytest.mark.parametrize("console", [None, 3, {"mode": ["json"]}])
def test_a_saved_file_may_lack_how_it_speaks(
    config: Path, console: object, capsys: pytest.CaptureFixture[str]
) -> None:
    held = yaml.safe_load(config.read_text())
    del held["console"]
    if console is not None:
        held["console"] = console
    config.write_text(yaml.safe_dump(held))
    code = cli._job(saved.compose(str(config), ["dry_run=true"]))
    assert code == (0 if console is None else 2)
    assert capsys.readouterr().err.startswith("" if console is None else "raybench: ")


@pytest.mark.process
def test_a_reproduced_run_gives_the_same_results(shared_runs: SharedRuns, tmp_path: Path) -> None:
    run = only_run(shared_runs.copy(*AUTOBENCH))
    shutil.copy(run / "config.yaml", tmp_path)
    again = raybench("--from", "config.yaml", cwd=tmp_path, timeout=300)
    assert again.returncode == 0, again.stderr
    other = only_run(tmp_path)
    assert other.name.rpartition("-")[2] == run.name.rpartition("-")[2]  # the same configuration

    def of(folder: Path) -> dict[str, Any]:
        return dict(json.loads((folder / "results.json").read_bytes()))

    one, two = of(run), of(other)
    for part in ("models", "counts", "agreement", "simulated"):
        assert one[part] == two[part]
    assert {k: v for k, v in one["run"].items() if k not in TIMES} == {
        k: v for k, v in two["run"].items() if k not in TIMES
    }
    assert one["run"]["command"].startswith("python -m raybench +experiment=autobench")
    assert (run / "requirements.txt").read_bytes() == (other / "requirements.txt").read_bytes()
    page = (run / "report.html").read_text(encoding="utf-8")
    assert "--from config.yaml" in page
    assert str(run.parents[2]) not in page and str(Path.home()) not in page

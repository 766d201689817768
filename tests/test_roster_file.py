"""A roster that is named by its file."""

from pathlib import Path

import pytest
from command import run_command
from in_process import without_plots
from refusals import refused

from raybench import cli, roster_file
from raybench.config import Config
from raybench.errors import Code

TWO = "models:\n  - {name: a, engine: simulated}\n  - {name: ü, engine: simulated}\n"


def composed(*arguments: str, config_dir: Path | None = None) -> Config:
    given = cli.own_roster(cli.at_home(roster_file.taken(arguments)))
    return cli.check(cli.compose(given, str(config_dir) if config_dir else None))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "our models.yaml"
    path.write_text(TWO, encoding="utf-8")
    return path


def test_a_file_is_a_roster(file: Path) -> None:
    found = composed("+experiment=autobench", f"roster={file}", "roster.models.0.name=z")
    assert [model.name for model in found.roster.models] == ["z", "ü"]
    assert found.roster.name == "our_models"
    file.write_text(f"name: mine\n{TWO}", encoding="utf-8")
    assert composed("+experiment=autobench", f"roster={file}").roster.name == "mine"


def test_it_may_be_called_as_a_roster_of_ours_and_is_asked_by_no_settings_of_that(
    tmp_path: Path,
) -> None:
    path = tmp_path / "embedded.yml"
    path.write_text(TWO, encoding="utf-8")
    found = composed("+experiment=autobench", f"roster={path}")
    plain = composed("+experiment=autobench", "roster=simulated")
    assert len(found.roster.models) == 2
    assert found.autobench == plain.autobench


def test_it_goes_together_with_a_folder_of_groups(file: Path, tmp_path: Path) -> None:
    (tmp_path / "my" / "roster").mkdir(parents=True)
    (tmp_path / "my" / "roster" / "mine.yaml").write_text(f"name: mine\n{TWO}", encoding="utf-8")
    for roster in (str(file), "mine"):
        found = composed("+experiment=autobench", f"roster={roster}", config_dir=tmp_path / "my")
        assert len(found.roster.models) == 2


def test_the_command_line_takes_it_alone_in_a_sweep_and_beside_help(
    file: Path, tmp_path: Path
) -> None:
    asked = ("+experiment=autobench", f"roster={file}", "dry_run=true")
    one = run_command(*asked, cwd=tmp_path)
    assert one.returncode == 0, one.stderr
    assert "a: simulated" in one.stdout
    two = run_command("--multirun", *asked, "seed=1,2", cwd=tmp_path)
    assert (two.returncode, two.stdout.count("a: simulated")) == (0, 2)
    assert (
        run_command("+experiment=index", f"roster={file}", "--help", cwd=tmp_path).returncode == 0
    )


@pytest.mark.parametrize("others", [["roster=small"], ["roster=small", "roster=simulated"]])
def test_two_rosters_are_refused_and_both_named(file: Path, others: list[str]) -> None:
    given = [f"roster={file}", *others]
    with refused("setting.duplicate", "roster", given=given) as raised:
        roster_file.taken(["+experiment=index", *given, "limit=2"])
    assert all(it in str(raised.value) for it in given)
    assert roster_file.taken(["roster=small", "+roster/judges=methodology"])


@pytest.mark.process
def test_a_run_says_by_which_file_it_was_asked_for(file: Path, tmp_path: Path) -> None:
    arguments = ("+experiment=autobench", f"roster={file}", "iterations=1", "tracking=none")
    with without_plots():
        done = run_command(*arguments, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (results,) = (tmp_path / "runs" / "autobench").glob("*/results.json")
    told = results.read_text(encoding="utf-8")
    assert file.name in told and "raybench-roster-" not in told


@pytest.mark.parametrize(
    ("text", "code"),
    [(None, "file.missing"), ("models: [", "file.format"), ("- a\n", "file.format")],
)
def test_a_file_that_is_no_roster_is_told(tmp_path: Path, text: str | None, code: Code) -> None:
    path = tmp_path / "mine.yaml"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    with refused(code, "roster", given=str(path)):
        roster_file.taken([f"roster={path}"])

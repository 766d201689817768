"""Tables of figures, and the page of what was measured last."""

import json
import subprocess
from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perf import __main__ as main
from perf import results
from perf.measured import Took
from perf.results import Found, Table, exponent, page, spread


@given(st.floats(-1, 3), st.floats(0.001, 1000), st.sets(st.integers(1, 10**6), min_size=2))
def test_the_power_of_a_growth_is_found(power: float, one: float, sizes: set[int]) -> None:
    found = exponent({size: one * size**power for size in sizes})
    assert found == pytest.approx(power, abs=1e-6)


def test_a_median_stands_with_its_range() -> None:
    assert spread([3.0, 1.0, 2.0], ".1f") == "2.0 [1.0, 3.0]"
    assert spread([0.9876], ".3f") == "0.988"


def test_growth_of_rounds_is_that_of_their_medians() -> None:
    found = {"ours": {10: [1.0, 2.0, 9.0], 100: [20.0]}}
    table = results.growth_of(found, {"s": lambda it: it}, "rows")
    assert table.rows == [["ours", "1.00"]]


def test_growth_has_a_line_for_each_arm_and_a_column_for_each_figure() -> None:
    costs = {
        "ours": {"s": {10: 1.0, 100: 10.0}, "MiB": {10: 5.0, 100: 5.0}},
        "theirs": {"s": {10: 1.0}},
    }
    table = results.growth(costs, "rows")
    assert table.heads == ("", "s", "MiB")
    assert table.rows == [["ours", "1.00", "0.00"], ["theirs", "", ""]]
    assert "rows" in table.title


def test_a_table_is_aligned_in_a_terminal_and_marked_up_on_a_page() -> None:
    table = Table(("", "tokens/s"), [("raw", "512"), ("a|b", "7")], "500 questions")
    assert table.text() == "500 questions\n     tokens/s\nraw       512\na|b         7"
    assert table.markdown() == (
        "**500 questions**\n\n|  | tokens/s |\n| --- | ---: |\n| raw | 512 |\n| a\\|b | 7 |"
    )


@pytest.mark.process
def test_the_page_has_what_each_script_found_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(results, "FOLDER", tmp_path / "results")
    table = Table(("", "a second"), [("ours", "7")])
    measured = defaultdict(list, {"ours": [Took(1.5, 2.0, 3.0)]})
    for title in ("Before", "Sandbox"):
        Found("sandbox", title, [table], ["Slow."], {"peer": "1.2"}, measured).tell(keep=True)
    Found("games", "Games", [table]).tell(keep=True)
    Found("games", "A trial", [table]).tell(keep=False)
    assert "ours         7" in capsys.readouterr().out
    kept = json.loads((tmp_path / "results" / "sandbox.json").read_text())
    assert kept["versions"]["peer"] == "1.2"
    assert kept["measured"]["ours"][0]["seconds"] == 1.5
    text = page()
    assert text.index("## Games") < text.index("## Sandbox")
    assert "## Before" not in text and "## A trial" not in text
    assert "| ours | 7 |\n\nSlow.\n" in text
    assert kept["machine"] in text


@pytest.mark.process
def test_what_measuring_writes_does_not_change_a_checkout(tmp_path: Path) -> None:
    assert results.commit(tmp_path) == ""

    def git(*words: str) -> None:
        us = ("-c", "user.name=a", "-c", "user.email=a@b")
        subprocess.run(["git", "-C", str(tmp_path), *us, *words], check=True, capture_output=True)

    code, told, kept = (tmp_path / "perf" / it for it in ("a.py", "RESULTS.md", "results/a.json"))
    kept.parent.mkdir(parents=True)
    for it in (code, told, kept):
        it.write_text("before")
    git("init")
    git("add", ".")
    git("commit", "-m", "a")
    clean = results.commit(tmp_path)
    assert len(clean) == 12
    for it in (told, kept, kept.with_name("b.json")):
        it.write_text("after")
    assert results.commit(tmp_path) == clean
    code.write_text("after")
    assert results.commit(tmp_path) == f"{clean}-dirty"


def test_the_page_is_that_of_what_is_kept() -> None:
    assert results.PAGE.read_text() == page()


@pytest.mark.process
def test_a_page_stays_as_it_is_when_nothing_could_be_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = tmp_path / "RESULTS.md"
    shown.write_text("before")
    monkeypatch.setattr(main, "PAGE", shown)
    monkeypatch.setattr(main, "EVIDENCE", {"sandbox": ["--runs", "0"]})
    monkeypatch.setattr("sys.argv", ["perf", "sandbox"])
    assert main.main() == 1
    assert shown.read_text() == "before"
    monkeypatch.setattr("sys.argv", ["perf", "--page"])
    assert main.main() == 0
    assert shown.read_text() == page()


@pytest.mark.parametrize("file", ["perf/gpu_check/__main__.py", "perf/gpu_check.py"])
def test_a_package_is_called_by_its_folder(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", [file])
    assert results.script_name() == "gpu_check"

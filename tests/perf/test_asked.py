"""What measurements are told, and where their questions lie: what is wrong is said, not thrown."""

import subprocess
import sys
from pathlib import Path

import pytest

from perf import arguments, data, orchestration, static
from perf.__main__ import EVIDENCE


@pytest.mark.parametrize("name", EVIDENCE)
def test_rounds_and_sizes_that_are_none_are_refused(name: str) -> None:
    size = {"--seconds": "0"} if name == "games_pool" else {EVIDENCE[name][0]: "-5"}
    for option, value in (*size.items(), ("--rounds", "0")):
        done = subprocess.run(
            [sys.executable, "-m", f"perf.{name}", option, value],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 2, done.stderr
        assert f"argument {option}: {value}: " in done.stderr
        assert "Traceback" not in done.stderr


def test_help_has_the_scripts_own_words(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        arguments.parser("What it does.\n\n    how: 100 %\n").parse_args(["--help"])
    assert "What it does.\n\n    how: 100 %\n" in capsys.readouterr().out


def test_questions_that_are_not_there_are_told_with_the_mend(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"mmlu_pro_test\.jsonl: No such file.*--data"):
        data.read(tmp_path, "mmlu_pro_test")
    (tmp_path / "mgsm.jsonl").write_text("{")
    with pytest.raises(SystemExit, match=r"mgsm\.jsonl is no file of JSON lines"):
        data.read(tmp_path, "mgsm")


def test_no_more_questions_are_asked_than_there_are(tmp_path: Path) -> None:
    line = '{"id": 7, "question": "1 + 1?", "answer": "2", "subject": null}\n'
    (tmp_path / "math_test_5000.jsonl").write_text(line * 3)
    assert len(static.questions(tmp_path, 2)) == 2
    with pytest.raises(SystemExit, match="--questions 4: there are 3"):
        static.questions(tmp_path, 4)


def test_rows_are_repeated_under_other_keys() -> None:
    found = orchestration.rows([{"id": "a", "question": "?"}, {"id": "b", "question": "!"}], 3)
    assert [(it["id"], it["question"]) for it in found] == [(0, "?"), (1, "!"), (2, "?")]


def test_a_script_and_a_strategy_that_are_not_there_are_told() -> None:
    for command, said in (
        (["grading_math", "--script", "/nowhere"], "--script /nowhere: there is no prm800k"),
        (["games_pool", "--strategy", "nonsense"], "--strategy: "),
    ):
        done = subprocess.run(
            [sys.executable, "-m", f"perf.{command[0]}", *command[1:]],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 2 and said in done.stderr, done.stderr
        assert "Traceback" not in done.stderr

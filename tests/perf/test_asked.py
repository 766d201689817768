"""What measurements are told, and where their questions lie: what is wrong is said, not thrown."""

import importlib
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from perf import arguments, data, orchestration, static
from perf.__main__ import EVIDENCE


@pytest.fixture
def refusal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., str]:
    """Call a script as `python -m perf.NAME` does; return what it says against its arguments."""

    def refused(name: str, *arguments: str) -> str:
        monkeypatch.setattr(sys, "argv", [name, *arguments])
        with pytest.raises(SystemExit) as ended:
            importlib.import_module(f"perf.{name}").main()
        assert ended.value.code == 2
        return capsys.readouterr().err

    return refused


@pytest.mark.parametrize("name", EVIDENCE)
def test_rounds_and_sizes_that_are_none_are_refused(name: str, refusal: Callable[..., str]) -> None:
    size = {"--seconds": "0"} if name == "games_pool" else {EVIDENCE[name][0]: "-5"}
    for option, value in (*size.items(), ("--rounds", "0")):
        assert f"argument {option}: {value}: " in refusal(name, option, value)


def test_help_has_the_scripts_own_words(capsys: pytest.CaptureFixture[str]) -> None:
    words = "What it does.\n\n    how: 100 %\n"
    with pytest.raises(SystemExit):
        arguments.parser(words).parse_args(["--help"])
    assert words in capsys.readouterr().out


def test_questions_that_are_not_there_are_told_with_the_mend(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"mmlu_pro_test\.jsonl: No such file.*--data"):
        data.read(tmp_path, "mmlu_pro_test")
    (tmp_path / "mgsm.jsonl").write_text("{")
    with pytest.raises(SystemExit, match=r"mgsm\.jsonl "):
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


def test_a_script_and_a_strategy_that_are_not_there_are_told(refusal: Callable[..., str]) -> None:
    assert "--script /nowhere: " in refusal("grading_math", "--script", "/nowhere")
    assert "--strategy: " in refusal("games_pool", "--strategy", "nonsense")

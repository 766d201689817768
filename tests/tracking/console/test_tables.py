import io
import re
from typing import Any

import pytest
from statements import code, values
from terminals import Terminal

from raybench.tracking.console import show_leaderboard, show_note
from raybench.tracking.leaderboard import SIMULATED, UNSAFE, Column, measured, ranked_by, rows

RESULTS: dict[str, Any] = {
    "models": {
        name: {
            "t/score": {
                "value": value, "stderr": 0.1, "ci95": [0.1, 0.9], "n": 20,
                "method": "t interval" if value is not None else "too few",
            },
            "t/other": {"value": 1.0, "stderr": None, "ci95": [0.5, 1.5], "n": 20, "method": "b"},
        }
        for name, value in [("a-model-with-a-rather-long-name", 0.5), ("m[red]", None)]
    },
    "counts": {"m[red]": {"ok": 3, "unparsed": 2}},
    "simulated": True,
}  # fmt: skip
COLUMNS = [Column("t/score", "Score"), Column("t/other", "Other")]


def test_without_models_there_is_no_table() -> None:
    out = io.StringIO()
    show_leaderboard({"models": {}}, COLUMNS, title="A title", file=out)
    assert out.getvalue().split() == ["A", "title"]


def test_the_leaderboard_in_a_file_is_plain_and_unbroken() -> None:
    out = io.StringIO()
    show_leaderboard(RESULTS, COLUMNS, title="A title", file=out)
    text = out.getvalue()
    assert "\x1b" not in text
    assert text.startswith("A title\nsimulated: ")
    assert "a-model-with-a-rather-long-name  0.500 [0.10, 0.90]  1.000 [0.50, 1.50]   0" in text
    assert "[1] too few" in text
    assert "Score: t interval (n = 20)" in text


def test_the_leaderboard_of_programs_without_walls_begins_with_that() -> None:
    out = io.StringIO()
    run = {"programs": {"ran": [{"backend": "unsafe", "python": "3.12"}]}}
    show_leaderboard({**RESULTS, "run": run}, COLUMNS, file=out)
    assert out.getvalue().splitlines()[:2] == [SIMULATED, UNSAFE]


def test_a_column_without_any_number_is_told_below_and_not_shown() -> None:
    out = io.StringIO()
    none = {"value": None, "stderr": None, "ci95": None, "n": 0, "method": "not computed: b"}
    models = {name: {**of, "t/index": none} for name, of in RESULTS["models"].items()}
    show_leaderboard({**RESULTS, "models": models}, [*COLUMNS, Column("t/index", "I")], file=out)
    head = next(line for line in out.getvalue().splitlines() if "model" in line and "Score" in line)
    assert head.split() == ["#", "model", "Score", "Other", "ok", "unparsed"]
    told = {**RESULTS, "models": models}
    (why,) = measured(told, [*COLUMNS, Column("t/index", "I")])[1]
    assert values(why)["column"] == "I" and f"\n{why}\n" in out.getvalue()


def test_the_headline_stays_though_nobody_has_a_number() -> None:
    out = io.StringIO()
    show_leaderboard(RESULTS, [Column("t/third", "Third"), *COLUMNS], file=out)
    assert "Third  " in out.getvalue()
    columns = [Column("t/third", "Third"), *COLUMNS]
    (not_ranked,) = ranked_by(rows(RESULTS, columns), columns)
    assert code(not_ranked) == "ranking.none" and not_ranked in out.getvalue()


def test_the_leaderboard_fits_80_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in [("TERM", "xterm"), ("COLUMNS", "80"), ("NO_COLOR", "1")]:
        monkeypatch.setenv(name, value)
    out = Terminal()
    wider = [*COLUMNS, Column("t/other", "Third"), Column("t/other", "Fourth")]
    show_leaderboard(RESULTS, wider, file=out)
    text = out.getvalue()
    assert max(map(len, text.splitlines())) <= 80 + len("\x1b[1m\x1b[0m") * 12
    assert "[0.10, 0.90]" in text
    assert "unparsed" in text
    assert "m[red]" in text


def test_letters_that_the_stream_lacks_are_replaced() -> None:
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding="ascii")
    show_leaderboard(RESULTS, COLUMNS, title="Ünïcode", file=out)
    assert b"?n?code" in raw.getvalue()


def test_a_board_of_something_else_names_its_lines() -> None:
    found = {"value": 0.5, "stderr": None, "ci95": None, "n": 3, "method": "a share"}
    out = io.StringIO()
    board = {"models": {"whole": {"share": found}}}
    show_leaderboard(board, [Column("share", "Share")], title="Parts", of="part", file=out)
    said = out.getvalue()
    assert said.startswith("Parts\n")
    assert " part " in said
    assert " model" not in said


def many(models: int, columns: int) -> tuple[dict[str, Any], list[Column]]:
    """A leaderboard with as many lines and columns as the index has."""
    found = {
        f"a-model-of-some-lab-{place:02}": {
            f"c/{key}": {
                "value": 0.9 - place / 50,
                "stderr": 0.1,
                "ci95": [0.46, 0.99],
                "n": 24,
                "method": "w",
            }
            for key in range(columns)
        }
        for place in range(models)
    }
    counts = {name: {"ok": 129, "unparsed": 2} for name in found}
    titles = [Column(f"c/{key}", f"{'Benchmark'[: 2 + key % 8]} {key}") for key in range(columns)]
    return {"models": found, "counts": counts, "simulated": False}, titles


@pytest.mark.parametrize("width", [40, 80, 100, 120, 200])
def test_on_a_terminal_no_number_and_no_title_is_cut(
    width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in [("TERM", "xterm"), ("COLUMNS", str(width)), ("NO_COLOR", "1")]:
        monkeypatch.setenv(name, value)
    out = Terminal()
    results, columns = many(12, 12)
    show_leaderboard(results, columns, file=out)
    text = re.sub(r"\x1b\[[\d;]*m", "", out.getvalue())
    assert max(map(len, text.splitlines())) <= width
    assert "…" not in text
    bands = text.partition("Ranked by")[0]
    for column in columns:
        assert bands.count(f" {column.title}") >= 1
    assert bands.count("[0.46, 0.99]") == 12 * 12
    tables = bands.count("─\n")
    first = [line for line in bands.splitlines() if re.match(r" *1 ", line)]
    assert len(first) == tables, "each table says whose line is whose"
    assert all("a-model-of" in line for line in first)
    assert tables == 1 or width < 200
    assert bands.count("129") == 12, "counts stand in the first table only"


def test_forced_colors_do_not_break_lines_of_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    out = io.StringIO()
    results, columns = many(2, 12)
    show_leaderboard(results, columns, file=out)
    assert "\x1b[1m" in out.getvalue()
    assert sum("a-model-of-some-lab" in line for line in out.getvalue().splitlines()) == 2


def test_notes_keep_their_words_whole_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    out, file = Terminal(), io.StringIO()
    text = "questions " + "with words " * 6
    show_note("Samples", text, out)
    show_note("Samples", text, file)
    lines = out.getvalue().splitlines()
    assert max(map(len, lines)) <= 40
    assert lines[0].startswith("Samples     questions")
    assert all(line.startswith(" " * 12) for line in lines[1:])
    assert " ".join(out.getvalue().split()) == " ".join(file.getvalue().split())
    assert file.getvalue().count("\n") == 1


def test_footnotes_of_a_file_are_wrapped_and_its_table_is_not() -> None:
    long = "a method of many words " * 20
    of = {"value": 0.5, "stderr": None, "ci95": [0.4, 0.6], "n": 9, "method": long.strip()}
    names = [f"t/column_of_a_wide_table_{number}" for number in range(8)]
    out = io.StringIO()
    show_leaderboard(
        {"models": {"a": dict.fromkeys(names, of)}, "counts": {}, "simulated": False},
        [Column(name, name) for name in names],
        file=out,
    )
    show_note("Samples", long, out)
    lines = out.getvalue().splitlines()
    row = next(line for line in lines if line.split()[:2] == ["1", "a"])
    assert len(row) > 200, "a row stays on one line"
    below = lines[lines.index(row) + 1 :]
    assert max(map(len, below)) <= 100
    assert long.strip() in " ".join(" ".join(below).split())


def test_a_command_in_a_note_stays_on_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    out, file = Terminal(), io.StringIO()
    command = "python -m raybench " + "key=value " * 9 + "last=1"
    for to in (out, file):
        show_note("Hand in", "with " * 12 + f"this\n{command}", to)
    *told, last = out.getvalue().splitlines()
    assert last == command
    assert len(told) > 1 and max(map(len, told)) <= 40
    assert file.getvalue().splitlines()[1:] == [command]


def test_a_long_name_leaves_room_for_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in [("TERM", "xterm"), ("COLUMNS", "80"), ("NO_COLOR", "1")]:
        monkeypatch.setenv(name, value)
    results, columns = many(3, 6)
    long = f"org/{'checkpoint-' * 12}final"
    for part in ("models", "counts"):
        results[part] = {long: next(iter(results[part].values())), **results[part]}
    out = Terminal()
    show_leaderboard(results, columns, file=out)
    text = re.sub(r"\x1b\[[\d;]*m", "", out.getvalue())
    assert max(map(len, text.splitlines())) <= 80
    assert text.count("[0.46, 0.99]") == 4 * 6
    assert text.count("─\n") <= 3

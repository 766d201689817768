import csv
import io
import math
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from statements import code, codes, values

from raybench.tracking.leaderboard import (
    SIMULATED,
    UNSAFE,
    Board,
    Cell,
    Column,
    alarms,
    counts_shown,
    guesses,
    measured,
    methods,
    ranked_by,
    ranking,
    refusals,
    rows,
    to_csv,
    to_markdown,
    with_boards,
)
from raybench.types import Estimate

SCORE, ERROR = Column("t/score", "Score"), Column("t/error", "Error", 2, higher_is_better=False)


def estimate(value: float | None, method: str = "t interval") -> dict[str, Any]:
    ci95 = None if value is None else [value - 0.081, value + 0.079]
    return {"value": value, "stderr": 0.04, "ci95": ci95, "n": 140, "method": method}


def results(**scores: float | None) -> dict[str, Any]:
    return {
        "models": {
            name: {"t/score": estimate(value, "t interval" if value is not None else "too few")}
            for name, value in scores.items()
        },
        "counts": {name: {"ok": 9, "truncated": 0} for name in scores},
        "simulated": False,
    }


numbers = st.none() | st.floats(allow_nan=True, allow_infinity=False, width=32)


@given(st.lists(numbers, max_size=12), st.booleans())
def test_order_and_ranks(values: list[float | None], higher: bool) -> None:
    column = Column("t/score", "Score", higher_is_better=higher)
    given_ = {f"m{i}": value for i, value in enumerate(values)}
    lines = rows(results(**given_), [column])
    assert sorted(row.model for row in lines) == sorted(given_)
    shown = [row.cells[0].value for row in lines]
    known = [value for value in shown if value is not None]
    assert shown == sorted(known, reverse=higher) + [None] * (len(shown) - len(known))
    for row in lines:
        value = row.cells[0].value
        if value is None:
            assert row.rank is None
        else:
            better = [v for v in known if (v > value if higher else v < value)]
            assert row.rank == 1 + len(better)


def test_equal_models_and_refused_ones_keep_the_order_of_the_roster() -> None:
    lines = rows(results(d=None, c=0.5, b=0.5, a=None), [SCORE])
    assert [(row.model, row.rank) for row in lines] == [
        ("c", 1), ("b", 1), ("d", None), ("a", None),
    ]  # fmt: skip


def test_cells_as_text() -> None:
    cell = Cell(0.731, (0.65, 0.81), 0.04, 140, "Wilson")
    assert cell.text(3) == "0.731 [0.65, 0.81]"
    assert Cell(1042.4, (980.2, 1101.0), None, 9, "").text(0) == "1042 [980, 1101]"
    assert Cell(0.5, None, None, 9, "one trajectory").text(2) == "0.50"
    assert Cell(-0.0001, None, None, 9, "").text(2) == "0.00"
    assert Cell(None, None, None, 1, "too few").text(3) == "—"


def test_a_refused_number_has_a_footnote_and_a_missing_one_says_so() -> None:
    table = results(a=0.5, b=None)
    table["counts"]["ghost"] = {"ok": 0, "infra_error": 4}
    lines = rows(table, [SCORE, ERROR])
    assert refusals(lines) == {"not measured": 1, "too few": 2}
    text = to_markdown(table, [SCORE])
    assert "| — | b | —[^1] |" in text
    assert "[^1]: too few" in text
    assert "[^2]: not measured" in text


def test_ranks_that_digits_not_shown_decide_are_told() -> None:
    alike = results(a=0.50001, b=0.5, c=0.2)
    lines = rows(alike, [SCORE])
    assert [row.place for row in lines] == ["1", "2", "3"]
    assert codes(ranked_by(lines, [SCORE])) == ["ranking.score", "ranking.rounded"]
    for apart in (results(a=0.6, b=0.5), results(a=0.5, b=0.5), results(a=0.5, b=None, c=None)):
        assert "ranking.rounded" not in codes(ranked_by(rows(apart, [SCORE]), [SCORE]))


def placed() -> dict[str, Any]:
    """Results whose order is not that of the values: a bound first, and two that may change."""
    table = results(top=None, b=0.4, c=0.9, low=None)
    ends: dict[str, list[float | None]] = {"top": [1.3127, None], "low": [None, -0.25]}
    for name, of in table["models"].items():
        of["t/score"]["ci95"] = ends.get(name, of["t/score"]["ci95"])
        between = {"b": [2, 3], "c": [2, 3]}.get(name)
        of["t/place"] = {"value": {"top": 1, "low": 4}.get(name), "ci95": between}
    return table


def test_places_may_come_from_a_metric_of_their_own() -> None:
    column = Column("t/score", "Score", place="t/place")
    lines = rows(placed(), [column])
    assert [(row.model, row.place) for row in lines] == [
        ("top", "1"), ("b", "2–3"), ("c", "2–3"), ("low", "4"),
    ]  # fmt: skip
    assert codes(ranked_by(lines, [column])) == ["ranking.groups", "ranking.between"]
    absent = placed()
    del absent["models"]["low"]["t/place"]
    told = ranked_by(rows(absent, [column]), [column])
    assert codes(told)[2:] == ["ranking.compared_with_none"]
    text = to_markdown(placed(), [column])
    assert "| 1 | top | ≥ 1.313[^1] | 9 |" in text
    assert "| 4 | low | ≤ -0.250[^1] | 9 |" in text
    table = [*csv.DictReader(io.StringIO(to_csv(placed(), [column])))]
    assert [row["rank"] for row in table] == ["1", "2–3", "2–3", "4"]
    assert (table[0]["t/score"], table[0]["t/score/ci_low"]) == ("", "1.3127")
    assert (table[0]["t/score/ci_high"], table[3]["t/score/ci_low"]) == ("", "")


def test_a_column_of_bounds_is_shown() -> None:
    for table in (placed(), {"models": {"top": placed()["models"]["top"]}}):
        assert measured(table, [ERROR, SCORE])[0] == [ERROR, SCORE]
    (why,) = measured(placed(), [SCORE, ERROR])[1]
    assert values(why) == {"column": "Error", "of": "model", "reasons": "not measured"}


def test_counts_stand_beside_the_scores_unless_all_are_zero() -> None:
    table = results(a=0.5, b=0.25)
    table["counts"]["b"]["judge_error"] = 2
    assert counts_shown(rows(table, [SCORE])) == ["ok", "judge_error"]
    text = to_markdown(table, [SCORE])
    assert "| Score | ok | judge_error |" in text
    assert "| 2 | b | 0.250 [0.17, 0.33] | 9 | 2 |" in text


def test_methods_name_the_intervals() -> None:
    table = results(a=0.5, b=0.25)
    table["models"]["b"]["t/score"]["n"] = 20
    table["models"]["a"]["t/error"] = estimate(0.1, "bootstrap")
    score, error = map(values, methods(rows(table, [SCORE, ERROR]), [SCORE, ERROR]))
    assert (score["columns"], score["method"], score["n"]) == ("Score", "t interval", "20–140")
    assert (error["method"], error["n"]) == ("bootstrap", "140")
    assert error["direction"] and not score["direction"]


def test_columns_that_are_made_alike_share_a_note() -> None:
    table = results(a=0.5)
    table["models"]["a"] |= {f"t/{name}": estimate(0.5, "Wilson") for name in ("x", "y", "z")}
    table["models"]["a"]["t/y"]["n"] = 12_032
    columns = [SCORE, *(Column(f"t/{name}", name.upper()) for name in ("x", "y", "z"))]
    assert methods(rows(table, columns), columns) == [
        "Score: t interval (n = 140)",
        "X, Y, Z: Wilson (n = 140, 12,032, 140)",
    ]


def test_what_models_differ_in_is_said_once_beside_what_they_share() -> None:
    table = results(a=0.5, b=0.4, c=0.3, d=0.2, e=0.1)
    table["models"]["b"]["t/score"]["method"] = "t interval; 2 units out"
    for name in "acde":
        table["models"][name]["t/score"]["method"] = "t interval; 1 unit left"
    (told,) = methods(rows(table, [SCORE]), [SCORE])
    shared, one, other = values(told)["method"].split("; ")
    assert (shared, other) == ("t interval", "2 units out (b)")
    assert one.startswith("1 unit left (a, c, d ")


def test_a_method_does_not_repeat_its_title() -> None:
    table = results(a=0.5)
    table["models"]["a"]["t/score"]["method"] = "partial: a mean"
    column = Column("t/score", "Index (partial)")
    (told,) = methods(rows(table, [column]), [column])
    assert (values(told)["columns"], values(told)["method"]) == (column.title, "a mean")


def test_a_method_that_begins_with_its_title_says_it_once() -> None:
    table = results(a=0.5)
    table["models"]["a"]["t/score"]["method"] = "score; a fit"
    (told,) = methods(rows(table, [SCORE]), [SCORE])
    assert values(told)["method"] == "a fit"


def test_columns_made_alike_share_a_note_whichever_way_is_better() -> None:
    table = results(a=0.5)
    table["models"]["a"]["t/lost"] = estimate(0.5, "t interval")
    columns = [SCORE, Column("t/lost", "Lost", higher_is_better=False)]
    (told,) = methods(rows(table, columns), columns)
    assert values(told)["columns"] == "Score, Lost"
    assert "Lost" in values(told)["direction"] and "Score" not in values(told)["direction"]


def test_the_ranking_says_what_it_goes_by() -> None:
    table = results(a=0.5, b=0.25)
    third = Column("t/third", "Third")
    (by,) = ranked_by(rows(table, [SCORE]), [SCORE])
    assert (code(by), values(by)["column"]) == ("ranking.score", "Score")
    head, refused = ranked_by(rows(table, [SCORE, ERROR, third]), [SCORE, ERROR, third])
    assert head == by and code(refused) == "ranking.refused"
    assert {"Error", "Third"} < {*values(refused)["columns"].split()}
    none = results(a=0.5, b=None)
    parts = ranked_by(rows(none, [SCORE]), [SCORE])
    assert codes(parts) == ["ranking.score", "ranking.without_score"]
    assert ranking(rows(none, [SCORE]), [SCORE]) == "; ".join(parts)
    assert codes(ranked_by(rows(table, [third]), [third])) == ["ranking.none"]
    assert ranking([], [SCORE]) == ""
    assert f"- {by}\n" in to_markdown(table, [SCORE])


def test_what_cannot_be_told_from_guessing_is_marked() -> None:
    column = Column("t/score", "Score", chance=0.25)
    table = results(a=0.9, b=0.25, c=None)
    text = to_markdown(table, [column])
    assert "| 2 | b | 0.250† [0.17, 0.33] |" in text
    assert "0.900†" not in text
    note = guesses(rows(table, [column]), [column])
    assert values(note)["scores"] == "Score 0.250" and note in text
    assert "†" not in to_markdown(results(a=0.9), [column])
    one = Cell(1.0, (0.21, 1.0), None, 1, "Wilson")
    assert Column("t/score", "Score", chance=1 / 6).mark(one), "one guess in six is right"


def test_csv_spells_everything_out() -> None:
    table = results(a=1 / 3, b=None) | {"simulated": True}
    first, second = csv.DictReader(io.StringIO(to_csv(table, [SCORE])))
    assert float(first["t/score"]) == 1 / 3
    assert math.isclose(float(first["t/score/ci_low"]), 1 / 3 - 0.081)
    assert (first["t/score/n"], first["ok"], first["judge_error"]) == ("140", "9", "0")
    assert (first["rank"], first["simulated"]) == ("1", "true")
    assert (second["rank"], second["t/score"], second["t/score/method"]) == ("", "", "too few")


def test_a_simulated_table_says_so() -> None:
    table = results(a=0.5)
    assert SIMULATED not in to_markdown(table, [SCORE])
    assert SIMULATED in to_markdown(table | {"simulated": True}, [SCORE])


def ran(*backends: str) -> dict[str, Any]:
    """Return what results.json has of programs that ran behind several walls."""
    return {"run": {"programs": {"ran": [{"backend": it, "python": "3.12"} for it in backends]}}}


def test_a_table_of_programs_without_walls_says_so() -> None:
    table = results(a=0.5, b=0.25)
    for safe in (table, table | ran("namespaces", "landlock")):
        assert alarms(safe) == []
        assert UNSAFE not in to_markdown(safe, [SCORE])
        assert [it["unsafe"] for it in csv.DictReader(io.StringIO(to_csv(safe, [SCORE])))] == [
            *("false", "false")
        ]
    one = table | ran("namespaces", "unsafe")  # one node of two is enough
    assert to_markdown(one, [SCORE]).startswith(f"**{UNSAFE}**\n\n| rank |")
    assert [it["unsafe"] for it in csv.DictReader(io.StringIO(to_csv(one, [SCORE])))] == [
        *("true", "true")
    ]
    assert alarms(one | {"simulated": True}) == [SIMULATED, UNSAFE]


def test_scores_that_only_rounding_tells_apart_share_a_rank() -> None:
    table = results(a=0.6833333333333332, b=0.7, c=0.6833333333333335, d=0.68333, e=0.0, f=0.0)
    ranks = {row.model: row.rank for row in rows(table, [SCORE])}
    assert ranks == {"b": 1, "a": 2, "c": 2, "d": 4, "e": 5, "f": 5}


def test_what_is_to_be_said_of_the_run_stands_below_the_table() -> None:
    told = {"Samples": "nothing", "Questions": "no <target>"}
    text = to_markdown(results(a=0.5), [SCORE], told)
    assert text.splitlines()[-2:] == ["- Samples: nothing", "- Questions: no &lt;target>"]


def test_names_cannot_break_the_table() -> None:
    text = to_markdown(results(**{"a|b\n<script>": 0.5, "__x__": 0.4, "my_model": 0.3}), [SCORE])
    assert r"| a\|b &lt;script> |" in text
    assert r"| \_\_x\_\_ |" in text
    assert "| my_model |" in text


def test_nothing_to_show() -> None:
    assert rows({}, [SCORE]) == []
    assert to_markdown({}, [SCORE], {"Reviews": "1 approved"}) == "- Reviews: 1 approved\n"
    assert to_csv({}, [SCORE]).startswith("rank,model,t/score,")


def test_further_boards_stand_below_with_footnotes_of_their_own() -> None:
    lines = {
        "whole": {"t/score": Estimate(0.5, None, None, 4, "a share")},
        "half": {"t/score": Estimate(None, None, None, 0, "nobody")},
        "other": {"t/score": Estimate(None, None, None, 0, "too few")},
    }
    board = Board("Parts", lines, [SCORE], of="part")
    text = with_boards(to_markdown(results(a=None), [SCORE]), [board])
    head, below = text.split("## Parts")
    assert "[^1]: too few" in head
    assert "| part | Score |" in below
    assert "| — | half | —[^2] |" in below
    assert "[^2]: nobody" in below
    assert "| — | other | —[^1] |" in below and text.count("[^1]: ") == 1
    *_, unranked = ranked_by(rows(board.results(), [SCORE]), [SCORE], "part")
    assert values(unranked) == {"of": "part"} and unranked in below
    assert with_boards(head, []) == head

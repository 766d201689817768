"""What the improved grader changes: counted, shown, written down, and said of every number."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from helpers import raybench, with_store
from statements import code, values

from raybench.benchmarks.parts import summary
from raybench.benchmarks.parts.scores import Rules
from raybench.benchmarks.parts.tally import Tally
from raybench.config import Config
from raybench.experiments.index.conclusion import Watch
from raybench.experiments.index.report import graders
from raybench.experiments.index.report.graders import Differences
from raybench.experiments.parts.questions.ledger import Ledger

RULES = Rules(weights={"math": {"math_500": 1}})  # type: ignore[dict-item]
BOTH = [
    # (key, improved, parity, by): the checker's yes is no difference of the scripts'
    ("1", True, True, "script"),
    ("2", True, False, "script"),
    ("3", False, True, "script"),
    ("4", False, False, None),
    ("5", True, False, "checker"),
]


def record(key: str, correct: bool, by: str | None, **columns: Any) -> dict[str, Any]:
    return {
        "model": "m",
        "benchmark": "math_500",
        "key": key,
        "language": "en",
        "subject": None,
        "repeat": 0,
        "correct": correct,
        "answer": None if by is None else "7",
        "truth": "7",
        "reason": "right" if correct else "wrong",
        "by": by,
        "finish": "stop",
        "error": None,
        "judge_error": None,
        "prompt_tokens": 1,
        "output_tokens": 1,
        "reused": False,
        "response": "x" * 5_000 + "end",
    } | columns


def units(times: int = 1) -> list[dict[str, Any]]:
    return [
        record(f"{key}-{n}", correct, by, parity={"correct": parity, "answer": "7"})
        for n in range(times)
        for key, correct, parity, by in BOTH
    ]


class Kept(NamedTuple):
    tally: Tally
    differences: Differences


def ledger(records: list[dict[str, Any]]) -> Kept:
    differences = Differences()
    found = Ledger(1, [differences])
    for each in records:
        found.enter(each)
    return Kept(found.tally, differences)


def test_both_accuracies_stand_side_by_side_and_say_who_graded() -> None:
    found = ledger(units())
    metrics = found.differences.marked(summary.metrics(found.tally, ["m"], RULES), RULES)["m"]
    assert metrics["math_500/accuracy"].value == 3 / 5
    assert "grader=improved" in metrics["math_500/accuracy"].method
    assert "grader=improved" in metrics["index/math"].method
    assert "grader=improved" not in metrics["math_500/output_tokens"].method
    theirs = metrics["math_500/parity_accuracy"]
    assert (theirs.value, theirs.n) == (2 / 5, 5)
    assert theirs.ci95 is not None
    assert theirs.method.endswith(graders.THEIRS)


def test_differences_are_counted_by_kind_and_shown_within_bounds() -> None:
    found = ledger(units(times=20))
    metrics = found.differences.marked(summary.metrics(found.tally, ["m"], RULES), RULES)
    section = found.differences.section(metrics)
    assert section.table
    assert list(section.table.rows) == [("MATH-500", "m", 0.6, 0.4, 60, 20, 20)]
    told = {"replies": 40, "file": "grader_differences.jsonl", "shown": 10}
    assert values(found.differences.told()) == told
    assert section.text.endswith(found.differences.told())
    assert len(section.items) == 10
    assert len(section.items[0].body["end of the reply (stop)"]) < 1_000
    assert section.items[0].body["parity"] == "'7': not right"
    assert section.items[0].body["improved"] == "'7': right (right)"


def test_where_they_agree_it_is_said() -> None:
    found = ledger([record("1", True, "script", parity={"correct": True, "answer": "7"})])
    metrics = found.differences.marked(summary.metrics(found.tally, ["m"], RULES), RULES)
    section = found.differences.section(metrics)
    assert code(found.differences.told()) == "graders.agree"
    assert section.text.endswith(found.differences.told())
    assert not section.items


def test_a_reply_that_never_came_withholds_both_scores() -> None:
    gone = record("9", False, None, finish="error", error="gone", response="")
    found = ledger([*units(), gone])
    metrics = found.differences.marked(summary.metrics(found.tally, ["m"], RULES), RULES)["m"]
    for name in ("accuracy", "parity_accuracy"):
        assert metrics[f"math_500/{name}"].value is None
        assert "await" in metrics[f"math_500/{name}"].method


def test_the_whole_list_is_read_from_the_journal(tmp_path: Path) -> None:
    journal = tmp_path / "units.jsonl"
    journal.write_text("".join(json.dumps(unit) + "\n" for unit in units(times=20)))
    rows = list(graders.differing(journal))
    assert len(rows) == 40
    assert rows[0]["key"] == "2-0"
    assert (rows[0]["improved"]["correct"], rows[0]["parity"]["correct"]) == (True, False)
    assert rows[0]["reply_end"].endswith("end")
    assert len(rows[0]["reply_end"]) < 1_000


def test_parity_keeps_nothing_more() -> None:
    assert Watch(Config()).differences is None


# Stand-ins that know nothing change the last number of the gold: of one question parity's script
# never sees it, of the other it does not matter to the value.
ANSWERS = (r"2 \text{ and } 3", "0^{5}")
ROSTER = (
    "roster=simulated",
    "roster.models=[{name: able, engine: simulated, options: {ability: 1, spread: 0}}, "
    "{name: dull, engine: simulated, options: {ability: 0, spread: 0}}]",
)


def data(folder: Path) -> Path:
    rows = [
        {"unique_id": f"x/{n}", "problem": "?", "answer": answer, "subject": "Algebra"}
        for n, answer in enumerate(ANSWERS)
    ]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "math_500.jsonl").write_text(text)
    return folder


@pytest.mark.usefixtures("on_lasting_ray")
def test_a_run_from_the_command_line_says_where_the_two_differ(tmp_path: Path) -> None:
    command = ("+experiment=index", f"data.dir={data(tmp_path)}", "benchmarks=[math_500]", *ROSTER)
    done = raybench(*command, "grader=improved", "repeats=1", cwd=with_store(tmp_path))
    assert done.returncode == 0, done.stderr
    assert f"Grader {graders.NOTE}" in " ".join(done.stdout.split()), "whatever its lines"
    (run,) = (tmp_path / "runs" / "index").iterdir()
    results = json.loads((run / "results.json").read_text())
    assert results["run"]["grader"] == "improved"
    for name in ("accuracy", "parity_accuracy"):
        assert results["models"]["able"][f"math_500/{name}"]["value"] == 1
        assert results["models"]["dull"][f"math_500/{name}"]["value"] == 0.5
    rows = [json.loads(it) for it in (run / graders.FILE).read_text().splitlines()]
    assert {(row["key"], row["improved"]["correct"], row["parity"]["correct"]) for row in rows} == {
        ("x/0", False, True),
        ("x/1", True, False),
    }
    assert graders.TITLE in (run / "report.html").read_text()

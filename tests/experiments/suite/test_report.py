"""What the suite's page says below its table."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from statements import values

from raybench.autobench.analysis.tables import Table
from raybench.experiments.suite import report, words
from raybench.experiments.suite.comparison import Compared, compared
from raybench.experiments.suite.conclusion import _told, overflowed
from raybench.experiments.suite.parts import Found
from raybench.stats.joint import Joint
from raybench.tracking.leaderboard import alarms


def ways(*orders: str) -> list[Found]:
    """Return ways that rank models of one letter in these orders, each surely, the best first."""
    found = []
    for name, order in zip(("index", "hle", "autobench", "games"), orders, strict=False):
        values = np.arange(len(order), 0, -1, dtype=np.float64)
        scores = Joint("m", tuple(order), values, 1e-9 * np.eye(len(order)))
        found.append(Found(name, {"run": {}}, "m", scores, Path()))
    return found


def test_kemenys_order_is_the_same_or_tells_equals_apart_or_is_another() -> None:
    def kemeny(found: Compared) -> dict[str, Any]:
        return values(report.kemeny(found.consensus))

    assert kemeny(compared(ways("abcd", "abcd", "abdc"), [])) == {}
    # Borda: a 2+2+0, b 1+1+2, c 0+0+1, each of three; a and b are equal, and a leads in two ways.
    tied = compared(ways("abc", "abc", "bca"), [])
    assert [it.rank for it in tied.consensus.places] == [1, 1, 3]
    (pair,) = kemeny(tied)["equals"]
    assert pair == ["a", "b"]
    assert report.kemeny(tied.consensus) in report._consensus(tied).text


def test_a_model_that_no_prompt_fits_is_a_warning_of_the_whole(tmp_path: Path) -> None:
    scores = ways("ab")[0].joint
    runs: dict[str, dict[str, Any]] = {
        "index": {"overflowed": {"a": {"math_500": 3}}},
        "hle": {"overflowed": {"a": {"hle": 2}}},
        "games": {},
    }
    found = [Found(name, {"run": run}, "m", scores, tmp_path) for name, run in runs.items()]
    (alarm,) = alarms({"run": overflowed(found)})
    assert values(alarm) == {"model": "a", "benchmarks": "math_500, hle", "prompts": 5}
    assert overflowed(found[2:]) == {}


def test_the_conditions_of_all_parts_are_told_with_their_deviations(tmp_path: Path) -> None:
    named = {"setting": "s.one", "given": 1, "source": "two", "text": "three"}
    same = {"Judged by": "j", "Samples": "ours"}
    runs: dict[str, dict[str, Any]] = {
        "index": {
            "judges": ["j"],
            "checker": "c",
            "deviations": [named],
            "data": {"hle": {"origin": "samples"}},
            "conditions": {**same, "Checked by": "c", "Deviations": "long"},
        },
        "hle": {"deviations": [], "conditions": {**same, "Deviations": "none"}},
        "games": {},  # of an earlier version
    }
    scores = ways("ab")[0].joint
    common = {"units": 1, "mlflow_run_id": None}
    found = [
        Found(name, {"run": {**common, **run}}, "m", scores, tmp_path) for name, run in runs.items()
    ]
    assert words.conditions(found) == {
        "Judged by": "Index and Exam: j",
        "Checked by": "Index: c",
        "Samples": "Index and Exam: ours",
        "Deviations": "Index: s.one. Exam: none",
    }
    told = _told(found, {})
    kept = ("judges", "checker", "deviations", "samples")
    assert [told["index"][it] for it in kept] == [["j"], "c", [named], True]
    assert [it for it in kept if it in told["hle"]] == ["deviations"]
    assert not [it for it in kept if it in told["games"]]
    (section,) = report._deviations(found)
    assert section.table is not None and section.table.rows == [("Index", "s.one", "three", "two")]
    assert not [*report._deviations(found[1:])]


def test_a_tau_without_an_interval_over_models_says_why() -> None:
    table = Table("arena", {"a": 3.0, "b": 2.0, "c": 1.0}, ())

    def captions(*orders: str, of: Sequence[Table] = ()) -> list[str]:
        ranked = compared(ways(*orders), of)
        parts = [*report._pairs(ranked, []), *report._external(ranked, of)]
        return [it.table.caption for it in parts if it.table]

    pairs, arena = captions("abcdef", "abcdfe", "bacdef", of=[table])
    few = report._open(compared(ways("abc", "acb"), []).pairs.values())
    assert "4" in few
    assert few not in pairs and few in arena
    (pairs,) = captions("abc", "acb")
    assert few in pairs

"""A screening with the embedded model as panel and judge: real vLLM, structured verdicts."""

import json
from pathlib import Path

import pytest
from helpers import NEEDS_MODEL, own_cache, raybench
from hle_rows import exact

pytestmark = [pytest.mark.engine, NEEDS_MODEL, pytest.mark.timeout(600)]

# Easy ones, which so small a model answers in a few words.
ASKED = {"What is the capital of France?": "Paris", "What is 2 + 2?": "4",
         "Which month follows May?": "June"}  # fmt: skip
MOST = len(ASKED)
PANEL = (
    "roster.models=[{name: greedy, weights: embedded},"
    " {name: hot, weights: embedded, sampling: {temperature: 1.4}}]"
)


@pytest.mark.long(
    short="tests/experiments/test_real.py::test_the_exam_is_judged_by_the_schema_and_not_asked_again"
)
def test_the_embedded_model_is_panel_and_judge(ready: Path) -> None:
    why = "Whoever went to school has learnt it."
    given = [
        exact(f"q{number}", question=asked, answer=answer, rationale=why)
        for number, (asked, answer) in enumerate(ASKED.items())
    ]
    (ready / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in given))
    done = raybench(
        *("+experiment=hle_screen", "roster=embedded", PANEL, "candidates=in.jsonl"),
        *("fleet.kv_cache_gib=0.5", "max_tokens=60"),
        cwd=ready,
        environment=own_cache(ready),
        timeout=500,
    )
    assert done.returncode == 0, done.stderr + done.stdout
    (run,) = (ready / "runs" / "hle_screen").iterdir()
    told = json.loads((run / "results.json").read_text())["run"]["screening"]
    assert told["tried"] == MOST
    units = [json.loads(it) for it in (run / "journal" / "units.jsonl").read_text().splitlines()]
    assert len(units) == MOST * 2
    assert any(unit["by"] == "judge" for unit in units)
    sets = {
        name: {json.loads(line)["id"] for line in (run / f"{name}.jsonl").read_text().splitlines()}
        for name in ("accepted", "rejected", "undecided")
    }
    assert sum(map(len, sets.values())) == MOST
    for key in {unit["key"] for unit in units}:
        attempts = [unit for unit in units if unit["key"] == key]
        # Its verdicts are JSON of the schema, so that each can be read.
        assert not any(unit["judge_error"] for unit in attempts)
        # What was cut before an answer proves nothing; all of these are of exact match.
        cut = any(unit["finish"] == "length" and not unit.get("judgements") for unit in attempts)
        right = any(unit["correct"] for unit in attempts)
        where = "rejected" if right else "undecided" if cut else "accepted"
        assert key in sets[where]

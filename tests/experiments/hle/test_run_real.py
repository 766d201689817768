"""The exam with a real model as contestant and judge, and what it costs a second time."""

import json
from pathlib import Path

import pytest
from helpers import NEEDS_MODEL, own_cache, raybench, results_of, units_of

from raybench import benchmarks

pytestmark = [pytest.mark.slow, NEEDS_MODEL, pytest.mark.timeout(600)]

SAMPLES = Path(benchmarks.__file__).parent / "samples" / "hle.jsonl"
ASKED = ("What is the capital of France?", "What is 2 + 2?", "Which month follows May?")
MODELS = (
    "roster.models=[{name: short, weights: embedded, sampling: {max_tokens: 60}},"
    " {name: hot, weights: embedded, sampling: {temperature: 1.4, max_tokens: 60}}]"
)


def questions(folder: Path) -> Path:
    """Write easy questions, one of them with an image, among whose answers are odd ones."""
    rows = [json.loads(line) for line in SAMPLES.read_text(encoding="utf-8").splitlines()]
    image = next(row["image"] for row in rows if row["image"])
    answers = ("Paris {response} <|im_end|>", "4", "June")
    asked = zip((*ASKED, "What does it show?"), (*answers, "A graph."), strict=True)
    place = folder / "questions"
    place.mkdir()
    with (place / "hle.jsonl").open("w", encoding="utf-8") as file:
        for number, (question, answer) in enumerate(asked):
            own = {"id": f"{number:024x}", "question": question, "answer": answer}
            shown = image if number == len(ASKED) else ""
            row = rows[0] | own | {"image": shown, "answer_type": "exactMatch"}
            file.write(json.dumps(row) + "\n")
    return place


def test_a_real_model_answers_is_judged_and_is_not_asked_again(ready: Path) -> None:
    command = (
        "+experiment=hle", "roster=embedded", MODELS, f"data.dir={questions(ready)}",
        "fleet.kv_cache_gib=0.5",
    )  # fmt: skip
    fresh = own_cache(ready)
    done = raybench(*command, cwd=ready, environment=fresh, timeout=500)
    assert done.returncode == 0, done.stderr + done.stdout
    first, units = (results_of(ready, "hle"), units_of(ready, "hle"))
    assert len(units) == 8
    judged = [unit for unit in units if unit["by"] == "judge"]
    assert judged
    # Structured decoding: whatever so small a judge thinks, it is in the form asked for.
    assert not [unit["judge_error"] for unit in units if unit["judge_error"]]
    for unit in judged:
        verdict = unit["judgements"]["smollm2-judge"]
        assert unit["correct"] is verdict["correct"]
        assert 0 <= verdict["confidence"] <= 100
    assert first["run"]["fates"]["short"]["no images"] == 1
    assert first["models"]["short"]["hle/accuracy"]["n"] == 3
    judge = first["fleet"]["this_session"]["models"]["smollm2-judge (judge)"]
    assert judge["requests"] == len(judged)

    # What was said is not asked again, of models or judge: no engine comes up.
    done = raybench(*command, "images=false", cwd=ready, environment=fresh, timeout=200)
    assert done.returncode == 0, done.stderr + done.stdout
    again, same = (results_of(ready, "hle"), units_of(ready, "hle"))
    assert again["run"]["reused"] == len(same) == 6
    assert again["fleet"]["this_session"]["total"]["requests"] == 0
    verdicts = {(u["model"], u["key"]): u["correct"] for u in units}
    assert all(verdicts[u["model"], u["key"]] == u["correct"] for u in same)

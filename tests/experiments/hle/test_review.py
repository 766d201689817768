import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from examined import exam, judged, record, unjudged
from statements import values

from raybench.experiments.hle import review

JUDGES = ("j", "k")


def records(right: int, wrong: int, differ: int) -> list[dict[str, Any]]:
    agreeing = [
        record(f"{verdict}{n}", verdict, judgements=judged(("j", verdict), ("k", verdict)))
        for verdict, count in ((True, right), (False, wrong))
        for n in range(count)
    ]
    differing = [
        record(f"d{n}", judgements=judged(("j", True), ("k", False))) for n in range(differ)
    ]
    return [*agreeing, *differing, unjudged(key="cut")]


def counts(right: int, wrong: int, differ: int, count: int) -> tuple[int, ...]:
    found = review.drawn(exam(records(right, wrong, differ)), JUDGES, count, seed=0)
    of = Counter(it.stratum for it in found)
    return of["judges differ"], of["right"], of["wrong"]


@pytest.mark.parametrize(
    ("there", "count", "drawn"),
    [
        ((100, 100, 100), 20, (10, 5, 5)),
        ((100, 100, 4), 20, (4, 8, 8)),
        ((2, 100, 0), 20, (0, 2, 18)),
        ((100, 3, 0), 20, (0, 17, 3)),
        ((1, 1, 1), 20, (1, 1, 1)),
        ((100, 100, 100), 1, (1, 0, 0)),
        ((100, 100, 100), 0, (0, 0, 0)),
        ((0, 0, 0), 20, (0, 0, 0)),
    ],
)
def test_where_judges_differ_comes_first_and_both_verdicts_alike(
    there: tuple[int, int, int], count: int, drawn: tuple[int, ...]
) -> None:
    assert counts(*there, count) == drawn


def test_the_draw_is_the_seeds_and_none_comes_twice() -> None:
    told = exam(records(50, 50, 50))
    first = review.drawn(told, JUDGES, 40, seed=1)
    assert first == review.drawn(told, JUDGES, 40, seed=1)
    assert first != review.drawn(told, JUDGES, 40, seed=2)
    assert len({it.key for it in first}) == 40
    assert {it.stratum: it.share for it in first} == {
        "judges differ": 20 / 50, "right": 10 / 50, "wrong": 10 / 50
    }  # fmt: skip


def test_the_sheet_holds_what_a_person_needs_and_waits_for_the_verdict(tmp_path: Path) -> None:
    told = records(2, 0, 1)
    journal = tmp_path / "units.jsonl"
    others = [record("True0", model="b"), record("True0", benchmark="mmlu_pro", model="c")]
    journal.write_text("".join(json.dumps(it) + "\n" for it in [*others, *told]))
    drawn = review.drawn(exam(told), JUDGES, 10, seed=0)
    rows = {
        ("hle", "en", it["key"]): {"question": f"Why {it['key']}?", "image": "", "answer": "42"}
        for it in told
    }
    found = review.files(drawn, journal, rows)
    lines, key = found[review.FILE], found[review.KEY]
    assert (
        [line["id"] for line in lines] == [it["id"] for it in key] == sorted(it.key for it in drawn)
    )
    first = next(line for line in lines if line["id"] == "d0")
    assert (first["question"], first["answer"]) == ("Why d0?", "42")
    assert first["response"] == "Exact Answer: d0"
    assert first["your_verdict"] is None
    # Who judges by hand does not know what the judges said, nor why it was drawn.
    assert not {"judgements", "drawn_as"} & {name for line in lines for name in line}
    known = next(it for it in key if it["id"] == "d0")
    assert (known["drawn_as"], known["share_of_these"]) == ("judges differ", 1)
    assert {name: it["correct"] for name, it in known["judgements"].items()} == {
        "j": True,
        "k": False,
    }
    said = values(review.note(drawn))
    assert (said["responses"], said["file"]) == (3, "review.jsonl")
    assert said["drawn"]["judges differ"] == 1

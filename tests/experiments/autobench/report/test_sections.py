"""The report of a peer assessment, rendered from journals of every shape."""

import random
import re
from typing import Any

import pytest
from peerage import fair, journal
from reading import whole
from statements import values

from raybench.autobench.analysis.tables import Table
from raybench.autobench.preference import LEAST_JUDGES
from raybench.autobench.settings import Settings, Task
from raybench.experiments.autobench.conclusion import concluded
from raybench.experiments.autobench.report import reading, texts, validation
from raybench.experiments.autobench.reuse import Kept
from raybench.experiments.parts import supported
from raybench.tracking.report import Section
from raybench.types import Estimate

MODELS = ("a", "b", "c")


def page(records: list[dict[str, Any]], settings: Settings) -> tuple[dict[str, Section], str]:
    outcome = concluded(records, settings, Kept(0))
    results = {
        "models": {
            model: {name: estimate.to_json() for name, estimate in of.items()}
            for model, of in outcome.metrics.items()
        },
        "counts": {model: of.to_json() for model, of in outcome.counts.items()},
    }
    html = whole(results=results, columns=outcome.columns, sections=outcome.sections)
    return {section.title: section for section in outcome.sections}, html


def test_a_whole_journal_shows_everything_once() -> None:
    sections, html = page(journal(Settings(MODELS), 24), Settings(MODELS))
    first, *others = sections
    assert first == supported.TITLE and len(others) == 19
    assert {"Consensus scores", "Judging weights", "Convergence", "Judges"} < {*others}
    assert others[-2:] == ["Rejected tasks", "Read them"]
    assert "What is &lt;i&gt;1&lt;/i&gt;?" in html
    assert "<i>" not in html
    # What judges gave themselves is in the map, as in the paper's figure 3.
    numbers = re.findall(r">(\d\.\d\d)</text>", sections["Who rates whom"].figure or "")
    assert len(numbers) == 9
    table = sections["Self-preference"].table
    assert table
    assert [row[0] for row in table.rows] == ["c", "b", "a"]


def test_results_hold_topics_and_judges() -> None:
    settings = Settings(MODELS, judges=("c", "x"), topics=("math", "general culture"))
    outcome = concluded(journal(settings, 12), settings, Kept(0))
    assert set(outcome.metrics["c"]) - set(outcome.metrics["a"]) == {
        "autobench/judge_severity",
        "autobench/judge_agreement",
        "autobench/self_preference",
        "autobench/self_preference_among_leanings",
    }
    assert outcome.metrics["a"]["autobench/score/general_culture"].n == 6
    rows = list(outcome.files["judges.jsonl"])
    assert [row["judge"] for row in rows] == ["c", "x"]
    assert rows[0]["self_preference"]["method"].startswith("not computed: ")
    assert rows[1]["self_preference"]["value"] is None
    assert rows[1]["prefers_itself"] is None
    assert rows[1]["parse_rate"]["value"] == 1.0


def test_scores_stand_next_to_those_of_the_other_tables() -> None:
    settings = Settings(MODELS)
    tables = [Table("mmlu", {"a": 41.5, "b": 50.0, "c": 62.0}), Table("gpqa", {"c": 0.31})]
    outcome = concluded(journal(settings, 24), settings, Kept(0), tables=tables)
    (section,) = (it for it in outcome.sections if it.title == validation.SCORES)
    assert section.table and section.table.columns[1:] == ("AutoBench", "mmlu", "gpqa")
    for model, score, mmlu, gpqa in section.table.rows:
        assert score == outcome.metrics[str(model)]["autobench/score"]
        assert (mmlu, gpqa) == tuple(table.scores.get(str(model)) for table in tables)
    alone = concluded(journal(settings, 24), settings, Kept(0))
    assert validation.SCORES not in [it.title for it in alone.sections]


def test_every_pair_has_a_line_with_how_sure_its_order_is() -> None:
    settings = Settings(MODELS)
    outcome = concluded(journal(settings, 24), settings, Kept(0))
    rows = {(row["model"], row["above"]): row for row in outcome.files["pairs.jsonl"]}
    assert len(rows) == 6
    scores = {model: of["autobench/score"].value or 0 for model, of in outcome.metrics.items()}
    for (model, other), row in rows.items():
        assert row["confidence"] + rows[other, model]["confidence"] == pytest.approx(1)
        assert (row["confidence"] > 0.5) == (scores[model] > scores[other])
        assert row["confidence"] > 0.95 or not row["holds"]


def test_self_preference_is_said_where_both_intervals_show_it() -> None:
    def rate(judge: str, contestant: str, quality: float, rng: random.Random) -> float:
        return fair(judge, contestant, quality, rng) + 1.5 * (judge == contestant == "c")

    settings = Settings(("a", "b", "c", "d", "e", "f"))
    able = {model: 2 + 0.2 * i for i, model in enumerate(settings.models)}
    sections, html = page(journal(settings, 40, rate=rate, ability=able), settings)
    table = sections["Self-preference"].table
    assert table
    assert {row[0]: row[-1] for row in table.rows} == dict.fromkeys("abdef", "no") | {"c": "yes"}
    sections, html = page(journal(Settings(MODELS), 6), Settings(MODELS))
    table = sections["Self-preference"].table
    assert table
    assert [row[-1] for row in table.rows] == [None] * 3
    assert html.count(f"fewer than {LEAST_JUDGES} ") == 1


@pytest.mark.parametrize(
    "settings",
    [
        Settings(MODELS, judges=("x", "y")),
        Settings(("a", "b", "c", "d")),
        Settings(("a", "b", "c", "d", "e")),
        Settings(MODELS, judges=("a", "x", "y", "z")),
        Settings(MODELS, judges=("a", "x"), self_judgement=False),
        Settings(MODELS, judges=("b",)),
        Settings(MODELS, self_judgement=False),
        Settings(MODELS, weights="uniform"),
        Settings(MODELS, tasks=(Task("What?"),), topics=("",)),
        Settings(("a", "b")),
        Settings(("a",)),
    ],
)
@pytest.mark.parametrize("iterations", [0, 1, 3])
def test_every_variant_has_a_report(settings: Settings, iterations: int) -> None:
    sections, html = page(journal(settings, iterations), settings)
    assert "Judges" in sections
    assert ("Judging weights" in sections) == (settings.weights == "consensus")
    assert ("Rejected tasks" in sections) == (iterations == 3 and not settings.tasks)
    assert ("Read them" in sections) == (iterations > 0)
    assert "nan" not in html
    for section in sections.values():
        for row in section.table.rows if section.table else ():
            for value in row:
                assert not isinstance(value, Estimate) or value.value is not None or value.method


def test_a_list_shorter_than_the_run_is_told_of() -> None:
    settings = Settings(MODELS, tasks=tuple(Task(f"task {n}") for n in range(4)))
    records = [it | {"task": f"task {n % 4}"} for n, it in enumerate(journal(settings, 10))]
    sections, _ = page(records, settings)
    again = values(sections["Tasks"].text)["again"]
    assert re.findall(r"\d+", again)[:3] == ["4", "2", "3"]
    judges, topics = sections["Judges"].table, sections["Scores by difficulty"].table
    assert judges
    assert "by task" in judges.caption
    assert topics
    assert "over tasks" in topics.caption
    sections, _ = page(records[:4], settings)
    assert values(sections["Tasks"].text)["again"] == ""


def test_two_tasks_again_and_again_do_not_order_models() -> None:
    settings = Settings(MODELS, tasks=(Task("x"), Task("y")))
    records = [it | {"task": "xy"[n % 2]} for n, it in enumerate(journal(settings, 10))]
    sections, _ = page(records, settings)
    told = values(sections["Who stands above whom"].text)
    assert (told["least"], told["there"]) == (3, 2) and told["by"] != "iteration"


def test_iterations_without_a_task_are_told_of_and_not_shown() -> None:
    records = journal(Settings(MODELS), 4)
    nothing: dict[str, Any] = {"task": None, "answers": {}, "judgments": {}, "scores": {}}
    attempt = records[2]["attempts"][0]
    silent = attempt | {"task": None, "ratings": {}, "mean": None, "median": None}
    records[3] |= nothing | {"attempts": [silent]}
    sections, html = page(records, Settings(MODELS))
    counts = values(sections["Tasks"].text)
    assert (counts["found"], counts["iterations"]) == (3, 4)
    assert "its generator" in html
    assert not any("Iteration 4" in item.summary for item in sections["Read them"].items)


def test_what_is_read_is_chosen_for_what_it_shows() -> None:
    settings = Settings(MODELS, topics=("math", "logic"))
    records = journal(settings, 30)
    shown = list(reading.chosen(records))
    assert shown == list(reading.chosen(records))
    whys = [why for _, why in shown]
    assert whys[:5] == [*reading.EXTREMES]
    assert [values(why) for why in whys[5:]] == [{"iterations": 15}] * 2
    iterations = [record["iteration"] for record, _ in shown]
    assert len(set(iterations)) == len(iterations) == 7
    best = max(max(record["scores"].values()) for record in records)
    assert max(shown[0][0]["scores"].values()) == best


def test_an_item_says_who_gave_what_and_what_kept_models_from_answers() -> None:
    settings = Settings(MODELS, self_judgement=False)
    (record,) = journal(settings, 1)
    record["answers"] |= {"b": "", "c": None}
    record["judgments"] = {"a": {"b": None, "c": None}, "b": {"a": 4}, "c": {"a": None}}
    record["scores"] = {"a": 4.0, "b": 1.0, "c": None}
    record["unanswered"] = [{"model": "b", "key": "1/answer", "finish": "refusal", "why": "no"}]
    (section,) = reading.sections([record], settings)
    body = section.items[0].body
    assert body == {
        "task (rated 4 by a, c)": "What is <i>1</i>?",
        "a: 4.00 (rated 4 by b; none by c)": "a says <b>1</b>",
        "b: 1.00": "no answer (refusal: no)",
        "c: no score": "no reply",
    }


def test_many_judges_are_counted_and_named_at_the_end() -> None:
    settings = Settings(tuple(f"m{i:02d}" for i in range(14)))
    (section,) = reading.sections(journal(settings, 1), settings)
    body = section.items[0].body
    assert "task (rated 4 × 14)" in body
    assert list(body)[-1] == reading.RATINGS
    assert body[reading.RATINGS].startswith("task\n  4 by m00, m01, ")


def test_long_texts_are_cut_and_say_so() -> None:
    assert texts.cut("abc", 3) == "abc"
    cut = texts.cut("a" * 1234, 3)
    assert cut.startswith("aaa…\n\n[3 of 1,234 ")
    assert values(cut) == {"beginning": "aaa", "shown": 3, "all": 1234}


def test_many_rejected_tasks_are_shown_in_part() -> None:
    settings = Settings(("a",))
    sections, _ = page(journal(settings, 60), settings)
    rejected = sections["Rejected tasks"]
    assert values(rejected.text) == {"rejected": 20, "tries": 80, "shown": 8}
    assert {item.group for item in rejected.items} == {"a: the last 8 of 20 rejected"}

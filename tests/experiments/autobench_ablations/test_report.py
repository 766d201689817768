"""What the report of the ablations says of tasks that come again."""

import pytest
from peerage import journal
from statements import code, values

from raybench.autobench.analysis.tables import Table
from raybench.autobench.protocol import replay
from raybench.autobench.settings import Settings, Task
from raybench.experiments.autobench.reuse import Kept
from raybench.experiments.autobench_ablations import findings, report
from raybench.experiments.autobench_ablations.comparison import Comparison, Played
from raybench.experiments.parts import supported

MODELS = ("a", "b", "c", "d")
TRUTH = Table("truth", {model: float(place) for place, model in enumerate(MODELS)})


def played(name: str, tasks: int) -> Played:
    """Play twelve iterations: of generated tasks, or of a list of so many."""
    settings = Settings(MODELS, tasks=tuple(Task(f"task {n}") for n in range(tasks)))
    records = journal(settings, 12, seed=tasks)
    for place, record in enumerate(records if tasks else ()):
        record["task"] = f"task {place % tasks}"
    return Played(name, "", settings, records, replay(records, settings), Kept(0))


def test_tasks_that_come_again_are_drawn_apart_and_that_is_said() -> None:
    again = Comparison((played("full", 0), played("fixed_tasks", 5)), [TRUTH])
    (said,) = report._apart(again)
    assert values(said) == {"variants": "fixed tasks"}
    first = next(it.table for it in report.sections(again) if it.table is not None)
    assert said in first.caption
    once = Comparison((played("full", 0), played("fixed_tasks", 12)), [TRUTH])
    assert not [*report._apart(once)]


def test_the_report_opens_with_what_holds_of_models_rules_and_tables() -> None:
    several = played("full", 0), played("uniform_weights", 0)
    comparison = Comparison(several, [TRUTH])
    opening = next(iter(report.sections(comparison)))
    assert opening.title == supported.TITLE
    (models,) = findings._models(comparison)
    (rules,) = findings._rules(comparison)
    (tables,) = findings._tables(comparison)
    assert opening.text.splitlines() == [models, rules, tables]
    assert code(values(values(models)["orders"])["orders"]).startswith("orders.")
    # The same records by another name: no rule can order them more alike.
    assert values(rules)["variant"] == "uniform weights"
    assert values(rules)["tau"] == pytest.approx(1.0)
    told = values(tables)
    assert (told["table"], told["signs"], told["agrees"]) == ("truth", {"uniform weights": 0}, "")
    assert "1 of 1" in told["untold"]


def test_scores_of_a_list_are_over_its_tasks() -> None:
    fixed = played("fixed_tasks", 5)
    comparison = Comparison((played("full", 0), fixed), [TRUTH])
    for score in comparison.scores(fixed).values():
        assert score.n == 5
        assert "tasks, each" in score.method
    ahead = comparison.external(fixed, TRUTH).kendall.ahead
    assert ahead is not None
    assert "drawn apart" in ahead.method
    assert "by task" in comparison.to_json(fixed)["parse_rate"]["method"]

"""What the report of the ablations says of tasks that come again."""

from peerage import journal

from raybench.autobench.analysis.tables import Table
from raybench.autobench.protocol import replay
from raybench.autobench.settings import Settings, Task
from raybench.experiments.autobench.reuse import Kept
from raybench.experiments.autobench_ablations import report
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


def caption(*several: Played) -> str:
    sections = report.sections(Comparison(several, [TRUTH]))
    first = next(it.table for it in sections if it.table is not None)
    return first.caption


def test_tasks_that_come_again_are_drawn_apart_and_that_is_said() -> None:
    said = "The tasks of fixed tasks come more than once: they are drawn apart"
    assert said in caption(played("full", 0), played("fixed_tasks", 5))
    assert "more than once" not in caption(played("full", 0), played("fixed_tasks", 12))


def test_the_report_opens_with_what_holds_of_models_rules_and_tables() -> None:
    several = played("full", 0), played("uniform_weights", 0)
    opening = next(iter(report.sections(Comparison(several, [TRUTH]))))
    assert opening.title == supported.TITLE
    models, rules, tables = opening.text.splitlines()
    assert "orders of two models hold" in models
    # The same records by another name: no rule can order them more alike.
    assert "than 'uniform weights' (Kendall's τ 1.00" in rules
    assert "Of 1 of 1 variants nothing is told" in tables and "better" not in tables


def test_scores_of_a_list_are_over_its_tasks() -> None:
    fixed = played("fixed_tasks", 5)
    comparison = Comparison((played("full", 0), fixed), [TRUTH])
    for score in comparison.scores(fixed).values():
        assert score.n == 5
        assert "tasks, each with its scored iterations" in score.method
    ahead = comparison.external(fixed, TRUTH).kendall.ahead
    assert ahead is not None
    assert "drawn apart" in ahead.method
    assert comparison.to_json(fixed)["parse_rate"]["method"].startswith(
        "share of ratings asked for, clustered by task"
    )

from graded import RULES, asked, unit, view

from raybench.benchmarks.parts.scores import Rules
from raybench.experiments.index.report import columns

ALONE = Rules({}, programs=frozenset({"humaneval"}))


def test_other_scores_stand_behind_the_one_of_their_benchmark() -> None:
    steps = [unit("scicode", f"1.{n}", n == 0, cluster="1") for n in range(2)]
    several = [*asked("humaneval", "RRwww", "wwwww"), *steps, *asked("mmlu_pro", "R")]
    assert [column.key for column in columns(view(several, ALONE))] == [
        "humaneval/accuracy",
        "humaneval/pass_at_5",
        "scicode/accuracy",
        "scicode/main_problems",
        "mmlu_pro/accuracy",
    ]
    once = [*asked("humaneval", "R", "w")]
    assert [column.title for column in columns(view(once, ALONE))] == ["HumanEval"]


def test_what_is_refused_to_all_stands_last() -> None:
    titles = [column.title for column in columns(view([*asked("mmlu_pro", "R")], RULES))]
    assert titles == ["MMLU-Pro", "Intelligence Index", "Math Index"]

"""The self-check: every benchmark grades its own gold answers."""

from collections import Counter

from raybench import benchmarks
from raybench.benchmarks.parts.contract import UngradableError
from raybench.errors import RunFailed
from raybench.pipeline.datasets import Prepared
from raybench.types import Grader

_SHOWN = 5


def validate(data: Prepared, grader: Grader) -> None:
    """Grade the gold answers of all that was read; raise RunFailed where one is not right."""
    wrong: list[str] = []
    for part in data:
        benchmark, right = benchmarks.load(part.benchmark), 0
        ungraded: Counter[str] = Counter()
        of = benchmark.improved if grader == "improved" else benchmark.grade
        for row in part.rows():
            if not benchmark.has_gold(row):
                ungraded["no right answer is published"] += 1
                continue
            try:
                grade = of(row, benchmark.gold(row))
            except UngradableError as error:
                ungraded[str(error)] += 1
                continue
            right += grade.correct
            if not grade.correct:
                wrong.append(
                    f"{part.benchmark} {benchmark.key(row)} ({benchmark.language(row)}): gold "
                    f"{benchmark.truth(row)!r} is graded '{grade.reason}'"
                )
        graded = part.questions - ungraded.total()
        print(
            f"{part.benchmark}: {right:,} of {graded:,} gold answers are graded right "
            f"by grader={grader} ({part.origin}, sha256 {part.digest[:12]})"
        )
        for why, count in ungraded.most_common(_SHOWN):
            print(f"  {count:,} cannot be graded: {why}")
        if (others := ungraded.total() - sum(it for _, it in ungraded.most_common(_SHOWN))) > 0:
            print(f"  and {others:,} more cannot")
    if wrong:
        shown = "\n".join(f"  - {each}" for each in wrong[:_SHOWN])
        more = f"\n  and {len(wrong) - _SHOWN} more" if len(wrong) > _SHOWN else ""
        answers = "1 gold answer is" if len(wrong) == 1 else f"{len(wrong):,} gold answers are"
        raise RunFailed(f"{answers} not graded right:\n{shown}{more}")

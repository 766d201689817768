"""The self-check: every benchmark grades its own gold answers."""

from raybench import benchmarks
from raybench.errors import RunFailed
from raybench.pipeline.datasets import Prepared
from raybench.types import Grader

_SHOWN = 5


def validate(data: Prepared, grader: Grader) -> None:
    """Grade the gold answers of all that was read; raise RunFailed where one is not right."""
    wrong: list[str] = []
    for part in data:
        benchmark, right = benchmarks.load(part.benchmark), 0
        of = benchmark.improved if grader == "improved" else benchmark.grade
        for row in part.rows():
            grade = of(row, benchmark.gold(row))
            right += grade.correct
            if not grade.correct:
                wrong.append(
                    f"{part.benchmark} {benchmark.key(row)} ({benchmark.language(row)}): gold "
                    f"{benchmark.truth(row)!r} is graded '{grade.reason}'"
                )
        print(
            f"{part.benchmark}: {right:,} of {part.questions:,} gold answers are graded right "
            f"by grader={grader} ({part.origin}, sha256 {part.digest[:12]})"
        )
    if wrong:
        shown = "\n".join(f"  - {each}" for each in wrong[:_SHOWN])
        more = f"\n  and {len(wrong) - _SHOWN} more" if len(wrong) > _SHOWN else ""
        answers = "1 gold answer is" if len(wrong) == 1 else f"{len(wrong):,} gold answers are"
        raise RunFailed(f"{answers} not graded right:\n{shown}{more}")

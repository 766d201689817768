"""The self-check: every benchmark grades its own gold answers."""

from collections.abc import Iterator, Mapping, Sequence

from raybench import benchmarks
from raybench.benchmarks.parts.contract import UngradableError
from raybench.errors import Problem, RunFailed
from raybench.pipeline.datasets import Prepared
from raybench.statements import Statement
from raybench.tracking import console
from raybench.types import Grader

_SHOWN = 5
_NO_GOLD = "no right answer is published"


def validate(data: Prepared, grader: Grader) -> None:
    """Grade the gold answers of all that was read; raise RunFailed where one is not right."""
    wrong: list[str] = []
    for part in data:
        benchmark, right = benchmarks.load(part.benchmark), 0
        ungraded: dict[str, list[str]] = {}
        of = benchmark.improved if grader == "improved" else benchmark.grade
        for row in part.rows():
            if not benchmark.has_gold(row):
                ungraded.setdefault(_NO_GOLD, []).append(benchmark.key(row))
                continue
            try:
                grade = of(row, benchmark.gold(row))
            except UngradableError as error:
                why = benchmark.caveat(row) or str(error)
                ungraded.setdefault(why, []).append(benchmark.key(row))
                continue
            right += grade.correct
            if not grade.correct:
                wrong.append(
                    f"{part.benchmark} {benchmark.key(row)} ({benchmark.language(row)}): gold "
                    f"{benchmark.truth(row)!r} is graded '{grade.reason}'"
                )
        graded = part.questions - sum(map(len, ungraded.values()))
        by = f"by grader={grader}" if not benchmark.judged else "by a script, replies by a judge"
        source = f"{part.origin}, sha256 {part.digest[:12]}"
        if graded:
            told = Statement(
                "gold.graded",
                "{benchmark}: {right:,} of {graded:,} gold answers are graded right {by} "
                "({source})",
                benchmark=part.benchmark,
                right=right,
                graded=graded,
                by=by,
                source=source,
            )
        else:
            told = Statement(
                "gold.none",
                "{benchmark}: no gold answer can be graded {by} ({source})",
                benchmark=part.benchmark,
                by=by,
                source=source,
            )
        console.out(told)
        for line in _told(ungraded):
            console.out(line)
    if wrong:
        shown = "\n".join(f"  - {each}" for each in wrong[:_SHOWN])
        more = f"\n  and {len(wrong) - _SHOWN} more" if len(wrong) > _SHOWN else ""
        answers = "1 gold answer is" if len(wrong) == 1 else f"{len(wrong):,} gold answers are"
        raise RunFailed(Problem("data.ungradable", f"{answers} not graded right:\n{shown}{more}"))


def _told(ungraded: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield why some questions cannot be graded, what most have in common first."""
    reasons = sorted(ungraded, key=lambda why: -len(ungraded[why]))
    for why in reasons[:_SHOWN]:
        keys = ungraded[why]
        more = f" and {len(keys) - _SHOWN:,} more" if len(keys) > _SHOWN else ""
        yield Statement(
            "gold.ungraded",
            "  {questions:,} cannot be graded ({keys}{more}): {why}",
            questions=len(keys),
            keys=", ".join(keys[:_SHOWN]),
            more=more,
            why=why,
        )
    if others := sum(len(ungraded[why]) for why in reasons[_SHOWN:]):
        yield Statement(
            "gold.ungraded_otherwise",
            "  {questions:,} more cannot be graded, for other reasons",
            questions=others,
        )

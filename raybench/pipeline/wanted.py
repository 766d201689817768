"""Who has to be asked: no engine comes up whose models have all said what there is to say."""

from typing import Any

from raybench.pipeline.checker import Verdicts
from raybench.pipeline.graph import Work
from raybench.pipeline.stages import Grade, ordered, put


def models(work: Work) -> set[str]:
    """Return the names of the models and the checker that are to be asked something."""
    done = ordered(work.done)
    found: set[str] = set()
    for job in work.jobs:
        if job.model not in found:
            units = put(job, work.asking, done, work.said)
            if any("finish" not in unit for unit in units):
                found.add(job.model)
    # What new replies leave to the checker shows when they are there.
    if work.checker and (found or _is_open(work, work.checker, done)):
        found.add(work.checker.checker.name)
    return found


def _is_open(work: Work, verdicts: Verdicts, done: Any) -> bool:
    """Tell whether replies that are all known leave the checker something to be asked."""
    grade = Grade(work.asking.seed, work.grader)
    for job in work.jobs:
        asked = verdicts.requests(grade.graded(put(job, work.asking, done, work.said))).values()
        if len(verdicts.told(asked)) < len(asked):
            return True
    return False

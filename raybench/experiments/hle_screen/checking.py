"""The check of candidates by itself: all that is wrong with each, and no model is asked."""

from raybench.errors import Problem, RunFailed
from raybench.experiments.hle_screen.batch import Batch
from raybench.tracking import console
from raybench.types import Plan


def plan(batch: Batch) -> Plan:
    """Say what the check would do."""
    return Plan(
        experiment="hle_screen",
        models=(),
        engines=(),
        slots=0,
        units=len(batch.entries),
        unit="candidate",
        calls="0: candidates are checked",
        notes=(batch.told(),),
    )


def check(batch: Batch) -> None:
    """Print what is wrong and what reviewers should look at; raise RunFailed where any is wrong."""
    for each in batch.entries:
        for reason in each.candidate.reasons:
            console.out(f"{each}: {reason}")
        for note in each.candidate.notes if each.candidate.valid else ():
            console.out(f"{each}: note: {note}")
    console.out(batch.told())
    if wrong := len(batch.invalid):
        raise RunFailed(
            Problem(
                "data.invalid",
                f"{wrong:,} of {len(batch.entries):,} candidates cannot be screened",
                setting="hle_screen.candidates",
            )
        )

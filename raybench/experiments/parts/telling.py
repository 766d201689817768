"""What the person is told of a run: how it begins, how it is cut off, and what came out."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from raybench.experiments.parts.outcome import Outcome, commonest
from raybench.experiments.parts.page import retries
from raybench.pipeline.store import REPORT, RESULTS, Run
from raybench.tracking import console
from raybench.types import Plan


def tell_beginning(run: Run, plan: Plan, done: int, concluded_with: Mapping[str, Any]) -> None:
    """Say which run this is, and what there is of it already."""
    console.began(run.folder)
    for reason in () if run.resumed else run.passed:
        console.say(reason)
    if run.finished:
        by = ", ".join(f"{name}={str(value).lower()}" for name, value in concluded_with.items())
        console.say(
            f"{run.folder} is finished: its results are computed again, with {by} (resume=false "
            "starts a new run)"
        )
    elif run.resumed:
        console.say(
            f"Resuming {run.folder}: {done} of {plan.units} {plan.several} are in its journal "
            "(resume=false starts a new run)"
        )
    else:
        console.say(f"Run {run.folder}")


def tell(
    results: Mapping[str, Any],
    outcome: Outcome,
    folder: Path,
    *,
    mlflow: str | None,
    send: str = "now",
    part: bool = False,
) -> None:
    """Print the leaderboard, and where everything lies: of a part, its report.

    `mlflow` is what shows it there; None where it lacks something, all of it unless `send` is now.
    """
    told = send != "never"
    paths = {
        "folder": folder,
        "results": None if outcome.unfinished else folder / RESULTS,
        "report": folder / REPORT,
        "leaderboard": folder / "leaderboard.csv",
        "failures": folder / "failures.jsonl" if outcome.failures else None,
        "mlflow": mlflow,
        "sync": None
        if mlflow or part or not told
        else f"python -m raybench.tracking sync {folder}",
    }
    console.came_to(results, paths)
    if console.is_for_people():
        console.show_leaderboard(results, outcome.columns, of=outcome.of)
        for board in outcome.boards:
            console.show_leaderboard(board.results(), board.columns, title=board.title, of=board.of)
    for model, counts in outcome.counts.items():
        if counts.infra_error:
            why = commonest(outcome.lost, model)
            console.warn(
                f"{model}: {console.counted(counts.infra_error, 'call')} got no reply; "
                + (f"most of them: {why}. All are in " if why else "see ")
                + str(folder / "failures.jsonl")
            )
    if not console.is_for_people():
        return
    for name, text in outcome.notes.items():
        console.show_note(name, text)
    if absorbed := retries(results.get("fleet", {}).get("this_session", {})):
        console.show_note("Retries", absorbed)
    if not (outcome.unfinished or part):
        print(f"Results     {folder / RESULTS}")
    print(f"Report      {folder / 'report.html'}")
    if failures := len(outcome.failures):
        print(f"Look at     {folder / 'failures.jsonl'} ({_eyes(failures, outcome.accepted)})")
    if part or not told:  # of a part, the whole says it
        return
    lacks = "to be sent later" if send == "later" else "not complete yet"
    print(f"MLflow      {mlflow or '{}: {}'.format(lacks, paths['sync'])}")


def _eyes(failures: int, accepted: bool) -> str:
    if accepted:
        return f"{failures} unit{'s' * (failures > 1)}, accepted"
    return f"{failures} unit{' needs' if failures == 1 else 's need'} review"

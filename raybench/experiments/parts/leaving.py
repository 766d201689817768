"""What a run leaves in its folder when it is concluded."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from raybench.experiments.parts import kept, surroundings
from raybench.experiments.parts.outcome import Outcome
from raybench.pipeline.store import CONFIG, HEADLINE, REPORT, Run
from raybench.tracking import leaderboard


def results(
    outcome: Outcome, about: Mapping[str, Any], account: Mapping[str, Any], *, simulated: bool
) -> dict[str, Any]:
    """Return what results.json says; `account` is what this session asked the engines.

    A resumed run asked for less than it holds: the engines' work is this session's only.
    """
    return {
        "run": dict(about),
        "models": {
            model: {name: estimate.to_json() for name, estimate in metrics.items()}
            for model, metrics in outcome.metrics.items()
        },
        "counts": {model: counts.to_json() for model, counts in outcome.counts.items()},
        "agreement": {
            other: {name: estimate.to_json() for name, estimate in of.items()}
            for other, of in outcome.agreement.items()
        },
        "fleet": {"this_session": dict(account)},
        "simulated": simulated,
    }


def write(
    run: Run, outcome: Outcome, results: Mapping[str, Any], html: Iterable[str], packages: str
) -> list[Path]:
    """Write all but the results, which end a run; return what others may see of it.

    `html` is the report, `packages` is what was installed.
    """
    board = leaderboard.to_markdown(results, outcome.columns, outcome.notes, of=outcome.of)
    written = [
        run.write(leaderboard.BOARD, leaderboard.with_boards(board, outcome.boards)),
        run.write("leaderboard.csv", leaderboard.to_csv(results, outcome.columns, outcome.of)),
        run.write_lines("failures.jsonl", outcome.failures),
        *(run.write_lines(name, rows) for name, rows in outcome.files.items()),
        *(run.write_parts(name, parts()) for name, parts in outcome.texts.items()),
    ]
    if outcome.joint is not None:
        written.append(run.write_lines(HEADLINE, outcome.joint.lines()))
    for name, rows in outcome.unshared.items():
        run.write_lines(name, rows)
    return [
        *written,
        run.write_parts(REPORT, html),
        run.folder / CONFIG,
        kept.pointer(run),
        *kept.plots(run, outcome.sections),
        run.write(surroundings.PACKAGES, packages),
    ]

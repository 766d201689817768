"""`python -m raybench.inspect RUN`: a run's samples as logs of Inspect, for its viewer."""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from raybench.errors import Problem, RaybenchError, RunFailed
from raybench.experiments.parts.questions.again import Again, again
from raybench.experiments.parts.reproducing import publishable
from raybench.pipeline import hanging, named
from raybench.pipeline.datasets import Dataset
from raybench.pipeline.store import CONFIG
from raybench.pipeline.units import unit_id
from raybench.tracking.inspect import headers
from raybench.tracking.inspect.archive import archive
from raybench.tracking.inspect.headers import About, Passed, Task
from raybench.tracking.inspect.samples import identity, sample
from raybench.types import ModelSpec

_FOLDER = "inspect"
_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; the process's exit code says how it went."""
    parser = argparse.ArgumentParser(
        prog="python -m raybench.inspect",
        description="Write a run's samples as logs of Inspect (https://inspect.aisi.org.uk), one "
        "for each model and benchmark.",
    )
    parser.add_argument(
        "run", help="the folder of a run of index or hle, or where a storage has it (s3://…)"
    )
    parser.add_argument("--out", type=Path, help="where the logs go (default: RUN/inspect)")
    parser.add_argument(
        "--with-withheld",
        action="store_true",
        help="write the texts of benchmarks, too, whose authors ask not to publish them: keep such "
        "logs to yourself",
    )
    parser.add_argument(
        "--rich",
        action="store_true",
        help="let the viewer show mathematics, pictures and links, which replies of models may "
        "abuse; else all is plain text",
    )
    told = parser.parse_args(arguments)
    try:
        folder = named.folder(told.run)
        out = told.out or folder / _FOLDER
        names = export(folder, out, with_withheld=told.with_withheld, rich=told.rich)
    except RaybenchError as error:
        print(f"raybench: {error}", file=sys.stderr)
        hanging.end(error.exit_code)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        hanging.end(_INTERRUPTED)
        sys.exit(_INTERRUPTED)
    print(f"{names} logs in {out}\nTo look at them: inspect view --log-dir {out}")


def export(folder: Path, out: Path, *, with_withheld: bool = False, rich: bool = False) -> int:
    """Write the logs of a run, and return how many there are."""
    written = 0
    with again(folder) as run:
        about = _about(run, rich=rich)
        for part in run.data:
            task = _task(run, part, withheld=part.benchmark in run.withheld and not with_withheld)
            if task.withheld:
                print(f"{part.benchmark}: without its texts, which are not to be published")
            for model in run.models:
                path = out / headers.file_name(about, task, model)
                try:
                    _write(run, about, task, model, path)
                except OSError as error:
                    raise RunFailed(
                        Problem(
                            "file.unwritable",
                            f"{path} cannot be written: {error}",
                            setting="--out",
                            given=str(path),
                            fix="Make room, or choose another folder with --out FOLDER",
                        )
                    ) from error
                written += 1
    return written


def _write(run: Again, about: About, task: Task, model: ModelSpec, path: Path) -> None:
    passed, model = Passed(), replace(model, weights=publishable(model.weights))
    with archive(path) as log:
        log.start(headers.start(about, task, model))
        for record in run.units(task.benchmark, model.name):
            found = sample(
                record,
                None if task.withheld else run.question(record),
                name=identity(record, languages=len(task.languages)),
                uuid=f"{unit_id(record):016x}",
                at=about.began,
            )
            passed.add(record, found["output"]["usage"])
            log.add(found)
        metrics = None if run.results is None else run.results["models"].get(model.name, {})
        log.finish(headers.header(about, task, model, metrics, passed))


def _task(run: Again, part: Dataset, *, withheld: bool) -> Task:
    return Task(
        benchmark=part.benchmark,
        origin=publishable(part.origin),
        digest=part.digest,
        questions=part.questions,
        languages=part.by_language,
        repeats=run.repeats(part),
        withheld=withheld,
    )


def _about(run: Again, *, rich: bool) -> About:
    told = {} if run.results is None else run.results["run"]
    everybody = [*run.models, *(it.spec() for it in run.config.roster.judges)]
    asked = {*(model.name for model in run.models), *run.judges}
    return About(
        run=run.folder.absolute().name,
        experiment=str(run.config.experiment),
        roster=run.config.roster.name,
        seed=run.config.seed,
        began=_began(run.folder),
        finished=told.get("finished", ""),
        simulated=any(it.engine == "simulated" for it in everybody if it.name in asked),
        versions=_versions(run.folder / CONFIG),
        judges=run.judges,
        failed=told.get("failed", {}),
        rich=rich,
    )


def _began(folder: Path) -> str:
    """Return when a run began, which its name says; of one that was renamed, its folder's time."""
    stamp = "-".join(folder.absolute().name.split("-")[:2])
    try:
        began = datetime.strptime(stamp, "%Y%m%d-%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        began = datetime.fromtimestamp((folder / CONFIG).stat().st_mtime, UTC)
    return began.isoformat(timespec="seconds")


def _versions(config: Path) -> dict[str, str]:
    """Return the versions that a run had, from the remarks at the head of its configuration."""
    with config.open(encoding="utf-8") as lines:
        remarks = [line[2:].split() for line in lines if line.startswith("# ")]
    return {pair[0]: pair[1] for pair in remarks if len(pair) == 2}


if __name__ == "__main__":
    main()

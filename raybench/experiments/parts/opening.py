"""Opening a run: its folder, its journal, what records it; and how it ends, whatever ends it."""

import asyncio
import contextlib
import threading
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from raybench.config import Config
from raybench.experiments.parts import placing, recording, taking_part, telling
from raybench.experiments.parts.session import Session
from raybench.experiments.parts.within import House
from raybench.pipeline.journal import Keep
from raybench.pipeline.run_identity import settings
from raybench.pipeline.store import CONFIG, open_run
from raybench.tracking import console
from raybench.tracking.mlflow import Tracker
from raybench.types import Plan

if TYPE_CHECKING:
    from raybench.pipeline.storage import Storage


@asynccontextmanager
async def open_session(
    config: Config,
    resolved: Mapping[str, Any],
    plan: Plan,
    *,
    journal: str,
    keep: Keep | None = None,
    inputs: Mapping[str, str] = MappingProxyType({}),
    conclusions: Sequence[str] = (),
    limits: Sequence[str] = (),
    aside: Sequence[str] = (),
    within: House | None = None,
    quiet: bool = False,
) -> AsyncIterator[Session]:
    """Open the run, the unfinished one or a new one, and all that records it.

    `within` is what it has from the run that it is a part of; `quiet` shows no progress, as the
    parts of a run do by themselves. What `inputs`, `conclusions`, `limits` and `aside` are,
    `open_run` says.
    """
    folder, versions = Path(config.runs_dir), recording.versions()
    concluded_with = settings(resolved, conclusions)
    opened = open_run(
        folder,
        plan.experiment,
        resolved,
        inputs=inputs,
        conclusions=conclusions,
        limits=limits,
        aside=aside,
        resume=config.resume,
        storage=_storage(config),
    )
    with opened as run:
        parts: Counter[str] = Counter()

        def entered(record: dict[str, Any]) -> Any:
            parts.update(taking_part.models_of(record))
            return keep(record) if keep else record

        units = run.journal(journal, entered)
        done = len(units.records)
        telling.tell_beginning(run, plan, done, concluded_with)
        if within is None:
            for note in (*placing.replicas(config, plan), *placing.ignored(config, plan)):
                console.say(f"Note: {note}")
        text = recording.config_text(resolved, versions)
        if run.finished or not (run.folder / CONFIG).exists():
            run.write(CONFIG, text)
        tracker = Tracker.open(
            silent=config.tracking.send == "never",
            uri=config.tracking.uri,
            experiment=config.tracking.experiment,
            run_dir=run.folder,
            run_name=recording.name(config, plan, run.id),
            models={model.name: recording.model_params(model) for model in plan.models},
            params=recording.params(config, plan) | recording.settings(resolved, plan.experiment),
            tags=recording.tags(config, plan, versions, run=run.id, text=text)
            | dict(within.tags if within else {}),
            warn=console.warn,
            say=console.say,
            supersede=run.finished,
            runs_dir=folder,
            send=config.tracking.send == "now",
        )
        run.store_files()
        try:
            progress = console.Progress(plan.units, plan.several, done, title=plan.experiment)
            progress.following = within.following if within else 0
            progress.stage("preparing")
            with contextlib.closing(units), contextlib.nullcontext() if quiet else progress:
                session = Session(
                    config, plan, run, units, tracker, progress, versions, concluded_with,
                    settings(resolved, limits), text, inputs, parts, within,
                )  # fmt: skip
                yield session
                results = session.write()
        except BaseException as error:
            interrupted = isinstance(error, KeyboardInterrupt | asyncio.CancelledError)
            if interrupted:
                tracker.interrupted("interrupted")
            else:
                tracker.fail(str(error), [run.folder / CONFIG])
            console.say(
                f"{'Interrupted' if interrupted else 'Failed'}: {len(units.records)} of "
                f"{plan.units} {plan.several} are kept in {run.folder}; "
                f"{'' if interrupted else 'fix the problem and '}run the same command"
                f"{'' if config.resume else ' without resume=false'} to continue",
                needed=True,
            )
            raise
        finally:
            await _closed(tracker)
        session.tell(results)
        session.verdict()


def _storage(config: Config) -> "Storage | None":
    if not config.storage:
        return None
    from raybench.pipeline.storage import Storage

    return Storage.at(config.storage, config.storage_patience_s, console.warn)


async def _closed(tracker: Tracker) -> None:
    """Close it while other runs of this process go on: it waits for a server.

    Whoever interrupts that does not wait for it.
    """
    closing = threading.Thread(target=tracker.close, daemon=True)
    closing.start()
    while closing.is_alive():
        await asyncio.sleep(0.02)

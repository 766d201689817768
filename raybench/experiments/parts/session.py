"""What every run has in common: folder, journal, tracking, progress, fleet, results."""

import asyncio
import hashlib
import json
import os
import time
from collections import Counter
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from raybench.config import Config
from raybench.errors import Problem, RunFailed
from raybench.experiments.parts import (
    leaving,
    recording,
    reproducing,
    surroundings,
    taking_part,
    telling,
)
from raybench.experiments.parts.nodes import Deaths
from raybench.experiments.parts.outcome import Outcome, silent
from raybench.experiments.parts.page import conditions, page
from raybench.experiments.parts.within import House
from raybench.fleet import Account, Fleet, open_fleet
from raybench.fleet.preflight import Preflight
from raybench.pipeline.journal import Journal, Keep
from raybench.pipeline.store import CONFIG, GRADING, RESULTS, Run
from raybench.tracking import console, leaderboard
from raybench.tracking.console.models import Seen
from raybench.tracking.mlflow import Tracker, ui_command
from raybench.types import ModelSpec, Plan

if TYPE_CHECKING:
    pass

_LOOK_S = 2.0


class Session:
    """One run under way."""

    def __init__(
        self,
        config: Config,
        plan: Plan,
        run: Run,
        journal: Journal,
        tracker: Tracker,
        progress: console.Progress,
        versions: Mapping[str, str],
        concluded_with: Mapping[str, Any],
        limits: Mapping[str, Any],
        config_text: str,
        inputs: Mapping[str, str],
        parts: Counter[str],
        within: House | None = None,
    ) -> None:
        self.journal = journal
        self._config = config
        self._plan = plan
        self._run = run
        self._tracker = tracker
        self._progress = progress
        self._versions = versions
        self._concluded_with = concluded_with
        self._limits = limits
        self._config_text = config_text
        self._inputs = inputs
        self._within = within
        self._begun = time.monotonic()
        self._outcome: Outcome | None = None
        self._cluster: Sequence[Mapping[str, Any]] = ()
        self._packages = surroundings.packages()
        self._account = Account(model.name for model in plan.models)
        self._of_parts: Account | None = None
        self._parts = parts
        """In how many of the journal's units each model took part."""
        progress.follow(self._seen)
        self._watch: asyncio.Task[None] | None = None
        self._judges: Collection[str] = ()
        """Who only says what the replies of others are worth, while engines are up."""
        self._preflight = Preflight(config.fleet) if within is None else within.preflight
        self._told: set[str] = set()
        """Models of which the person knows that they failed."""

    @property
    def folder(self) -> Path:
        """Where all of the run lies."""
        return self._run.folder

    @property
    def progress(self) -> console.Progress:
        """What the person is shown of how far it is."""
        return self._progress

    @property
    def mlflow_run_id(self) -> str | None:
        """The run's parent entry in MLflow, None where that cannot be reached."""
        return self._tracker.run_id

    @property
    def finished(self) -> Mapping[str, Any] | None:
        """What the results say of the run, where it is over and only to be concluded anew."""
        if not self._run.finished:
            return None
        return dict(json.loads((self._run.folder / RESULTS).read_bytes())["run"])

    @asynccontextmanager
    async def fleet(
        self,
        models: Sequence[ModelSpec],
        *,
        ray: bool = False,
        judges: Collection[str] = (),
        wait: bool = True,
    ) -> AsyncIterator[Fleet]:
        """Bring up the engines of these models; the pace of the work is measured from then on.

        `ray` asks for a cluster where no engine needs one. While only `judges` work, that is a
        stage of its own. Who does not `wait` here begins something meanwhile, and waits for `up`
        before anything of it counts.
        """
        conf, say = self._config.fleet, self._progress.phase
        self._progress.stage("starting engines")
        refused = {it: problem.text for it, problem in (await self.preflight(models)).items()}
        opening = (
            open_fleet(models, conf, say, ray=ray, wait=False, refused=refused, note=console.say)
            if self._within is None
            else self._within.fleet(models, say, ray=ray)
        )
        async with opening as fleet:
            self._account = fleet.account
            self._cluster = surroundings.cluster()
            self._judges = judges
            try:
                if wait:
                    await self.up(fleet)
                yield fleet
            finally:
                if self._watch is not None:
                    self._watch.cancel()
                self._look_at_engines()
                self._judges = ()
                self._progress.stage("stopping engines")
        self._progress.stage("concluding")

    async def preflight(
        self, models: Sequence[ModelSpec], needed: Collection[str] = ()
    ) -> dict[str, Problem]:
        """Ask each model at an endpoint for a word; return those refused for good, with the fix.

        Raise RunFailed where none of those that are ranked is left, or one that is `needed` is
        refused.
        """
        refused = await self._preflight.check(models, self._progress.phase)
        ranked = {model.name for model in self._plan.models}
        names = [model.name for model in models]
        asked = [name for name in names if name in ranked] or names
        lacking = {*needed} & refused.keys()
        if lacking or (refused and refused.keys() >= {*asked}):
            raise RunFailed(
                [problem.prefixed(f"{name}: ") for name, problem in refused.items()],
                heading="endpoints refuse models, and nothing else was asked:",
            )
        return refused

    async def up(self, fleet: Fleet) -> None:
        """Wait until its first engines are up; raise RunFailed where none comes."""
        await fleet.up()
        self._progress.stage(taking_part.ASKING)
        self._progress.start()
        self._watch = asyncio.create_task(self._watch_engines())

    def asked_by_parts(self, account: Account) -> None:
        """Tell as asked what the run's parts asked."""
        self._of_parts = account

    def phase(self, text: str) -> None:
        """Say what is going on now."""
        self._progress.phase(text)

    def keep(
        self,
        *records: Mapping[str, Any],
        prompt_tokens: int = 0,
        output_tokens: int = 0,
        errors: int = 0,
    ) -> None:
        """Journal finished units; only then do they count. The numbers are those of all.

        They stay out where they were told as they came.
        """
        self.journal.extend(records)
        self.spend(prompt_tokens=prompt_tokens, output_tokens=output_tokens, errors=errors)
        self._progress.advance(len(records))
        self._look_at_engines()

    def spend(self, *, prompt_tokens: int, output_tokens: int, errors: int) -> None:
        """Show what was spent and what went wrong."""
        self._progress.count(
            prompt_tokens=prompt_tokens, output_tokens=output_tokens, errors=errors
        )

    def open_journal(self, name: str, keep: Keep) -> Journal:
        """Open another journal of the run, of something else than its units."""
        return self._run.journal(name, keep)

    def log(
        self,
        per_model: Mapping[str, Mapping[str, float]],
        overall: Mapping[str, float],
        record: Mapping[str, Any],
    ) -> None:
        """Send a unit's metrics to MLflow; its time is the journal's, so twice is once."""
        self._tracker.log_step(
            per_model, overall, step=record[self._plan.unit], timestamp_ms=record["ended_ms"]
        )

    def _back(self) -> str:
        """Return where the report lies of what this run is a part of, seen from its own; or ''."""
        if self._within is None or self._within.page is None:
            return ""
        return os.path.relpath(self._within.page, self._run.folder)

    def conclude(self, outcome: Outcome) -> None:
        """Say what came out; it is written down when the session closes."""
        self._outcome = outcome

    def write(self) -> dict[str, Any]:
        """Write leaderboard, report and, last, the results, which it returns; then MLflow is told.

        Of a run that is not over, results are not written: they would end it.
        """
        run, outcome = self._run, self._concluded()
        self._progress.stage("writing")
        run.write(CONFIG, self._config_text)  # limits may be others than those it began with
        results = leaving.results(
            outcome,
            self._about(),
            (self._of_parts or self._account).to_json(),
            simulated=self._plan.simulated,
        )
        # Where no model is asked, most settings have no effect; config.yaml has them all.
        own = self._plan.models and recording.own_settings(self._config, self._plan.experiment)
        html = page(self._plan, self._config.roster.name, outcome, results, own or {}, self._back())
        written = leaving.write(run, outcome, results, html, self._packages)
        if outcome.unfinished:
            self._tracker.fail(outcome.unfinished, written)
            return results
        # All that ends a run in MLflow follows from its folder: whoever comes by tells it, if this
        # process is killed before it has.
        results["run"]["files"] = [str(path.relative_to(run.folder)) for path in written]
        # Last: a folder with results is a finished run, and is never touched again.
        run.write_json(RESULTS, results)
        self._tracker.finish(
            results,
            [*written, run.folder / RESULTS],
            inputs=results["run"].get("inputs", {}),
            note=(run.folder / leaderboard.BOARD).read_text(encoding="utf-8"),
        )
        return results

    def _seen(self) -> list[Seen]:
        """Return what is known of each model now, for the progress."""
        open_ = len(self.journal.records) < self._plan.units
        names = [model.name for model in self._plan.models]
        return taking_part.seen(names, self._account, self._parts, self._plan.each, open_)

    async def _watch_engines(self) -> None:
        """Look at the engines again and again, as a unit may take many swaps; and at the nodes."""
        deaths = Deaths() if self._cluster else None
        while True:
            self._look_at_engines()
            for address in await asyncio.to_thread(deaths.new) if deaths else []:
                console.warn(f"node {address} of the cluster died: others do what it had to do")
            await asyncio.sleep(_LOOK_S)

    def _look_at_engines(self) -> None:
        """Show what swapping costs, and say once of each model that it cannot be had."""
        swaps, arriving = self._account.swaps, self._account.arriving
        self._progress.swapped(swaps.count, swaps.share, arriving)
        self._progress.models()  # which are at work, for the time left
        if self._judges and (stage := taking_part.stage(self._judges, self._account)):
            self._progress.turn(stage)
        for model in sorted(self._account.failed.keys() - self._told):
            self._told.add(model)
            console.warn(
                f"{model} is unavailable: {self._account.failed[model]}. Continuing without it"
            )

    def tell(self, results: Mapping[str, Any]) -> None:
        """Print the leaderboard, and where everything lies."""
        mlflow = ui_command(self._config.tracking.uri) if self._tracker.complete else None
        telling.tell(
            results,
            self._concluded(),
            self._run.folder,
            mlflow=mlflow,
            send=self._config.tracking.send,
            part=self._within is not None,
        )

    def verdict(self) -> None:
        """Raise RunFailed where models could not be had: what there is, is written and told."""
        if why := self._concluded().unfinished:
            raise RunFailed(
                Problem(
                    "run.unfinished",
                    f"{why}.\nThe results so far are in {self._run.folder}, and this run is not "
                    "over: fix the problem and run the same command to continue",
                )
            )
        if failed := self._failed():
            every = [model.name for model in self._plan.models]
            reasons = "\n".join(f"  - {model}: {reason}" for model, reason in failed.items())
            raise RunFailed(
                Problem(
                    "model.unreachable",
                    f"{len(failed)} of {len({*failed, *every})} models were unavailable:\n"
                    f"{reasons}\nThe results of the others are in {self._run.folder}, and this run "
                    "is over: fix the problem and run the same command to start a new one",
                )
            )

    def _failed(self) -> dict[str, str]:
        """Return the models that could not be had, and those of which no reply ever came."""
        outcome = self._concluded()
        mute = silent(outcome.counts, outcome.lost)
        mute = {name: why for name, why in mute.items() if name not in outcome.heard}
        return mute | dict(outcome.mute) | dict(self._account.failed)

    def _concluded(self) -> Outcome:
        if self._outcome is None:
            raise RuntimeError("the experiment ended without an outcome")
        return self._outcome

    def _read(self) -> dict[str, str]:
        """Return the digests of what was asked and read, but for data sets that are told whole."""
        outcome = self._concluded()
        told = outcome.about.get("data", {})
        every = {**self._inputs, **outcome.inputs}
        # The version of a data set's grading stands with it.
        return {
            name: digest for name, digest in every.items() if name.removesuffix(GRADING) not in told
        }

    def _about(self) -> dict[str, Any]:
        return {
            "id": self._run.id,
            "experiment": self._plan.experiment,
            "roster": self._config.roster.name if self._plan.models else None,
            "seed": self._config.seed,
            "units": len(self.journal.records),
            "unit": self._plan.unit,
            "resumed": self._run.resumed,
            "finished": datetime.now(UTC).isoformat(timespec="seconds"),
            "seconds_this_session": round(time.monotonic() - self._begun, 1),
            "mlflow_run_id": self._tracker.run_id,
            "concluded_with": dict(self._concluded_with),
            **({"limits": dict(self._limits)} if self._limits else {}),
            **({"inputs": read} if (read := self._read()) else {}),
            **self._concluded().about,
            **({"conditions": told} if (told := conditions(self._concluded().notes)) else {}),
            **({"failed": failed} if (failed := self._failed()) else {}),
            **self._versions,
            "command": reproducing.command(),
            "packages": {
                "count": self._packages.count("\n"),
                "sha256": hashlib.sha256(self._packages.encode()).hexdigest(),
            },
            "hardware": {"driver": surroundings.driver(), "cluster": [*self._cluster]},
        }

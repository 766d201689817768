"""What every run has in common: folder, journal, tracking, progress, fleet, results."""

import asyncio
import contextlib
import json
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

from raybench.config import Config
from raybench.errors import RunFailed
from raybench.experiments import recording
from raybench.fleet import Account, Fleet, open_fleet
from raybench.pipeline.store import RESULTS, Journal, Keep, Run, open_run, settings
from raybench.tracking import console, leaderboard, report
from raybench.tracking.leaderboard import Board, Column
from raybench.tracking.mlflow import Tracker, ui_command
from raybench.types import Counts, Estimate, ModelSpec, Plan, several

CONFIG = "config.yaml"
_LOOK_S = 2.0


@dataclass(frozen=True)
class Outcome:
    """What an experiment concludes; the session writes it down."""

    metrics: Mapping[str, Mapping[str, Estimate]]
    counts: Mapping[str, Counts]
    failures: Sequence[Mapping[str, Any]]
    """What somebody has to look at."""
    columns: Sequence[Column]
    """The first is what the leaderboard is sorted by."""
    sections: Sequence[report.Section]
    of: str = "model"
    """What the leaderboard's lines are."""
    boards: Sequence[Board] = ()
    """Further leaderboards, which stand below that of the models."""
    agreement: Mapping[str, Mapping[str, Estimate]] = field(default_factory=dict)
    """How far the order agrees with others, by their names."""
    about: Mapping[str, Any] = field(default_factory=dict)
    """What results.json says of the run beside what is true of every run."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """What the numbers depend on, in the report's words."""
    notes: Mapping[str, str] = field(default_factory=dict)
    """What leaderboard.md, the report and the terminal say of the run, by short names."""
    files: Mapping[str, Iterable[Mapping[str, Any]]] = field(default_factory=dict)
    """Further files of JSON lines, by their names."""
    texts: Mapping[str, Callable[[], Iterable[str]]] = field(default_factory=dict)
    """Further files of text, by their names, which may have a folder, and what writes each."""
    unshared: Mapping[str, Iterable[Mapping[str, Any]]] = field(default_factory=dict)
    """Those that stay in the run's folder, for they hold what is not to be published."""
    accepted: bool = False
    """Somebody has looked at the failures."""
    unfinished: str = ""
    """Why the run is not over: what there is, is told, and the same command goes on with it."""
    mute: Mapping[str, str] = field(default_factory=dict)
    """Judges of which no word ever came, and why."""
    heard: Collection[str] = ()
    """Models that have said something, whatever their counts tell."""
    replied: Collection[str] = ()
    """Kinds of failures to which calls did get replies: they are no reason why others got none."""

    @property
    def lost(self) -> list[Mapping[str, Any]]:
        """Return the failures that tell why calls got no reply."""
        return [it for it in self.failures if it.get("kind") not in self.replied]


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
        self._begun = time.monotonic()
        self._outcome: Outcome | None = None
        self._account = Account(model.name for model in plan.models)
        self._told: set[str] = set()
        """Models of which the person knows that they failed."""

    @property
    def finished(self) -> Mapping[str, Any] | None:
        """What the results say of the run, where it is over and only to be concluded anew."""
        if not self._run.finished:
            return None
        return dict(json.loads((self._run.folder / RESULTS).read_bytes())["run"])

    @asynccontextmanager
    async def fleet(
        self, models: Sequence[ModelSpec], *, ray: bool = False
    ) -> AsyncIterator[Fleet]:
        """Bring up the engines of these models; the pace of the work is measured from then on.

        `ray` asks for a cluster where no engine needs one.
        """
        conf, say = self._config.fleet, self._progress.phase
        async with open_fleet(models, conf, say, ray=ray) as fleet:
            self._account = fleet.account
            self._progress.start()
            watch = asyncio.create_task(self._watch_engines())
            try:
                yield fleet
            finally:
                watch.cancel()

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

    def reached(self, share: float) -> None:
        """Tell how far the work is, where units are finished all at the end."""
        self._progress.reached(share)

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

    def conclude(self, outcome: Outcome) -> None:
        """Say what came out; it is written down when the session closes."""
        self._outcome = outcome

    def write(self) -> dict[str, Any]:
        """Write leaderboard, report, MLflow and, last, the results, which it returns.

        Of a run that is not over, results are not written: they would end it.
        """
        run, outcome = self._run, self._concluded()
        run.write(CONFIG, self._config_text)  # limits may be others than those it began with
        about = self._about()
        account = self._account.to_json()
        results = {
            "run": about,
            "models": {
                model: {name: estimate.to_json() for name, estimate in metrics.items()}
                for model, metrics in outcome.metrics.items()
            },
            "counts": {model: counts.to_json() for model, counts in outcome.counts.items()},
            "agreement": {
                other: {name: estimate.to_json() for name, estimate in of.items()}
                for other, of in outcome.agreement.items()
            },
            # A resumed run asked for less than it holds: the engines' work is this session's only.
            "fleet": {"this_session": account},
            "simulated": self._plan.simulated,
        }
        written = [
            run.write(
                "leaderboard.md",
                leaderboard.with_boards(
                    leaderboard.to_markdown(results, outcome.columns, outcome.notes, of=outcome.of),
                    outcome.boards,
                ),
            ),
            run.write("leaderboard.csv", leaderboard.to_csv(results, outcome.columns, outcome.of)),
            run.write_lines("failures.jsonl", outcome.failures),
            *(run.write_lines(name, rows) for name, rows in outcome.files.items()),
            *(run.write_parts(name, parts()) for name, parts in outcome.texts.items()),
        ]
        for name, rows in outcome.unshared.items():
            run.write_lines(name, rows)
        page = report.render(
            title=f"raybench: {self._plan.experiment}",
            subtitle=f"roster {self._config.roster.name}, run {run.id}",
            results=results,
            columns=outcome.columns,
            sections=outcome.sections,
            run=_words(about, outcome, account),
            of=outcome.of,
        )
        written += [run.write("report.html", page), run.folder / CONFIG]
        if outcome.unfinished:
            self._tracker.fail(outcome.unfinished, written)
            return results
        self._tracker.finish(results, written)
        # Last: a folder with results is a finished run, and is never touched again.
        run.write_json(RESULTS, results)
        return results

    async def _watch_engines(self) -> None:
        """Look at the engines again and again: a unit may take many swaps."""
        while True:
            self._look_at_engines()
            await asyncio.sleep(_LOOK_S)

    def _look_at_engines(self) -> None:
        """Show what swapping costs, and say once of each model that it cannot be had."""
        swaps, arriving = self._account.swaps, self._account.arriving
        self._progress.swapped(swaps.count, swaps.share, arriving)
        for model in sorted(self._account.failed.keys() - self._told):
            self._told.add(model)
            console.warn(f"{model} cannot be had: {self._account.failed[model]}. The others go on")

    def tell(self, results: Mapping[str, Any]) -> None:
        """Print the leaderboard, and where everything lies."""
        folder, outcome = self._run.folder, self._concluded()
        console.show_leaderboard(results, outcome.columns, of=outcome.of)
        for board in outcome.boards:
            console.show_leaderboard(board.results(), board.columns, title=board.title, of=board.of)
        for model, counts in outcome.counts.items():
            if counts.infra_error:
                why = commonest(outcome.lost, model)
                console.warn(
                    f"{model}: {counts.infra_error} calls got no reply; "
                    + (f"most of them: {why}. All are in " if why else "why stands in ")
                    + str(folder / "failures.jsonl")
                )
        for name, text in outcome.notes.items():
            print(f"{name:<11} {text}")
        if not outcome.unfinished:
            print(f"Results     {folder / RESULTS}")
        print(f"Report      {folder / 'report.html'}")
        if failures := len(outcome.failures):
            print(f"Look at     {folder / 'failures.jsonl'} ({_eyes(failures, outcome.accepted)})")
        if self._tracker.run_id:
            print(f"MLflow      {ui_command(self._config.tracking.uri)}")
        else:
            print(
                "MLflow      not logged (see the warning above); everything is in the run's folder"
            )

    def verdict(self) -> None:
        """Raise RunFailed where models could not be had: what there is, is written and told."""
        if why := self._concluded().unfinished:
            raise RunFailed(
                f"{why}.\nWhat there is, is in {self._run.folder}, and this run is not over: when "
                "that is mended, the same command goes on with it"
            )
        if failed := self._failed():
            every = [model.name for model in self._plan.models]
            reasons = "\n".join(f"  - {model}: {reason}" for model, reason in failed.items())
            raise RunFailed(
                f"{len(failed)} of {len({*failed, *every})} models could not be had:\n{reasons}\n"
                f"What the others achieved is in {self._run.folder}, and this run is over: when "
                "that is mended, the same command starts a new one"
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

    def _about(self) -> dict[str, Any]:
        return {
            "id": self._run.id,
            "experiment": self._plan.experiment,
            "roster": self._config.roster.name,
            "seed": self._config.seed,
            "units": len(self.journal.records),
            "unit": self._plan.unit,
            "resumed": self._run.resumed,
            "finished": datetime.now(UTC).isoformat(timespec="seconds"),
            "seconds_this_session": round(time.monotonic() - self._begun, 1),
            "mlflow_run_id": self._tracker.run_id,
            "concluded_with": dict(self._concluded_with),
            **({"limits": dict(self._limits)} if self._limits else {}),
            **self._concluded().about,
            **({"failed": failed} if (failed := self._failed()) else {}),
            **self._versions,
        }


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
) -> AsyncIterator[Session]:
    """Open the run, the unfinished one or a new one, and all that records it.

    What `inputs`, `conclusions`, `limits` and `aside` are, `open_run` says.
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
    )
    with opened as run:
        units = run.journal(journal, keep) if keep else run.journal(journal)
        done = len(units.records)
        _tell_beginning(run, plan, done, concluded_with)
        text = recording.config_text(resolved, versions)
        if run.finished or not (run.folder / CONFIG).exists():
            run.write(CONFIG, text)
        tracker = Tracker.open(
            uri=config.tracking.uri,
            experiment=config.tracking.experiment,
            run_dir=run.folder,
            run_name=f"{plan.experiment} {config.roster.name}",
            models={model.name: recording.model_params(model) for model in plan.models},
            params=recording.params(config, plan) | recording.settings(resolved, plan.experiment),
            tags=recording.tags(config, plan, versions),
            warn=console.warn,
            supersede=run.finished,
        )
        try:
            with (
                contextlib.closing(units),
                console.Progress(plan.units, plan.several, done=done) as progress,
            ):
                session = Session(
                    config, plan, run, units, tracker, progress, versions, concluded_with,
                    settings(resolved, limits), text,
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
                f"{'' if interrupted else 'with what was wrong mended, '}the same command"
                f"{'' if config.resume else ' without resume=false'} goes on from there"
            )
            raise
        session.tell(results)
        session.verdict()


def _tell_beginning(run: Run, plan: Plan, done: int, concluded_with: Mapping[str, Any]) -> None:
    for reason in () if run.resumed else run.passed:
        console.say(reason)
    if run.finished:
        by = ", ".join(f"{name}={str(value).lower()}" for name, value in concluded_with.items())
        console.say(
            f"{run.folder} is finished: it is concluded anew, with {by} (resume=false starts anew)"
        )
    elif run.resumed:
        console.say(
            f"Resuming {run.folder}: {done} of {plan.units} {plan.several} are in its journal "
            "(resume=false starts anew)"
        )
    else:
        console.say(f"Run {run.folder}")


def _words(
    about: Mapping[str, Any], outcome: Outcome, account: Mapping[str, Any]
) -> dict[str, str]:
    """Return how it was run, for people: what there is, in words and by plain names."""
    plain = {
        name: value
        for name, value in about.items()
        # What the experiment adds, it tells by itself.
        if name not in ("unit", "units", "seconds_this_session", *outcome.about)
        and value not in (None, {})
    }
    versions = {name: plain.pop(name) for name in [*plain] if name in recording.VERSIONED}
    return {
        **{name.replace("_", " "): _shown(value) for name, value in plain.items()},
        "units": f"{about['units']:,} {several(about['unit'])}",
        "time, this session": console.duration(about["seconds_this_session"]),
        **outcome.settings,
        **{name.lower(): text for name, text in outcome.notes.items()},
        "prefix cache, this session": _hit_rate(account),
        **({"swaps, this session": _swaps(account)} if account["total"]["swaps"] else {}),
        "versions": ", ".join(f"{name} {version}" for name, version in versions.items()),
    }


def silent(counts: Mapping[str, Counts], failures: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the models that were asked and never replied, with what kept most replies away."""
    mute = {
        model: of.infra_error
        for model, of in counts.items()
        if of.infra_error and not (of.ok or of.truncated or of.unparsed)
    }
    return {
        model: f"no reply came to any of {calls} calls: {commonest(failures, model) or 'see above'}"
        for model, calls in mute.items()
    }


def commonest(failures: Sequence[Mapping[str, Any]], model: str) -> str:
    """Return the reason that most of a model's failures have, where they name one."""
    reasons = Counter(it["why"] for it in failures if it.get("model") == model and it.get("why"))
    return max(reasons, key=reasons.__getitem__, default="")


def _shown(value: object) -> str:
    if isinstance(value, Mapping):
        return "; ".join(f"{name}: {each}" for name, each in value.items())
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def _hit_rate(account: Mapping[str, Any]) -> str:
    total = account["total"]
    if total["prefix_hit_rate"] is None:
        return "not reported by any engine" if total["requests"] else "nothing was asked"
    return f"{total['prefix_hit_rate']:.3f} ({total['cached_tokens']:,} prompt tokens from caches)"


def _swaps(account: Mapping[str, Any]) -> str:
    total = account["total"]
    return (
        f"{total['swaps']}, which took {total['swap_seconds']:g} s, {total['swap_share']:.1%} of "
        "the devices' time"
    )


def _eyes(failures: int, accepted: bool) -> str:
    if accepted:
        return f"{failures} unit{'s' * (failures > 1)}, accepted"
    return f"{failures} unit{' needs' if failures == 1 else 's need'} a person's eye"

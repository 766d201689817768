"""+experiment=autobench: peers set one another tasks, answer them and judge the answers."""

from collections.abc import Mapping, Sequence
from typing import Any

from raybench.arena.peers import Decoding, run_iteration
from raybench.autobench import summary
from raybench.autobench.protocol import Difficulty, Record, Settings, advance, replay
from raybench.config import Config
from raybench.errors import RunFailed
from raybench.experiments.session import Outcome, open_session
from raybench.fleet import group_engines
from raybench.fleet.places import slots
from raybench.tracking import plots
from raybench.tracking.leaderboard import Column
from raybench.tracking.plan import turns
from raybench.tracking.report import Item, Section, Table
from raybench.types import Plan

COLUMNS = (
    Column(summary.SCORE, "Score (1-5)"),
    Column(summary.WEIGHT, "Judging weight"),
    Column(summary.PARSE_RATE, "Ratings read"),
)
_SHOWN = 5
"""Iterations whose texts the report shows."""


def settings(config: Config) -> Settings:
    """Return the protocol's settings."""
    conf = config.autobench
    return Settings(
        models=tuple(model.name for model in config.roster.models),
        topics=tuple(conf.topics),
        difficulties=tuple(Difficulty(d.label, d.phrase, d.probability) for d in conf.difficulties),
        mean_threshold=conf.mean_threshold,
        median_threshold=conf.median_threshold,
        attempts=conf.attempts,
        restarts=conf.restarts,
        seed=config.seed,
    )


def decoding(config: Config) -> Decoding:
    """Return how the models' replies are drawn."""
    conf = config.autobench
    return Decoding(
        tokens={
            "task": conf.task_tokens,
            "task_rating": conf.rating_tokens,
            "answer": conf.answer_tokens,
            "answer_rating": conf.rating_tokens,
        },
        constrained_ratings=conf.constrained_ratings,
        rating_temperature=conf.rating_temperature,
    )


def plan(config: Config) -> Plan:
    """Say what the run would do."""
    conf = config.autobench
    models = tuple(model.spec() for model in config.roster.models)
    engines = group_engines(models)
    awake = slots(engines, config.fleet)
    n = len(models)
    # A task and n ratings of it, at best once and at worst in every attempt; n answers; n² ratings.
    least, most = 1 + n + n + n * n, conf.attempts * (conf.restarts + 1) * (1 + n) + n + n * n
    return Plan(
        experiment="autobench",
        models=models,
        engines=tuple(engine.label for engine in engines),
        slots=awake,
        units=conf.iterations,
        unit="iteration",
        calls=f"{least * conf.iterations:,} to {most * conf.iterations:,}",
        notes=(
            "ratings constrained where the engine can"
            if conf.constrained_ratings
            else "ratings unconstrained",
            "judges at their own temperature"
            if conf.rating_temperature is None
            else f"judges at temperature {conf.rating_temperature:g}",
            *turns(len(engines), awake),
        ),
    )


async def run(config: Config, resolved: Mapping[str, Any]) -> None:
    """Run the iterations that are still missing, one after the other."""
    protocol = settings(config)
    conf, planned = config.autobench, plan(config)
    async with open_session(config, resolved, planned, journal="iterations") as session:
        records: list[Record] = session.journal.records
        try:
            standing = replay(records, protocol)
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise RunFailed(
                f"{session.journal.path} is not what a run leaves ({error}). Mend it, or start "
                "anew with resume=false"
            ) from error
        for record in records:
            session.log(*_series(record), record)
        if len(records) < conf.iterations:
            async with session.fleet(planned.models) as fleet:
                while len(records) < conf.iterations:
                    index = standing.iteration + 1
                    session.phase(f"iteration {index}")
                    record = await run_iteration(index, standing, protocol, fleet, decoding(config))
                    tokens = list(record["tokens"].values())
                    session.keep(
                        record,
                        prompt_tokens=sum(prompt for prompt, _ in tokens),
                        output_tokens=sum(output for _, output in tokens),
                        errors=len(record["errors"]),
                    )
                    session.log(*_series(record), record)
                    standing = advance(standing, record["scores"])
        session.conclude(_outcome(records, protocol))


def _series(record: Record) -> tuple[dict[str, dict[str, float]], dict[str, float]]:
    """Return what one iteration adds to the metrics over iterations: by model, and overall."""
    per_model = {
        model: {
            "autobench/iteration_score": record["scores"].get(model),
            "autobench/running_score": record["cumulative"][model],
            "autobench/running_weight": record["weights"][model],
        }
        for model in record["cumulative"]
    }
    overall = {
        "autobench/attempts": float(len(record["attempts"])),
        "autobench/seconds": record["seconds"],
    }
    return per_model, overall


def _outcome(records: Sequence[Record], protocol: Settings) -> Outcome:
    metrics = summary.metrics(records, protocol)
    return Outcome(
        metrics=metrics,
        counts=summary.counts(records, protocol.models),
        failures=list(summary.failures(records)),
        columns=COLUMNS,
        sections=_sections(records, protocol, metrics),
    )


def _sections(
    records: Sequence[Record], protocol: Settings, metrics: Mapping[str, Mapping[str, Any]]
) -> list[Section]:
    models = protocol.models
    best_first = sorted(models, key=lambda model: -(metrics[model][summary.SCORE].value or 0))
    judged = summary.mean_judgments(records, models)
    proposed = sum(len(record["attempts"]) for record in records)
    tasks = sum(record["task"] is not None for record in records)
    return [
        Section(
            "Consensus scores",
            "Mean over iterations of the weighted ratings of each model's answers, with 95 % "
            "intervals over iterations. Intervals that overlap a lot do not tell models apart.",
            figure=plots.forest(
                {model: metrics[model][summary.SCORE].to_json() for model in best_first},
                xlabel="score (1-5)",
            ),
        ),
        Section(
            "Judging weights",
            "Each model's weight as a judge after every iteration: its share of the scores.",
            figure=plots.lines(
                {model: [record["weights"][model] for record in records] for model in models},
                xlabel="iteration",
                ylabel="weight",
            ),
        ),
        Section(
            "Convergence",
            "L1 distance between successive weight vectors; it falls as the consensus settles.",
            figure=plots.lines(
                {"L1": summary.convergence(records, protocol)},
                xlabel="iteration",
                ylabel="L1 distance",
            ),
        ),
        Section(
            "Who rates whom",
            "Mean rating that each judge (row) gave each contestant (column).",
            figure=plots.heatmap(
                [[judged[judge][contestant] for contestant in models] for judge in models],
                rows=list(models),
                columns=list(models),
                label="mean rating",
            ),
        ),
        Section(
            "Tasks",
            f"{tasks} of {len(records)} iterations found a task, {proposed} were proposed.",
            table=Table(
                columns=("generator", "proposed", "accepted"),
                rows=[
                    (model, len(tried), sum(attempt["accepted"] for attempt in tried))
                    for model, tried in summary.attempts(records, models).items()
                ],
            ),
        ),
        Section(
            "Read them",
            f"The last {min(_SHOWN, len(records))} iterations; the journal has them all.",
            items=[_item(record) for record in records[-_SHOWN:]],
        ),
    ]


def _item(record: Record) -> Item:
    summary_line = (
        f"Iteration {record['iteration']}: {record['difficulty']}, {record['topic']}, "
        f"by {record['generator']}"
    )
    if record["task"] is None:
        return Item(summary_line, {"no task was accepted": str(len(record["attempts"]))})
    unanswered = {
        call["model"]: f"no answer ({call['finish']}: {call['why']})"
        for call in record.get("unanswered", ())
        if call["key"].endswith("/answer")
    }
    body = {"task": record["task"]}
    for model, answer in record["answers"].items():
        score = record["scores"][model]
        given = ", ".join(str(row[model] or "-") for row in record["judgments"].values())
        label = f"{model}: {'no score' if score is None else f'{score:.2f}'} (ratings {given})"
        body[label] = "no reply" if answer is None else unanswered.get(model, answer)
    return Item(summary_line, body)

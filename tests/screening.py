"""Screenings without a run that asks: candidates, what a panel made of them, and what follows."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

from hle_rows import exact

from raybench.config import Config, HleScreenConf, ModelConf, RosterConf
from raybench.experiments.hle.watch import Watch
from raybench.experiments.hle_screen import CONCLUSIONS
from raybench.experiments.hle_screen.batch import Batch
from raybench.experiments.hle_screen.conclusion import concluded
from raybench.experiments.parts.outcome import Outcome
from raybench.experiments.parts.questions.ledger import Ledger
from raybench.pipeline import run_identity, shards, store
from raybench.tracking.report import Body

PANEL = ("able", "dull")
Row = dict[str, Any]
Marks = Mapping[str, str]
"""By candidate, a letter for each model of the panel: what became of its attempts."""

_MARKS: Mapping[str, dict[str, Any]] = {
    "R": {"correct": True, "by": "judge", "reason": "right, says judge"},
    "w": {"reason": "wrong, says judge", "by": "judge"},
    "c": {"finish": "length", "answer": None, "judgements": {}},
    "r": {"finish": "refusal", "answer": None, "judgements": {}},
    "i": {"finish": "unsupported", "answer": None, "judgements": {}},
    "e": {"finish": "error", "error": "no reply", "answer": None, "judgements": {}},
    "u": {"judge_error": "judge, who judges, gave no verdict ('{'", "answer": None},
}


def rows(*keys: str, **columns: Any) -> list[Row]:
    """Return candidates that nothing is wrong with, and that do not ask the same."""
    return [
        exact(key, question=f"Unlike others, {key} {key * 2} {key * 3} asks: how many?", **columns)
        for key in keys
    ]


def configured(folder: Path, there: Sequence[Row | str] | None, **changes: Any) -> Config:
    """Return a configuration whose candidates lie in a file; a text is a line as it stands."""
    given = changes.pop("candidates", None)
    if there is not None:
        path = folder / "in.jsonl"
        lines = (it if isinstance(it, str) else json.dumps(it) for it in there)
        path.write_text("".join(f"{line}\n" for line in lines))
        given = str(path)
    models = [ModelConf(name, "simulated") for name in PANEL]
    told: dict[str, Any] = {
        "candidates": given,
        "dataset": str(folder / "set"),
        "judges": ["judge"],
    }
    return Config(
        experiment="hle_screen",
        roster=RosterConf("r", models, [ModelConf("judge", "simulated")]),
        hle_screen=HleScreenConf(**{**told, **changes}),
        runs_dir=str(folder / "runs"),
    )


def batch(config: Config) -> Batch:
    """Return the candidates as a screening reads them."""
    return Batch.of(config, asdict(config), CONCLUSIONS)


def screened(config: Config, marks: Marks, *, finish: bool = True) -> tuple[Outcome, Path]:
    """Return what a run concludes from a panel's replies, and its folder.

    A run that does not finish is one that was killed after it published.
    """
    made = batch(config)
    watch = Watch()
    with shards.scratch() as scratch:
        data = made.prepared(config, scratch)
        opened = store.open_run(
            Path(config.runs_dir),
            "hle_screen",
            asdict(config),
            inputs={part.benchmark: part.digest for part in data} | dict(data.inputs),
            conclusions=CONCLUSIONS,
        )
        ledger = Ledger(len(config.roster.models), [watch])
        with opened as run:
            journal = run.journal("units", ledger.enter)
            asked = [row for part in data for row in part.rows()]
            if not ledger.done:
                names = [model.name for model in config.roster.models]
                journal.extend([it for row in asked for it in units(row, marks[row["id"]], names)])
            journal.close()
            outcome = concluded(config, made, watch.exam, data, ledger, journal.path)
            outcome = _read(outcome)
            if finish:
                told = run_identity.settings(asdict(config), CONCLUSIONS)
                run.write_json(store.RESULTS, {"run": {"concluded_with": told}})
    return outcome, run.folder


def _read(outcome: Outcome) -> Outcome:
    """Return an outcome whose units are read while the questions lie there."""
    if outcome.units is None:
        return outcome
    those = [replace(it, body=partial(_whole, it.body())) for it in outcome.units.each()]
    return replace(outcome, units=replace(outcome.units, each=partial(iter, those)))


def _whole(body: Body) -> Body:
    return body


def units(row: Row, letters: str, names: Sequence[str] = PANEL) -> list[Row]:
    """Return the records of the journal on a question: a letter for each model, in turn."""
    return [
        {
            "model": names[place % len(names)],
            "benchmark": "hle",
            "key": row["id"],
            "language": "en",
            "subject": row["category"],
            "repeat": place // len(names),
            "response": f"Explanation: of {row['question']}\nExact Answer: {row['answer']}",
            "reasoning": "",
            "finish": "stop",
            "error": None,
            "prompt_tokens": 9,
            "output_tokens": 9,
            "reused": False,
            "correct": False,
            "answer": "41",
            "truth": row["answer"],
            "reason": None,
            "by": None,
            "judge_error": None,
            "details": {"answer_type": row["answer_type"], "stated": 50},
            "judgements": {"judge": {"correct": letter == "R", "confidence": 50}},
            **_MARKS[letter],
        }
        for place, letter in enumerate(letters)
    ]


def fill(
    sheet: Path, *turns: Mapping[str, str], checks: Mapping[str, Mapping[str, str]] = {}
) -> str:
    """Fill in the rounds of a sheet, as a spreadsheet may save it, and return where it lies.

    A round has by question a decision and, behind it, a score: 'accept 4'. `checks` are answers to
    what is asked of questions.
    """
    there = list(csv.DictReader(io.StringIO(sheet.read_text())))
    for number, row in enumerate(there):
        said = turns[int(row["round"]) - 1].get(row["id"]) if turns[int(row["round"]) - 1 :] else ""
        if said:
            decision, _, score = said.partition(" ")
            row |= {"decision": decision, "score": score, "reviewer": f"R{number}"}
            row |= {"comments": f"look at {row['question']}", **checks.get(row["id"], {})}
    path = sheet.with_name(f"filled-{'-'.join(map(str, map(len, turns)))}-{sheet.name}")
    with path.open("w", newline="") as file:
        table = csv.DictWriter(file, list(there[0]))
        table.writeheader()
        table.writerows(there)
    return str(path)


def private_sheet(config: Config, run: Path) -> Path:
    """Return the sheet of the questions that are held out."""
    return Path(config.hle_screen.dataset, "private", "review", run.name, "review.csv")


def lines(outcome: Outcome, name: str) -> dict[str, Row]:
    """Return the lines of a set, by the candidates' ids."""
    return {row["id"]: dict(row) for row in outcome.files[f"{name}.jsonl"]}

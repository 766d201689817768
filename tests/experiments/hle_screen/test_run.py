"""Screenings from the command line, with stand-ins as panel and judge: what they leave, resume."""

import json
import random
import re
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from helpers import raybench
from hle_rows import choice, exact
from keyed import check
from shared_runs import SharedRuns
from statements import the
from stopped_runs import cut_off

from raybench.experiments.hle_screen.report import FUNNEL
from raybench.tracking.leaderboard import alarms

pytestmark = [pytest.mark.ray, pytest.mark.usefixtures("on_lasting_ray")]

SCREEN = ("+experiment=hle_screen", "roster=simulated", "judges=[judge]")
JUDGE = "{name: judge, engine: simulated, options: {ability: 1.0}}"
ABILITIES = {"able": 0.4, "fair": 0.25, "dull": 0.1}
CHANCES = {"exactMatch": 0.6 * 0.75 * 0.9}
"""That a question passes: none answers it, or at most one where there are options."""
CHANCES["multipleChoice"] = CHANCES["exactMatch"] * (1 + 0.4 / 0.6 + 0.25 / 0.75 + 0.1 / 0.9)
Row = dict[str, Any]


def panel() -> tuple[str, ...]:
    """Return the overrides that make a panel and its judge."""
    models = (
        f"{{name: {name}, engine: simulated, options: {{ability: {ability}, spread: 0.0}}}}"
        for name, ability in ABILITIES.items()
    )
    return f"roster.models=[{', '.join(models)}]", f"roster.judges=[{JUDGE}]"


def run_of(folder: Path) -> Path:
    (run,) = (folder / "runs" / "hle_screen").iterdir()
    return run


def results_of(folder: Path) -> Row:
    found: Row = json.loads((run_of(folder) / "results.json").read_text())
    return found


def lines(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def published(folder: Path) -> dict[str, list[Row]]:
    """Return what the newest revision publishes and holds out."""
    dataset = folder / "runs" / "hle_rolling"
    return {
        half: lines(max((dataset / half).glob("[0-9]*")) / "hle.jsonl")
        for half in ("revisions", "private")
    }


def sets(folder: Path) -> dict[str, list[Row]]:
    names = ("accepted", "rejected", "undecided", "invalid")
    return {name: lines(run_of(folder) / f"{name}.jsonl") for name in names}


def written(path: Path, rows: Iterable[Row]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return f"candidates={path}"


def made(count: int) -> list[Row]:
    """Return candidates that ask for different things, a quarter of them multiple choice."""
    rng = random.Random(1)
    words = [f"w{number:03d}" for number in range(400)]
    found = []
    for number in range(count):
        key, about = f"made-{number:04d}", " ".join(rng.sample(words, 20))
        row = choice(key) if number % 4 == 0 else exact(key, answer=str(10_000 + number))
        found.append(row | {"question": f"Of {about}: {row['question']}"})
    return found


COMMAND = (*SCREEN, *panel(), "candidates=in.jsonl", "private=0.5", "review=skip")
CANDIDATES = "".join(f"{json.dumps(row)}\n" for row in [*made(60), exact("wrong", rationale="")])


@pytest.fixture(scope="module")
def finished(shared_runs: SharedRuns) -> Path:
    return shared_runs.copy(*COMMAND, files={"in.jsonl": CANDIDATES})


def test_the_sets_and_the_revision_are_what_the_journal_says(finished: Path) -> None:
    right: dict[str, set[str]] = {}
    for unit in lines(run_of(finished) / "journal" / "units.jsonl"):
        of = right.setdefault(unit["key"], set())
        of |= {unit["model"]} if unit["correct"] else set()
    kinds = {row["id"]: row["answer_type"] for row in made(60)}
    passed = {
        key for key, models in right.items() if len(models) <= (kinds[key] == "multipleChoice")
    }
    there = sets(finished)
    assert {row["id"] for row in there["accepted"]} == passed
    assert {row["id"] for row in there["rejected"]} == kinds.keys() - passed
    assert [row["id"] for row in there["invalid"]] == ["wrong"]
    halves = published(finished)
    private = {row["id"] for row in there["accepted"] if row["private"]}
    assert {row["id"] for row in halves["private"]} == private
    assert {row["id"] for row in halves["revisions"]} == passed - private
    assert private
    assert passed - private
    told = results_of(finished)["run"]["screening"]
    assert (told["accepted"], told["private"], told["revision"]) == (len(passed), len(private), 1)


def test_mlflow_has_what_results_have(finished: Path) -> None:
    assert "hle" in check(finished, "hle_screen")


def test_the_terminal_says_how_many_where_and_what_next(finished: Path) -> None:
    told = (finished / "stdout").read_text()
    assert re.search(r"^Candidates +61 .* 60; .* 1 ", told, re.MULTILINE)
    for text in ("Passed      ", "Sets        ", "Revision    1: ", "review.csv", "held out"):
        assert text in told
    assert "+experiment=hle data=rolling" in told
    report = (run_of(finished) / "report.html").read_text()
    for title in (FUNNEL, "Why candidates are invalid", "The evidence"):
        assert title in report


def test_nothing_that_is_held_out_leaves_the_private_folder_but_in_the_journal(
    finished: Path,
) -> None:
    words = [row["question"].split(":")[0] for row in published(finished)["private"]]
    assert words
    for path in (finished / "runs").rglob("*"):
        kept = {"journal", "private"} & {*path.parts}
        if path.is_file() and not kept:
            text = path.read_bytes()
            assert not any(it.encode() in text for it in words), path
    assert list((finished / "runs" / "mlartifacts").rglob("accepted.jsonl"))


def test_the_exam_asks_what_was_published(shared_runs: SharedRuns) -> None:
    finished = shared_runs.copy(*COMMAND, files={"in.jsonl": CANDIDATES})
    done = raybench(
        *("+experiment=hle", "data=rolling", "roster=simulated", "judges=[judge]", *panel()),
        cwd=finished,
    )
    assert done.returncode == 0, done.stderr
    (run,) = (finished / "runs" / "hle").iterdir()
    results = json.loads((run / "results.json").read_text())
    data = results["run"]["data"]["hle"]
    alarm = the("alarm.simulated_questions", alarms(results))
    assert alarm == {"benchmarks": "hle"}
    assert all(it in done.stdout for it in alarms(results))
    assert data["questions"] == len(published(finished)["revisions"])
    where = "runs/hle_rolling/revisions/0001"
    assert data["origin"].startswith(f"{where} (simulated ")


def graded(folder: Path) -> dict[tuple[Any, ...], tuple[Any, ...]]:
    names, found = ("model", "key", "repeat"), ("response", "correct", "by")
    units = lines(run_of(folder) / "journal" / "units.jsonl")
    assert len({tuple(u[n] for n in names) for u in units}) == len(units)
    return {tuple(u[n] for n in names): tuple(u[n] for n in found) for u in units}


def same(one: Path, other: Path) -> None:
    assert graded(one) == graded(other)
    assert published(one) == published(other)
    assert sets(one) == sets(other)
    assert results_of(one)["models"] == results_of(other)["models"]


def test_killed_on_its_way_it_ends_as_an_undisturbed_one(finished: Path, ready: Path) -> None:
    cut_off(run_of(finished), ready / "runs", {"units": 90})
    (ready / "in.jsonl").write_text(CANDIDATES)
    last = raybench(*COMMAND, cwd=ready)
    assert last.returncode == 0, last.stderr
    assert f"{run_of(ready).relative_to(ready)}: 90 of 180 units" in last.stderr
    same(finished, ready)


def test_killed_between_the_revision_and_the_results_it_ends_with_the_same_revision(
    finished: Path, ready: Path
) -> None:
    cut_off(run_of(finished), ready / "runs", {})
    shutil.copytree(finished / "runs" / "hle_rolling", ready / "runs" / "hle_rolling")
    (ready / "in.jsonl").write_text(CANDIDATES)
    halves = published(ready)
    journal = (run_of(ready) / "journal" / "units.jsonl").read_bytes()
    last = raybench(*COMMAND, cwd=ready)
    assert last.returncode == 0, last.stderr
    assert "180 of 180 units" in last.stderr
    assert (run_of(ready) / "journal" / "units.jsonl").read_bytes() == journal
    assert published(ready) == halves
    assert results_of(ready)["run"]["screening"]["revision"] == 1
    assert len(list((ready / "runs" / "hle_rolling" / "revisions").iterdir())) == 1
    same(finished, ready)


def test_as_many_of_several_hundred_pass_as_the_panels_abilities_make(ready: Path) -> None:
    candidates = made(300)
    given = written(ready / "in.jsonl", candidates)
    done = raybench(*SCREEN, *panel(), given, "review=skip", cwd=ready, timeout=300)
    assert done.returncode == 0, done.stderr
    accepted = sets(ready)["accepted"]
    kinds: Mapping[str, str] = {row["id"]: row["answer_type"] for row in candidates}
    for kind, chance in CHANCES.items():
        asked = sum(it == kind for it in kinds.values())
        passed = sum(kinds[row["id"]] == kind for row in accepted)
        # Four standard errors.
        assert abs(passed / asked - chance) < 4 * (chance * (1 - chance) / asked) ** 0.5
    models = results_of(ready)["models"]
    for name, ability in ABILITIES.items():
        low, high = models[name]["hle/accuracy"]["ci95"]
        assert low - 0.03 < ability < high + 0.03
    told = results_of(ready)["run"]["screening"]
    share = told["private"] / told["accepted"]
    assert abs(share - 0.2) < 4 * (0.2 * 0.8 / told["accepted"]) ** 0.5

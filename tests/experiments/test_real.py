"""All four ways with one real model under Ray Serve and vLLM, in a suite that is killed once.

This shows what stand-ins cannot: text of a real model, replies held to a schema or to the moves
there are, that nothing is asked for twice, and that no engine outlives the run that started it.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from clusters import NO_TOKEN
from helpers import (
    NEEDS_MODEL,
    engine_processes,
    last_run,
    own_cache,
    raybench,
    results_of,
    units_of,
    wait_for_silence,
    with_store,
)
from suites import PARTS

from raybench import benchmarks, cli
from raybench.autobench.protocol import replay
from raybench.experiments.autobench.setup import settings

pytestmark = [pytest.mark.engine, NEEDS_MODEL, pytest.mark.timeout(900)]

SAMPLES = Path(benchmarks.__file__).parent / "samples"
MODELS = (
    "roster.models=[{name: cool, weights: embedded, sampling: {temperature: 0.0}},"
    " {name: hot, weights: embedded, sampling: {temperature: 1.4}}]"
)
INDEX = (
    "index.benchmarks=[math_500,mgsm]", "index.languages=[en,de]", "index.limit=4",
    "index.repeats=1", "index.max_tokens=96", "index.checker=cool", "index.temperature=0",
)  # fmt: skip
HLE = ("hle.max_tokens=60",)
ITERATIONS = 4
AUTOBENCH = (
    f"autobench.iterations={ITERATIONS}", "autobench.at_once=1",
    "autobench.task_tokens=16", "autobench.answer_tokens=16",
)  # fmt: skip
GAMES = (
    "games.names=[liars_dice,debate]", "games.jury=[smollm2-judge]", "games.matches=8",
    "games.rules.debate.rebuttals=1", "games.speech_tokens=24", "games.bootstrap=100",
)  # fmt: skip
EXAM = ("What is the capital of France?", "What is 2 + 2?", "Which month follows May?")


class Real(NamedTuple):
    """A suite that has run, and what it takes to run one of its parts again."""

    folder: Path
    before: str
    """What the run said until it was killed, in the third part."""
    after: str
    """What the run said that resumed it."""
    kept: int
    """Iterations of the third part that were in its journal when it was killed."""
    common: tuple[str, ...]
    environment: Mapping[str, str]

    def part(self, name: str) -> Path:
        """Return the folder of a part's run."""
        (own,) = (last_run(self.folder, "suite") / "parts" / name).iterdir()
        return own

    def results(self, name: str) -> Any:
        """Return what a part came to."""
        return json.loads((self.part(name) / "results.json").read_text())

    def journal(self, name: str, journal: str) -> list[Any]:
        """Return what a part wrote down."""
        path = self.part(name) / "journal" / f"{journal}.jsonl"
        return [json.loads(line) for line in path.read_bytes().splitlines()]

    def again(self, name: str, *settings: str, address: str) -> None:
        """Run a part alone on a Ray that is there, with the replies that are kept."""
        done = raybench(
            f"+experiment={name}", *self.common, *settings,
            cwd=self.folder, environment={**self.environment, **NO_TOKEN, "RAY_ADDRESS": address},
            timeout=200,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr + done.stdout


def questions(folder: Path) -> Path:
    """Write questions that so small a model answers, one with an image, and odd answers to them.

    Those of mathematics ask to copy a box, with a wrong answer: the checker has something to do.
    """
    rows = [json.loads(line) for line in (SAMPLES / "hle.jsonl").read_text("utf-8").splitlines()]
    image = next(row["image"] for row in rows if row["image"])
    answers = ("Paris {response} <|im_end|>", "4", "June")
    asked = zip((*EXAM, "What does it show?"), (*answers, "A graph."), strict=True)
    folder.mkdir()
    with (folder / "hle.jsonl").open("w", encoding="utf-8") as file:
        for number, (question, answer) in enumerate(asked):
            own = {"id": f"{number:024x}", "question": question, "answer": answer}
            shown = image if number == len(EXAM) else ""
            row = rows[0] | own | {"image": shown, "answer_type": "exactMatch"}
            file.write(json.dumps(row) + "\n")
    boxed = [f'Say "The answer is \\boxed{{{number}}}".' for number in (12, 7)]
    boxed += [f"Translate into English: Die Antwort ist \\boxed{{{number}}}." for number in (7, 5)]
    with (folder / "math_500.jsonl").open("w") as file:
        for number, text in enumerate(boxed):
            row = {"id": number, "question": text, "answer": "8", "subject": "copying"}
            file.write(json.dumps(row) + "\n")
    shutil.copy(SAMPLES / "mgsm.jsonl", folder)
    return folder


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Real:
    folder = with_store(tmp_path_factory.mktemp("real"))
    common = (
        "roster=embedded", MODELS, f"data.dir={questions(folder / 'questions')}",
        "fleet.kv_cache_gib=0.5",
    )  # fmt: skip
    environment = own_cache(folder)
    suite = ("+experiment=suite", *common, *INDEX, *HLE, *AUTOBENCH, *GAMES)
    before, kept = killed_in_autobench(*suite, folder=folder, environment=environment)
    # What the dead run started has to notice by itself, which takes a while. Nobody waits for it.
    dying = set(engine_processes())
    done = raybench(*suite, cwd=folder, environment=environment, timeout=850)
    assert done.returncode == 0, done.stderr + done.stdout
    assert wait_for_silence(but=dying) == []
    assert wait_for_silence(300) == []
    return Real(folder, before, done.stderr, kept, common, environment)


def killed_in_autobench(
    *command: str, folder: Path, environment: Mapping[str, str]
) -> tuple[str, int]:
    """Run a suite, kill its driver after an iteration; return what it said and kept until then."""
    log, deadline = folder / "killed.log", time.monotonic() + 850
    with log.open("w") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "raybench", *command], cwd=folder,
            env={**os.environ, "NO_COLOR": "1", **environment},
            stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT,
        )  # fmt: skip
    try:
        while not (kept := iterations(folder)):
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.1)
    finally:
        process.kill()
        process.wait()
    return log.read_text(), kept


def iterations(folder: Path) -> int:
    """Return how many iterations of the autobench part are in its journal."""
    files = folder.glob("runs/suite/*/parts/autobench/*/journal/iterations.jsonl")
    return sum(file.read_bytes().count(b"\n") for file in files)


def test_a_suite_that_was_killed_goes_on_where_it_was_and_leaves_nothing(real: Real) -> None:
    assert len([*(real.folder / "runs" / "suite").iterdir()]) == 1
    assert 1 <= real.kept < ITERATIONS
    records = real.journal("autobench", "iterations")
    assert [record["iteration"] for record in records] == [*range(1, ITERATIONS + 1)]
    results = real.results("autobench")
    composed = cli.compose(["+experiment=autobench", *real.common, *AUTOBENCH])
    standing = replay(records, settings(cli.check(composed)))
    weights = {name: of["autobench/weight"]["value"] for name, of in results["models"].items()}
    assert weights == standing.weights


def test_one_engine_serves_all_parts(real: Real) -> None:
    # A start takes longer than progress is silent: the part in which it happens tells of it.
    for told in (real.before, real.after):
        assert sum("1 vLLM engine" in part for part in told.split("\nPart ")) == 1
    for name in PARTS:
        results = real.results(name)
        assert results["simulated"] is False
        account = results["fleet"]["this_session"]
        assert account["total"]["requests"] > 0, name  # of this part alone
        assert account["total"]["swaps"] == 0
    run = last_run(real.folder, "suite")
    assert (run / "report.html").exists() and (run / "results.json").exists()


def test_answers_are_graded_and_checked_and_not_asked_for_again(
    real: Real, lasting_ray: str
) -> None:
    first, units = real.results("index"), real.journal("index", "units")
    assert first["run"]["units"] == len(units) == 2 * 12
    for name in ("cool", "hot"):
        counts = first["counts"][name]
        assert counts["infra_error"] + counts.get("judge_error", 0) == 0
    checked = [unit["answer"] for unit in units if unit.get("checker")]
    assert checked
    asked = first["fleet"]["this_session"]["models"]["cool"]
    # The truth is the same everywhere: what two say at the same moment may be asked about twice.
    assert 12 + len({*checked}) <= asked["requests"] <= 12 + len(checked)
    real.again("index", *INDEX, address=lasting_ray)
    again = results_of(real.folder, "index")
    assert again["run"]["reused"] == 24
    assert again["fleet"]["this_session"]["models"] == {}  # no engine came up
    for name in ("mgsm/accuracy", "mgsm/accuracy/de", "mgsm/output_tokens"):
        assert again["models"]["cool"][name] == first["models"]["cool"][name]


def test_the_exam_is_judged_by_the_schema_and_not_asked_again(real: Real, lasting_ray: str) -> None:
    first, units = real.results("hle"), real.journal("hle", "units")
    assert len(units) == 8
    judged = [unit for unit in units if unit["by"] == "judge"]
    assert judged
    # Structured decoding: whatever so small a judge thinks, it is in the form asked for.
    assert not [unit["judge_error"] for unit in units if unit["judge_error"]]
    for unit in judged:
        verdict = unit["judgements"]["smollm2-judge"]
        assert unit["correct"] is verdict["correct"]
        assert 0 <= verdict["confidence"] <= 100
    assert first["run"]["fates"]["cool"]["no images"] == 1
    assert first["models"]["cool"]["hle/accuracy"]["n"] == 3
    judge = first["fleet"]["this_session"]["models"]["smollm2-judge (judge)"]
    assert judge["requests"] == len(judged)

    real.again("hle", *HLE, "images=false", address=lasting_ray)
    again, same = results_of(real.folder, "hle"), units_of(real.folder, "hle")
    assert again["run"]["reused"] == len(same) == 6
    assert again["fleet"]["this_session"]["total"]["requests"] == 0
    verdicts = {(u["model"], u["key"]): u["correct"] for u in units}
    assert all(verdicts[u["model"], u["key"]] == u["correct"] for u in same)


def test_it_plays_by_the_moves_there_are_and_its_jury_votes(real: Real) -> None:
    results, matches = real.results("games"), real.journal("games", "matches")
    assert [it["void"] for it in matches] == [None] * 8
    turns = [turn for it in matches for turn in it["turns"]]
    for turn in turns:
        if turn["action"] in ("bid", "bid_or_call"):
            # Held to the moves that the game lists: whatever so small a model thinks, one of them.
            assert turn["error"] is None
            assert turn["tokens"] > 0 and turn["seconds"] > 0
    debates = [it for it in matches if it["game"] == "debate"]
    assert len(debates) == 4
    # Structured decoding: all votes can be read, whatever they are worth.
    assert [it["ballots"] for it in debates] == [[1, 0]] * 4
    for model in ("cool", "hot"):
        of = results["models"][model]
        assert of["games/valid_replies"]["n"] == sum(turn["model"] == model for turn in turns)
        assert results["counts"][model]["infra_error"] == 0
    asked = results["fleet"]["this_session"]["models"]
    assert asked["smollm2-judge"]["requests"] == 2 * len(debates)
    assert asked["cool"]["requests"] == sum(turn["model"] == "cool" for turn in turns)
    assert "# Debate" in (real.part("games") / "transcripts" / "debate.md").read_text()

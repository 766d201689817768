"""What the exam concludes from a journal, and what of it may leave the run's folder."""

import json
from pathlib import Path

from examined import record
from hle_rows import exact

from raybench.config import Config, DataConf, HleConf, ModelConf, RosterConf
from raybench.experiments.hle import review
from raybench.experiments.hle.conclusion import concluded
from raybench.experiments.hle.watch import Watch
from raybench.experiments.parts.outcome import Outcome
from raybench.experiments.parts.questions.ledger import Ledger
from raybench.experiments.parts.questions.setup import prepared
from raybench.pipeline import shards


def outcome(folder: Path, data: DataConf) -> Outcome:
    """Return what comes of a journal in which everybody answered everything."""
    config = Config(
        experiment="hle",
        roster=RosterConf("r", [ModelConf("a", "simulated")], [ModelConf("j", "simulated")]),
        data=data,
        hle=HleConf(judges=["j"]),
    )
    watch = Watch()
    ledger = Ledger(1, [watch])
    with shards.scratch() as scratch:
        there = prepared(config, scratch)
        records = [record(str(row["id"])) for part in there for row in part.rows()]
        journal = folder / "units.jsonl"
        journal.write_text("".join(json.dumps(it) + "\n" for it in records))
        for each in records:
            ledger.enter(each)
        found = concluded(config, watch, there, ledger, journal)
        for files in (found.files, found.unshared):
            for lines in files.values():
                assert len(list(lines)) == len(records)
    return found


def test_what_people_judge_of_gated_questions_stays_in_the_runs_folder(
    tmp_path: Path,
) -> None:
    rows = [exact(f"q{number}") for number in range(4)]
    (tmp_path / "hle.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = outcome(tmp_path, DataConf(dir=str(tmp_path)))
    assert (list(found.files), list(found.unshared)) == ([], [review.FILE, review.KEY])


def test_what_people_judge_of_our_own_questions_may_be_read_by_anybody(
    tmp_path: Path,
) -> None:
    found = outcome(tmp_path, DataConf(source="samples"))
    assert (list(found.files), list(found.unshared)) == ([review.FILE, review.KEY], [])

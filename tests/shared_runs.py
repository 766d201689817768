"""Finished runs that tests share: each command runs once per session, and test files get copies.

All workers of pytest-xdist see the store. A file lock makes a worker wait for a run that another
one is making.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest
from filelock import FileLock
from helpers import SIMULATED, raybench, with_store

_PATIENCE_S = 900

# Commands whose finished runs several files look at.
AUTOBENCH = (*SIMULATED, "autobench.iterations=6")
GAMES = (
    "+experiment=games",
    "roster=simulated",
    "games.matches=96",
    "games.bootstrap=100",
    "games.rules.chess.plies=30",
)
HLE = (
    "+experiment=hle",
    "roster=simulated",
    "roster.models=["
    "{name: sure, engine: simulated, options: {ability: 0.2, overconfidence: 0.7}},"
    " {name: able, engine: simulated, options: {ability: 0.8, tokens: 900, unstated: 0.3}},"
    " {name: blind, engine: simulated, images: false, options: {ability: 0.5}}]",
    "roster.judges=[{name: good, engine: simulated, options: {ability: 1}},"
    " {name: poor, engine: simulated, options: {ability: 0, judge_noise: 0.3}}]",
    "data=samples",
    "repeats=4",
    "judges=[good,poor]",
)
INDEX = (
    "+experiment=index",
    "data=samples",
    "benchmarks=[mmlu_pro,gpqa_diamond,math_500,aime_2024,multilingual_mmlu,mgsm]",
    "roster=simulated",
    "roster.models=[{name: able, engine: simulated, options: {ability: 0.9}},"
    " {name: fair, engine: simulated, options: {ability: 0.6}},"
    " {name: dull, engine: simulated, options: {ability: 0.2}}]",
    "checker=able",
)


class SharedRuns:
    """Keeps the folders in which commands have run."""

    def __init__(self, factory: pytest.TempPathFactory) -> None:
        base = factory.getbasetemp()
        session = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
        self._factory = factory
        self._store = session / "shared_runs"
        self._store.mkdir(exist_ok=True)

    def copy(
        self, *command: str, files: Mapping[str, str] | None = None, sent: bool = False
    ) -> Path:
        """Return a copy of the folder in which the command has run; the caller may write to it.

        `files` are texts by name that the folder holds before the run. The run's output is in the
        files `stdout` and `stderr`. Unless it is `sent` while it goes on, it leaves MLflow for
        later (`keyed.check` sends it).
        """
        kept = self._kept(command, files or {}, "now" if sent else "later")
        folder = self._factory.mktemp(kept.name)
        shutil.copytree(kept, folder, dirs_exist_ok=True)
        return folder

    def _kept(self, command: tuple[str, ...], files: Mapping[str, str], send: str) -> Path:
        key = json.dumps([command, sorted(files.items()), send])
        experiment = command[0].partition("=")[2]
        folder = self._store / f"{experiment}-{hashlib.sha256(key.encode()).hexdigest()[:10]}"
        failure = folder.with_suffix(".failed")
        with FileLock(folder.with_suffix(".lock"), timeout=_PATIENCE_S):
            if failure.exists():
                pytest.fail(failure.read_text())
            if not folder.exists():
                shutil.rmtree(folder.with_suffix(".making"), ignore_errors=True)
                making = with_store(folder.with_suffix(".making"))
                for name, text in files.items():
                    (making / name).write_text(text)
                done = raybench(
                    *command,
                    cwd=making,
                    environment={"RAYBENCH_TRACKING_SEND": send},
                    timeout=_PATIENCE_S,
                )
                if done.returncode != 0:
                    failure.write_text(f"{' '.join(command)}: {done.stderr}")
                    pytest.fail(failure.read_text())
                (making / "stdout").write_text(done.stdout)
                (making / "stderr").write_text(done.stderr)
                making.rename(folder)
        return folder


@pytest.fixture(scope="session")
def shared_runs(tmp_path_factory: pytest.TempPathFactory) -> SharedRuns:
    """Return the store of finished runs of this session."""
    return SharedRuns(tmp_path_factory)

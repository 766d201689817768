"""What is wrong with a configuration, of whatever room: each in words, with the mend.

Rooms are imported only when they are asked: nothing heavy is, before the rest has proved right.
"""

import contextlib
import os
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from raybench import config as schema
from raybench import paths
from raybench.config import Config, numbers, storage
from raybench.errors import ConfigurationError, Problem
from raybench.types import ModelSpec


def of(config: Config) -> Iterator[Problem]:
    """Yield everything that is wrong with the configuration of an experiment."""
    if odd := list(numbers.problems(config)):
        yield from odd  # and nothing else: the rules between settings compare numbers
        return
    found = list(schema.problems(config))
    yield from found
    if config.runs_dir.strip():
        yield from _runs_problems(Path(config.runs_dir))
    if config.storage and not config.dry_run and config.experiment != "serve":  # it has no run
        yield from _storage_problems(config)
    if config.data.dir is not None:
        folder = paths.expanded(config.data.dir)
        # Where a dataset that grows is to be, it is said what makes one.
        if paths.exists(folder) or config.data.source != "rolling":
            yield from _data_problems(folder)
    for part in schema.parts(config):
        yield from _own_problems(part)
    if config.experiment == "suite":
        yield from _table_problems(config, "suite.external", config.suite.external)
    from raybench.tracking.mlflow import check_uri

    if config.tracking.send != "never":
        try:
            check_uri(config.tracking.uri)
        except ConfigurationError as error:
            yield from error.problems
    # The fleet's rules take a sound roster for granted.
    if not found and (models := asked_models(config)):
        from raybench import fleet

        yield from fleet.problems(models, config.fleet)
        if not config.dry_run:  # a plan names the keys that the run will need
            yield from fleet.key_problems(models)


def asked_models(config: Config) -> list[ModelSpec]:
    """Return the models that a run asks: the roster's, and the judges and checkers it needs."""
    if not schema.asks_models(config):
        return []
    return [model.spec() for model in (*config.roster.models, *_judges(config))]


def _judges(config: Config) -> list[schema.ModelConf]:
    """Return the models that are asked and not ranked, without those who have nothing to judge."""
    from raybench.pipeline.terms import needed_referees

    needed = set[str]()
    for part in schema.parts(config):
        named = [model.name for model in schema.judges(part)]
        if schema.questions(part) is not None:
            # An unknown benchmark is a problem of the experiment's own settings.
            with contextlib.suppress(ConfigurationError):
                named = needed_referees(part)
        needed.update(named)
    return [model for model in config.roster.judges if model.name in needed]


def _own_problems(config: Config) -> Iterator[Problem]:
    """Yield what is wrong with the settings of an experiment itself."""
    if config.experiment == "index":
        from raybench import benchmarks

        for name in config.index.benchmarks:
            try:
                benchmarks.load(name)
            except ConfigurationError as error:
                yield from error.within("index.benchmarks")
    if config.experiment in schema.PEERS:
        yield from _table_problems(config, "autobench.external", config.autobench.external)
    if config.experiment in schema.TOURNAMENTS:
        from raybench.games.parts import choice

        of = config.games
        wrong = list(choice.problems(of.names, of.rules, of.weights, of.roster_rules))
        yield from wrong
        yield from choice.anchor_problems(of.anchors, of.names)
        if not wrong:
            from raybench.games.parts import wording
            from raybench.tournament import strategies

            played = choice.chosen(of.names)
            yield from wording.problems("games.phrasing", of.phrasing, played)
            yield from strategies.problems(
                of.strategy,
                of.strategies,
                [model.name for model in config.roster.models],
                choice.merged(of.roster_rules, of.rules),
            )
            if config.experiment == "games_phrasings":
                for each in config.games_phrasings.wordings:
                    yield from wording.problems("games_phrasings.wordings", each, played)
    if schema.learns(config):
        from raybench.experiments.optimise_players import choice as learning

        yield from learning.problems(config.optimise_players, config.games.phrasing)


def _table_problems(config: Config, setting: str, external: Mapping[str, str]) -> Iterator[Problem]:
    from raybench.autobench.analysis import tables

    named = [model.name for model in config.roster.models]
    given = {name: path for name, path in external.items() if path.strip()}
    yield from tables.problems(given, named, setting=setting)


def _runs_problems(folder: Path) -> Iterator[Problem]:
    home = folder if paths.exists(folder) else paths.nearest(folder)
    if not paths.is_folder(home) or not os.access(home, os.W_OK | os.X_OK):
        yield Problem(
            "file.unwritable",
            f"runs_dir '{folder}' cannot be made or written to",
            setting="runs_dir",
            given=str(folder),
            fix="choose another folder",
        )


def _storage_problems(config: Config) -> Iterator[Problem]:
    """Yield what keeps a storage that is named rightly from being written to."""
    uri = str(config.storage)
    if not any(storage.problems(uri, 0)) and (why := _trouble(uri, config.storage_patience_s)):
        mend = "Choose a folder that can be made and written to"
        if uri.startswith("s3:"):
            mend = (
                "Make the bucket and see that it can be reached and that credentials and region "
                "are set (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_DEFAULT_REGION; for a "
                "server of your own AWS_ENDPOINT_URL=http://HOST:PORT)"
            )
        elif uri.startswith("gs:"):
            mend = (
                "Make the bucket and see that it can be reached and that credentials are set "
                "(GOOGLE_APPLICATION_CREDENTIALS names a file of them)"
            )
        elif uri.startswith("abfss:"):
            mend = (
                "Make the container and see that it can be reached and that credentials are set "
                "(AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET, or a managed "
                "identity; an account's key is not taken)"
            )
        named = uri.partition("?")[0]
        yield Problem(
            "storage.unwritable",
            f"storage {named} cannot be written to: {why}",
            setting="storage",
            given=named,
            fix=f"{mend}, or leave it null",
        )


@cache
def _trouble(uri: str, patience_s: float) -> str | None:
    """Ask a store once, however many jobs a command has."""
    from raybench.pipeline.storage import trouble
    from raybench.tracking import console

    return trouble(uri, patience_s, console.warn)


def _data_problems(folder: Path) -> Iterator[Problem]:
    if paths.is_file(folder):
        yield Problem(
            "file.format",
            f"data.dir '{folder}' is a file",
            setting="data.dir",
            given=str(folder),
            fix="give the folder that it is in",
        )
        return
    try:
        next(folder.iterdir(), None)
    except OSError as error:
        yield Problem(
            "file.unreadable",
            f"data.dir '{folder}' cannot be read ({error.strerror})",
            setting="data.dir",
            given=str(folder),
            fix="give a readable folder, or leave it null",
        )

"""Runs that somebody names, in a word of a command line or a setting: here, or in a storage."""

from pathlib import Path

from raybench.config import storage
from raybench.errors import ConfigurationError, Problem
from raybench.paths import expanded


def folder(run: str) -> Path:
    """Return the folder of a run; one in a storage is fetched.

    Raises ConfigurationError where a storage has no such run.
    """
    if not storage.is_uri(run):
        return expanded(run)
    from raybench.pipeline.storage import reading  # takes a second to import

    if (found := reading.fetched(run)) is None:
        raise ConfigurationError(
            Problem(
                "run.missing",
                f"{run.partition('?')[0]} is no run",
                fix="give the address of one in its storage, PREFIX/EXPERIMENT/ID",
            )
        )
    return found

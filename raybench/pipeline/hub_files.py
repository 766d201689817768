"""Files of datasets that the Hugging Face hub publishes. What was fetched once needs no network."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path

from raybench.benchmarks import Source
from raybench.errors import ConfigurationError, Problem, RunFailed

_INSTEAD = (
    "or read the questions from files of your own (data.dir=FOLDER), or try the few that come with "
    "raybench (data=samples)"
)
_DEADLINE_S = 10.0
"""For an answer of the hub; nor is it asked again when so much has gone."""
_WAITS_S = (1.0, 2.0)
"""Between the tries to reach it. The library alone tries six times, for up to six minutes."""


def fetch(source: Source, file: str) -> Path:
    """Return a file at the pinned revision, which is downloaded unless it was before.

    Raises ConfigurationError where the hub does not hand it out, RunFailed where it is silent.
    """
    from huggingface_hub import errors

    try:
        with quiet():
            return _cached(source, file) or _downloaded(source, file)
    except errors.GatedRepoError as error:
        raise ConfigurationError(_closed(source)) from error
    except (
        errors.RepositoryNotFoundError,
        errors.RevisionNotFoundError,
        errors.RemoteEntryNotFoundError,
    ) as error:
        raise ConfigurationError(
            Problem(
                "hub.missing",
                f"the hub shows no '{file}' of the dataset {source.repo} at revision "
                f"{source.revision}: it was withdrawn, or HF_TOKEN is wrong, which hides "
                "everything",
                given=file,
                fix=f"Correct or unset HF_TOKEN, {_INSTEAD}",
            )
        ) from error
    except Exception as error:  # of the network, its proxies, the hub's own, a full disk …
        raise RunFailed(
            Problem(
                "hub.unreachable",
                f"'{file}' of the dataset {source.repo} could not be fetched from the hub "
                f"({_reason(error)})",
                given=file,
                fix=f"check the network and run again, {_INSTEAD}",
            )
        ) from error


def is_here(source: Source, file: str) -> bool:
    """Tell whether a file was fetched before."""
    return _cached(source, file) is not None


def check_access(source: Source, file: str) -> None:
    """Raise ConfigurationError where a gated file is wanted and nobody says who asks."""
    from huggingface_hub import get_token

    if source.gated and not is_here(source, file) and get_token() is None:
        raise ConfigurationError(_closed(source))


def _cached(source: Source, file: str) -> Path | None:
    from huggingface_hub import try_to_load_from_cache

    found = try_to_load_from_cache(source.repo, file, repo_type="dataset", revision=source.revision)
    return Path(found) if isinstance(found, str) else None  # or it is known not to exist


def _downloaded(source: Source, file: str) -> Path:
    from huggingface_hub import hf_hub_download, hf_hub_url

    # The endpoint is asked for anew: the library reads it once, at its import.
    endpoint, revision = os.environ.get("HF_ENDPOINT"), source.revision
    _reach(hf_hub_url(source.repo, file, repo_type="dataset", revision=revision, endpoint=endpoint))
    return Path(
        hf_hub_download(
            source.repo, file, repo_type="dataset", revision=revision, endpoint=endpoint
        )
    )


def _reach(url: str) -> None:
    """Ask for a file's particulars a few times; raise what the last try met."""
    from huggingface_hub import get_hf_file_metadata

    deadline = time.monotonic() + _DEADLINE_S
    for wait in (*_WAITS_S, None):
        try:
            get_hf_file_metadata(url, timeout=_DEADLINE_S)
            return
        except Exception as error:
            if wait is None or time.monotonic() > deadline or _final(error):
                raise
            time.sleep(wait)


def _final(error: Exception) -> bool:
    """Tell whether asking again is no use: the hub has decided, or is not to be asked."""
    from huggingface_hub import errors

    if isinstance(error, errors.HfHubHTTPError):
        status: int = error.response.status_code
        return status < HTTPStatus.INTERNAL_SERVER_ERROR and status != HTTPStatus.TOO_MANY_REQUESTS
    return isinstance(error, errors.OfflineModeIsEnabled)


@contextmanager
def quiet() -> Iterator[None]:
    """Keep the library's own remarks off the terminal: what matters of them, our errors say."""
    from huggingface_hub.utils import logging

    before = logging.get_verbosity()
    logging.set_verbosity(logging.CRITICAL)
    try:
        yield
    finally:
        logging.set_verbosity(before)


def _closed(source: Source) -> Problem:
    from huggingface_hub import constants

    page = f"{os.environ.get('HF_ENDPOINT') or constants.ENDPOINT}/datasets/{source.repo}"
    return Problem(
        "hub.access",
        f"the dataset {source.repo} is gated",
        given=source.repo,
        fix=f"accept its terms at {page} and set HF_TOKEN to a token of that account, {_INSTEAD}",
    )


def _reason(error: BaseException) -> str:
    """Return the line that says why: the hub's library hides it behind a general one."""
    while error.__cause__ is not None:
        error = error.__cause__
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0].rstrip(".") if lines else type(error).__name__

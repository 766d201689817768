"""Files of datasets that the Hugging Face hub publishes. What was fetched once needs no network."""

import os
from pathlib import Path

from raybench.benchmarks import Source
from raybench.errors import ConfigurationError, RunFailed

_INSTEAD = (
    "or read the questions from files of yours (data.dir=FOLDER), or try things out with the few "
    "that are shipped (data=samples)"
)


def fetch(source: Source, file: str) -> Path:
    """Return a file at the pinned revision, which is downloaded unless it was before.

    Raises ConfigurationError where the hub does not hand it out, RunFailed where it is silent.
    """
    from huggingface_hub import errors, hf_hub_download

    try:
        # The endpoint is asked for anew: the library reads it once, at its import.
        path = hf_hub_download(
            source.repo,
            file,
            repo_type="dataset",
            revision=source.revision,
            endpoint=os.environ.get("HF_ENDPOINT"),
        )
    except errors.GatedRepoError as error:
        raise ConfigurationError(_closed(source)) from error
    except (
        errors.RepositoryNotFoundError,
        errors.RevisionNotFoundError,
        errors.RemoteEntryNotFoundError,
    ) as error:
        raise ConfigurationError(
            f"the hub shows no '{file}' of the dataset {source.repo} at revision "
            f"{source.revision}: it was withdrawn, or HF_TOKEN is wrong, which hides everything. "
            f"Mend or unset HF_TOKEN, {_INSTEAD}"
        ) from error
    except Exception as error:  # of the network, its proxies, the hub's own, a full disk …
        raise RunFailed(
            f"'{file}' of the dataset {source.repo} could not be fetched from the hub "
            f"({_reason(error)}): look at the network and run again, {_INSTEAD}"
        ) from error
    return Path(path)


def check_access(source: Source) -> None:
    """Raise ConfigurationError where a gated dataset is wanted and nobody says who asks."""
    from huggingface_hub import get_token, try_to_load_from_cache

    there = (
        isinstance(
            try_to_load_from_cache(
                source.repo, file, repo_type="dataset", revision=source.revision
            ),
            str,
        )
        for file in source.files.values()
    )
    if source.gated and not all(there) and get_token() is None:
        raise ConfigurationError(_closed(source))


def _closed(source: Source) -> str:
    from huggingface_hub import constants

    page = f"{os.environ.get('HF_ENDPOINT') or constants.ENDPOINT}/datasets/{source.repo}"
    return (
        f"the dataset {source.repo} is handed out to those who accepted its terms: accept them at "
        f"{page} and set HF_TOKEN to a token of that account, {_INSTEAD}"
    )


def _reason(error: BaseException) -> str:
    """Return the line that says why: the hub's library hides it behind a general one."""
    while error.__cause__ is not None:
        error = error.__cause__
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0].rstrip(".") if lines else type(error).__name__

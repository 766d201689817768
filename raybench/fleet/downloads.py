"""What engines need of the Hugging Face hub: which files, how large, whether here, and their fetch.

The files are one format of the weights (weight_files.py), and all small files. Small files are
fetched before weights, so that weights that are whole never lack a chat template.
"""

import asyncio
import glob
import os
import re
import shutil
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus
from pathlib import Path
from typing import Any, Literal, TypeVar, cast

from raybench.errors import Problem, RunFailed
from raybench.fleet import engines
from raybench.fleet.devices import GIB
from raybench.fleet.engines import EngineSpec
from raybench.fleet.reasons import last_line, of_hub
from raybench.fleet.weight_files import weight_files

T = TypeVar("T")
R = TypeVar("R")
State = Literal["here", "fetched", "missing"]
_TIMEOUT_S = 20.0
_WAITS_S = (1.0, 2.0)
"""Between the tries to reach the hub."""
_ANSWER_S = 60.0
"""How long a node may take to look into its cache. Ray never runs a task for one that has died."""
TO_FETCH = (
    "Fetch it where there is a network: python -m raybench.prefetch with the settings of the run"
)
_SPARE_GIB = 2.0
"""Room on a disk that downloads leave to others."""
_SHOWN = 3
"""Missing files that a message names."""
_NODE_ID = "ray.io/node-id"
_COMMIT = re.compile(r"[0-9a-f]{40}")
_HUB = "https://huggingface.co"
_HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")
_SMALL = (".json", ".txt", ".model", ".jinja", ".tiktoken", ".vocab", ".bpe", ".py")
"""Endings of configurations, tokenizers, chat templates and code, in the top folder."""
_SMALL_BELOW = (".jinja", ".py")
"""Endings of those that may lie in subfolders."""


@dataclass(frozen=True, slots=True)
class Download:
    """What an engine needs of one repository of the hub."""

    repository: str
    revision: str | None = None
    setting: str = "roster.models[].weights"
    """The setting that names the repository."""
    kind: Literal["model", "text", "whole"] = "model"
    """A model with its weights, its configuration and tokenizer only, or all files."""
    load_format: str = "auto"

    @property
    def name(self) -> str:
        """Return the repository as people write it, with its revision."""
        return f"{self.repository}@{self.revision}" if self.revision else self.repository


@dataclass(frozen=True, slots=True)
class Outcome:
    """Whether the files of a download are on this machine."""

    state: State
    gib: float = 0.0
    """Their size; 0 where it is unknown."""
    files: tuple[str, ...] = ()
    """The files that are missing; none are named where all are missing."""
    problem: Problem | None = None
    """Why files are missing."""


def downloads_of(spec: EngineSpec) -> tuple[Download, ...]:
    """Return what an engine needs of the hub; nothing for engines that are not hosted."""
    if spec.kind != "vllm":
        return ()
    options, found = spec.options, list[Download]()

    def add(repository: object, revision: object, setting: str, **more: Any) -> None:
        if isinstance(repository, str) and _HUB_ID.fullmatch(repository):
            if setting:
                more["setting"] = f"roster.models[].options.{setting}"
            if not engines.is_path(repository):
                pinned = None if revision is None else str(revision)
                found.append(Download(repository, pinned, **more))

    add(spec.weights, spec.revision, "", load_format=spec.load_format)
    for name in ("tokenizer", "hf_config_path", "generation_config"):
        add(options.get(name), options.get(f"{name}_revision"), name, kind="text")
    # Where vLLM fetches these it asks for all files, or for one format after the other.
    draft = options.get("speculative_config")
    if isinstance(draft, Mapping):
        add(draft.get("model"), draft.get("revision"), "speculative_config.model", kind="whole")
    for name in ("lora_modules", "default_mm_loras"):
        for adapter in _adapters(options.get(name)):
            add(adapter, None, name, kind="whole")
    return tuple(dict.fromkeys(found))


def _adapters(option: Any) -> list[Any]:
    """Return where adapters come from, in the forms in which vLLM takes them."""
    if isinstance(option, Mapping):
        return [*option.values()]
    if not isinstance(option, Sequence) or isinstance(option, str):
        return []
    return [
        it.get("path") if isinstance(it, Mapping) else str(it).partition("=")[2] for it in option
    ]


# ------------------------------------------------------------------------------------------ files


def needed_files(
    download: Download, names: Collection[str], folder: Path | None = None
) -> list[str]:
    """Return which of a repository's files are needed; its index is read in the folder."""
    if download.kind == "whole":
        return sorted(names)
    small = {it for it in names if it.endswith(_SMALL if "/" not in it else _SMALL_BELOW)}
    if download.kind == "model":
        small.update(weight_files(names, download.load_format, folder))
    return sorted(small)


# ----------------------------------------------------------------------------------------- checks


def check(download: Download) -> Outcome:
    """Tell whether all files of a download are in this machine's cache, without a network."""
    if (folder := _snapshot(download)) is None:
        return _missing(download)
    here = _sizes_in(folder)
    known = _known_sizes(download) or here
    wanted = needed_files(download, known, folder)
    lacking = [file for file in wanted if file not in here]
    if download.kind == "model":
        if not {"config.json", "params.json"} & {*known}:
            lacking.append("config.json")
        if download.load_format != "dummy" and not weight_files(known, download.load_format):
            lacking.append("*.safetensors")
    gib = sum(known.get(file, 0) for file in wanted) / GIB
    return _missing(download, lacking, gib) if lacking else Outcome("here", gib)


def _missing(download: Download, files: Sequence[str] = (), gib: float = 0.0) -> Outcome:
    return Outcome("missing", gib, tuple(files), unfetched(download, files))


def unfetched(download: Download, files: Sequence[str] = ()) -> Problem:
    """Return the problem of a download of which files, or all, are not here."""
    return Problem(
        "model.weights",
        f"not in the hub's cache of this machine: {name_missing(download, files)}",
        setting=download.setting,
        given=download.repository,
        fix=TO_FETCH,
    )


def name_missing(download: Download, files: Sequence[str]) -> str:
    """Return the name of a download with the files that are missing, unless all are."""
    if not files:
        return download.name
    more = len(files) - _SHOWN
    return f"{', '.join(files[:_SHOWN])}{f' and {more} more' * (more > 0)} of {download.name}"


def _snapshot(download: Download) -> Path | None:
    """Return the folder of a download in the hub's cache; None where it is not there."""
    from huggingface_hub import snapshot_download

    try:
        # Files are looked at one by one: the library would miss those that nobody needs.
        folder = snapshot_download(
            download.repository,
            revision=download.revision,
            local_files_only=True,
            ignore_patterns="*",
        )
    except (OSError, ValueError):  # it is not there, or could not be
        return None
    return Path(str(folder))


def cached_gib(download: Download) -> float:
    """Return how much of a repository is in the hub's cache, unfinished files included."""
    from huggingface_hub import constants
    from huggingface_hub.file_download import repo_folder_name

    name = repo_folder_name(repo_id=download.repository, repo_type="model")
    try:
        with os.scandir(Path(constants.HF_HUB_CACHE) / name / "blobs") as files:
            return sum(file.stat().st_size for file in files) / GIB
    except OSError:  # nothing is there yet, or a file was just finished
        return 0.0


def _sizes_in(folder: Path) -> dict[str, int]:
    """Return the size of each file of a folder, by its path there."""
    return {
        it.relative_to(folder).as_posix(): it.stat().st_size
        for it in folder.rglob("*")
        if it.is_file()
    }


def _known_sizes(download: Download) -> dict[str, int]:
    """Return the files that the hub listed at the last fetch; none where that is not kept."""
    from huggingface_hub import get_cached_repo_tree
    from huggingface_hub.errors import CachedRepoTreeNotFoundError

    try:
        tree = get_cached_repo_tree(download.repository, revision=download.revision)
    except (CachedRepoTreeNotFoundError, OSError, ValueError):
        return {}
    return {file.path: file.size for file in tree}


def weights_gib(repository: str, revision: str | None = None, load_format: str = "auto") -> float:
    """Return the size of a repository's weights, here or else at the hub; 0 if nobody knows."""
    download = Download(repository, revision, load_format=load_format)
    folder = _snapshot(download)
    known = _known_sizes(download) or (_sizes_in(folder) if folder else {})
    files = weight_files(known, load_format, folder)
    if not files or any(file not in known for file in files):
        try:
            known = _published_sizes(repository, revision, ())
        except Exception:  # whoever loads it is told why
            return 0.0
        files = weight_files(known, load_format)
    return sum(known.get(file, 0) for file in files) / GIB


# ------------------------------------------------------------------------------------------ fetch


def fetch(download: Download) -> Outcome:
    """Fetch what is not here. A revision that is no commit is looked up; failures are outcomes."""
    before = check(download)
    if before.state == "here" and _COMMIT.fullmatch(download.revision or ""):
        return before
    folder = _snapshot(download)
    try:
        _fetch_files(download)
    except Exception as error:  # of the network, the hub, a full disk …
        left = check(download)
        # A hub that cannot be reached has nothing newer, unless it broke off within a newer one.
        return left if left.state == "here" else replace(left, problem=problem_of(download, error))
    after = check(download)
    fetched = before.state == "missing" or _snapshot(download) != folder
    return replace(after, state="fetched") if after.state == "here" and fetched else after


def _fetch_files(download: Download) -> None:
    names = _published_sizes(download.repository, download.revision)
    _require_room(download, names)
    if download.kind == "whole":
        _fetch_named(download, None)
        return
    small = needed_files(replace(download, kind="text"), names)
    folder = _fetch_named(download, small)
    if download.kind == "model" and download.load_format != "dummy":
        weights = weight_files(names, download.load_format, folder)
        if not weights:
            raise RunFailed(weightless(download))
        _fetch_named(replace(download, revision=folder.name), weights)


def _require_room(download: Download, sizes: Mapping[str, int]) -> None:
    """Raise RunFailed where the disk of the hub's cache has no room for what is not here."""
    from huggingface_hub import constants

    cache = Path(constants.HF_HUB_CACHE)
    needed_gib = sum(sizes[it] for it in needed_files(download, sizes) if it in sizes) / GIB
    needed_gib -= cached_gib(download)
    there = next(it for it in (cache, *cache.absolute().parents) if it.exists())
    free_gib = shutil.disk_usage(there).free / GIB
    if needed_gib > 0 and needed_gib + _SPARE_GIB > free_gib:
        raise RunFailed(
            Problem(
                "resources.disk",
                f"{download.name} takes {needed_gib:.1f} GiB more on the disk of {cache}, and "
                f"{free_gib:.1f} GiB are free there",
                setting=download.setting,
                given=download.repository,
                fix="Make room, for example with `hf cache rm`, or name another disk in HF_HOME. "
                f"{_SPARE_GIB:.0f} GiB are left free",
            )
        )


def weightless(download: Download) -> Problem:
    """Return the problem of a repository that holds no weights."""
    return Problem(
        "model.weights",
        f"{download.name} holds no weights that vLLM loads (load_format={download.load_format})",
        setting=download.setting,
        given=download.repository,
        fix="Choose another repository, or name the format of its files with options.load_format",
    )


def _fetch_named(download: Download, names: Sequence[str] | None) -> Path:
    """Fetch files by their names, or all; return the folder, which is named after the commit."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.utils import tqdm

    class NoBar(tqdm):
        """Shows nothing: callers report in lines."""

        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **{**options, "disable": True})

    folder = snapshot_download(
        download.repository,
        revision=download.revision,
        allow_patterns=None if names is None else [glob.escape(it) for it in names],
        # The library reads the environment once, at its import.
        endpoint=os.environ.get("HF_ENDPOINT"),
        tqdm_class=NoBar,
    )
    return Path(str(folder))


def _published_sizes(
    repository: str, revision: str | None, waits_s: Sequence[float] = _WAITS_S
) -> dict[str, int]:
    """Return the size of each file that the hub has, by its path; raise as the library does."""
    from huggingface_hub import HfApi

    for wait in (*waits_s, None):
        try:
            info = HfApi(endpoint=os.environ.get("HF_ENDPOINT")).model_info(
                repository, revision=revision, files_metadata=True, timeout=_TIMEOUT_S
            )
            return {file.rfilename: file.size or 0 for file in info.siblings or ()}
        except Exception as error:
            if wait is None or _is_final(error):
                raise
            time.sleep(wait)
    raise AssertionError("the last try returns or raises")


def _is_final(error: Exception) -> bool:
    """Tell whether another try is of no use: the hub has decided, or may not be asked."""
    from huggingface_hub import errors

    if isinstance(error, errors.HfHubHTTPError):
        status: int = error.response.status_code
        return status < HTTPStatus.INTERNAL_SERVER_ERROR and status != HTTPStatus.TOO_MANY_REQUESTS
    return isinstance(error, errors.OfflineModeIsEnabled | ValueError)


def problem_of(download: Download, error: BaseException) -> Problem:
    """Return why a fetch failed, with the fix: gated, missing, no network, or something else."""
    from huggingface_hub import errors

    causes = [*_causes(error)]
    for cause in causes:
        if isinstance(cause, RunFailed):
            return cause.problems[0]

    def is_caused_by(*kinds: type[BaseException]) -> bool:
        return any(isinstance(cause, kinds) for cause in causes)

    def problem(code: Any, message: str, fix: str) -> Problem:
        return Problem(
            code,
            f"{download.name} {message}",
            setting=download.setting,
            given=download.repository,
            fix=fix,
        )

    page = f"{os.environ.get('HF_ENDPOINT') or _HUB}/{download.repository}"
    if is_caused_by(errors.GatedRepoError):
        return problem(
            "hub.access",
            "is gated",
            f"Accept its terms at {page} and set HF_TOKEN to a token of that account",
        )
    if is_caused_by(errors.RepositoryNotFoundError):
        return problem(
            "hub.missing",
            "is not on the hub, or hidden",
            "Check the name; gated and private models need HF_TOKEN, and a wrong one hides all",
        )
    if is_caused_by(errors.RevisionNotFoundError, errors.RemoteEntryNotFoundError):
        return problem(
            "hub.missing",
            "is not on the hub: the repository has no such revision or file",
            "Correct the revision, or leave it out for the newest",
        )
    if is_caused_by(errors.OfflineModeIsEnabled):
        return problem(
            "hub.unreachable",
            "could not be fetched: HF_HUB_OFFLINE forbids it",
            "Unset HF_HUB_OFFLINE, or fetch on a machine with a network that shares HF_HOME",
        )
    return problem(
        "hub.unreachable",
        f"could not be fetched from the hub ({_reason(causes[-1])})",
        "Check the network (HF_ENDPOINT, HTTPS_PROXY) and the room on the disk (HF_HOME), then run "
        "the same command again",
    )


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__


def _reason(error: BaseException) -> str:
    return of_hub(str(error)).rstrip(".") or type(error).__name__


# ------------------------------------------------------------------------------------ on one node


async def check_on(node: str, download: Download) -> Outcome:
    """Tell whether all files of a download are on a node of the cluster, given by Ray's id."""
    return await _on(node, check, download)


async def fetch_on(node: str, download: Download) -> Outcome:
    """Fetch to a node of the cluster, given by Ray's id. It takes no GPU and no CPU of Ray's."""
    return await _on(node, fetch, download)


async def missing_on(node: str, wanted: Mapping[str, Sequence[Download]]) -> frozenset[str]:
    """Return the keys of downloads that are not whole on a node; all where it does not answer."""
    import ray

    try:
        async with asyncio.timeout(_ANSWER_S):
            return await _run_on(node, _missing_keys, wanted)
    except (ray.exceptions.RayError, TimeoutError):  # the fetch looks again
        return frozenset(wanted)


def _missing_keys(wanted: Mapping[str, Sequence[Download]]) -> frozenset[str]:
    return frozenset(
        key
        for key, downloads in wanted.items()
        if any(check(download).state == "missing" for download in downloads)
    )


async def _on(node: str, work: Callable[[Download], Outcome], download: Download) -> Outcome:
    import ray

    try:
        return await _run_on(node, work, download)
    except ray.exceptions.RayError as error:
        lost = lost_on(address_of(node), download, last_line(str(error)))
        return Outcome("missing", problem=lost)


def address_of(node: str) -> str:
    """Return the address of a node, given by Ray's id, for people; the id where it is not known."""
    import ray

    addresses = {it["NodeID"]: str(it["NodeManagerAddress"]) for it in ray.nodes()}
    return addresses.get(node, node)


async def _run_on(node: str, work: Callable[[T], R], given: T) -> R:
    """Do work on a node. Where this is cancelled, the work ends, too."""
    import ray

    task = ray.remote(work).options(num_cpus=0, max_retries=0, label_selector={_NODE_ID: node})
    call = task.remote(given)
    try:
        return cast("R", await call)
    except asyncio.CancelledError:
        ray.cancel(call, force=True)
        raise


def lost_on(node: str, download: Download, reason: str) -> Problem:
    """Return the problem of a node that ended before it was done with a download."""
    return Problem(
        "resources.nodes",
        f"node {node} ended before it had {download.name} ({reason})",
        setting=download.setting,
        given=download.repository,
        fix="Look at `ray status`, then run the same command again",
    )

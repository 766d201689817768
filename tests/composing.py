"""Remember what Hydra composes of the same choices: tests compose some thousand configurations.

Which files a configuration consists of, and what they come to, depends on the groups that are
chosen (`roster=small`) and not on single settings (`seed=3`). Hydra reads and merges some 30 files
each time. This keeps every file, and the result per choice of groups, and hands out copies; Hydra
parses overrides and applies single settings as ever. Private names of Hydra 1.3 are patched for
it; with another Hydra nothing is, and tests/test_composing.py fails.
"""

import inspect
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, cast

import hydra
import hydra._internal.config_loader_impl
from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra._internal.config_repository import CachingConfigRepository
from hydra._internal.defaults_list import DefaultsList, Overrides
from omegaconf import DictConfig
from pytest import MonkeyPatch

from raybench import cli

LOADER: Any = hydra._internal.config_loader_impl  # it imports the function that it calls
VERSION = "1.3."
CHOOSE = ("repo", "config_name", "overrides_list", "prepend_hydra", "skip_missing")
MERGE = ("self", "defaults", "repo")
LOAD = ("self", "config_path")


def is_known() -> bool:
    """Return whether this Hydra has the private functions for which this file was written."""
    return (
        hydra.__version__.startswith(VERSION)
        and tuple(inspect.signature(LOADER.create_defaults_list).parameters) == CHOOSE
        and tuple(inspect.signature(ConfigLoaderImpl._compose_config_from_defaults_list).parameters)
        == MERGE
        and tuple(inspect.signature(CachingConfigRepository.load_config).parameters) == LOAD
    )


@contextmanager
def remembered() -> Iterator[None]:
    """Compose each choice of groups once; do nothing where Hydra is not the one we know."""
    if not is_known():
        yield
        return
    choose: Callable[..., DefaultsList] = LOADER.create_defaults_list
    merge = ConfigLoaderImpl._compose_config_from_defaults_list
    load = CachingConfigRepository.load_config
    chosen: dict[str, DefaultsList] = {}
    # Pickled, of which a copy is made in half the time that deepcopy takes.
    merged: dict[str, bytes] = {}
    loaded: dict[str, bytes] = {}

    @wraps(choose)
    def choose_once(
        repo: Any,
        config_name: str | None,
        overrides_list: list[Any],
        prepend_hydra: bool,
        skip_missing: bool,
    ) -> DefaultsList:
        given = (config_name, overrides_list, prepend_hydra, skip_missing)
        if not _is_ours(repo):
            return choose(repo, *given)
        asked = Overrides(repo=repo, overrides_list=overrides_list)
        groups = (asked.override_choices, asked.append_group_defaults, asked.deletions)
        key = repr((groups, config_name, prepend_hydra, skip_missing))
        if key not in chosen:
            chosen[key] = choose(repo, *given)
        known = chosen[key]
        return DefaultsList(
            known.defaults, known.defaults_tree, asked.config_overrides, known.overrides
        )

    @wraps(merge)
    def merge_once(self: ConfigLoaderImpl, defaults: list[Any], repo: Any) -> DictConfig:
        if not _is_ours(repo):
            return merge(self, defaults, repo)
        key = repr(defaults)
        if key not in merged:
            merged[key] = pickle.dumps(merge(self, defaults, repo))
        return cast(DictConfig, pickle.loads(merged[key]))

    @wraps(load)
    def load_once(self: CachingConfigRepository, config_path: str) -> Any:
        if _is_ours(self) and f"config_path={config_path}" not in self.cache:
            if config_path not in loaded:
                loaded[config_path] = pickle.dumps(load(self, config_path))
            self.cache[f"config_path={config_path}"] = pickle.loads(loaded[config_path])
        return load(self, config_path)

    with MonkeyPatch.context() as patched:
        patched.setattr(LOADER, "create_defaults_list", choose_once)
        patched.setattr(ConfigLoaderImpl, "_compose_config_from_defaults_list", merge_once)
        patched.setattr(CachingConfigRepository, "load_config", load_once)
        yield


def _is_ours(repo: Any) -> bool:
    """Return whether all files come from `conf/` and Hydra itself, which no test changes."""
    ours = {"hydra": "hydra.conf", "main": str(cli.conf_dir()), "schema": ""}
    return all(ours.get(source.provider) == source.path for source in repo.get_sources())

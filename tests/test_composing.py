"""A configuration whose files were merged before is the one that Hydra merges anew."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import composing
import pytest
from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra._internal.config_repository import CachingConfigRepository
from omegaconf import Node, OmegaConf, ValueNode

from raybench import cli
from raybench.errors import ConfigurationError

CHOICES = (
    ("+experiment=autobench",),
    ("+experiment=games", "roster=simulated", "games.names=[chess]"),
    ("+experiment=index", "roster=small", "data=samples", "index.limit=5"),
    ("+experiment=suite", "roster=simulated", "data=samples", "seed=7"),
    ("+experiment=games", "roster=simulated", "++games.rules.chess.plies=40", "fleet.slots=2"),
)


@contextmanager
def forgotten() -> Iterator[None]:
    """Compose without the memo, as users do."""
    chosen: Any = composing.LOADER.create_defaults_list
    merged: Any = ConfigLoaderImpl._compose_config_from_defaults_list
    loaded: Any = CachingConfigRepository.load_config
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(composing.LOADER, "create_defaults_list", chosen.__wrapped__)
        patched.setattr(ConfigLoaderImpl, "_compose_config_from_defaults_list", merged.__wrapped__)
        patched.setattr(CachingConfigRepository, "load_config", loaded.__wrapped__)
        yield


def described(node: Any) -> Any:
    """Return values, types and flags of a configuration and of all that is below it."""
    # What a resolver said is kept with a configuration: `now` says something else each time.
    own = (type(node), {**vars(node._metadata), "resolver_cache": None})
    held = node._val if isinstance(node, ValueNode) else node._content
    if isinstance(held, Node):  # a value of one of several types
        return own, described(held)
    if isinstance(held, dict):
        return own, {key: described(value) for key, value in held.items()}
    if isinstance(held, list):
        return own, [described(value) for value in held]
    return own, held


def test_this_hydra_is_the_one_whose_private_names_are_patched() -> None:
    assert composing.is_known()


@pytest.mark.parametrize("overrides", CHOICES, ids=" ".join)
def test_what_is_remembered_is_what_hydra_composes(overrides: tuple[str, ...]) -> None:
    with forgotten():
        new = cli._composed(overrides)
    for _ in range(2):  # and the copy that was handed out changes nothing of the next one
        kept = cli._composed(overrides)
        assert described(kept) == described(new)
        assert cli.check(cli._without_hydra(kept)) == cli.check(cli.compose(overrides))
        OmegaConf.update(kept, "roster.name", "changed", force_add=True)


def test_a_choice_that_is_refused_is_refused_each_time() -> None:
    told = []
    for _ in range(2):
        with pytest.raises(ConfigurationError) as caught:
            cli.compose(["+experiment=autobench", "roster=embeded"])
        told.append(caught.value.problems)
    assert told[0] == told[1]

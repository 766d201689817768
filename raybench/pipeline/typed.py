"""What a run was told, read from its folder as the typed configuration."""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, cast

from raybench.config import Config
from raybench.errors import ConfigurationError, Problem
from raybench.pipeline.run_identity import former
from raybench.reading import from_yaml

if TYPE_CHECKING:
    from omegaconf import DictConfig


def config_in(path: Path) -> Config:
    """Return the configuration that a run saved. Raises ConfigurationError where it is not ours."""
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException
    from yaml import YAMLError

    try:
        from_yaml(path.read_bytes())  # what grows without end the other reader would follow
        told = OmegaConf.merge(_schema(), former(), OmegaConf.load(path))
        return cast(Config, OmegaConf.to_object(told))
    except (OmegaConfBaseException, YAMLError, OSError, ValueError, RecursionError) as error:
        raise ConfigurationError(
            Problem(
                "journal.version",
                f"{path} is not what this version writes: {str(error).splitlines()[0]}",
                given=str(path),
                fix="Use the version that its first line names",
            )
        ) from error


@cache
def _schema() -> "DictConfig":
    """Return the configuration's types: merging copies them, and making them takes the longest."""
    from omegaconf import OmegaConf

    return cast("DictConfig", OmegaConf.structured(Config))

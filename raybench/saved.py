"""Running what a run has saved: `--from config.yaml` composes nothing, it takes that as it is."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from raybench.errors import ConfigurationError, Problem
from raybench.pipeline import named
from raybench.pipeline.run_identity import former
from raybench.pipeline.store import CONFIG
from raybench.reading import from_yaml
from raybench.tracking.uri import MASK

if TYPE_CHECKING:
    from omegaconf import DictConfig

FLAG = "--from"


def taken(arguments: Sequence[str]) -> tuple[str | None, list[str]]:
    """Return the file that `--from` names, None without it, and the other arguments."""
    rest = list(arguments)
    for at, argument in enumerate(rest):
        if argument.startswith(f"{FLAG}="):
            return argument.partition("=")[2], rest[:at] + rest[at + 1 :]
        if argument == FLAG:
            if at + 1 == len(rest):
                raise ConfigurationError(
                    Problem(
                        "setting.missing",
                        f"{FLAG} needs a file",
                        setting="--from",
                        fix=f"{FLAG} RUN/{CONFIG}",
                    )
                )
            return rest[at + 1], rest[:at] + rest[at + 2 :]
    return None, rest


def experiment_of(file: str) -> str:
    """Return the experiment of a saved configuration."""
    return str(_loaded(file).get("experiment"))


def compose(file: str, overrides: Sequence[str]) -> "DictConfig":
    """Return a saved configuration with some settings changed; mistakes are ConfigurationErrors."""
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    from raybench.mistakes import explain

    if flags := [it for it in overrides if it.startswith("-")]:
        raise ConfigurationError(
            Problem(
                "setting.conflict",
                f"{flags[0]} and {FLAG} do not go together",
                setting="--from",
                given=flags[0],
                fix="leave one out",
            )
        )
    config = cast("DictConfig", OmegaConf.merge(former(), _loaded(file)))
    try:
        changes = OverridesParser.create().parse_overrides(list(overrides))
    except Exception as error:
        raise ConfigurationError(explain(error, overrides, ())) from error
    for change in changes:
        key = change.key_or_group
        if key == "experiment" or change.is_delete() or change.is_sweep_override():
            raise ConfigurationError(
                Problem(
                    "setting.conflict",
                    f"'{change.input_line}': {file} has settled it",
                    setting="--from",
                    given=change.input_line,
                    fix=f"With {FLAG}, settings are changed one by one: KEY=VALUE",
                )
            )
        try:
            _change(config, key, change.value(), file, str(change.input_line))
        except (OmegaConfBaseException, ValueError) as error:
            reason = str(error).splitlines()[0]
            raise ConfigurationError(
                Problem(
                    "setting.unknown",
                    f"'{change.input_line}': {reason}",
                    setting=key,
                    given=change.input_line,
                    fix=f"See {file} for the settings that there are",
                )
            ) from error
    if MASK in str(OmegaConf.select(config, "tracking.uri")):
        raise ConfigurationError(
            Problem(
                "setting.missing",
                f"the password or token of tracking.uri is not kept in {file}",
                setting="tracking.uri",
                fix="give tracking.uri=…",
            )
        )
    return config


def _change(config: "DictConfig", key: str, value: Any, file: str, asked: str) -> None:
    from omegaconf import OmegaConf

    if isinstance(value, str) and OmegaConf.is_dict(OmegaConf.select(config, key)):
        raise ConfigurationError(
            Problem(
                "setting.conflict",
                f"'{asked}': {file} holds '{key}' whole, so that there is nothing to choose",
                setting="--from",
                given=asked,
                fix=f"Change its settings one by one, {key}.NAME=VALUE, or leave {FLAG} out",
            )
        )
    OmegaConf.update(config, key, value, force_add=True)
    OmegaConf.select(config, key, throw_on_missing=True)  # of a value that refers to another


def _loaded(file: str) -> dict[str, Any]:
    path = named.folder(file)
    try:
        if path.is_dir():
            path /= CONFIG
        held = from_yaml(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigurationError(
            Problem(
                "file.unreadable",
                f"{FLAG} '{file}' cannot be read ({error.strerror})",
                setting="--from",
                given=str(file),
                fix=f"give the {CONFIG} of a run's folder",
            )
        ) from error
    except ValueError as error:
        raise ConfigurationError(
            Problem(
                "file.format",
                f"{FLAG} '{file}' is not YAML: {error}",
                setting="--from",
                given=str(file),
            )
        ) from error
    if not isinstance(held, dict) or "experiment" not in held:
        raise ConfigurationError(
            Problem(
                "file.format",
                f"{FLAG} '{file}' is not the {CONFIG} of a run: it names no experiment",
                setting="--from",
                given=str(file),
            )
        )
    return held

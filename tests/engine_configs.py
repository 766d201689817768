"""What Ray is told of an engine, and the little of a checkpoint that is looked at for it."""

import json
from pathlib import Path
from typing import Any

from raybench.config import FleetConf
from raybench.fleet import group_engines
from raybench.fleet.llm_config import Place, llm_config
from raybench.types import ModelSpec

ANYWHERE = Place()


def checkpoint(folder: Path, **config: Any) -> str:
    """A checkpoint's folder, as far as the configuration looks at one."""
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(config))
    return str(folder)


def config(
    weights: str,
    *,
    gpu: bool = False,
    conf: FleetConf | None = None,
    options: dict[str, Any] | None = None,
    revision: str | None = None,
    place: Place = ANYWHERE,
) -> dict[str, Any]:
    (engine,) = group_engines([ModelSpec("m", "vllm", weights, revision, options=options or {})])
    return llm_config(engine, conf or FleetConf(), gpu=gpu, place=place)

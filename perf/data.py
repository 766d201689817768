"""Real questions, which are not part of the project: where they lie, and the mend if not there."""

import argparse
import json
import os
from pathlib import Path
from typing import Any

DATASETS = Path(
    os.environ.get("RAYBENCH_DATASETS") or Path(__file__).parents[2] / "shared" / "datasets"
)
_SPLITS = {
    "math500": "MATH-500",
    "math_test_5000": "MATH's test split",
    "aime2024": "AIME 2024",
    "gsm8k_test": "GSM8K's test split",
    "mgsm": "MGSM's test split",
    "mmlu_pro_test": "MMLU-Pro's test split",
}
"""By file; all have `question` and `answer`, and an `id`."""


def add_folder(parser: argparse.ArgumentParser) -> None:
    """Let a command be told where its questions lie."""
    parser.add_argument(
        "--data", type=Path, default=DATASETS, metavar="FOLDER",
        help="of the questions, one file of JSON lines for each dataset ($RAYBENCH_DATASETS, or "
        "shared/datasets beside the checkout)",
    )  # fmt: skip


def read(folder: Path, name: str) -> list[dict[str, Any]]:
    """Return the questions of a dataset; raise SystemExit with the mend where there are none."""
    path = folder / f"{name}.jsonl"
    try:
        return [json.loads(line) for line in path.read_bytes().splitlines()]
    except OSError as error:
        raise SystemExit(
            f"{path}: {error.strerror}. It has to hold {_SPLITS[name]}, a JSON object a line with "
            "`question`, `answer` and `id`, and what else the dataset has; --data or "
            "$RAYBENCH_DATASETS names another folder"
        ) from None
    except ValueError as error:
        raise SystemExit(f"{path} is no file of JSON lines: {error}") from None

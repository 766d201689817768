"""SciCode's questions for tests: the shipped ones, and such as a test makes up."""

import json
from pathlib import Path
from typing import Any

from raybench import benchmarks

SAMPLES = Path(benchmarks.__path__[0]) / "samples"
SCICODE = benchmarks.load("scicode")
PLAIN: dict[str, Any] = {"t": "float", "v": "2.0"}


def shipped() -> dict[str, dict[str, Any]]:
    """Return the shipped questions by their steps."""
    beside = {"scicode_targets.jsonl": SAMPLES / "scicode_targets.jsonl"}
    lines = (SAMPLES / "scicode.jsonl").read_text(encoding="utf-8").splitlines()
    found = [it for line in lines for it in SCICODE.questions(json.loads(line), beside)]
    return {row["step"]: SCICODE.from_hub(row) for row in found}


def step(number: str, header: str, *cases: str, gold: str = "", **more: Any) -> dict[str, Any]:
    """Return a step of a problem."""
    return {
        "step_number": number,
        "step_description_prompt": f"Write {header}",
        "step_background": f"Background of {number}.",
        "ground_truth_code": gold,
        "function_header": f"def {header}:",
        "test_cases": list(cases),
        "return_line": "    return x",
        **more,
    }


def question(*steps: dict[str, Any], targets: Any = (), **more: Any) -> dict[str, Any]:
    """Return the question for the last of some steps."""
    return {
        "problem_id": "1",
        "problem_name": "made_up",
        "problem_description_main": "Made up.",
        "required_dependencies": "import numpy as np",
        "sub_steps": list(steps),
        "step": steps[-1]["step_number"],
        "given": {},
        "targets": [{"value": target} for target in targets],
        **more,
    }


def doubling(*cases: str, targets: Any = (PLAIN,)) -> dict[str, Any]:
    """Return the question for a function that doubles; that of 1.0 is 2.0."""
    told = cases or ("assert np.allclose(double(1.0), target)",)
    return question(
        step("1.1", "double(x)", *told, gold="def double(x):\n    return 2 * x"), targets=targets
    )


def block(code: str) -> str:
    """Return a reply with a program in it."""
    return f"Here it is.\n```python\n{code}\n```\n"

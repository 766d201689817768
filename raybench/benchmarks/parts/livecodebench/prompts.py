"""How a problem is put: both prompts of seed 001, to the letter."""

from collections.abc import Mapping
from typing import Any

from raybench.benchmarks.parts import rows

_STARTED = (
    "You will use the following starter code to write the solution to the problem and enclose your "
    "code within delimiters."
)
_READS = (
    "Read the inputs from stdin solve the problem and write the answer to stdout (do not directly "
    "test on the sample inputs). Enclose your code within delimiters as follows. Ensure that when "
    "the python program runs, it reads the inputs, runs the algorithm and writes output to STDOUT."
)
_CODE = "# YOUR CODE HERE"
# The methodology says that it changes nothing of the original implementation's prompts. Its
# quotation of the one without starter code is cut before this line's last parenthesis, which the
# original has in both (lcb_runner/prompts/code_generation.py, get_generic_question_template_answer)
# and which stands here. The original's empty line at the end is in neither quotation, nor here.
_ANSWER = "### Answer: (use the provided format with backticks)"


def of(row: Mapping[str, Any]) -> str:
    """Return what is asked of a problem, in which form, and with its starter code if it has any."""
    starter = row.get("starter_code")
    form, code = (_READS, _CODE) if rows.empty(starter) else (_STARTED, starter)
    question = f"### Question:\n{row['question_content']}"
    return f"{question}\n\n### Format: {form}\n```python\n{code}\n```\n\n{_ANSWER}"

"""SciCode's problems as questions, one for each step: prompt, earlier code, the code of a reply."""

import ast
import re
from collections.abc import Iterator, Mapping
from typing import Any

from raybench.benchmarks.parts import rows
from raybench.benchmarks.parts.contract import Row, UngradableError
from raybench.errors import Problem
from raybench.grading.syntax import parsed
from raybench.statements import Statement

Step = Mapping[str, Any]
_OF_A_STEP = (
    *("step_number", "step_description_prompt", "step_background", "function_header"),
    *("test_cases", "return_line"),
)
_IMPORTS = re.compile(r"import |from .*\simport\s")
"""How lines begin that upstream takes out of a reply: they import, wherever they stand."""
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_FENCE = "```"
_LANGUAGE = re.compile(r"[\w.+#{}-]*")
"""What may stand behind a fence and is no code; of `python3`, what follows `python`."""
_TEMPLATE = """\
PROBLEM DESCRIPTION:
You will be provided with the main description of the problem, previous steps, and the next step. \
Your task will be to generate the disciplinary knowledge necessary for solving the next step and \
then develop a Python solution focused on this step.

PREVIOUS STEPS DESCRIPTION:
{previous}

NEXT STEP - PROBLEM DESCRIPTION AND FUNCTION HEADER:
This part will describe the next step in the problem-solving process. First, provide the necessary \
scientific background knowledge as a comment at the beginning of your response, starting with \
'Background: '. Then, a function header will be provided, and your task is to develop the Python \
code for this next step based on the provided description and function header.

{next}

DEPENDENCIES:
Use only the following dependencies in your solution. Do not include these dependencies at the \
beginning of your code.
{dependencies}

RESPONSE GUIDELINES:
1. Start with the scientific background required for the next step, formatted as a comment.
2. Then write the complete and executable Python program for the next step in a single block.
3. Your response should focus exclusively on implementing the solution for the next step, adhering \
closely to the specified function header and the context provided by the initial steps.
4. DO NOT include previous function code, example usage or test code in your response.
5. Ensure your response is in the format of ```python``` and includes the necessary background as \
a comment at the top.

Example:
```python
# Background: [Here, insert the necessary scientific knowledge required for the next step.]

[Insert the Python code here based on the provided function header and dependencies.]
```
"""


def prompt(row: Row) -> str:
    """Return what a model is asked about a step: the methodology's text, upstream's parts in it."""
    *earlier, now = so_far(row)
    told = [f"{_described(step)}\n\n{code_of(row, step)}" for step in earlier]
    header = f"{_described(now)}\n\n{now['function_header']}\n\n{now['return_line']}"
    return _TEMPLATE.format_map(
        {
            "previous": "\n\n------\n\n".join(told),
            "next": header,
            "dependencies": row["required_dependencies"],
        }
    )


def so_far(row: Row) -> list[Step]:
    """Return the steps up to the one that is asked, which is the last."""
    if "step" not in row:
        raise ValueError(
            f"problem {row['problem_id']} is a row of the hub's, which holds several questions: "
            "take them from benchmarks.load('scicode').questions(row, {})"
        )
    numbers = [str(step["step_number"]) for step in row["sub_steps"]]
    return list(row["sub_steps"][: numbers.index(str(row["step"])) + 1])


def before(row: Row) -> list[str]:
    """Return the numbers of the steps before the one that is asked."""
    return [str(step["step_number"]) for step in so_far(row)[:-1]]


def problems(row: Row) -> Iterator[Problem]:
    """Yield what is wrong with a question and its steps."""
    yield from rows.blank(row, "problem_id", "problem_description_main")
    if wrong := list(unsound(row)):
        yield from wrong
        return
    yield from rows.blank(row, "step")
    if rows.empty(row["step"]):
        return
    numbers = [str(step["step_number"]) for step in row["sub_steps"]]
    if str(row["step"]) not in numbers:
        yield Problem(
            "data.invalid",
            f"'step' is '{row['step']}', which is none of 'sub_steps': {', '.join(numbers)}",
            setting="step",
            given=row["step"],
        )
    elif not so_far(row)[-1]["test_cases"]:
        yield Problem(
            "data.invalid",
            f"'test_cases' of step {row['step']} is empty: anything would pass",
            setting="test_cases",
        )


def unsound(row: Row) -> Iterator[Problem]:
    """Yield what is wrong with a problem's steps and dependencies, whichever step is asked."""
    needed, sub_steps = row.get("required_dependencies", ""), row.get("sub_steps")
    if not isinstance(needed, str) or parsed(needed) is None:
        yield Problem(
            "data.invalid",
            "'required_dependencies' is no Python",
            setting="required_dependencies",
            fix="give the lines that import, or an empty text",
        )
    if not isinstance(sub_steps, list) or not sub_steps:
        yield Problem(
            "data.invalid",
            "'sub_steps' is no list with steps in it",
            setting="sub_steps",
            fix="give them, or leave the row out",
        )
        return
    for place, step in enumerate(sub_steps, start=1):
        known = step if isinstance(step, Mapping) else {}
        if lacking := [repr(column) for column in _OF_A_STEP if column not in known]:
            yield Problem(
                "data.invalid",
                f"step {place} of 'sub_steps' lacks {', '.join(lacking)}",
                setting="sub_steps",
                fix="fill it in",
            )
        else:
            yield from _unsound(step)


def _unsound(step: Step) -> Iterator[Problem]:
    number = step["step_number"]
    if rows.empty(number):
        yield Problem(
            "data.invalid",
            "'step_number' of a step is empty",
            setting="step_number",
            fix="fill it in",
        )
    if not str(step["step_description_prompt"] or "").strip():
        yield Problem(
            "data.invalid",
            f"'step_description_prompt' of step {number} is empty",
            setting="step_description_prompt",
            fix="fill it in",
        )
    if not str(step["function_header"] or "").strip():
        yield Problem(
            "data.invalid",
            f"'function_header' of step {number} is empty",
            setting="function_header",
            fix="fill it in",
        )
    elif not _begins_definition(str(step["function_header"])):
        yield Problem(
            "data.invalid",
            f"'function_header' of step {number} begins no function or class",
            setting="function_header",
            fix="mend it",
        )
    if not isinstance(step["test_cases"] or [], list):
        yield Problem(
            "data.invalid",
            f"'test_cases' of step {number} is no list",
            setting="test_cases",
            fix="give one of texts",
        )
        return
    for place, case in enumerate(step["test_cases"] or (), start=1):
        if parsed(str(case)) is None:
            yield Problem(
                "data.invalid", f"test case {place} of step {number} is no Python", fix="mend it"
            )


def _begins_definition(header: str) -> bool:
    tree = parsed(f"{header}\n    pass")
    return tree is not None and any(isinstance(it, _DEFINITIONS) for it in tree.body[-1:])


def code_of(row: Row, step: Step) -> str:
    """Return the code of an earlier step: the model's own, the given one, or the solution's."""
    number = str(step["step_number"])
    for codes in (row.get("previous") or {}, row.get("given") or {}):
        if (code := codes.get(number)) is not None:
            return str(code)
    if code := step.get("ground_truth_code"):
        return str(code)
    raise UngradableError(
        Statement(
            "ungradable.no_code",
            "step {step} needs the code of step {before}, and neither a reply nor a solution has "
            "any: ask the steps of a problem one after the other",
            step=row["step"],
            before=number,
        )
    )


def written(response: str) -> str | None:
    """Return the program of a reply as it stands there; None where there is nothing.

    It is what upstream takes: the first block of Python, else the first block, else all of it. A
    block that nothing closes goes on to the end.
    """
    fence = f"{_FENCE}python" if f"{_FENCE}python" in response else _FENCE
    before, opened, after = response.partition(fence)
    found = after.partition(_FENCE)[0] if opened else before
    first, line_end, rest = found.partition("\n")
    if opened and line_end and _LANGUAGE.fullmatch(first.strip()):
        found = rest
    return found.rstrip().replace("\r\n", "\n") or None


def code(response: str) -> str | None:
    """Return the program of a reply without its imports; None where there is nothing."""
    return bare(written(response))


def bare(written: str | None) -> str | None:
    """Return a program without its imports; None where there is nothing."""
    if written is None or not (found := written.rstrip()):
        return None
    lines = found.split("\n")
    return "\n".join("" if _IMPORTS.match(f"{it.lstrip()}\n") else it for it in lines)


def program(row: Row, code: str) -> str:
    """Return the whole program: dependencies, the code of the steps before, and this step's."""
    earlier = [code_of(row, step) for step in so_far(row)[:-1]]
    return "\n".join([row["required_dependencies"], *earlier, "", code])


def _described(step: Step) -> str:
    return f"{step['step_description_prompt']}\n{step['step_background'] or ''}"

"""The equality checker: a model says whether an answer that the script does not call right is."""

_PROMPT = """\
Look at the following two expressions (answers to a math problem) and judge whether they are equivalent. Only perform trivial simplifications

Examples:

    Expression 1: $2x+3$
    Expression 2: $3+2x$

Yes

    Expression 1: 3/2
    Expression 2: 1.5

Yes

    Expression 1: $x^2+2x+1$
    Expression 2: $y^2+2y+1$

No

    Expression 1: $x^2+2x+1$
    Expression 2: $(x+1)^2$

Yes

    Expression 1: 3245/5
    Expression 2: 649

No
(these are actually equal, don't mark them equivalent if you need to do nontrivial simplifications)

    Expression 1: 2/(-3)
    Expression 2: -2/3

Yes
(trivial simplifications are allowed)

    Expression 1: 72 degrees
    Expression 2: 72

Yes
(give benefit of the doubt to units)

    Expression 1: 64
    Expression 2: 64 square feet

Yes
(give benefit of the doubt to units)

---

YOUR TASK


Respond with only "Yes" or "No" (without quotes). Do not include a rationale.

    Expression 1: %(expression1)s
    Expression 2: %(expression2)s"""  # noqa: E501
"""OpenAI's, from github.com/openai/simple-evals (common.py, EQUALITY_TEMPLATE), as published."""


def prompt(truth: str, given: str) -> str:
    """Return what the checker is asked: one user message."""
    return _PROMPT % {"expression1": truth, "expression2": given}


def verdict(reply: str) -> bool | None:
    """Return whether the checker calls the answer right; None where it says neither yes nor no."""
    match reply.strip().lower().removesuffix("."):
        case "yes":
            return True
        case "no":
            return False
    return None

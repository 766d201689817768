"""The prompts of HLE, as the methodology and the paper quote them."""

from raybench.benchmarks.parts.hle.options import CHOICE, EXACT
from raybench.types import Wording

_BY_TYPE = {
    EXACT: "Your response should be in the following format:\n"
    "Explanation: {your explanation for your final answer}\n"
    "Exact Answer: {your succinct, final answer}\n"
    "Confidence: {your confidence score between 0% and 100% for your answer}",
    CHOICE: "Your response should be in the following format:\n"
    "Explanation: {your explanation for your answer choice}\n"
    "Answer: {your chosen answer}\n"
    "Confidence: {your confidence score between 0% and 100% for your answer}",
}
_SINGLE = (
    "Your response should be in the following format:\n\n"
    "Explanation: {your explanation for your answer choice}\n\n"
    "Answer: {your chosen answer}\n\n"
    "Confidence: {your confidence score between 00% and 100% for your answer}"
)


def system(answer_type: str, wording: Wording = "by_type") -> str:
    """Return what a model is told of the form of its response. The braces belong to it."""
    return _SINGLE if wording == "single" else _BY_TYPE[answer_type]


def label(answer_type: str, wording: Wording = "by_type") -> str:
    """Return what the answer stands behind in a response of this form."""
    return "Exact Answer" if (answer_type, wording) == (EXACT, "by_type") else "Answer"


def judge(question: str, response: str, correct_answer: str) -> str:
    """Return what the judge is asked, in one message.

    It is the methodology's text; the paper prints one line break less before `confidence`.
    Each text goes in once and as it is: braces within one of them are not filled in.
    """
    return f"""Judge whether the following [response] to [question] is correct or not based on the precise and unambiguous [correct_answer] below.

[question]: {question}

[response]: {response}

Your judgement must be in the format and criteria specified below:

extracted_final_answer: The final exact answer extracted from the [response]. Put the extracted answer as 'None' if there is no exact, final answer to extract from the response.

[correct_answer]: {correct_answer}

reasoning: Explain why the extracted_final_answer is correct or incorrect based on [correct_answer], focusing only on if there are meaningful differences between [correct_answer] and the extracted_final_answer. Do not comment on any background to the problem, do not attempt to solve the problem, do not argue for any answer different than [correct_answer], focus only on whether the answers match.

correct: Answer 'yes' if extracted_final_answer matches the [correct_answer] given above, or is within a small margin of error for numerical problems. Answer 'no' otherwise, i.e. if there if there is any inconsistency, ambiguity, non-equivalency, or if the extracted answer is incorrect.


confidence: The extracted confidence score between 0|%| and 100|%| from [response]. Put 100 if there is no confidence score available."""  # noqa: E501

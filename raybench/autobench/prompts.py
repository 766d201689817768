"""The four prompts of AutoBench, taken exactly, and the one reply that judges give.

Tables 5 to 8 of the paper. The typographic quotes and the line breaks of table 5 are its own. It
prints the task prompt for one case, a 'difficult' question about math: its third paragraph belongs
to the difficulty and its fourth to the topic. The wording for the others is ours, in that form.
What judges rate may be enclosed in a fence where the paper inserts it as it is; its own words stay.
"""

import re

from raybench.autobench.fence import enclosed

_TASK_HEAD = (
    "Generate {difficulty} question about {topic}. Keep the question clear,\n"
    "self-contained, and unambiguous."
)
_TASK_TAIL = (
    "Return exactly the final question text only - do NOT include\n"
    "chain-of-thought, commentary, steps, or explanations.\n"
    "Do not surround the question with quotes or extraneous punctuation.\n"
    "Keep it concise and well-formed.\n"
    "If you are a thinking/reasoning model, ALWAYS ensure the final\n"
    "question appears in the standard ’content’ field only; do NOT\n"
    "place it in ’reasoning_content’, do NOT leave the ’content’\n"
    "field empty once you finish reasoning."
)
_DIFFICULTY_GUIDANCE = {
    "very difficult": (
        "Requires deep analysis and several dependent reasoning steps; expect high\ndifficulty."
    ),
    "difficult": ("Requires analysis and multi-step reasoning; expect intermediate\ndifficulty."),
    "standard": ("Requires solid understanding and some reasoning; expect standard\ndifficulty."),
}
_TOPIC_GUIDANCE = {
    "math": (
        "Pose a math problem (word problem or symbolic) that requires\n"
        "calculation or reasoning. Include units if relevant."
    ),
}
_ANSWER = (
    "Answer the question clearly, correctly, and concisely. Avoid hallucinations and "
    "speculative claims; include only facts you are confident about. Do NOT reveal "
    "chain-of-thought, internal reasoning steps, or chain-of-thought tags; output only the "
    "final answer. If you are a thinking/reasoning model, ALWAYS place the final answer in "
    "the standard ’content’ field only; do NOT place it in ’reasoning_content’, do NOT leave "
    "the ’content’ field empty once you finish reasoning. Question: {question} Answer:"
)
_RATE_TASK = (
    "Evaluate the quality of the question on an integer scale 1–5. Consider clarity, "
    "appropriateness for the stated difficulty, relevance to the topic, grammar/formulation, "
    "and engagement. Return ONLY the final score as XML exactly like this: <rank>n</rank> "
    "with no extra text. If you are a thinking/reasoning model, place the final <rank> tag in"
    " the ’content’ field only; do not place it in ’reasoning_content’. Question: {question} "
    "Difficulty: {difficulty} Topic: {topic} Return:"
)
_RATE_ANSWER = (
    "You are an expert evaluator. Rank the answer on an integer scale 1–5 using the criteria "
    "below. **Strict correctness gate:** if the answer contains any factual error, clear "
    "hallucination, or an answer that is broken/irrelevant for the question, the maximum "
    "score allowed is 2. After applying the gate, judge on correctness, clarity, relevance, "
    "structure/grammar, and depth. Scale (post-gate): 1: Poor/off-topic or contains "
    "substantial errors. 2: Partially correct but contains important mistakes or omissions. "
    "3: Correct, clear, and relevant; adequate but not deep. 4: Correct with good structure, "
    "depth, and precise coverage. 5: Correct and exceptional — excellent clarity, original "
    "insight, or thoroughness. IMPORTANT: Return ONLY the rank wrapped in XML exactly like "
    "this: <rank>n</rank> where n is an integer 1-5. No additional text, no punctuation, no "
    "explanation. If you are a thinking/reasoning model, place the final <rank> tag in the "
    "’content’ field only; do not place it in ’reasoning_content’. Question: {question} "
    "Answer: {answer} Return:"
)

RANK_REGEX = "<rank>[1-5]</rank>"
"""What a rating looks like, for engines that can constrain their decoding."""

_RANK = re.compile(r"<rank>([^<]*)</rank>")  # of any length in one pass


def task(difficulty: str, phrase: str, topic: str) -> str:
    """Table 5: ask a model to pose a question. The phrase is the difficulty as a noun phrase."""
    guidance = (_DIFFICULTY_GUIDANCE.get(difficulty), _TOPIC_GUIDANCE.get(topic))
    head = _TASK_HEAD.format(difficulty=phrase, topic=topic)
    return "\n".join(part for part in (head, *guidance, _TASK_TAIL) if part)


def answer(question: str) -> str:
    """Table 6: ask a contestant to answer the question."""
    return _fill(_ANSWER, question=question)


def rate_task(question: str, difficulty: str, topic: str, *, fenced: bool = False) -> str:
    """Table 7: ask a judge how good the question is; fenced, no word of it passes for ours."""
    if fenced:
        question = _question(question)
    return _fill(_RATE_TASK, question=question, difficulty=difficulty, topic=topic)


def rate_answer(question: str, answer: str, *, fenced: bool = False) -> str:
    """Table 8: ask a judge how good the answer is; fenced, no word of either passes for ours."""
    if fenced:
        question = _question(question)
        answer = enclosed(answer, "the answer to rate", beside=question)
    return _fill(_RATE_ANSWER, question=question, answer=answer)


def parse_rank(text: str) -> int | None:
    """Read the rating out of a reply; None where there is none, or more than one to choose from.

    A reply that repeats the same rating is read; one that names two different ratings, or one
    outside 1 to 5, is not: guessing which was meant would be a silent number.
    """
    found = {said.strip() for said in _RANK.findall(text)}
    if len(found) != 1:
        return None
    rank = found.pop()
    return int(rank) if rank in {"1", "2", "3", "4", "5"} else None


def _question(text: str) -> str:
    # Nothing but the question is in its mark: all prompts about it have their beginning in common.
    return enclosed(text, "the question")


def _fill(template: str, **fields: str) -> str:
    # One pass, so that braces or placeholders inside a model's text stay as they are.
    return re.sub(r"\{(\w+)\}", lambda match: fields[match[1]], template)

"""What human reviewers are asked about a question, in HLE's two rounds.

The first round is feedback: one to three reviewers help the contributor to a question that is
closed, sound and hard. In the second an organizer or an expert approves it. The paper's own rubric
is in its supplement, which is not quoted here: the fields follow its guidelines, the words are
ours.
"""

from collections.abc import Mapping
from typing import Literal, get_args

from raybench.config import MOST_REVIEWERS

Decision = Literal["accept", "revise", "reject"]
DECISIONS: tuple[Decision, ...] = get_args(Decision)
Answer = Literal["yes", "no", "unsure"]
ANSWERS: tuple[Answer, ...] = get_args(Answer)
FEEDBACK, APPROVAL, SEARCH, AUDIT, CONSENSUS = 1, 2, 3, 4, 5
"""The rounds. The third is for questions that a model with a search answered: a person searches.
The others are of audits: experts solve published questions, and settle what one of them flags."""
ROUNDS = (FEEDBACK, APPROVAL, SEARCH, AUDIT, CONSENSUS)

CHECKS: Mapping[str, str] = {
    "in_domain": "Is the question in a field that you hold a graduate degree in?",
    "precise": "Are its terms and quantities defined, so that experts read it the same way?",
    "unambiguous": "Is there one answer, which experts accept?",
    "closed_ended": "Is the answer short and factual, and not an essay, a proof or an opinion?",
    "solvable": "Can an expert answer it from the text alone?",
    "non_searchable": "Does a web search fail to find the answer?",
    "original": "Is it original, and not only a restatement of something published?",
    "graduate_level": "Does it require graduate expertise or knowledge of a highly specific topic?",
    "answer_verified": "Did you find the given answer by solving the question yourself?",
    "rationale_sound": "Does every step of the rationale hold, and does it prove the answer?",
    "english_and_latex": "Is it written in clear English, with formulas in LaTeX that renders?",
    "prohibited_content": "Would its answer help to build weapons of mass destruction, or harm?",
}
"""What is answered with yes, no or unsure. A good question has yes in all, no in the last."""
PROHIBITED, SEARCHED = "prohibited_content", "non_searchable"
SCORES: Mapping[int, str] = {
    0: "not usable: off topic, prohibited, or without a right answer",
    1: "wrong, open-ended or easily found by a search: it needs a complete rewrite",
    2: "a good idea with a large flaw: ambiguous, or below graduate level",
    3: "sound, with small flaws that the author can fix",
    4: "good: sound, original and hard",
    5: "outstanding: few experts can answer it, and all would accept the answer",
}
GOOD = 4
"""The least mean score of a round: good and outstanding questions enter the dataset, as in HLE."""
GIVEN = ("score", "decision", "comments")
"""What a reviewer fills in besides: a score, accept or revise or reject, and words."""


def guide(command: str) -> str:
    """Return the instructions for reviewers, in Markdown, which accompany the sheet.

    `command` takes the sheets back.
    """
    lines = [
        "# How to review the questions",
        "",
        "Fill in the sheet in this folder: `review.csv`, or `audit.csv` for an audit. Each row is "
        "one review of one question in one round. Write your name into `reviewer` of each row that "
        "you fill in. Rows with the same name count as one reviewer.",
        "",
        "## Rounds",
        "",
        f"- Round {FEEDBACK} gives feedback to the author. One to {MOST_REVIEWERS} reviewers fill "
        "in one row each.",
        f"- Round {APPROVAL} decides. An organizer or an expert fills in the row, and reads the "
        "reviews of the first round in `notes`.",
        f"- Round {SEARCH} is for questions that a model with search tools answered and the same "
        "model without them did not. Search the web for the answer. Write no into "
        "`non_searchable` if it is easily found, which rejects the question, else yes.",
        f"- Round {AUDIT} is an audit of published questions. Solve the question. Accept it if you "
        "agree with its answer and its statement, else write revise or reject, and why.",
        f"- Round {CONSENSUS} is for questions that an auditor did not accept. Organizers, author "
        "and auditors discuss them, and write here what they agree on: accept if the question is "
        "right after all.",
        "",
        "## Blank rows",
        "",
        f"- Rows of round {APPROVAL} may stay blank during round {FEEDBACK}. After the hand-in a "
        f"new sheet asks for round {APPROVAL}.",
        "- A blank row counts as a pending review. Delete rows that nobody will fill in before the "
        f"first hand-in. Round {FEEDBACK} rejects a question only if all its rows are filled in "
        "with reject. While one of them is blank, a reject counts as revise.",
        f"- Finish round {FEEDBACK} before the hand-in: the scores on the sheet decide, and the "
        f"next sheet repeats round {FEEDBACK} only for questions that have no score yet.",
        "",
        "## What becomes of a question",
        "",
        f"- Published or held out: the mean score of round {FEEDBACK} is {GOOD} or more, and all "
        f"reviewers of round {APPROVAL} accept it. If they give scores, their mean is {GOOD} or "
        "more, too.",
        f"- To be revised: a reviewer writes revise, or only some rows of round {FEEDBACK} say "
        f"reject, and round {APPROVAL} does not accept the question. The author changes it as the "
        "comments say.",
        f"- Low score: the mean score of a round is below {GOOD}. The question is not published.",
        f"- Rejected: by a reviewer of round {APPROVAL}, by all reviewers of round {FEEDBACK}, or "
        f"because a reviewer writes yes into `{PROHIBITED}`. The question is not published.",
        "",
        "A question that was not accepted may come back if its author changed it: as a candidate "
        "with the same id, which passes the panel and all rounds again. An unchanged question is "
        "refused.",
        "",
        "## Hand-in",
        "",
        "When the sheets are filled in, the operator runs the command below with the names of the "
        "files that came back. Several copies of a sheet may be named.",
        "",
        f"    {command}",
        "",
        "## Columns",
        "",
        f"Answer these with {', '.join(ANSWERS)}:",
        "",
        *(f"- `{name}`: {asked}" for name, asked in CHECKS.items()),
        "",
        "`score`:",
        "",
        *(f"- {score}: {means}" for score, means in SCORES.items()),
        "",
        f"`decision`: {', '.join(DECISIONS)}. `comments`: what the author should know.",
        "",
        "An apostrophe before = + - or @ at the beginning of a cell is not part of its text: it "
        "keeps spreadsheets from running the cell as a formula. You may leave it or remove it.",
    ]
    return "\n".join(lines) + "\n"

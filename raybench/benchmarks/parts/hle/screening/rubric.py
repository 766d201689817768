"""What human reviewers are asked of a question, in HLE's two rounds.

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
    "closed_ended": "Is the answer a fact and short, and no essay, proof or matter of opinion?",
    "solvable": "Can it be answered from what it says, with expert knowledge?",
    "non_searchable": "Would a search for its words fail to bring up the answer?",
    "original": "Is it original work, or more than a restatement of something published?",
    "graduate_level": "Does it take graduate expertise, or knowledge of a highly specific topic?",
    "answer_verified": "Did you arrive at the given answer yourself?",
    "rationale_sound": "Does the rationale prove the answer, each step of it?",
    "english_and_latex": "Is it in clear English, and are its formulas in LaTeX that renders?",
    "prohibited_content": "Would its answer help to build weapons of mass destruction, or harm?",
}
"""What is answered with yes, no or unsure. A good question has yes in all, no in the last."""
PROHIBITED, SEARCHED = "prohibited_content", "non_searchable"
SCORES: Mapping[int, str] = {
    0: "no question for this exam: off topic, prohibited, or without a right answer",
    1: "wrong, open-ended or to be found by a search: it would have to be written anew",
    2: "a right idea, with a large flaw: ambiguous, or below graduate level",
    3: "sound, with small flaws that the contributor can mend",
    4: "good: sound, original and hard",
    5: "outstanding: what few experts can answer, and all would accept",
}
GOOD = 4
"""The least mean score of a round: good and outstanding questions enter the dataset, as in HLE."""
GIVEN = ("score", "decision", "comments")
"""What a reviewer fills in besides: a score, accept or revise or reject, and words."""


def guide() -> str:
    """Return what reviewers are told, as a text of Markdown that goes with the sheet."""
    lines = [
        "# Reviewing questions",
        "",
        f"Round {FEEDBACK} helps the contributor: one to {MOST_REVIEWERS} reviewers each fill in a "
        f"row. Round {APPROVAL} decides: an organizer or an expert fills in its row. Write your "
        "name into `reviewer` of each row that you fill in: rows of one name are one reviewer. "
        "Rows that are left blank are reviewers "
        f"who have not spoken: round {FEEDBACK} alone rejects a question only if all its "
        "reviewers reject, so take out the rows of those who will not.",
        "",
        f"Round {SEARCH} is for questions that a model with search tools answered and the same "
        "model without them did not. Search the web for the answer, and fill in `non_searchable`: "
        "no if it is easily found, which rejects the question, else yes.",
        "",
        f"Round {AUDIT} is an audit: solve the question, then accept it if you agree with its "
        "answer and its statement, else write revise or reject, and why. Organizers, author and "
        f"auditors discuss what is flagged; round {CONSENSUS} says what they agree on: accept if "
        "the question is right after all.",
        "",
        f"A question is published only if round {FEEDBACK} gives it a mean score of {GOOD} or more "
        f"and everybody who fills in round {APPROVAL} accepts it. A question that is to be revised "
        "comes back as a candidate with the same id once its author changed it; as it was it is "
        "refused. Hand this sheet in with `+experiment=hle_screen reviewed=[SHEET]`.",
        "",
        f"Answer these with {', '.join(ANSWERS)}:",
        "",
        *(f"- `{name}`: {asked}" for name, asked in CHECKS.items()),
        "",
        "`score`:",
        "",
        *(f"- {score}: {means}" for score, means in SCORES.items()),
        "",
        f"`decision`: {', '.join(DECISIONS)}. `comments`: what the contributor should know.",
        "",
        "An apostrophe before = + - or @ at the beginning of a cell is no part of its text: it "
        "keeps spreadsheets from running the cell as a formula. Leave it or take it away.",
    ]
    return "\n".join(lines) + "\n"

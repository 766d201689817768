import re
from typing import get_args

import methodology
import pytest
from hypothesis import given
from hypothesis import strategies as st

from raybench.benchmarks.parts.hle import prompts
from raybench.benchmarks.parts.hle.options import CHOICE, EXACT
from raybench.types import Wording

TYPES = (EXACT, CHOICE)
SLOTS = ("{question}", "{response}", "{correct_answer}")


QUOTED = r'System Prompt for {} Questions: \s*"(.*?)"'
"""How the methodology quotes them."""


def test_the_prompts_by_type_are_the_methodologys() -> None:
    told = methodology.text()
    for answer_type, name in ((EXACT, "Exact Answer"), (CHOICE, "Multiple Choice")):
        quoted = re.search(QUOTED.format(name), told, flags=re.DOTALL)
        assert quoted
        assert prompts.system(answer_type) == quoted[1]


def test_the_single_prompt_is_the_papers() -> None:
    for answer_type in TYPES:
        assert prompts.system(answer_type, "single") in methodology.paper_of_hle()


@pytest.mark.parametrize("wording", get_args(Wording))
@pytest.mark.parametrize("answer_type", TYPES)
def test_every_prompt_asks_for_the_confidence(answer_type: str, wording: Wording) -> None:
    told = prompts.system(answer_type, wording)
    assert told.count("Confidence: {your confidence score") == 1
    assert ("Exact Answer: " in told) == (answer_type == EXACT and wording == "by_type")


def test_the_judges_prompt_is_the_methodologys_and_the_papers() -> None:
    told = prompts.judge(*SLOTS)
    assert told in methodology.text()
    # The page of the paper has other space between its paragraphs.
    paper = re.sub(r"\n+", "\n", methodology.paper_of_hle())
    assert re.sub(r"\n+", "\n", told) in paper


@given(st.text(), st.text(), st.text())
def test_every_text_goes_into_the_judges_prompt_once_and_as_it_is(
    question: str, response: str, answer: str
) -> None:
    first, second, third = re.split("|".join(map(re.escape, SLOTS)), prompts.judge(*SLOTS))[:3]
    told = prompts.judge(question, response, answer)
    assert told.startswith(f"{first}{question}{second}{response}{third}{answer}\n\nreasoning: ")


def test_braces_in_a_response_bring_nothing_of_the_answer_to_light() -> None:
    told = prompts.judge("Why?", "{correct_answer} %(answer)s {0}", "the secret")
    assert "[response]: {correct_answer} %(answer)s {0}\n" in told
    assert told.count("the secret") == 1

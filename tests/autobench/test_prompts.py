"""The prompts are the paper's, letter by letter, and ratings are read without guessing."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raybench.autobench import prompts

SEED = Path(__file__).parents[3] / "shared" / "seeds"


@pytest.fixture(scope="module")
def paper() -> str:
    files = list(SEED.glob("002_*.txt"))
    if not files:
        pytest.skip("the paper's text (shared/seeds/002_*) is not beside this checkout")
    return files[0].read_text(encoding="utf-8")


def test_the_task_prompt_is_table_5(paper: str) -> None:
    template = prompts.task("difficult", "{difficulty}", "math").replace(
        "about math", "about {topic}"
    )
    assert template in paper


def test_the_other_prompts_are_tables_6_to_8(paper: str) -> None:
    question = "[Question text is inserted here]"
    assert prompts.answer(question) in paper
    assert (
        prompts.rate_task(
            question,
            "[Difficulty label, e.g., ’difficult’]",
            "[Topic label, e.g., ’math’]",
        )
        in paper
    )
    assert prompts.rate_answer(question, "[Answer text is inserted here]") in paper


def test_every_topic_and_difficulty_has_a_prompt_without_the_math_line() -> None:
    prompt = prompts.task("very difficult", "a very difficult", "history")
    assert "a very difficult " in prompt and " history." in prompt
    assert "math problem" not in prompt


@pytest.mark.parametrize(
    ("reply", "rank"),
    [
        ("<rank>4</rank>", 4),
        ("Sure! <rank> 2 </rank>\n", 2),
        ("<rank>3</rank> so again <rank>3</rank>", 3),
        ("<rank>4</rank> or <rank>5</rank>", None),
        ("<rank>n</rank>", None),
        ("<rank>0</rank>", None),
        ("<rank>6</rank>", None),
        ("<rank>4.5</rank>", None),
        ("<rank>٤</rank>", None),
        ("<rank>4", None),
        ("4", None),
        ("", None),
    ],
)
def test_ratings_are_read_or_left_out(reply: str, rank: int | None) -> None:
    assert prompts.parse_rank(reply) == rank


@given(st.text())
def test_no_reply_breaks_the_parser(reply: str) -> None:
    assert prompts.parse_rank(reply) in {None, 1, 2, 3, 4, 5}


@given(question=st.text(), answer=st.text())
def test_what_models_write_stands_in_the_prompt_as_it_is(question: str, answer: str) -> None:
    prompt = prompts.rate_answer(question, answer)
    assert prompt.endswith(f" {question} Answer: {answer} Return:")

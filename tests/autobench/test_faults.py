import pytest
from hypothesis import given
from hypothesis import strategies as st
from real_rows import plain

from raybench.autobench import prompts
from raybench.autobench.faults import (
    EMPTY,
    GIVEN,
    LOOPS,
    PROMPT,
    REFUSAL,
    SCANT,
    THINKING,
    found,
)
from raybench.autobench.settings import DIFFICULTIES, TOPICS, Difficulty

ASKED = "What is the sum of all primes between 10 and 30?"
OPTIONS = "Which city is the capital of Australia?\nA) Sydney\nB) {}\nC) Melbourne\nD) Perth"


@pytest.mark.parametrize(
    "task",
    [
        ASKED,
        "What is realism?",
        "Define osmosis.",
        "Why me?",
        "Compute 7!",
        "Simplify $\\sqrt{242}$.",
        "什么是光合作用?",
        "Here is the question: What is realism?",
        "Write a poem about a clock that runs backwards, in four stanzas.",
        "Write a story in which every paragraph ends with the words 'and so it was'.",
        "What does 'Buffalo buffalo Buffalo buffalo buffalo buffalo Buffalo buffalo' mean?",
        "Fill in the blank: She ______________________________ to school every day.",
        "Compute the determinant of [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 1]].",
        "Compute 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1.",
        "Does the regex (a+)+$ match " + "a" * 40 + "! in linear time?",
        "Give the answer in metres: how far does light travel in 3 ns?",
        "Explain why the answer is not 5 when 2 + 2 * 2 is computed in the usual order.",
        "What is 12 m/s in km/h? The answer is an integer.",
        "Solve for x. The final answer should be in the form a/b. What is a + b?",
        "The answer is Paris. What could the question have been?",
        "A student says that the correct answer is 7. Explain the mistake.",
        "Find the error in this proof.\nSolution: Let a = b. Then a^2 = ab, and so 2 = 1.",
        "Solution: 0.1 M NaCl is mixed with 0.2 M KCl. What is the ionic strength?",
        f"{ASKED}\nAnswer:",
        f"{ASKED} Answer: ____",
        f"{ASKED}\nAnswer: [your answer here]",
        f"{ASKED}\nAnswer: Give a single integer.",
        f"{ASKED}\nAnswer:\nA) 112\nB) 158\nC) 160",
        f"{ASKED}\nAnswer Choices:\nA) 112\nB) 158",
        f"{ASKED} Put your final answer within \\boxed{{}}.",
        f"{ASKED} Write it as \\boxed{{N}}.",
        f"{ASKED} Show that the answer is $\\boxed{{112}}$.",
        "Prove by induction that the sum of the first $n$ odd numbers is $\\boxed{n^2}$.",
        f"{ASKED} Write 'Answer: N' at the end.",
        "Let $\\boxed{x}$ be the product of the factors of $x$. Find $\\boxed{12} + \\boxed{5}$.",
        OPTIONS.format("Canberra"),
        OPTIONS.format("The correct spelling of Canberra"),
        "Is every option right?\nA) 1 + 1 = 2 ✓\nB) 2 + 2 = 4 ✓\nC) 2 + 3 = 6",
        "Reverse a list.\nExample: [1, 2]\nThe answer is [2, 1].",
        "I cannot be seen or heard, yet I provide shade to all. What am I?",
        "I am unable to offer a hand, yet I support a roof. Who am I?",
        "As an AI researcher, you compare two models. Which test do you use?",
        "'I'm sorry, but I cannot help you,' he said. Rewrite this in reported speech.",
        "Unfortunately, I cannot attend the party. Rewrite this sentence in the third person.",
        "I am afraid that I can't come. Correct the punctuation of the preceding sentence.",
        "Sorry, I couldn't hear you: rewrite this sentence more politely.",
        "As an AI assistant, I must follow rules. Identify the passive voice in this sentence.",
        "Complete the analogy. Hot is to cold as up is to ____. Answer: one word",
        "Conjugate 'être'",
        "What do <think> and </think> mean in the output of a reasoning model?",
        "Generate a regular expression for dates and explain each part.",
        "Keep it concise and well-formed: how do plants make sugar?",
    ],
)
def test_nothing_is_wrong(task: str) -> None:
    assert found(task) == []


@pytest.mark.parametrize(
    ("fault", "task"),
    [
        (EMPTY, ""),
        (EMPTY, " \n\t"),
        (SCANT, "?"),
        (SCANT, "Math"),
        (SCANT, "**Question:**"),
        (SCANT, "Question 1:"),
        (SCANT, "Sure! Here is a very difficult question about math:"),
        (SCANT, "Marketing research:"),
        (SCANT, "." * 90 + " a b c"),
        (LOOPS, "What is it? " + "it is the best of " * 12),
        (LOOPS, "I " + "really " * 40),
        (LOOPS, "What is " + "very, " * 30 + "large?"),
        (LOOPS, "What is the capital of the country of France?\n" * 5),
        (LOOPS, "".join(f"{n}. What is the meaning of this word?\n" for n in range(8))),
        (LOOPS, "Who is he? " + "".join(f"He was born here in May. {n}!" for n in "abcdef")),
        (LOOPS, "What is " + "a" * 80 + "?"),
        (LOOPS, "What is " + "haha" * 30 + "?"),
        (GIVEN, f"{ASKED}\nAnswer: 112"),
        (GIVEN, f"{ASKED}\n\nAnswer:\n112"),
        (GIVEN, f"{ASKED} Answer: 112"),
        (GIVEN, f"{ASKED} (Answer: 112)"),
        (GIVEN, f"{ASKED}\n**Answer:** 112"),
        (GIVEN, f"{ASKED}\n**Answer**: 112"),
        (GIVEN, f"{ASKED}\n**Answer**\n112"),
        (GIVEN, f"{ASKED}\n### Solution\nWe add 11, 13, 17, 19, 23 and 29."),
        (GIVEN, f"{ASKED}\nSolution: We add 11, 13, 17, 19, 23 and 29."),
        (GIVEN, f"{ASKED}\nCorrect answer: 112"),
        (GIVEN, f"{ASKED}\nThe correct answer is 112."),
        (GIVEN, f"{ASKED} The answer is: 112."),
        (GIVEN, f"{ASKED} Therefore, the final answer is 112."),
        (GIVEN, f"{ASKED} $\\boxed{{112}}$"),
        (GIVEN, f"Show that it is even. {ASKED} $\\boxed{{112}}$"),
        (GIVEN, "How many are there to start with?\n$\\boxed{112}$"),
        (GIVEN, f"{OPTIONS.format('Canberra')}\nThe correct answer is B."),
        (GIVEN, f"{OPTIONS.format('Canberra')} Answer: B"),
        (GIVEN, OPTIONS.format("Canberra (correct)")),
        (GIVEN, OPTIONS.format("Canberra ✓")),
        (GIVEN, OPTIONS.format("Canberra **correct answer**")),
        (GIVEN, "Where is it?\n- [ ] Sydney\n- [x] Canberra\n- [ ] Perth"),
        (REFUSAL, "I cannot provide a question about current news."),
        (REFUSAL, "I'm sorry, but I can't help with that request."),
        (REFUSAL, "I am unable to generate questions on this topic."),
        (REFUSAL, "As an AI language model, I have no access to current news."),
        (REFUSAL, "**Sorry**, I cannot do that. What is on your mind?"),
        (REFUSAL, "Unfortunately, I don't have access to current news."),
        (THINKING, f"<think>They want primes.</think>\n{ASKED}"),
        (THINKING, f"They want primes.\n</think>\n\n{ASKED}"),
        (THINKING, f"They want primes. </think>\n{ASKED}"),
        (PROMPT, f"{ASKED} Return exactly the final question text only."),
        (PROMPT, f"{ASKED} It requires deep analysis and several dependent reasoning steps."),
        (PROMPT, f"{ASKED}\ndo not place it in 'reasoning_content'"),
    ],
)
def test_this_is_wrong(fault: str, task: str) -> None:
    assert found(task) == [fault]


def test_all_that_is_wrong_is_told() -> None:
    assert found("<think>\nI cannot provide that.\n" + "Answer: 5\n" * 3) == [GIVEN, THINKING]
    assert found("I cannot answer that. " + "no " * 60) == [LOOPS, REFUSAL]


@pytest.mark.parametrize("topic", TOPICS)
@pytest.mark.parametrize("difficulty", DIFFICULTIES, ids=lambda it: it.label)
def test_the_prompt_itself_is_no_task(difficulty: Difficulty, topic: str) -> None:
    assert PROMPT in found(prompts.task(difficulty.label, difficulty.phrase, topic))


pieces = st.sampled_from(
    [
        *(
            "\n",
            " ",
            "Answer:",
            "**",
            "Solution",
            "The answer is ",
            "\\boxed",
            "{",
            "}",
            "A) ",
            "(",
            "?",
        ),
        *(
            "<think>",
            "I cannot ",
            "help",
            "here is",
            "word ",
            "5",
            "✓",
            "_",
            "[x] ",
            "correct",
            "哈",
        ),
    ]
)


@given(st.text() | st.lists(pieces, max_size=60).map("".join))
def test_any_text_is_looked_at(task: str) -> None:
    faults = found(task)
    assert (faults == [EMPTY]) == (not task.strip())
    assert len(set(faults)) == len(faults)


UNITS = (
    *("a", " x", "\n", "*", "#", "(", "Answer: ", "**Answer**\n", "The answer is ", "A) x\n"),
    *("\\boxed{", "in\\boxed{1}", "- [x] y\n", "</think> ", "explain why ", "I cannot "),
    *("sorry ", "the same words ", "1. ", "One sentence of many words. ", "ﬁ", "İ", "\ud800"),
    *("哈", "_ "),
)


@pytest.mark.parametrize("unit", UNITS)
def test_many_characters_are_looked_at_in_time(unit: str) -> None:
    """Were it quadratic, this would take minutes, and the time limit of tests would end it."""
    found(unit * (100_000 // len(unit)))


@pytest.mark.long(
    short="tests/autobench/test_faults.py::test_many_characters_are_looked_at_in_time"
)
@pytest.mark.parametrize("unit", UNITS)
def test_a_million_characters_take_seconds(unit: str) -> None:
    found(unit * (1_000_000 // len(unit)))


@pytest.mark.parametrize("stem", ["gsm8k_test", "math500", "aime2024"])
def test_real_questions_have_no_faults(stem: str) -> None:
    assert {row["question"]: it for row in plain(stem) if (it := found(row["question"]))} == {}


def test_real_questions_with_options_have_no_faults() -> None:
    """Without their options a few are two words: 'Business cycles'."""
    faulty: dict[str, list[str]] = {}
    for row in plain("mmlu_pro_test")[::16]:
        pairs = zip("ABCDEFGHIJ", row["options"], strict=False)
        listed = "\n".join(f"{letter}) {it}" for letter, it in pairs)
        for task in (row["question"], f"{row['question']}\n{listed}"):
            if faults := found(task):
                faulty[task] = faults
    assert all(it == [SCANT] and len(task.split()) < 4 for task, it in faulty.items()), faulty
    assert len(faulty) <= 3

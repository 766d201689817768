"""What is wrong with a generated task by itself, whatever other tasks say.

A fault that is none costs a good task, so only what is plain to see is one: what a person would
argue about is left to the judges. A task need not be a question ('Write a poem …'), may list
options, and may speak of answers ('Give the answer in metres'). A mixture of words without sense is
not told from a difficult question here.

Measured: no fault is found in the 1,319 test questions of GSM8K, in MATH's 5,000 nor MATH-500's,
nor in MMLU-Pro's 12,032 as they are asked, with options. Of MMLU-Pro's questions without
their options 13 say next to nothing ('Business cycles'), and of 1,055 of LiveCodeBench two repeat
themselves, in what explains their examples. With their answer or solution behind them, in seven
ways, 96 to 100 % of 400 questions of GSM8K are said to give it away, and 98 to 100 % of MATH-500's.
"""

from raybench.autobench.faults import given, instead, loops, scant

EMPTY = "it is empty"
SCANT = "it says next to nothing"
LOOPS = "it repeats itself over and over"
GIVEN = "it gives its answer away"
REFUSAL = "it is a refusal, not a question"
THINKING = "it holds tags of thinking"
PROMPT = "it repeats what the prompt says"


def found(task: str) -> list[str]:
    """Return what is wrong with a task, in plain words; nothing where nothing is."""
    if not task.strip():
        return [EMPTY]
    faults = {
        SCANT: scant.is_scant,
        LOOPS: loops.loops,
        GIVEN: given.gives_away,
        REFUSAL: instead.refuses,
        THINKING: instead.thinks,
        PROMPT: instead.repeats_prompt,
    }
    return [fault for fault, has in faults.items() if has(task)]

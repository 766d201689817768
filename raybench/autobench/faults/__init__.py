"""What is wrong with a generated task by itself, whatever other tasks say.

A fault that is none costs a good task, so only what is plain to see is one: what a person would
argue about is left to the judges. A task need not be a question ('Write a poem …'), may list
options, and may speak of answers ('Give the answer in metres'). A mixture of words without sense is
not told from a difficult question here.

Measured: none of GSM8K's 1,319 test questions has a fault, nor of MATH-500's;
MEASURED
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

"""What the programs that are shipped are given, and what they give."""

import dspy


class Move(dspy.Signature):
    """Play to win. Look at the whole situation before you choose, and keep to the rules."""

    rules: str = dspy.InputField(desc="how the game is played, and what you are after")
    view: str = dspy.InputField(desc="where the game stands, as you see it")
    task: str = dspy.InputField(desc="what you are to do now, and how it is written")
    tries: list[dict[str, str]] = dspy.InputField(
        desc="your earlier replies at this turn, and why each held no valid move"
    )
    move: str = dspy.OutputField(desc="your move, as the task says it is written")

"""The parts of MathQuiz: what may be chosen, and whether a question states its answer."""

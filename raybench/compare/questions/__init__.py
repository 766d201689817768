"""Runs that put questions, compared question by question."""

from raybench.compare.questions.comparing import compare

__all__ = ["compare"]

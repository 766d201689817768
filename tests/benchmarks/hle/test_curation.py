"""The models on which HLE's questions were tried when they were chosen."""

import pytest

from raybench.benchmarks.parts.hle.curation import took_part
from raybench.types import ModelSpec


@pytest.mark.parametrize(
    "weights",
    [
        "gpt-4o",
        "gpt-4o-2024-08-06",
        "openai/chatgpt-4o-latest",
        "gemini-1.5-pro-002",
        "models/gemini-1.5-pro",
        "anthropic.claude-3-5-sonnet-20241022-v2:0",
        "claude-3.5-sonnet",
        "o1",
        "openai/o1-mini",
        "o1-preview-2024-09-12",
        "o1-2024-12-17",
    ],
)
def test_they_are_known_by_their_names(weights: str) -> None:
    assert took_part(ModelSpec("m", "openai", weights))


@pytest.mark.parametrize(
    "weights",
    ["gpt-4o-mini", "gpt-4.1", "o1-pro", "o3-mini", "gemini-1.5-flash", "claude-3-opus",
     "claude-3-7-sonnet", "ORG/polo1", "foo/o1x", "Qwen/Qwen3-8B"],
)  # fmt: skip
def test_others_are_not(weights: str) -> None:
    assert not took_part(ModelSpec("m", "openai", weights))

"""What HLE's scores of some models mean, and how many questions there are: its sources' caveats."""

import re

from raybench.types import ModelSpec

TEXT_ONLY, ALL = 2158, 2500
"""Questions of the pinned revision."""
COUNTED, COUNTED_OF = 2684, 3000
"""Text-only questions and all, as the methodology counts them: the dataset before its authors
finalised it."""
_PANEL = re.compile(
    r"(?:^|[/:\s])(?:(?:openai|google|anthropic|models)[/.])*"
    r"(?:(?:chatgpt-|gpt-)4o(?!-mini)|gemini-1[.-]5-pro|claude-3[.-]5-sonnet"
    r"|o1(?:-mini|-preview)?(?=$|[-_:@]\d|[:@]|-latest))",
    re.IGNORECASE,
)
"""The models on which HLE's authors tested questions and kept those that these failed: GPT-4o,
Gemini 1.5 Pro, Claude 3.5 Sonnet, o1, o1-mini and o1-preview."""


def took_part(model: ModelSpec) -> bool:
    """Tell whether HLE's questions were chosen because the model failed them, by its name."""
    return any(_PANEL.search(name) for name in (model.weights, model.name))

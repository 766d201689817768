"""How what the protocol asks becomes a request."""

import pytest

from raybench.arena.decoding import Decoding
from raybench.autobench.steps import Ask, Kind

TOKENS: dict[Kind, int] = {"task": 1, "task_rating": 2, "answer": 3, "answer_rating": 4}


@pytest.mark.parametrize("kind", TOKENS)
def test_models_that_reason_have_more_tokens_to_think_before_any_reply(kind: Kind) -> None:
    decoding = Decoding(TOKENS, thinking_tokens=100, reasoning={"r"})
    bounds = {
        model: decoding.request(Ask(kind, model, "?", "1/1")).max_tokens for model in ("r", "p")
    }
    assert bounds == {"r": TOKENS[kind] + 100, "p": TOKENS[kind]}

from typing import Any

from raybench.experiments.parts.questions.asking import account
from raybench.types import Completion


def unit(model: str, **more: Any) -> dict[str, Any]:
    tokens = {"prompt_tokens": 3, "output_tokens": 2, "cached_tokens": 0}
    return {"model": model, "reused": False, "finish": "stop", **tokens, **more}


def test_what_was_asked_is_counted_and_nothing_else() -> None:
    asked: dict[str, list[Completion]] = {"up": [], "judge": []}
    units = [
        unit("up"),
        unit("up", reused=True),
        unit("up", retries={"rate_limited": 2}, checks=[["judge", 5, 1, "stop"]]),
        # All its replies were known, so that it is not up, but one question could not be put.
        unit("known", finish="error"),
    ]
    account(units, {name: of.append for name, of in asked.items()})
    assert [reply.output_tokens for reply in asked["up"]] == [2, 2]
    assert [reply.prompt_tokens for reply in asked["judge"]] == [5]
    assert [reply.retries.rate_limited for reply in asked["up"]] == [0, 2]
    assert not any("checks" in unit for unit in units)

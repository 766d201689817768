"""An OpenAI-compatible endpoint that plays liar's dice: python endpoint.py ADDRESS PORT.

What it says depends on what it is asked alone: it may be killed and started again at any time.
"""

import hashlib
import re
import sys
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1])]

from http_endpoint import Handler, HttpEndpoint  # noqa: E402

_LATENCY_S = 0.02
_BIDS = re.compile(r"(\d+) (?:dice|die) of (\d+)")


class Player(HttpEndpoint):
    """Bids one more die each time, and calls the sooner the bolder its model is."""

    def list_models(self, handler: Handler) -> None:
        """Show that it is up."""
        handler.send(200, {"object": "list", "data": []})

    def play(self, handler: Handler) -> None:
        """Reply to a request."""
        prompt = handler.body["messages"][0]["content"]
        time.sleep(_LATENCY_S)
        return handler.send(
            200,
            {
                "choices": [
                    {
                        "message": {"content": said(handler.body["model"], prompt)},
                        "finish_reason": "stop",
                    }
                ],
                "usage": {"prompt_tokens": len(prompt.split()), "completion_tokens": 4},
            },
        )


def said(model: str, prompt: str) -> str:
    """Return what a model says to a prompt."""
    if "Bids:" not in prompt:  # somebody wants to know whether it answers at all
        return "Hello"
    bids = _BIDS.findall(prompt[prompt.rindex("Bids:") :])
    dice, face = map(int, bids[-1]) if bids else (0, 3)
    daring = hashlib.sha256(f"{model}/{prompt}".encode()).digest()[0] % 3
    return f"Move: {'call' if dice > daring + 2 else f'bid {dice + 1} {face}'}"


if __name__ == "__main__":
    with Player((sys.argv[1], int(sys.argv[2]))) as endpoint:
        endpoint.closing.wait()

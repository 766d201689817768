"""An endpoint one of whose models goes away for as long as a test wants, and its matches."""

import json
from pathlib import Path
from typing import Any

from http_endpoint import Handler, HttpEndpoint


class Leaving(HttpEndpoint):
    """Plays liar's dice for all; c has a few replies, and then none for as long as it is gone."""

    def __init__(self) -> None:
        super().__init__()
        self.gone = True
        self.of_c = 0

    def play(self, handler: Handler) -> None:
        with self.lock:
            self.of_c += handler.body["model"] == "c"
            gone = self.gone and handler.body["model"] == "c" and self.of_c > 4
        if gone:
            return handler.send(404, {"error": {"message": "no such model"}})
        asked = handler.body["messages"][-1]["content"]
        move = "call" if "call'" in asked else "bid 1 1"
        message = {"content": f"Move: {move}"}
        return handler.send(200, {"choices": [{"message": message, "finish_reason": "stop"}]})


def matches(run: Path) -> list[dict[str, Any]]:
    lines = (run / "journal" / "matches.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]

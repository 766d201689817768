"""An endpoint that holds requests: a run is at a known place for as long as a test wants."""

import threading
from collections.abc import Callable

from http_endpoint import Handler, HttpEndpoint

Say = Callable[[str, str], str]
"""Returns the reply of a model to a prompt."""


class Gate(HttpEndpoint):
    """Answers so many requests, and holds all others until `open` is called."""

    def __init__(self, say: Say, answers: int) -> None:
        super().__init__()
        self._say = say
        self._left = answers
        self._opened = threading.Event()
        self.reached = threading.Event()
        """Is set once a request is held."""

    def open(self) -> None:
        """Answer every request from now on."""
        self._opened.set()

    def play(self, handler: Handler) -> None:
        """Answer a request, or hold it."""
        if "messages" not in getattr(handler, "body", {}):
            return handler.send(404, {})
        with self.lock:
            self._left -= 1
            held = self._left < 0
        if held:
            self.reached.set()
            while not (self._opened.wait(0.1) or self.closing.is_set()):
                pass
        text = self._say(handler.body["model"], handler.body["messages"][-1]["content"])
        choice = {"message": {"content": text}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 5, "completion_tokens": 2}
        return handler.send(200, {"choices": [choice], "usage": usage})

    def models(self, *names: str) -> str:
        """Return the setting of a roster of models at this endpoint."""
        url = f"{{base_url: '{self.url}'}}"
        each = (f"{{name: {it}, engine: openai, weights: {it}, options: {url}}}" for it in names)
        return f"roster.models=[{', '.join(each)}]"

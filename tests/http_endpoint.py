"""An HTTP endpoint of this machine that replies to JSON with JSON, for tests to derive from."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


class Handler(BaseHTTPRequestHandler):
    """One request, which the server decides about."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: "HttpEndpoint"

    def do_POST(self) -> None:
        self.body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if is_word(self.body):
            return self.server.word(self)
        return self.server.play(self)

    def do_GET(self) -> None:
        if self.path == "/v1/models":
            return self.server.list_models(self)
        return self.server.play(self)

    def do_HEAD(self) -> None:
        self.server.play(self)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def send(self, status: int, body: Any, **headers: str) -> None:
        payload = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(payload)


def is_word(body: Any) -> bool:
    """Tell whether a request only asks for a word."""
    messages = body.get("messages") if isinstance(body, dict) else None
    return messages is not None and str(messages[-1].get("content")).startswith("Say a word.")


class HttpEndpoint(ThreadingHTTPServer):
    """Serves from a thread of its own for as long as it is entered."""

    daemon_threads = True
    request_queue_size = 128  # of five, one more is turned away where the machine is busy, for 1 s

    def __init__(self, address: tuple[str, int] = ("127.0.0.1", 0)) -> None:
        super().__init__(address, Handler)
        self.closing = threading.Event()
        self.lock = threading.Lock()
        self._thread = threading.Thread(target=self.serve_forever, args=(0.01,))

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self.shutdown()
        self._thread.join()
        self.server_close()

    def play(self, handler: Handler) -> None:
        """Reply to a request."""
        raise NotImplementedError

    def list_models(self, handler: Handler) -> None:
        """Reply to who asks for the list of models: most endpoints here have none."""
        handler.send(404, {})

    def word(self, handler: Handler) -> None:
        """Reply to who wants to know whether a model answers, as a run does at its start."""
        message = {"message": {"content": "Word."}, "finish_reason": "stop"}
        handler.send(200, {"choices": [message]})

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


class Busy(HttpEndpoint):
    """Refuses its first request; then says 'Answer: A' to all."""

    refused = False

    def play(self, handler: Handler) -> None:
        with self.lock:
            first, self.refused = not self.refused, True
        if first:
            return handler.send(503, {"error": "too busy"}, **{"Retry-After": "1"})
        message = {"message": {"content": "Answer: A"}, "finish_reason": "stop"}
        return handler.send(200, {"choices": [message]})

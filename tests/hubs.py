"""A stand-in for the Hugging Face hub that has no model that anybody may load."""

from http_endpoint import Handler, HttpEndpoint


class Hub(HttpEndpoint):
    """Refuses org/gated, and does not know any other model."""

    def play(self, handler: Handler) -> None:
        gated = "/org/gated/" in handler.path
        code = "GatedRepo" if gated else "RepoNotFound"
        handler.send(403 if gated else 404, {"error": code}, **{"X-Error-Code": code})

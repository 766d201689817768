"""Where runs are copied to: what a URI of an object store may say, and what lies below it."""

from collections.abc import Iterator
from urllib.parse import parse_qsl, quote, urlsplit, urlunsplit

SCHEMES = ("s3", "gs", "abfss", "file")
"""What is known to write an object whole or not at all."""
_SECRET = ("key", "secret", "token", "password", "sas", "sig", "credential")


def problems(uri: str | None, patience_s: float) -> Iterator[str]:
    """Yield every rule that `storage` breaks. What may be a secret is not repeated."""
    if not patience_s >= 0:
        yield "storage_patience_s has to be a number of seconds, 0 or more"
    if not uri:
        return
    try:
        parts = urlsplit(uri)
        user, password = parts.username, parts.password
        _ = parts.port
    except ValueError:
        yield f"storage is no URI that can be read: {_FORM}"
        return
    named = [name for name, _ in parse_qsl(parts.query, keep_blank_values=True)]
    secret = [name for name in named if any(word in name.lower() for word in _SECRET)]
    if password is not None or (user is not None and parts.scheme != "abfss") or secret:
        yield (
            "storage has credentials in its URI, which a run would write down: leave them out, and "
            "set them where the store's own tools look for them (AWS_ACCESS_KEY_ID and "
            "AWS_SECRET_ACCESS_KEY, AWS_PROFILE, GOOGLE_APPLICATION_CREDENTIALS, …)"
        )
    elif parts.scheme not in SCHEMES:
        yield f"storage begins with '{parts.scheme or uri[:20]}', which is no store: {_FORM}"
    elif parts.scheme == "file" and (parts.netloc or not parts.path.startswith("/")):
        yield f"storage names no folder of this machine: {_FORM}"
    elif parts.scheme != "file" and not parts.netloc:
        yield f"storage names no bucket: {_FORM}"


_FORM = (
    "give s3://BUCKET/PREFIX, gs://BUCKET/PREFIX, abfss://CONTAINER@ACCOUNT…/PREFIX or "
    "file:///FOLDER, or leave it null"
)


def is_uri(text: str) -> bool:
    """Tell whether a word of a command line names something in a store."""
    return text.startswith(tuple(f"{scheme}://" for scheme in SCHEMES))


def below(uri: str, *names: str) -> str:
    """Return the URI of what lies below another."""
    parts = urlsplit(uri)
    path = "/".join([parts.path.rstrip("/"), *(quote(name) for name in names)])
    return urlunsplit(parts._replace(path=path))

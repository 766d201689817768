"""Where runs are copied to: what a URI of an object store may say, and what lies below it."""

from collections.abc import Iterator
from math import isfinite
from urllib.parse import parse_qsl, quote, unquote, urlsplit, urlunsplit

from raybench.errors import Problem, out_of_range

SCHEMES = ("s3", "gs", "abfss", "file")
"""What is known to write an object whole or not at all."""
_SECRET = ("key", "secret", "token", "password", "sas", "sig", "credential")


def problems(uri: str | None, patience_s: float) -> Iterator[Problem]:
    """Yield every rule that `storage` breaks. What may be a secret is not repeated."""
    if not (isfinite(patience_s) and patience_s >= 0):
        yield out_of_range(
            "storage_patience_s",
            patience_s,
            "it has to be a number of seconds, 0 or more, for example 1800",
        )
    if uri is None:
        return
    if not uri.strip():
        yield Problem(
            "setting.missing",
            "storage, or RAYBENCH_STORAGE where it is not given, is empty",
            setting="storage",
            fix=_FORM,
        )
        return
    try:
        parts = urlsplit(uri)
        _ = parts.port
        has_login = _has_login(uri)
    except ValueError:
        yield Problem(
            "setting.format", "storage is no URI that can be read", setting="storage", fix=_FORM
        )
        return
    if has_login:
        yield Problem(
            "setting.secret",
            "storage has credentials in its URI, which a run would write down",
            setting="storage",
            fix="leave them out, and set them where the store's own tools look for them "
            "(AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, AWS_PROFILE, "
            "GOOGLE_APPLICATION_CREDENTIALS, …)",
        )
    elif parts.scheme not in SCHEMES:
        yield Problem(
            "setting.format",
            f"storage begins with '{parts.scheme or uri[:20]}', which is no store",
            setting="storage",
            given=parts.scheme or uri[:20],
            fix=_FORM,
        )
    elif parts.scheme == "file" and (parts.netloc or not parts.path.startswith("/")):
        yield Problem(
            "setting.format",
            "storage names no folder of this machine",
            setting="storage",
            fix=_FORM,
        )
    elif parts.scheme != "file" and not parts.netloc:
        yield Problem("setting.format", "storage names no bucket", setting="storage", fix=_FORM)


def _has_login(uri: str) -> bool:
    """Tell whether it holds what may be a secret, however that is spelt.

    Raises ValueError where it cannot be read.
    """
    parts = urlsplit(uri)
    user, at, _ = _decoded(parts.netloc).rpartition("@")
    if at and (parts.scheme != "abfss" or ":" in user):
        return True
    if "@" in _decoded(parts.fragment) or (not parts.scheme and "@" in _decoded(uri)):
        return True
    for name, value in parse_qsl(parts.query, keep_blank_values=True):
        if any(word in _decoded(name).lower() for word in _SECRET):
            return True
        # The path of a certificate may have one; in an address it ends a login.
        if "@" in _decoded(value) and not _decoded(name).endswith("_path"):
            return True
    return False


def _decoded(text: str) -> str:
    """Return what is left when nothing in it is encoded any more."""
    while (once := unquote(text)) != text:
        text = once
    return text


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

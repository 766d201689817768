"""Images of questions: data URIs, which need no network and cannot change behind their question."""

import base64
import binascii
import re

_URI = re.compile(r"data:image/(?P<kind>[a-z+.-]+);base64,(?P<data>.*)", re.DOTALL | re.IGNORECASE)
_STARTS = {
    "png": re.compile(rb"\x89PNG\r\n\x1a\n"),
    "jpeg": re.compile(rb"\xff\xd8\xff"),
    "gif": re.compile(rb"GIF8[79]a"),
    "webp": re.compile(rb"RIFF....WEBP", re.DOTALL),
}
KINDS = tuple(_STARTS)
_OTHERS = re.compile(rb"BM|II\*\0|MM\0\*|....ftyp|\s*<(?:svg|\?xml)", re.DOTALL)
"""How images of kinds begin that few models take."""
_KINDS = "PNG, JPEG, GIF or WEBP"


def unsendable(value: object) -> str | None:
    """Say what is wrong with an image that no model could be sent; None where nothing is."""
    if not isinstance(value, str) or (match := _URI.fullmatch(value.strip())) is None:
        return "is no data URI: give 'data:image/png;base64,…', or '' for none"
    try:
        data = base64.b64decode("".join(match["data"].split()), validate=True)
    except (binascii.Error, ValueError) as error:
        return f"is no base64 ({error}): encode the file anew"
    known = any(start.match(data) for start in (*_STARTS.values(), _OTHERS))
    return None if known else f"does not begin as an image: give {_KINDS}"


def doubt(value: object) -> str | None:
    """Say what is odd about an image that may be shown all the same; None where nothing is."""
    try:
        decoded(str(value))
    except ValueError as error:
        return f"an image that {str(error).partition(':')[0]}"
    return None


def decoded(uri: str) -> tuple[str, bytes]:
    """Return an image's kind and bytes; raise ValueError, with the mend, where it is none."""
    if (match := _URI.fullmatch(uri.strip())) is None:
        there = "a link, which may change or vanish" if _is_link(uri) else "no data URI"
        raise ValueError(f"is {there}: give {_KINDS} as data:image/KIND;base64,DATA")
    said = match["kind"].lower().replace("jpg", "jpeg")
    if said not in KINDS:
        raise ValueError(f"is of kind '{said}': give {_KINDS}")
    try:
        data = base64.b64decode(match["data"], validate=True)
    except (binascii.Error, ValueError) as error:
        raise ValueError(f"is no base64 ({error}): encode the file anew, without breaks") from error
    kind = next((kind for kind, start in _STARTS.items() if start.match(data)), None)
    if kind is None:
        raise ValueError(f"does not begin as an image: give {_KINDS}")
    if kind != said:
        raise ValueError(f"says {said}, but its bytes are {kind}: write data:image/{kind};base64,…")
    if not _is_whole(kind, data):
        raise ValueError("is cut short: encode the whole file")
    return kind, data


def _is_link(uri: str) -> bool:
    return bool(re.match(r"(?:https?|ftp|file):", uri.strip(), re.IGNORECASE))


def _is_whole(kind: str, data: bytes) -> bool:
    """Tell whether an image has its end; some programs write a little more behind it."""
    if kind == "webp":
        return len(data) >= 8 + int.from_bytes(data[4:8], "little")
    end = {"png": b"IEND\xaeB`\x82", "jpeg": b"\xff\xd9", "gif": b";"}[kind]
    return end in data[-1024:]

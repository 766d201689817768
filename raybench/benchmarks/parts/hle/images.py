"""Images of questions: data URIs, which need no network and cannot change behind their question."""

import base64
import binascii
import re

from raybench.statements import Statement

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
        return Statement(
            "image.unsendable", "is no data URI: give 'data:image/png;base64,…', or '' for none"
        )
    try:
        data = base64.b64decode("".join(match["data"].split()), validate=True)
    except (binascii.Error, ValueError) as error:
        return Statement(
            "image.unreadable", "is no base64 ({error}): encode the file anew", error=str(error)
        )
    known = any(start.match(data) for start in (*_STARTS.values(), _OTHERS))
    return None if known else _no_image()


def doubt(value: object) -> str | None:
    """Say what is odd about an image that may be shown all the same; None where nothing is."""
    try:
        decoded(str(value))
    except ValueError as error:
        odd = str(error).partition(":")[0]
        return Statement("caveat.image", "an image that {odd}", odd=odd, why=error.args[0])
    return None


def decoded(uri: str) -> tuple[str, bytes]:
    """Return an image's kind and bytes; raise ValueError, with the mend, where it is none."""
    if (match := _URI.fullmatch(uri.strip())) is None:
        link = _is_link(uri)
        raise ValueError(
            Statement(
                "image.no_uri",
                "is {there}: give {kinds} as data:image/KIND;base64,DATA",
                there="a link, which may change or vanish" if link else "no data URI",
                kinds=_KINDS,
                link=link,
            )
        )
    said = match["kind"].lower().replace("jpg", "jpeg")
    if said not in KINDS:
        raise ValueError(
            Statement(
                "image.kind",
                "is of kind '{kind}': give {kinds}",
                kind=said,
                kinds=_KINDS,
            )
        )
    try:
        data = base64.b64decode(match["data"], validate=True)
    except (binascii.Error, ValueError) as error:
        raise ValueError(
            Statement(
                "image.no_base64",
                "is no base64 ({error}): encode the file anew, without breaks",
                error=str(error),
            )
        ) from error
    kind = next((kind for kind, start in _STARTS.items() if start.match(data)), None)
    if kind is None:
        raise ValueError(_no_image())
    if kind != said:
        raise ValueError(
            Statement(
                "image.other_kind",
                "says {said}, but its bytes are {kind}: write data:image/{kind};base64,…",
                said=said,
                kind=kind,
            )
        )
    if not _is_whole(kind, data):
        raise ValueError(Statement("image.cut", "is cut short: encode the whole file"))
    return kind, data


def _no_image() -> Statement:
    return Statement("image.none", "does not begin as an image: give {kinds}", kinds=_KINDS)


def _is_link(uri: str) -> bool:
    return bool(re.match(r"(?:https?|ftp|file):", uri.strip(), re.IGNORECASE))


def _is_whole(kind: str, data: bytes) -> bool:
    """Tell whether an image has its end; some programs write a little more behind it."""
    if kind == "webp":
        return len(data) >= 8 + int.from_bytes(data[4:8], "little")
    end = {"png": b"IEND\xaeB`\x82", "jpeg": b"\xff\xd9", "gif": b";"}[kind]
    return end in data[-1024:]

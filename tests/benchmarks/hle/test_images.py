import base64

import pytest
from hle_rows import png, uri
from hypothesis import given
from hypothesis import strategies as st
from statements import code, values

from raybench.benchmarks.parts.hle import images

JPEG = b"\xff\xd8\xff\xe0" + b"x" * 30 + b"\xff\xd9"
GIF = b"GIF89a" + b"x" * 30 + b";"
WEBP = b"RIFF" + (30).to_bytes(4, "little") + b"WEBP" + b"x" * 26


@pytest.mark.parametrize(
    ("given_", "kind", "data"),
    [
        (uri(png()), "png", png()),
        (uri(JPEG, "jpeg"), "jpeg", JPEG),
        (uri(JPEG, "jpg"), "jpeg", JPEG),
        (uri(GIF, "gif"), "gif", GIF),
        (uri(WEBP, "webp"), "webp", WEBP),
        (" " + uri(png()).replace("image/png", "Image/PNG") + "\n", "png", png()),
    ],
)
def test_images_are_decoded(given_: str, kind: str, data: bytes) -> None:
    assert images.decoded(given_) == (kind, data)


@pytest.mark.parametrize(
    ("given_", "why"),
    [
        ("https://example.org/a.png", "no_uri"),
        ("figure.png", "no_uri"),
        (base64.b64encode(png()).decode(), "no_uri"),
        (uri(b"<svg/>", "svg+xml"), "kind"),
        ("data:image/png;base64,iVBOR*", "no_base64"),
        ("data:image/png;base64,iVBO\niVBO", "no_base64"),
        ("data:image/png;base64,iVB", "no_base64"),
        ("data:image/png;base64,é", "no_base64"),
        ("data:image/png;base64,", "none"),
        (uri(b"plain text"), "none"),
        (uri(JPEG), "other_kind"),
        (uri(png()[:-6]), "cut"),
        (uri(WEBP[:-1], "webp"), "cut"),
        (uri(GIF[:-1], "gif"), "cut"),
        (uri(JPEG[:-1], "jpeg"), "cut"),
    ],
)
def test_what_is_no_image_is_said_with_the_mend(given_: str, why: str) -> None:
    with pytest.raises(ValueError) as refused:
        images.decoded(given_)
    assert code(refused.value) == f"image.{why}"
    assert values(refused.value).get("link", False) == given_.startswith("https:")


@given(st.text() | st.binary().map(uri) | st.text().map("data:image/gif;base64,".__add__))
def test_any_text_is_an_image_or_refused(text: str) -> None:
    try:
        kind, data = images.decoded(text)
    except ValueError as refused:
        assert str(refused)
    else:
        assert images.decoded(uri(data, kind)) == (kind, data)


@pytest.mark.parametrize(
    ("given_", "wrong", "odd"),
    [
        (uri(png()), None, None),
        (uri(png())[:40] + "\n" + uri(png())[40:], None, "image.no_base64"),
        (uri(b"hello"), "image.none", "image.none"),
        (uri(b""), "image.none", "image.none"),
        (uri(b"<svg/>", "svg+xml"), None, "image.kind"),
        (uri(png(), "jpeg"), None, "image.other_kind"),
        ("data:image/png;base64,!!!notbase64", "image.unreadable", "image.no_base64"),
        ("https://example.org/a.png", "image.unsendable", "image.no_uri"),
        (7, "image.unsendable", "image.no_uri"),
    ],
)
def test_what_cannot_be_sent_is_told_from_what_is_only_odd(
    given_: object, wrong: str | None, odd: str | None
) -> None:
    told, doubt = images.unsendable(given_), images.doubt(given_)
    assert (code(told) if told else None) == wrong
    assert (code(values(doubt)["why"]) if doubt else None) == odd

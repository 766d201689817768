import base64

import pytest
from hle_rows import png, uri
from hypothesis import given
from hypothesis import strategies as st

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
        ("https://example.org/a.png", "is a link, which may change or vanish: give PNG"),
        ("figure.png", "is no data URI: give PNG, JPEG, GIF or WEBP as data:image/KIND;base64"),
        (base64.b64encode(png()).decode(), "is no data URI"),
        (uri(b"<svg/>", "svg+xml"), "is of kind 'svg+xml': give PNG"),
        ("data:image/png;base64,iVBOR*", "is no base64"),
        ("data:image/png;base64,iVBO\niVBO", "is no base64"),
        ("data:image/png;base64,iVB", "is no base64"),
        ("data:image/png;base64,é", "is no base64"),
        ("data:image/png;base64,", "does not begin as an image"),
        (uri(b"plain text"), "does not begin as an image"),
        (uri(JPEG), "says png, but its bytes are jpeg: write data:image/jpeg;base64,"),
        (uri(png()[:-6]), "is cut short: encode the whole file"),
        (uri(WEBP[:-1], "webp"), "is cut short"),
        (uri(GIF[:-1], "gif"), "is cut short"),
        (uri(JPEG[:-1], "jpeg"), "is cut short"),
    ],
)
def test_what_is_no_image_is_said_with_the_mend(given_: str, why: str) -> None:
    with pytest.raises(ValueError) as refused:
        images.decoded(given_)
    assert str(refused.value).startswith(why)


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
        (uri(png())[:40] + "\n" + uri(png())[40:], None, "an image that is no base64"),
        (uri(b"hello"), "does not begin as an image", "an image that does not begin as an image"),
        (uri(b""), "does not begin as an image", "an image that does not begin as an image"),
        (uri(b"<svg/>", "svg+xml"), None, "an image that is of kind 'svg+xml'"),
        (uri(png(), "jpeg"), None, "an image that says jpeg, but its bytes are png"),
        ("data:image/png;base64,!!!notbase64", "is no base64", "an image that is no base64"),
        ("https://example.org/a.png", "is no data URI", "an image that is a link"),
        (7, "is no data URI", "an image that is no data URI"),
    ],
)
def test_what_cannot_be_sent_is_told_from_what_is_only_odd(
    given_: object, wrong: str | None, odd: str | None
) -> None:
    for told, said in ((images.unsendable(given_), wrong), (images.doubt(given_), odd)):
        assert (told is None) is (said is None)
        assert (told or "").startswith(said or "")

"""The board as a picture, for models that see."""

import base64
import io
from functools import cache, lru_cache
from pathlib import Path

import chess
from PIL import Image, ImageDraw, ImageFont

_SQUARE = 48
_MARGIN = 22
_LIGHT, _DARK, _LAST = (240, 217, 181), (181, 136, 99), (205, 210, 106)
_PAPER, _INK = (255, 255, 255), (20, 20, 20)
_GLYPHS = dict(zip("kqrbnp", "♚♛♜♝♞♟", strict=True))


@lru_cache(maxsize=512)
def picture(placed: str, last: tuple[int, ...] = ()) -> str:
    """Return a position (the first field of its FEN) as a data URI of a PNG, White below.

    The squares of the last move are tinted.
    """
    packed = io.BytesIO()
    image = _drawn(placed, last).quantize(palette=_palette(), dither=Image.Dither.NONE)
    image.save(packed, "PNG")
    return "data:image/png;base64," + base64.b64encode(packed.getvalue()).decode()


@cache
def _palette() -> Image.Image:
    """Return the colours of all pictures: few, so that they are small, and always the same."""
    return _drawn("KQRBNPkq/KQRBNPkq/rbnprbnp/rbnprbnp/8/8/KQRBkqrb/KQRBkqrb", (8, 10)).quantize(64)


def _drawn(placed: str, last: tuple[int, ...]) -> Image.Image:
    size = 8 * _SQUARE + 2 * _MARGIN
    image = Image.new("RGB", (size, size), _PAPER)
    draw = ImageDraw.Draw(image)
    board = chess.BaseBoard(placed)
    for square in chess.SQUARES:
        file, rank = chess.square_file(square), chess.square_rank(square)
        left, top = _MARGIN + file * _SQUARE, _MARGIN + (7 - rank) * _SQUARE
        colour = _LAST if square in last else _LIGHT if (file + rank) % 2 else _DARK
        draw.rectangle((left, top, left + _SQUARE - 1, top + _SQUARE - 1), fill=colour)
        if piece := board.piece_at(square):
            _piece(draw, left + _SQUARE // 2, top + _SQUARE // 2, piece)
    for number in range(8):
        middle = _MARGIN + number * _SQUARE + _SQUARE // 2
        for edge in (_MARGIN // 2, size - _MARGIN // 2):
            _label(draw, middle, edge, chess.FILE_NAMES[number])
            _label(draw, edge, middle, chess.RANK_NAMES[7 - number])
    return image


def _piece(draw: ImageDraw.ImageDraw, x: int, y: int, piece: chess.Piece) -> None:
    """Draw a piece: the same shape for both sides, so that only the colours tell them apart."""
    fill, edge = (_PAPER, _INK) if piece.color else (_INK, _PAPER)
    draw.text(
        (x, y),
        _GLYPHS[piece.symbol().lower()],
        font=_font(40),
        anchor="mm",
        fill=fill,
        stroke_width=2 if piece.color else 1,
        stroke_fill=edge,
    )


def _label(draw: ImageDraw.ImageDraw, x: int, y: int, text: str) -> None:
    draw.text((x, y), text, font=_font(15), anchor="mm", fill=_INK)


@cache
def _font(size: int) -> ImageFont.FreeTypeFont:
    from matplotlib import get_data_path  # slow to import, and only pictures need it

    return ImageFont.truetype(Path(get_data_path()) / "fonts/ttf/DejaVuSans.ttf", size)

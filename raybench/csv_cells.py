"""Cells of CSV files that people open in spreadsheets: text that is never run as a formula.

Names and texts come from strangers, and a formula can send a reader's table to them. All writers of
CSV files use `guard_cell`; readers of our own files use `unguard_cell`.
"""

import re

_FORMULA = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]")
"""How a cell begins that a spreadsheet may run instead of showing it, or that was guarded.

An apostrophe before it makes it text. A cell that begins with apostrophes and such a sign gets one
as well, so that each is taken off again.
"""


def guard_cell(text: str) -> str:
    """Return a cell that no spreadsheet takes for a formula."""
    return f"'{text}" if _FORMULA.match(text) else text


def unguard_cell(cell: str) -> str:
    """Return what a cell said before it was guarded; a cell that was not is returned as it is."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell

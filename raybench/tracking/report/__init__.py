"""The report: one page that explains a run by itself, anywhere, without a network.

    page.py, page.html.j2, page.css    the page: leaderboard, sections, how it was run
    units.py      what a reader can open: samples, iterations, matches
    packing.py    how many of them fit into a page
    tables.js, reader.js    what sorts tables and opens units; the page is whole without them

A unit has an address: `report.html#unit=KEY`, with a key of `raybench.tracking.addresses`.
"""

from raybench.tracking.report.page import AS_ABOVE, Item, Section, Table, Value, parts
from raybench.tracking.report.units import Body, Facet, Ply, Text, Unit, Units

__all__ = [
    "AS_ABOVE",
    "Body",
    "Facet",
    "Item",
    "Ply",
    "Section",
    "Table",
    "Text",
    "Unit",
    "Units",
    "Value",
    "parts",
]

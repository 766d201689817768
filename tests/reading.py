"""What tests of the report's reader share: units, and a page read back as browsers read it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Any

from raybench.tracking import report
from raybench.tracking.report import Body, Facet, Ply, Text, Unit, Units
from raybench.tracking.report.packing import decoded

FACETS = (Facet("model"), Facet("outcome"), Facet("tokens", number=True))


def unit(
    key: str,
    texts: Sequence[tuple[str, str]] = (),
    *,
    group: str = "",
    plies: Sequence[Ply] = (),
    summary: str = "",
    line: int = 1,
    kept: bool = False,
    stratum: str = "",
    **facets: Any,
) -> Unit:
    """Return a unit with these texts; what is labelled as a reply is one."""
    told = [Text(label, text, reply=label.startswith("reply")) for label, text in texts]
    body = partial(Body, told, plies, "checkmate" if plies else "")
    return Unit(key, summary or key, facets, body, line, group, stratum, kept)


def several(*those: Unit, facets: Sequence[Facet] = FACETS) -> Units:
    """Return units of a run."""
    return Units("sample", "journal/units.jsonl", facets, lambda: iter(those))


def page(units: Units, **changes: Any) -> str:
    """Return a page of nothing but units."""
    return whole(units=units, **changes)


def whole(**told: Any) -> str:
    """Return a page, in one piece."""
    least: dict[str, Any] = {
        "title": "t", "subtitle": "", "results": {}, "columns": (), "sections": (), "run": {}
    }  # fmt: skip
    return "".join(report.parts(**least | told))


def listed(html: str) -> dict[str, int]:
    """Return the units that a page lists, and which line of the journal each is of."""
    index = decoded(_blocks(html)["index"].encode())
    return dict(zip(index["keys"], index["lines"], strict=True))


def _blocks(html: str) -> dict[str, str]:
    block = r'<script type="application/octet-stream" id="([^"]+)">([A-Za-z0-9+/=]*)</script>'
    return dict(re.findall(block, html))


def read_back(html: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what can be read in a page: each unit's key, facets and texts."""
    blocks = _blocks(html)
    index = decoded(blocks["index"].encode())

    @cache  # a chunk has hundreds of units
    def chunk_of(number: int) -> Any:
        return decoded(blocks[f"chunk-{number}"].encode())

    for place, key in enumerate(index["keys"]):
        found: dict[str, Any] = {
            "summary": index["summaries"][place],
            "line": index["lines"][place],
            "facets": {of["name"]: _of(of, place) for of in index["facets"]},
            "texts": None,
        }
        if (number := index["chunks"][place]) >= 0:
            chunk = chunk_of(number)
            body, texts = chunk["bodies"][index["places"][place]], chunk["texts"]
            found["texts"] = [(texts[label], texts[text]) for label, text, *_ in body["texts"]]
        yield key, found


def _of(facet: Mapping[str, Any], place: int) -> Any:
    if facet["number"]:
        return facet["values"][place]
    return facet["values"][facet["codes"][place]]


def asks_nothing(page: str) -> bool:
    """Tell whether a page is whole by itself: no file of others, and at most one script, ours."""
    foreign = r"<script (?!type=\"application/octet-stream\")|<link|<img|(src|href)=\"(https?:)?//"
    return page.count("<script>") <= 1 and not re.search(foreign, page)

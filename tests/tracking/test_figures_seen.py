"""What people see of figures in a browser: on a desk, in the dark, on a phone, printed."""

import re
from pathlib import Path
from typing import Any

import pytest
from browsing import PHONE, Seen
from figures import DRAWN, MANY, shares
from reading import whole

from raybench.tracking import plots
from raybench.tracking.leaderboard import Column
from raybench.tracking.report import Section

NAMES = ["small", "<b>large</b>", "a model with a name that is longer than there is room for"]
_LEAST_PX = 11.0
"""Of letters, however narrow the page."""


@pytest.fixture(scope="session")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report with every kind of figure, of a few models, and the large ones of many."""
    figures = {kind: draw(NAMES) for kind, draw in DRAWN.items()}
    figures |= {f"{kind} of many": DRAWN[kind](MANY) for kind in ("bars", "heatmap")}
    figures["versus"] = plots.versus({"places": {"with": shares(NAMES)}})
    figures["across"] = plots.across(
        {"before": {name: [shares(NAMES)[name]] * 3 for name in NAMES}},
        ["own", "first", "second"],
        "phrasing",
        "rating",
    )
    results: dict[str, Any] = {
        "models": {"a": {"t/score": shares(["a"])["a"]}},
        "counts": {"a": {"ok": 3}},
        "simulated": False,
    }
    html = whole(
        title="figures",
        subtitle="all kinds",
        results=results,
        columns=[Column("t/score", "Score")],
        sections=[Section(kind, "Read it so.", figure=svg) for kind, svg in figures.items()],
        run={"seed": "0"},
    )
    file = tmp_path_factory.mktemp("figures") / "report.html"
    file.write_text(html, encoding="utf-8")
    return file


SEEN_IN = [
    pytest.param({"color_scheme": "dark"}, id="dark"),
    pytest.param({"viewport": PHONE}, id="phone"),
    # Its colours are the phone's, and its layout is that of the dark.
    pytest.param(
        {}, id="desk",
        marks=pytest.mark.long(
            short="tests/tracking/test_figures_seen.py::test_figures_are_seen_by_everybody[dark]"
        ),
    ),
]  # fmt: skip


@pytest.mark.parametrize("seen", SEEN_IN, indirect=True)
def test_figures_are_seen_by_everybody(seen: Seen, page: Path, request: Any) -> None:
    shown = seen.open(page)
    assert seen.faults() == []
    assert seen.complaints == []
    assert not seen.overflows()
    figures = shown.locator("figure svg")
    assert figures.count() == len(DRAWN) + 4
    for place in range(figures.count()):
        figure = figures.nth(place)
        box = figure.bounding_box()
        assert box is not None and box["width"] > 100 and box["height"] > 40
        assert figure.get_attribute("role") == "img"
        assert len(figure.get_attribute("aria-label") or "") > 20
        smallest = figure.evaluate(
            """svg => {
              const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
              const sizes = [...svg.querySelectorAll('text')].map(
                it => parseFloat(getComputedStyle(it).fontSize) * scale);
              return Math.min(...sizes);
            }"""
        )
        assert smallest >= _LEAST_PX, figure.get_attribute("aria-label")
    seen.picture(f"figures-{request.node.callspec.id}", whole=True)


@pytest.mark.parametrize("seen", [{}, {"color_scheme": "dark"}], indirect=True)
def test_the_ink_of_figures_is_the_pages(seen: Seen, page: Path) -> None:
    shown = seen.open(page)
    ink = shown.evaluate("getComputedStyle(document.body).color")
    text = shown.locator("figure svg text").first
    assert text.evaluate("it => getComputedStyle(it).fill") == ink


def test_figures_are_printed_whole(seen: Seen, page: Path) -> None:
    shown = seen.open(page)
    shown.emulate_media(media="print")
    shown.set_viewport_size({"width": 700, "height": 1000})  # about A4 within its margins
    assert not seen.overflows()
    for place in range(shown.locator("figure svg").count()):
        box = shown.locator("figure svg").nth(place).bounding_box()
        assert box is not None and box["x"] >= 0 and box["x"] + box["width"] <= 701


def test_names_of_models_are_text_alone(page: Path) -> None:
    html = page.read_text(encoding="utf-8")
    assert "<b>large" not in html
    assert "&lt;b&gt;large" in html
    assert not re.search(r"<svg[^>]*aria-label=\"[^\"]*<", html)

"""Debian's Chromium over the pages that people see: complaints, what axe finds, pictures.

Pictures go to the folder that RAYBENCH_SCREENSHOTS names (CI keeps it), else nowhere.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

NO_CHROMIUM = "no chromium on the PATH (apt-get install chromium)"
"""Why tests are skipped that look at pages."""
_CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
_FLAGS = (
    "--no-sandbox",  # CI is root
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PHONE = {"width": 390, "height": 844}
DESK = {"width": 1280, "height": 900}


class Seen:
    """A page in the browser, and all that it complained of since it was opened."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.complaints: list[str] = []
        self.asked: list[str] = []
        """Where the page turned to on the network."""
        page.on("console", self._said)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", lambda request: self.asked.append(request.url))
        page.on("requestfailed", self._refused)

    def open(self, path: Path) -> Any:
        """Open a file of this machine."""
        self.page.goto(path.absolute().as_uri())
        return self.page

    def faults(self) -> list[str]:
        """Return what axe has against the page as it is now, a line each."""
        from axe_playwright_python.sync_playwright import Axe

        found = Axe().run(self.page).response["violations"]
        return [
            f"{it['id']}: {it['help']}: {it['nodes'][0]['html'][:200]} ({len(it['nodes'])} places)"
            for it in found
        ]

    def overflows(self) -> bool:
        """Tell whether the page is wider than its window, so that all of it has to be pushed."""
        return bool(
            self.page.evaluate(
                "document.documentElement.scrollWidth > document.documentElement.clientWidth"
            )
        )

    def lets_in(self) -> list[str]:
        """Return what of others' gets to do something in the page: code, and calls to elsewhere."""
        before = len(self.asked)
        self.page.evaluate(
            """() => {
                const add = (kind, what) => document.body.append(
                    Object.assign(document.createElement(kind), what));
                add("script", {textContent: "window.ran = 'a script'"});
                add("div", {innerHTML: "<img src='data:,' onerror='window.ran = `a handler`'>"});
                add("img", {src: "http://127.0.0.1:8009/img"});
                add("iframe", {src: "http://127.0.0.1:8009/frame"});
                fetch("http://127.0.0.1:8009/fetch").catch(() => 0);
            }"""
        )
        self.page.wait_for_timeout(300)
        refused = [it for it in self.complaints if "Security Policy" in it]
        self.complaints = [it for it in self.complaints if it not in refused]
        return [*filter(None, [self.page.evaluate("window.ran")]), *self.asked[before:]]

    def picture(self, name: str, *, whole: bool = False) -> None:
        """Keep a screenshot where pictures are wanted."""
        if folder := os.environ.get("RAYBENCH_SCREENSHOTS"):
            Path(folder).mkdir(parents=True, exist_ok=True)
            self.page.screenshot(path=Path(folder) / f"{name}.png", full_page=whole)

    def _refused(self, request: Any) -> None:
        if request.failure == "csp":  # it got no further than the page's own policy
            self.asked.remove(request.url)

    def _said(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """Chromium, for all tests of a file: as long as it is there, no other event loop can run."""
    if _CHROMIUM is None:
        pytest.skip(NO_CHROMIUM)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=_CHROMIUM, args=[*_FLAGS])
        yield browser
        browser.close()


@pytest.fixture
def seen(chromium: Any, request: pytest.FixtureRequest) -> Iterator[Seen]:
    """A page of its own, on a desk.

    `@pytest.mark.parametrize("seen", [{...}], indirect=True)` gives other options of Playwright's
    `new_context`: a viewport, `color_scheme`.
    """
    options = {"viewport": DESK, **getattr(request, "param", {})}
    context = chromium.new_context(**options)
    context.set_default_timeout(20_000)
    yield Seen(context.new_page())
    context.close()

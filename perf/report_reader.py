"""How quickly report.html opens where there is a lot to read, and what it takes to write it.

    python perf/report_reader.py [--units 10000 100000] [--times 3]

Units have prompts of about 800 characters, which eight models share, and replies of about 1,500 in
words drawn anew, which compress little. Each page is opened in Chromium several times, from a file:
`opens` is from the beginning of the navigation until the first rows are there, `answers` until a
filter has been chosen after that and its rows are there; the least of all times counts, as other
work on the machine only ever adds. One JSON object goes to standard output.
"""

import argparse
import json
import random
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import psutil

from raybench.pipeline import whole
from raybench.tracking import report
from raybench.tracking.report import Body, Facet, Text, Unit, Units

_MODELS = 8
_WORDS = 4000
_GOAL_S = 3.0
"""For 100,000 units."""


def units(count: int) -> Units:
    """Return so many units of a made-up benchmark."""
    facets = (
        Facet("model"), Facet("benchmark"), Facet("outcome"), Facet("subject"),
        Facet("tokens", number=True),
    )  # fmt: skip
    return Units("sample", "journal/units.jsonl", facets, lambda: _each(count))


def _each(count: int) -> Iterator[Unit]:
    rng = random.Random(0)
    words = ["".join(rng.choices("etaoinshrdlu", k=rng.randint(2, 10))) for _ in range(_WORDS)]

    def said(characters: int) -> str:
        text = " ".join(rng.choices(words, k=characters // 7 + 1))
        return text[:characters]

    asked = ""
    for number in range(count):
        question, model = divmod(number, _MODELS)
        if model == 0:
            asked = said(rng.randint(600, 1000))
        reply = said(rng.randint(1000, 2000))
        outcome = rng.choice(("right", "right", "wrong", "unparsed"))
        texts = [Text("asked", asked), Text("reply (stop)", reply, reply=True)]
        yield Unit(
            key=f"{rng.getrandbits(64):016x}",
            summary=f"{question}: answered {said(24)}, right is {said(24)}",
            facets={
                "model": f"model-{model}",
                "benchmark": f"benchmark {question % 12}",
                "outcome": outcome,
                "subject": f"subject {question % 57}",
                "tokens": float(len(reply) // 4),
            },
            body=partial(Body, texts),
            line=number + 1,
            group=str(question),
            stratum=str(question % 12),
        )


def written(count: int, path: Path) -> dict[str, Any]:
    """Write a page, and return what that took."""
    process, peak, over = psutil.Process(), 0, threading.Event()
    before = process.memory_info().rss

    def watch() -> None:
        nonlocal peak
        while not over.wait(0.05):
            peak = max(peak, process.memory_info().rss)

    watching = threading.Thread(target=watch)
    watching.start()
    begun = time.perf_counter()
    try:
        parts = report.parts(
            title="raybench: perf",
            subtitle="",
            results={"models": {}, "counts": {}, "simulated": True},
            columns=[],
            sections=[],
            run={},
            units=units(count),
        )
        whole.write(path, parts)
    finally:
        over.set()
        watching.join()
    return {
        "write_s": round(time.perf_counter() - begun, 2),
        "page_mib": round(path.stat().st_size / 2**20, 2),
        "memory_mib": round((peak - before) / 2**20, 1),
    }


def opened(path: Path, times: int) -> dict[str, float]:
    """Open a page several times, and return how long it took at best."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        sys.exit("no chromium on the PATH: apt-get install chromium")
    found: dict[str, list[float]] = {"opens_s": [], "answers_s": [], "unit_s": []}
    with sync_playwright() as playwright:
        for _ in range(times):
            browser = playwright.chromium.launch(
                executable_path=chromium, args=["--no-sandbox", "--disable-gpu"]
            )
            page = browser.new_page()
            page.goto(path.absolute().as_uri(), wait_until="commit")
            page.wait_for_selector("#reader[data-ready] tbody tr", timeout=120_000)
            # Since the navigation began, by the browser's own clock.
            found["opens_s"].append(page.evaluate(_PAINTED) / 1000)
            found["answers_s"].append(page.evaluate(_FILTERED) / 1000)
            found["unit_s"].append(page.evaluate(_OPENED) / 1000)
            browser.close()
    return {name: round(min(seconds), 3) for name, seconds in found.items()}


_PAINTED = "() => Number(document.getElementById('reader').dataset.ready)"
_FILTERED = """async () => {
  const select = document.querySelector('.tools select');
  const begun = performance.now();
  select.selectedIndex = 2;
  select.dispatchEvent(new Event('change'));
  await new Promise((painted) => requestAnimationFrame(() => setTimeout(painted)));
  return performance.now() - begun;
}"""
_OPENED = """async () => {
  const begun = performance.now();
  document.querySelector('#reader tbody a').click();
  while (!document.querySelector('.texts pre')) await new Promise((next) => setTimeout(next, 1));
  return performance.now() - begun;
}"""


def main() -> None:
    """Measure pages of each size."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--units", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--times", type=int, default=3)
    asked = parser.parse_args()
    found: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for count in asked.units:
            path = Path(folder) / "report.html"
            found[str(count)] = written(count, path) | opened(path, asked.times)
            print(f"{count:,} units: {found[str(count)]}", file=sys.stderr)
    smallest, *others = found
    ratios = {
        f"{other} : {smallest}": {
            name: round(found[other][name] / value, 2) if value else None
            for name, value in found[smallest].items()
        }
        for other in others
    }
    print(json.dumps({"units": found, "ratios": ratios, "goal_opens_s": _GOAL_S}, indent=2))


if __name__ == "__main__":
    main()

"""The page of a suite in a browser: its answer first, its links, light, dark and on a phone."""

from pathlib import Path

import pytest
from browsing import PHONE, Seen
from helpers import last_run
from shared_runs import SharedRuns
from suites import COMPARED, EXTERNAL, PARTS

pytestmark = [
    pytest.mark.browser,
    pytest.mark.timeout(600),
    pytest.mark.usefixtures("on_lasting_ray"),
]


@pytest.fixture(scope="module")
def run(shared_runs: SharedRuns) -> Path:
    return last_run(shared_runs.copy(*COMPARED, files=EXTERNAL, sent=True), "suite")


@pytest.mark.parametrize(
    "seen", [{}, {"color_scheme": "dark"}, {"viewport": PHONE}], indirect=True,
    ids=["desk", "dark", "phone"],
)  # fmt: skip
def test_the_answer_comes_first_and_nothing_is_amiss(run: Path, seen: Seen) -> None:
    page = seen.open(run / "report.html")
    answer = page.locator("p.answer")
    assert "Kendall's τ is" in answer.inner_text()
    table = page.locator("table.lead")
    assert answer.bounding_box()["y"] < table.bounding_box()["y"]
    assert page.locator("table.lead tbody tr").count() == 4
    assert page.locator("figure svg").count() == 2  # ranks, and τ of all pairs
    seen.picture(f"suite-{page.viewport_size['width']}", whole=True)
    assert not seen.overflows()
    assert not seen.complaints
    assert not seen.faults()
    assert all(it.startswith("file:") for it in seen.asked)


def test_links_lead_to_the_parts(run: Path, seen: Seen) -> None:
    for at, name in enumerate(PARTS):
        page = seen.open(run / "report.html")
        page.locator("ul.links a").nth(at).click()
        assert page.title() == f"raybench: {name}"
        page.get_by_role("link", name="The suite that this run is a part of").click()
        assert page.title() == "raybench: suite"

import base64
import hashlib
import re
from html import escape, unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from reading import whole

from raybench.tracking import plots
from raybench.tracking.leaderboard import (
    COUNT_MEANINGS,
    SIMULATED,
    UNSAFE,
    Column,
    to_markdown,
)
from raybench.tracking.report import Item, Section, Table
from raybench.types import Estimate

NASTY = "<script>alert(1)</script>"
COLUMNS = [Column("t/score", "Score")]
VOID = {"meta", "br", "wbr", "link", "img", "input", "hr"}


class Page(HTMLParser):
    """Collects the elements and the text, and sees that every element is closed."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.html = html
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.words: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    @property
    def scripts(self) -> list[str]:
        """What browsers would run: all that does not say that it is something else."""
        return [
            found[1]
            for found in re.findall(r"<script([^>]*)>(.*?)</script>", self.html, re.DOTALL)
            if "application/octet-stream" not in found[0]
        ]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not {"style", "script"} & {*self.open}:
            self.words.append(data.strip())

    @property
    def text(self) -> str:
        return " ".join(word for word in self.words if word)


def ours(html: str) -> str:
    """Return the script that the page's policy lets run."""
    (digest,) = re.findall(r"script-src 'sha256-([^']+)'", html)
    (script,) = (
        it
        for it in re.findall(r"<script>(.*?)</script>", html, re.DOTALL)
        if base64.b64encode(hashlib.sha256(it.encode()).digest()).decode() == digest
    )
    return str(script)


@pytest.fixture
def results() -> dict[str, Any]:
    score = {"value": 0.731, "stderr": 0.04, "ci95": [0.65, 0.81], "n": 140, "method": "Wilson"}
    refused = {"value": None, "stderr": None, "ci95": None, "n": 2, "method": f"too few {NASTY}"}
    return {
        "models": {NASTY: {"t/score": score}, "small": {"t/score": refused}},
        "counts": {NASTY: {"ok": 139, "judge_error": 1}, "small": {"ok": 2}},
        "simulated": False,
    }


def written(path: Path, results: dict[str, Any], sections: list[Section], **more: Any) -> Page:
    page = whole(
        title=f"Title {NASTY}",
        subtitle="Sub & title",
        results=results,
        columns=COLUMNS,
        sections=sections,
        run={"seed": "0", NASTY: NASTY},
        **more,
    )
    (path / "report.html").write_text(page, encoding="utf-8")
    return Page((path / "report.html").read_text(encoding="utf-8"))


def test_the_page_shows_scores_counts_and_how_it_was_run(
    tmp_path: Path, results: dict[str, Any]
) -> None:
    page = written(tmp_path, results, [])
    assert "0.731 [0.65, 0.81] 139 1" in page.text
    assert "— 1 2 0" in page.text  # refused, footnote 1, two fine replies, no judge error
    assert "Score: Wilson (n = 140)" in page.text
    assert f"judge error {COUNT_MEANINGS['judge_error']}" in page.text
    assert "seed 0" in page.text
    assert SIMULATED not in page.text


def test_the_page_has_the_footnotes_of_the_markdown(
    tmp_path: Path, results: dict[str, Any]
) -> None:
    remarks = {"Judged by": "a judge", "Samples": NASTY}
    conditions = {"Judged by": "j", "Deviations": NASTY}
    sections = [Section("Deviations", "")]
    page = written(tmp_path, results, sections, remarks=remarks, conditions=conditions)
    items = re.findall(r"<li>(.*?)</li>", page.html)
    markdown = to_markdown(results, COLUMNS, remarks)
    footnotes = [line.removeprefix("- ") for line in markdown.splitlines() if line[:2] == "- "]
    shown = [unescape(item) for item in items if not item.startswith(("<a", "too few"))]
    assert len(shown) == len(footnotes) == 4
    assert shown[-2:] == [f"{name}: {text}" for name, text in remarks.items()]
    head, below = page.html.split("<table", 1)
    told = re.findall(r'<p class="conditions">(.*)</p>', head)
    linked = f'<a href="#deviations">Deviations</a>: {escape(NASTY)}.'
    assert told == [f"Judged by: {conditions['Judged by']}.", linked]
    assert 'class="conditions"' not in below and '<section id="deviations">' in below


def test_a_command_below_a_footnote_can_be_copied(tmp_path: Path, results: dict[str, Any]) -> None:
    command = "python -m raybench 'reviewed=[a_b.csv]' < x"
    remarks = {"Hand in": f"then run\n{command}"}
    page = written(tmp_path, results, [], remarks=remarks)
    (shown,) = re.findall(r"<li>Hand in: then run<pre[^>]*>(.*?)</pre></li>", page.html)
    assert unescape(shown) == command
    markdown = to_markdown(results, COLUMNS, remarks).splitlines()
    at = markdown.index("- Hand in: then run")
    assert markdown[at + 1 : at + 3] == ["", f"      {command}"]


def test_a_run_that_asked_no_model_has_no_table_but_its_footnotes(tmp_path: Path) -> None:
    none = {"models": {}, "counts": {}, "simulated": False}
    page = written(tmp_path, none, [], remarks={"Reviews": "3 of 3"})
    assert "table" not in page.tags and "Reviews: 3 of 3" in page.text


def test_the_head_of_a_column_may_break_between_its_words(
    tmp_path: Path, results: dict[str, Any]
) -> None:
    table = Table(("LiveCodeBench", "MATH-500", "a<B"), [("x", 1, 2)])
    page = written(tmp_path, results, [Section("s", table=table)])
    assert ">Live<wbr>Code<wbr>Bench</th>" in page.html and ">MATH-500</th>" in page.html
    assert ">a&lt;B</th>" in page.html


def test_a_simulated_run_says_so(tmp_path: Path, results: dict[str, Any]) -> None:
    assert SIMULATED in written(tmp_path, results | {"simulated": True}, []).text


def test_a_run_without_walls_says_so(tmp_path: Path, results: dict[str, Any]) -> None:
    run = {"programs": {"ran": [{"backend": "unsafe", "python": "3.12"}]}}
    page = written(tmp_path, results | {"run": run}, [])
    assert UNSAFE in page.text
    assert SIMULATED not in page.text


def test_text_of_models_is_shown_and_never_obeyed(tmp_path: Path, results: dict[str, Any]) -> None:
    body = {NASTY: f'</pre>{NASTY}" onload="x', "{{ 7 * 7 }}": "\x1b[2J\ud83d"}
    table = Table(["a", NASTY], [[NASTY, 1.5], ["b", None]], caption=NASTY, digits=1)
    page = written(
        tmp_path,
        results,
        [
            Section(NASTY, NASTY, plots.forest({NASTY: {"value": 1.0}}, NASTY), table),
            Section("Texts", items=[Item(NASTY, body)]),
        ],
    )
    assert page.scripts == [ours((tmp_path / "report.html").read_text(encoding="utf-8"))]
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    assert page.text.count(NASTY) >= 10
    assert f'</pre>{NASTY}" onload="x' in page.text
    assert "{{ 7 * 7 }}" in page.text
    assert {"svg", "details", "figure"} <= page.tags
    assert "1.5" in page.text


def test_the_page_needs_nothing_from_outside(tmp_path: Path, results: dict[str, Any]) -> None:
    page = written(tmp_path, results, [Section("Plot", "", plots.forest({}, "x"))])
    assert not page.tags & {"link", "iframe", "object", "img"}
    outside = [
        (name, value)
        for name, value in page.attributes
        if name in ("src", "href", "action", "xlink:href") and not (value or "").startswith("#")
    ]
    assert outside == []


def test_a_number_column_stands_to_the_right(tmp_path: Path, results: dict[str, Any]) -> None:
    written(tmp_path, results, [Section("T", table=Table(["n", "s"], [[1, "x"], [None, "y"]]))])
    html = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert '<td class="number">1</td>' in html
    assert '<td class="short">x</td>' in html


def test_numbers_may_be_written_with_signs(tmp_path: Path, results: dict[str, Any]) -> None:
    table = Table(["m", "p", "name"], [["a", "< 0.001", "7b"], ["b", 0.5, "x"]])
    written(tmp_path, results, [Section("T", table=table)])
    html = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert '<td class="number">&lt; 0.001</td>' in html
    assert '<td class="short">7b</td>' in html


def test_an_estimate_has_its_interval_and_a_refused_one_a_footnote(
    tmp_path: Path, results: dict[str, Any]
) -> None:
    score = Estimate(0.4123, 0.04, (0.333, 0.499), 140, "Wilson")
    refused = Estimate(None, None, None, 2, f"none: {NASTY}")
    table = Table(["part", "a", "b"], [["x", score, refused], ["y", refused, None]])
    page = written(tmp_path, results, [Section("T", table=table)])
    assert "part a b x 0.412 [0.33, 0.50] — 2 y — 2 — none: " + NASTY in page.text
    html = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert '<th scope="row" class="name short">x</th>' in html


def test_a_reason_that_several_tables_have_is_one_footnote(
    tmp_path: Path, results: dict[str, Any]
) -> None:
    many, few = (Estimate(None, None, None, 2, f"not computed: {why}") for why in ("many", "few"))
    tables = [Table(["part", "a"], [["x", first], ["y", many]]) for first in (many, few)]
    page = written(tmp_path, results, [Section("T", table=it) for it in tables])
    ids = [value for name, value in page.attributes if name == "id"]
    assert [it for it in ids if it and "footnote" in it] == [f"footnote-{n}" for n in (1, 2, 3)]
    links = [value for name, value in page.attributes if name == "href"]
    assert [it for it in links if it and "footnote" in it] == [
        f"#footnote-{n}" for n in (1, 2, 2, 3, 2)
    ]
    assert page.text.count("not computed: many") == 1


def test_long_tables_and_groups_of_items_are_folded_away(
    tmp_path: Path, results: dict[str, Any]
) -> None:
    table = Table(["n"], [[71], [72]])
    items = [Item("one", {"a": "b"}, "First"), Item("two", {}, "First"), Item("three", {})]
    page = written(
        tmp_path, results, [Section("T", table=table, folded="Both"), Section("R", items=items)]
    )
    assert page.text.count("First") == 1
    html = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert html.count("<details") == 5
    assert html.count('<details class="group">') == 1  # not unfolded in print
    assert html.index("<summary>Both</summary>") < html.index('<td class="number">71</td>')


def test_sections_have_addresses_of_their_own_and_a_long_page_links_to_them(
    tmp_path: Path, results: dict[str, Any]
) -> None:
    sections = [Section(title) for title in ("MMLU-Pro", "MMLU Pro", NASTY, "…", "A", "B")]
    page = written(tmp_path, results, sections)
    footnote, *ids = [value for name, value in page.attributes if name == "id"]
    assert len(ids) == len(set(ids)) and footnote == "footnote-1"
    assert ids[:4] == ["mmlu-pro", "mmlu-pro-2", "script-alert-1-script", "section-4"]
    links = [value for name, value in page.attributes if name == "href"]
    assert links == [f"#{address}" for address in (*ids, footnote)]
    assert not Page(whole(results=results, columns=COLUMNS)).tags & {"nav"}

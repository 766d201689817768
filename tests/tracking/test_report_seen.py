"""The report in a browser: tables sort, units are found and opened, a match replays."""

import json
import math
import re
from pathlib import Path
from typing import Any

import chess
import pytest
from browsing import PHONE, Seen
from helpers import last_run
from playwright.sync_api import expect
from reading import page, several, unit
from shared_runs import AUTOBENCH, GAMES, HLE, INDEX, SharedRuns

from raybench.tracking.leaderboard import Column
from raybench.tracking.report import Facet, Item, Ply, Section, Table, Units, Value
from raybench.types import Estimate

pytestmark = pytest.mark.browser

DARK = {"viewport": {"width": 1280, "height": 900}, "color_scheme": "dark"}


def plies() -> list[Ply]:
    board = chess.Board()
    found = [Ply(board.board_fen(), "start")]
    for number, san in enumerate(("f3", "e5", "g4", "Qh4#")):
        move = board.push_san(san)
        squares = (chess.square_name(move.from_square), chess.square_name(move.to_square))
        found.append(Ply(board.board_fen(), san, "m-1" if number % 2 else "m-0", squares, None))
    return found


def units(count: int = 240, models: int = 4) -> Units:
    made = []
    for number in range(count):
        question, model = divmod(number, models)
        texts = [
            ("asked", f"Question {question}: <b>what</b> is \u202e{question}\u202c?"),
            ("reply (stop)", f"</script><script>alert(1)</script> needle-{number}"),
        ]
        made.append(
            unit(
                f"key-{number}",
                texts,
                group=str(question),
                summary=f"{question}: answered <i>{number}</i>",
                line=number + 1,
                model=f"m-{model}",
                outcome=("right", "wrong", "unparsed")[number % 3],
                tokens=float(number * 37 % 101),
            )
        )
    made.append(unit("match", plies=plies(), summary="a match", model=["m-0", "m-1"]))
    facets = (Facet("model"), Facet("outcome"), Facet("tokens", number=True))
    return several(*made, facets=facets)


def repeated(models: int, repeats: int) -> Units:
    made = [
        unit(
            f"key-{repeat}-{model}",
            [("asked", "What?"), ("reply", "So.")],
            group="question",
            model=f"m-{model}",
            repeat=str(repeat),
        )
        for repeat in range(1, repeats + 1)
        for model in range(models)
    ]
    return several(*made, facets=(Facet("model"), Facet("repeat")))


def _bound(ends: tuple[float, float] | None) -> Estimate:
    return Estimate(None, None, ends, 9, "it lost nothing")


BOUNDS = [
    ("a", Estimate(1000.0, 50.0, (900.0, 1100.0), 9, "by hand")),
    ("b", _bound((1512.0, math.inf))),
    ("c", _bound((-math.inf, 900.0))),
    ("d", _bound(None)),
    ("e", Estimate(1512.0, 50.0, (1412.0, 1612.0), 9, "by hand")),
]


def score(value: float) -> dict[str, Any]:
    return Estimate(value, 0.01, (value - 0.02, value + 0.02), 100, "Wilson").to_json()


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    values = {"m-0": 0.5, "m-1": 0.75, "m-2": 0.25}
    rows = [(f"part {number}", number * 7 % 20, f"{number}–{number + 3}") for number in range(20)]
    html = page(
        units(),
        results={
            "models": {name: {"t/score": score(value)} for name, value in values.items()},
            "counts": {"m-0": {"ok": 1000}, "m-1": {"ok": 9}, "m-2": {"ok": 20}},
        },
        columns=[Column("t/score", "Score")],
        sections=[
            Section("Parts", table=Table(("part", "n", "range"), rows)),
            Section("Bounds", table=Table(("model", "rating"), BOUNDS, digits=0)),
            Section("Read them", items=[Item("one", {"reply": "so"}, unit="key-5")]),
        ],
        run={"seed": "0"},
    )
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(html, encoding="utf-8")
    return path


@pytest.fixture
def reader(seen: Seen, path: Path) -> Any:
    opened = seen.open(path)
    opened.wait_for_selector("#reader[data-ready]")
    yield opened
    assert seen.complaints == []
    assert seen.asked == [seen.asked[0]] and seen.asked[0].startswith("file:")


def column(reader: Any, table: str, place: int) -> list[str]:
    found = reader.locator(f"{table} tbody tr:visible > :nth-child({place})").all_inner_texts()
    return [text.split()[0] for text in found]


def told(reader: Any) -> str:
    return str(reader.locator("#reader [role=status]").first.inner_text())


def test_nothing_but_its_own_script_runs_and_nothing_is_loaded(reader: Any, seen: Seen) -> None:
    assert seen.lets_in() == []


def test_a_head_sorts_both_ways_and_back(reader: Any) -> None:
    head = reader.locator(".lead thead button", has_text="ok")
    given = column(reader, ".lead", 2)
    assert given == ["m-1", "m-0", "m-2"]
    orders = []
    for sort in ("descending", "ascending", None):
        head.click()
        heads = reader.locator(".lead thead th")
        assert heads.nth(3).get_attribute("aria-sort") == sort
        orders.append(column(reader, ".lead", 2))
    assert orders == [["m-0", "m-2", "m-1"], ["m-1", "m-2", "m-0"], given]
    assert "Wilson" in reader.locator("section").first.inner_text()  # its notes stay


def test_a_number_that_is_only_bounded_is_sorted_by_its_bound(reader: Any) -> None:
    assert column(reader, "#bounds table", 1) == [*"abcde"]
    reader.locator("#bounds thead button", has_text="rating").click()
    assert column(reader, "#bounds table", 1) == [*"beacd"]


def test_checkpoints_are_told_apart_in_the_list(seen: Seen, tmp_path: Path) -> None:
    names = [f"our-lab/very-long-experiment-name-checkpoint-{number}" for number in (1000, 2000)]
    made = [unit(f"key-{at}", [("reply", "So.")], model=name) for at, name in enumerate(names)]
    path = tmp_path / "report.html"
    path.write_text(page(several(*made, facets=(Facet("model"),))), encoding="utf-8")
    opened = seen.open(path)
    opened.wait_for_selector("#reader[data-ready]")
    cells = opened.locator("table.units td:not(.line)")
    assert cells.all_inner_texts() == ["our-lab/very…eckpoint-1000", "our-lab/very…eckpoint-2000"]
    assert [it.get_attribute("title") for it in cells.all()] == names


def test_a_link_to_what_nobody_has_is_told(reader: Any) -> None:
    reader.evaluate("location.hash = '#model=nobody'")
    reader.wait_for_function("location.hash === '#model=nobody'")
    expected = "0 of 241 samples. No sample has the model 'nobody'."
    status = "document.querySelector('#reader [role=status]').innerText"
    reader.wait_for_function(f"{status} === {json.dumps(expected)}")


def test_a_long_table_leaves_the_rows_that_hold_a_text(reader: Any) -> None:
    assert reader.locator(".filter input").count() == 1
    reader.locator("#parts thead button", has_text="range").click()
    assert column(reader, "#parts table", 3)[:2] == ["19–22", "18–21"]
    reader.locator(".filter input").fill("part 1")
    assert len(column(reader, "#parts table", 1)) == 11
    assert reader.locator(".filter-line [role=status]").inner_text() == "11 shown"


def test_units_are_filtered_searched_and_sorted(reader: Any) -> None:
    assert told(reader) == "241 of 241 samples"
    model = reader.locator(".tools select").first
    assert "m-1 (61)" in model.inner_text()
    model.select_option(label="m-1 (61)")
    assert told(reader) == "61 of 241 samples"
    assert {*column(reader, ".units", 1)} == {"m-1"}
    assert "right (20)" in reader.locator(".tools select").nth(1).inner_text()
    reader.locator("#reader-search").fill("answered <i>5</i>")
    expect(reader.locator(".units tbody tr")).to_have_count(1)
    assert told(reader) == "1 of 241 samples"
    assert "model=m-1" in reader.url and "q=answered" in reader.url
    reader.get_by_role("button", name="Show all").click()
    reader.locator(".units thead button", has_text="tokens").click()
    tokens = [float(it) for it in column(reader, ".units", 3)]
    assert tokens == sorted(tokens, reverse=True) and len(tokens) == 50
    reader.get_by_role("button", name="Last page").click()
    assert column(reader, ".units", 3)[-1] == "—"  # what has none stands last
    assert "sort=-tokens" in reader.url and "page=5" in reader.url


def test_a_search_in_the_texts_finds_what_no_line_says(reader: Any) -> None:
    reader.locator("#reader-search").fill("needle-17")
    reader.get_by_role("button", name="Search the texts, too").click()
    expect(reader.locator(".units tbody tr")).to_have_count(11)
    assert told(reader).startswith("11 of 241 samples.")  # 17 and 170 to 179


def test_a_unit_opens_by_key_and_closes(reader: Any) -> None:
    reader.locator(".listed").focus()
    for key in ("ArrowDown", "ArrowDown", "Enter"):
        reader.keyboard.press(key)
    panel = reader.get_by_role("dialog")
    panel.locator("pre").first.wait_for()
    assert reader.url.endswith("#unit=key-1")
    assert reader.evaluate("document.activeElement.id") == "unit-title"
    texts = panel.locator("pre").all_inner_texts()
    assert texts[0] == "Question 0: <b>what</b> is \u202e0\u202c?"
    assert texts[1] == "</script><script>alert(1)</script> needle-1"
    assert "journal/units.jsonl, line 2" in panel.inner_text()
    reader.keyboard.press("ArrowRight")
    reader.wait_for_url("**#unit=key-2")
    panel.get_by_role("button", name="Side by side").click()
    assert len(panel.locator(".beside > div").all()) == 4
    panel.get_by_role("button", name="Same question (4)").click()
    assert told(reader) == "4 of 241 samples"
    reader.keyboard.press("Escape")
    assert not panel.is_visible()
    assert reader.evaluate("document.activeElement.hash").startswith("#unit=key-2")


def test_side_by_side_begins_with_the_one_that_was_open_and_leads_back(reader: Any) -> None:
    reader.goto(reader.url.partition("#")[0] + "#unit=key-2")
    panel = reader.get_by_role("dialog")
    panel.get_by_role("button", name="Side by side").click()
    columns = panel.locator(".beside > div h4")
    expect(columns).to_have_text(["m-2, unparsed", "m-0, right", "m-1, wrong", "m-3, right"])
    assert reader.url.endswith("#unit=key-2&view=beside")
    assert panel.locator("pre").first.inner_text().startswith("Question 0")
    columns.nth(3).get_by_role("button").click()
    reader.wait_for_url("**#unit=key-3")
    reader.go_back()
    expect(columns).to_have_count(4)
    reader.go_back()
    expect(panel.locator(".beside")).to_have_count(0)
    panel.get_by_role("button", name="Side by side").click()
    panel.get_by_role("button", name="This one alone").click()
    reader.wait_for_url("**#unit=key-2")
    expect(panel.locator(".beside")).to_have_count(0)


def test_a_link_leads_to_what_stands_side_by_side(seen: Seen, path: Path) -> None:
    seen.page.goto(f"{path.absolute().as_uri()}#unit=key-5&view=beside")
    expect(seen.page.locator(".beside h4").first).to_have_text("m-1, unparsed")
    assert seen.complaints == []


def test_the_list_stays_usable_beside_an_open_unit(reader: Any) -> None:
    link = reader.locator(".units tbody a").nth(7)
    link.click()
    panel = reader.get_by_role("dialog").bounding_box()
    row = link.bounding_box()
    assert panel["width"] >= 600 and row["x"] + row["width"] <= panel["x"]
    assert 0 < row["y"] < 900, "it stays where it was"
    for name in ("m-1 (61)", "right (20)"):
        chosen = reader.locator("select", has=reader.locator("option", has_text=name)).first
        assert chosen.bounding_box()["x"] + chosen.bounding_box()["width"] <= panel["x"]
        chosen.select_option(label=name)
    reader.get_by_label("sorted by").select_option("-tokens")
    assert "sort=-tokens" in reader.url and told(reader) == "20 of 241 samples"
    reader.locator(".units tbody a").first.click()
    assert "unit=key-1&" not in reader.url
    reader.keyboard.press("Escape")
    assert reader.locator(".units thead").is_visible()


@pytest.mark.parametrize("seen", [{"viewport": PHONE}], indirect=True)
def test_a_list_is_sorted_on_a_phone(reader: Any) -> None:
    reader.get_by_label("sorted by").select_option("tokens")
    assert reader.url.endswith("#sort=tokens")
    assert reader.locator(".units tbody a").first.inner_text() == "0: answered <i>0</i>"


def test_repeats_of_a_question_are_told_apart(seen: Seen, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text(page(repeated(models=3, repeats=2)), encoding="utf-8")
    opened = seen.open(path)
    opened.locator(".units tbody a").nth(4).click()
    panel = opened.get_by_role("dialog")
    assert panel.get_by_role("button", name="Same question (3 models × 2 repeats)").is_visible()
    assert column(opened, ".units", 2)[:6] == ["1", "1", "1", "2", "2", "2"]
    panel.get_by_role("button", name="Side by side").click()
    expect(panel.locator(".beside h4").first).to_have_text("m-1, repeat 2")
    expect(panel.locator(".beside h4").nth(1)).to_have_text("m-0, repeat 1")


def test_a_link_leads_to_a_unit(seen: Seen, path: Path) -> None:
    seen.page.goto(f"{path.absolute().as_uri()}#unit=key-239&model=m-3")
    seen.page.get_by_text("needle-239").wait_for()
    assert told(seen.page) == "60 of 241 samples"
    seen.page.goto(f"{path.absolute().as_uri()}#unit=nobody")
    seen.page.get_by_text("There is no 'nobody' in this page").wait_for()
    seen.page.go_back()
    seen.page.get_by_text("needle-239").wait_for()
    assert seen.complaints == []


def test_a_pick_leads_to_all_of_it(reader: Any) -> None:
    reader.locator("summary", has_text="one").click()
    reader.get_by_role("link", name="All of it").click()
    reader.get_by_text("needle-5", exact=False).last.wait_for()


def test_a_match_replays(reader: Any, seen: Seen) -> None:
    reader.goto(reader.url.partition("#")[0] + "#unit=match")
    board = reader.locator(".board")
    board.wait_for()
    assert "king e1, queen d1" in board.get_attribute("aria-label")
    assert reader.locator(".board .last").count() == 0
    reader.locator("#unit-title").focus()
    reader.keyboard.press("ArrowRight")
    assert reader.locator(".said").inner_text() == "1 of 4: f3, by m-0"
    assert reader.locator(".board .last").count() == 2
    reader.get_by_role("button", name="Last position").click()
    assert "queen h4" in board.get_attribute("aria-label").partition("Black:")[2]
    assert reader.get_by_role("button", name="Next move").is_disabled()
    reader.get_by_role("button", name="e5", exact=True).click()
    assert reader.locator(".moves [aria-current=step]").inner_text() == "e5"
    reader.locator(".moving input").fill("3")
    assert reader.locator(".said").inner_text() == "3 of 4: g4, by m-0"
    box = board.bounding_box()
    assert abs(box["width"] - box["height"]) < 3
    assert len({round(it.bounding_box()["height"]) for it in board.locator("span").all()}) <= 2
    assert "checkmate" in reader.locator(".ending").inner_text()
    assert seen.faults() == []
    seen.picture("report-match")


_HERE = "tests/tracking/test_report_seen.py::"


@pytest.mark.parametrize(
    "seen",
    [
        pytest.param(DARK, id="dark"),
        pytest.param({"viewport": PHONE}, id="phone"),
        # Its colours are the phone's, and its layout is that of the dark.
        pytest.param(
            {}, id="desk",
            marks=pytest.mark.long(short=f"{_HERE}test_everybody_can_read_it[dark]"),
        ),
    ],
    indirect=True,
)  # fmt: skip
def test_everybody_can_read_it(reader: Any, seen: Seen, request: Any) -> None:
    assert seen.faults() == []
    assert not seen.overflows()
    reader.locator(".units tbody a").nth(1).click()
    reader.locator(".unit pre").first.wait_for()
    assert seen.faults() == []
    assert not seen.overflows()
    reader.get_by_role("button", name="Side by side").click()
    reader.locator(".beside").wait_for()
    assert seen.faults() == []
    name = request.node.callspec.id
    seen.picture(f"report-unit-{name}")
    box = reader.get_by_role("dialog").bounding_box()
    if reader.viewport_size == PHONE:
        assert (box["x"], box["width"]) == (0, PHONE["width"])


def test_print_has_all_but_the_reader(reader: Any) -> None:
    reader.locator(".units tbody a").nth(1).click()
    reader.emulate_media(media="print")
    assert not reader.locator("#reader").is_visible()
    assert not reader.get_by_role("dialog").is_visible()
    assert reader.locator(".lead").is_visible()
    assert "241 samples: " in reader.locator("#units").inner_text()
    assert len(reader.pdf()) > 1000


def test_a_wide_leaderboard_fits_on_a_printed_sheet(seen: Seen, tmp_path: Path) -> None:
    keys = [f"benchmark_{at}/accuracy" for at in range(15)]
    names = [f"vendor-{at}-large-instruct" for at in range(12)]
    half = Estimate(0.5, 0.1, (0.25, 0.75), 9, "W")
    rows: list[list[Value]] = [[name, *(half for _ in keys)] for name in names]
    html = page(
        units(8),
        results={
            "models": {name: {key: score(0.5) for key in keys} for name in names},
            "counts": {name: {"ok": 1000, "truncated": 12, "unparsed": 3} for name in names},
        },
        columns=[Column(key, f"Benchmark {at}") for at, key in enumerate(keys)],
        sections=[
            Section("Parts", table=Table(("model", *keys), rows)),
            Section("Again", commands={"This asks again:": "python -m raybench " + "x=y " * 80}),
        ],
    )
    path = tmp_path / "report.html"
    path.write_text(html, encoding="utf-8")
    opened = seen.open(path)
    across = tmp_path / "report.pdf"
    opened.pdf(path=str(across), format="A4", prefer_css_page_size=True)
    sheets = re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", across.read_bytes())
    assert {float(width) > float(height) for width, height in sheets} == {True, False}
    opened.set_viewport_size({"width": 1047, "height": 700})  # A4 across, margins of 1 cm
    opened.emulate_media(media="print")
    assert not seen.overflows()
    for table in opened.locator(".wide > table").all():
        box = table.bounding_box()
        assert box["x"] + box["width"] <= 1047
    opened.set_viewport_size({"width": 718, "height": 1000})
    command = opened.locator("#again pre")
    assert command.bounding_box()["width"] <= 718 and "x=y" in command.inner_text()


def test_the_leaderboard_of_the_index_fits_on_a_small_screen(seen: Seen, tmp_path: Path) -> None:
    titles = ["Intelligence Index", "Math Index", "Coding Index", "Multilingual Index", "MMLU-Pro"]
    titles += ["HLE", "GPQA Diamond", "MATH-500", "AIME 2024", "SciCode", "SciCode main problems"]
    titles += ["LiveCodeBench", "Multilingual MMLU", "MGSM"]
    names = [f"model-{at:02}" for at in range(12)]
    html = page(
        units(8),
        results={
            "models": {name: {title: score(0.5) for title in titles} for name in names},
            "counts": {name: {"ok": 562, "unparsed": 3} for name in names},
        },
        columns=[Column(title, title) for title in titles],
    )
    path = tmp_path / "report.html"
    path.write_text(html, encoding="utf-8")
    opened = seen.open(path)
    opened.set_viewport_size({"width": 1300, "height": 900})
    box = opened.locator(".wide").first
    assert box.evaluate("it => it.scrollWidth <= it.clientWidth"), "no column is cut"
    opened.set_viewport_size({"width": 700, "height": 900})
    assert box.evaluate("it => it.scrollWidth > it.clientWidth"), "it scrolls in its own box"
    assert not seen.overflows()


def test_without_a_script_the_page_is_whole(chromium: Any, path: Path) -> None:
    context = chromium.new_context(java_script_enabled=False)
    opened = context.new_page()
    opened.goto(path.absolute().as_uri())
    assert opened.locator(".lead tbody tr").count() == 3
    assert "JavaScript" in opened.locator("#units").inner_text()
    assert not opened.locator("#reader").is_visible()
    context.close()


@pytest.mark.parametrize(
    "count",
    [
        2_000,
        pytest.param(
            40_000,
            marks=pytest.mark.long(short=f"{_HERE}test_a_page_of_many_units_answers[2000]"),
        ),
    ],
)
def test_a_page_of_many_units_answers(seen: Seen, tmp_path: Path, count: int) -> None:
    path = tmp_path / "report.html"
    path.write_text(page(units(count, models=8)), encoding="utf-8")
    opened = seen.open(path)
    opened.wait_for_selector("#reader[data-ready]")
    opened.locator(".tools select").first.select_option(index=3)
    assert told(opened) == f"{count // 8:,} of {count + 1:,} samples"
    opened.goto(f"{path.as_uri()}#unit=key-{count - 1}")
    opened.get_by_text(f"needle-{count - 1}").wait_for()
    assert seen.complaints == []


# --------------------------------------------------------------------------------- real runs

RUNS = {"hle": HLE, "index": INDEX, "autobench": AUTOBENCH, "games": GAMES}


@pytest.mark.timeout(600)
@pytest.mark.usefixtures("on_lasting_ray")
@pytest.mark.parametrize("experiment", RUNS)
def test_the_reports_of_real_runs_can_be_read(
    experiment: str, seen: Seen, shared_runs: SharedRuns
) -> None:
    run = last_run(shared_runs.copy(*RUNS[experiment]), experiment)
    opened = seen.open(run / "report.html")
    opened.wait_for_selector("#reader[data-ready]")
    count = json.loads((run / "results.json").read_text())["run"]["units"]
    assert told(opened).startswith(f"{count:,} of {count:,} ")
    assert seen.faults() == []
    seen.picture(f"report-{experiment}", whole=True)
    opened.locator(".lead thead button").nth(1).click()
    units = opened.locator(".units tbody tr")
    if experiment == "games":  # which has a board
        units = units.filter(has_text="chess")
    units.first.locator("a").first.click()
    opened.locator(".unit pre").first.wait_for()
    assert seen.faults() == []
    if experiment == "games":
        opened.locator(".board").wait_for()
        opened.get_by_role("button", name="Last position").click()
        assert "by " in opened.locator(".said").inner_text()
    seen.picture(f"report-{experiment}-unit")
    assert seen.complaints == []
    assert {it.partition("#")[0] for it in seen.asked} == {(run / "report.html").as_uri()}

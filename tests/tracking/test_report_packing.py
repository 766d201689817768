"""Units go into a page and come out as they were; what has no room is told of."""

import random
import re
from collections import Counter
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reading import FACETS, page, read_back, several, unit
from statements import the

from raybench.tracking.report import Facet, Unit, Units, packing
from raybench.tracking.report.packing import Packed

NASTY = [
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "\x00\x1b[2J",
    "half a pair: \ud83d, the other: \ude00",
    "\u202eright to left\u202c",
    "\r\n\r\u2028\u2029",
    "{{ 7 * 7 }}",
    "",
]


def test_what_models_wrote_comes_out_as_it_went_in() -> None:
    texts = [(f"text {at}", text) for at, text in enumerate(NASTY)]
    html = page(several(unit("a", texts, model="</script>", outcome="right", tokens=3.5)))
    ((key, found),) = read_back(html)
    assert (key, found["texts"]) == ("a", texts)
    assert found["facets"] == {"model": ["</script>"], "outcome": ["right"], "tokens": 3.5}
    assert "alert(1)" not in html  # not even escaped: nothing of it is markup


@given(st.lists(st.lists(st.text(st.characters(exclude_categories=())), max_size=4), max_size=8))
@settings(max_examples=30)
def test_any_text_comes_back_byte_for_byte(bodies: list[list[str]]) -> None:
    those = [unit(str(at), [("t", it) for it in of], model=str(at)) for at, of in enumerate(bodies)]
    packed = Packed(several(*those))
    chunks = {number: packing.decoded(letters) for number, letters in packed.chunks()}
    index = packing.decoded(packed.index())
    for at, texts in enumerate(bodies):
        chunk = chunks[index["chunks"][at]]
        body = chunk["bodies"][index["places"][at]]
        assert [chunk["texts"][text] for _, text, *_ in body["texts"]] == texts
    packed.close()


def test_long_texts_stay_whole_and_longer_ones_in_the_journal(monkeypatch: Any) -> None:
    long = "x" * 10**6
    monkeypatch.setattr(packing, "LONGEST", 10**6)
    units = several(unit("a", [("t", long)]), unit("b", [("t", long + "x")], line=7))
    html = page(units)
    found = dict(read_back(html))
    assert found["a"]["texts"] == [("t", long)]
    assert (found["b"]["texts"], found["b"]["line"]) == (None, 7)
    with closing(Packed(units)) as packed:
        told = [*packed.told()]
    assert the("units.too_long", told)["units"] == 1 and told[0] in html


def many(count: int, *, each: int = 4) -> Units:
    """Units of which those of one question follow one another, in texts that share nothing."""

    def made(number: int) -> Unit:
        question = number // each
        return unit(
            str(number),
            [("t", f"{number * 7919 % 104729:x}" * 40)],
            group=str(question),
            stratum="rare" if question < 3 else "often",
            model=str(number % each),
        )

    return Units("sample", "journal/units.jsonl", FACETS, lambda: map(made, range(count)))


def test_a_group_whose_units_are_of_several_strata_stays_whole_or_goes() -> None:
    def made(number: int) -> Unit:
        task, variant = divmod(number, 3)
        return unit(str(number), [("t", "x")], group=str(task), stratum=f"{variant}/{task % 2}")

    units = Units("sample", "journal/units.jsonl", FACETS, lambda: map(made, range(1500)))
    packed = Packed(units, most=600)
    index = packing.decoded(packed.index())
    sizes = Counter(index["grouped"])
    assert set(sizes.values()) == {3} and 100 < len(sizes) <= 200
    assert {int(index["groups"][it]) % 2 for it in sizes} == {0, 1}, "of both topics"


def test_where_there_is_no_room_for_all_bodies_whole_questions_of_every_kind_stay(
    monkeypatch: Any,
) -> None:
    monkeypatch.setattr(packing, "CHUNK", 1000)
    packed = Packed(many(4000), budget=40_000)
    index = packing.decoded(packed.index())
    held = sum(len(letters) for _, letters in packed.chunks())
    assert 20_000 < held <= 40_000
    assert len(index["keys"]) == packed.shown == packed.count == 4000
    stays = Counter(index["grouped"][at] for at, it in enumerate(index["chunks"]) if it >= 0)
    assert set(stays.values()) == {4}  # whole questions
    assert stays.keys() & {0, 1, 2}  # also of the rare kind
    assert packed.readable == sum(stays.values()) < 4000
    told = the("units.readable", packed.told())
    assert (told["readable"], told["listed"]) == (packed.readable, 4000)
    assert told["journal"] == "journal/units.jsonl"
    again = Packed(many(4000), budget=40_000)
    assert packing.decoded(again.index()) == index
    for each in (packed, again):
        each.close()


@pytest.mark.parametrize("limit", [{"most": 1000}, {"budget": 40_000}])
def test_what_tells_the_units_of_a_group_apart_does_not_tear_it_apart(
    limit: dict[str, int], monkeypatch: Any
) -> None:
    monkeypatch.setattr(packing, "CHUNK", 1000)
    plain = many(4000)
    parted = replace(
        plain,
        each=lambda: (replace(it, stratum=str(it.facets["model"])) for it in plain.each()),
    )
    packed = Packed(parted, **limit)
    index = packing.decoded(packed.index())
    listed = Counter(index["grouped"])
    readable = Counter(index["grouped"][at] for at, it in enumerate(index["chunks"]) if it >= 0)
    assert {*listed.values()} == {*readable.values()} == {4}
    assert packed.readable < 4000
    packed.close()


def test_a_list_that_is_too_long_is_a_sample_and_says_so() -> None:
    packed = Packed(many(4000), most=1000)
    assert 900 < packed.shown <= 1000
    assert len(packing.decoded(packed.index())["keys"]) == packed.shown
    assert packed.count == 4000
    told = the("units.listed", packed.told())
    assert (told["listed"], told["all"]) == (packed.shown, 4000)
    packed.close()


def test_what_is_shown_for_something_stays(monkeypatch: Any) -> None:
    monkeypatch.setattr(packing, "CHUNK", 1000)
    those = [unit(str(at), [("t", f"{at}" * 100)], kept=at % 500 == 499) for at in range(2000)]
    packed = Packed(several(*those), budget=5_000)
    index = packing.decoded(packed.index())
    assert all(index["chunks"][at] >= 0 for at in range(499, 2000, 500))
    assert packed.readable < 1000
    packed.close()


@pytest.mark.parametrize("limit", [{"most": 300}, {"budget": 40_000}])
def test_what_is_shown_for_something_keeps_what_stands_beside_it(
    limit: dict[str, int], monkeypatch: Any
) -> None:
    """It stayed alone: the others of its group were dealt to another layer."""
    monkeypatch.setattr(packing, "CHUNK", 1000)
    plain = many(4000)
    units = replace(
        plain, each=lambda: (replace(it, kept=it.key.endswith("998")) for it in plain.each())
    )
    packed = Packed(units, **limit)
    index = packing.decoded(packed.index())
    readable = [index["keys"][at] for at, chunk in enumerate(index["chunks"]) if chunk >= 0]
    assert {str(at) for end in (998, 1998, 2998, 3998) for at in range(end - 2, end + 2)} <= {
        *readable
    }
    assert len(readable) < 4000
    packed.close()


def test_a_text_that_models_share_stands_there_once() -> None:
    prompt = "".join(chr(97 + at * at % 26) for at in range(300))
    packed = Packed(several(*(unit(str(at), [("asked", prompt)]) for at in range(50))))
    ((_, letters),) = packed.chunks()
    assert packing.decoded(letters)["texts"] == ["asked", prompt, ""]
    packed.close()


def test_units_are_told_of_where_there_is_no_script_and_in_print() -> None:
    html = page(several(unit("a"), unit("b")))
    assert re.search(r"<noscript>.*journal/units.jsonl", html)
    assert re.search(r'class="print-only">2 samples: ', html)
    assert 'id="index"' not in page(several())  # nothing to read, no reader
    assert "<h2>Every sample</h2>" not in page(several())


def test_a_unit_may_lack_what_others_have() -> None:
    html = page(several(unit("a", model="x"), unit("b", outcome=["right", "x"], tokens=1.0)))
    found = dict(read_back(html))
    assert found["a"]["facets"] == {"model": ["x"], "outcome": [], "tokens": None}
    assert found["b"]["facets"] == {"model": [], "outcome": ["right", "x"], "tokens": 1.0}


def test_what_is_kept_stays_where_the_last_chunks_find_no_room() -> None:
    """Leftovers of all layers shared chunks, which went with the highest layer in them."""
    draw = random.Random(0)
    those = [
        unit(str(at), [("t", f"{draw.getrandbits(2000):x}")], kept=at % 50 == 49)
        for at in range(200)
    ]
    packed = Packed(several(*those), budget=5_000)
    index = packing.decoded(packed.index())
    assert all(index["chunks"][at] >= 0 for at in range(49, 200, 50))
    assert packed.readable < 200
    packed.close()


def test_values_that_differ_in_capitals_alone_are_one_where_a_facet_folds() -> None:
    words = ["math", "Math", "MATH", "Law", "law", None]
    made = [unit(str(at), model=word, subject=word) for at, word in enumerate(words)]
    html = page(several(*made, facets=(Facet("model"), Facet("subject", folds=True))))
    found = [of["facets"] for _, of in read_back(html)]
    assert [of["subject"] for of in found] == [["MATH"]] * 3 + [["Law"]] * 2 + [[]]
    assert [of["model"] for of in found] == [[word] if word else [] for word in words]
    index = packing.decoded(re.search(r'id="index">([^<]*)<', html)[1].encode())  # type: ignore[index]
    assert sorted(index["facets"][1]["values"]) == [[], ["Law"], ["MATH"]], "each is there once"

"""Questions of every format, chosen and checked: of toys, and of the benchmarks there are."""

import dataclasses
import json
import re
import shutil
import tempfile
import tracemalloc
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
from examples import examples
from hle_rows import exact
from hypothesis import given
from hypothesis import strategies as st
from refusals import Refusal, assert_among, refused
from refusals import refusal as refusal_of
from statements import code, values
from toys import WRITERS, Dialects, Sayings, Tongues, Toy, plain, rows, write

from raybench import benchmarks, cli
from raybench.benchmarks import Benchmark, Source
from raybench.benchmarks.parts.contract import INDEX_LANGUAGES
from raybench.config import DataConf
from raybench.errors import Code, ConfigurationError, Problem
from raybench.pipeline import datasets, hub_files, revisions, selection, sources
from raybench.pipeline.datasets import Dataset, Prepared, Selection
from raybench.pipeline.files import ending

REAL = Path(__file__).parents[2].parent / "shared" / "datasets"
QUESTIONS = {
    "aime_2024": 30,
    "math_500": 500,
    "mgsm": 8 * 250,
    "mmlu_pro": 12_032,
    "livecodebench": 315,
    "scicode": 338,
}
"""How many questions there are in all that the index asks."""

ALL = Selection()
Rows = list[dict[str, Any]]


def prepared(
    folder: Path, selection: Selection = ALL, benchmark: Benchmark | None = None
) -> Dataset:
    """Prepare what a folder holds of one benchmark."""
    (dataset,) = together(folder, selection, benchmark or Toy())
    return dataset


def together(folder: Path, selection: Selection, *asked: Benchmark) -> Prepared:
    """Prepare what a folder holds of several benchmarks."""
    return datasets.prepare(asked, DataConf(dir=str(folder)), selection, folder / "chosen")


def kept(dataset: Dataset) -> Rows:
    return [json.loads(line) for shard in dataset.shards for line in shard.open("rb")]


def keys(dataset: Dataset) -> set[tuple[str, int]]:
    return {(row["language"], row["label"]) for row in kept(dataset)}


def problems(folder: Path, selection: Selection = ALL, *asked: Benchmark) -> tuple[Problem, ...]:
    """Return why what a folder holds cannot be asked."""
    with pytest.raises(ConfigurationError) as caught:
        together(folder, selection, *(asked or (Toy(),)))
    return caught.value.problems


def refusal(folder: Path, selection: Selection = ALL, *asked: Benchmark) -> str:
    """Return in which words that is told, where a test looks for lines and columns."""
    with pytest.raises(ConfigurationError) as caught:
        together(folder, selection, *(asked or (Toy(),)))
    return str(caught.value)


def test_a_question_that_is_there_under_several_ids_is_told_with_them(tmp_path: Path) -> None:
    made = rows(9)
    for again in (4, 7):
        made[again] |= {"ask": made[1]["ask"], "field": "logic"}
    made[8] |= {"ask": made[2]["ask"]}
    write(tmp_path / "toy.jsonl", made)
    dataset = prepared(tmp_path)
    assert dataset.repeated == (("1", "4", "7"), ("2", "8"))
    (note,) = dataset.notes
    told = values(note)
    assert (code(note), told["repeated"], told["askings"]) == ("data.repeated", 2, 5)
    assert "1 = 4 = 7" in told["ids"]
    assert note in together(tmp_path, ALL, Toy()).notes
    assert prepared(tmp_path, Selection(subjects=("set_theory",))).repeated == (("2", "8"),)


def test_of_many_questions_that_are_there_twice_a_note_names_some(tmp_path: Path) -> None:
    made = [{**row, "label": at} for at, row in enumerate([*rows(30), *rows(30)])]
    write(tmp_path / "toy.jsonl", made)
    dataset = prepared(tmp_path)
    assert len(dataset.repeated) == 30
    assert "; and 25 more" in dataset.notes[0]


@pytest.mark.parametrize(
    ("name", "change", "same"),
    [
        ("gpqa_diamond", {"Record ID": "other", "Subdomain": "x"}, True),
        ("gpqa_diamond", {"Question": "Which other?"}, False),
        ("mmlu_pro", {"question_id": 99, "category": "x"}, True),
        ("mmlu_pro", {"options": ["1", "2"]}, False),
        ("math_500", {"unique_id": "other"}, True),
        ("hle", {"id": "other", "rationale": "x"}, True),
        ("scicode", {"problem_id": "other"}, True),
        ("scicode", {"problem_description_main": "x"}, False),
    ],
)
def test_what_a_question_says_is_not_its_id(
    name: str, change: dict[str, Any], same: bool, tmp_path: Path
) -> None:
    benchmark = benchmarks.load(name)
    found = datasets.prepare([benchmark], DataConf(source="samples"), Selection(limit=3), tmp_path)
    (part,) = found
    row = kept(part)[0]
    assert (benchmark.content(row) == benchmark.content(row | change)) is same


def quoted(said: str) -> list[str]:
    """Return the columns that a refusal names: those that are lacking, then those there are."""
    return re.findall(r"'(\w+)'", said)


def listed(problem: Problem, name: str) -> set[str]:
    """Return what the line of a benchmark lists."""
    lines = problem.message.splitlines()
    (line,) = (it for it in lines if it.startswith(f"  - {name}: "))
    return {*line.partition(": ")[2].split(", ")}


# ------------------------------------------------------------------------------ formats, columns


@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize("columns", [list, plain])
def test_the_same_questions_are_the_same_in_every_format_and_both_kinds_of_columns(
    tmp_path: Path, kind: str, columns: Any
) -> None:
    write(tmp_path / "one" / "toy.jsonl", rows(30))
    one = prepared(tmp_path / "one")
    write(tmp_path / f"toys_test.{kind}", columns(rows(30)))
    other = prepared(tmp_path)
    assert other.digest == one.digest
    assert (other.questions, other.by_language) == (30, {"en": 30})
    assert other.by_subject == {"logic": 10, "number theory": 10, "set_theory": 10}
    assert (other.origin, other.files) == (str(tmp_path), (f"toys_test.{kind}",))
    for row, was in zip(kept(other), rows(30), strict=True):
        assert row.keys() == {*Toy.columns, "language"}
        assert (row["ask"], row["options"], row["language"]) == (was["ask"], was["options"], "en")
        assert str(row["label"]) == str(was["label"])


def test_a_folder_of_the_samples_name_is_not_taken_for_the_samples(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "samples").mkdir()
    (tmp_path / "samples" / "mmlu_pro.jsonl").touch()
    monkeypatch.chdir(tmp_path)
    benchmark = benchmarks.load("mmlu_pro")
    assert sources.find(benchmark, DataConf(dir="samples")).origin == "./samples"
    assert sources.find(benchmark, DataConf(source="samples")).origin == "samples"


def test_the_digest_depends_on_what_is_said_and_not_on_order_or_files(tmp_path: Path) -> None:
    made = rows(40)
    digests = {}
    for name, parts in {
        "straight": [made],
        "backwards": [made[::-1]],
        "in two": [made[20:], made[:20]],
        "changed": [[*made[:-1], {**made[-1], "gold": "A"}]],
        "fewer": [made[:-1]],
    }.items():
        for stem, part in zip(("toy", "toys_test"), parts, strict=False):
            write(tmp_path / name / f"{stem}.jsonl", part)
        digests[name] = prepared(tmp_path / name).digest
    assert digests["straight"] == digests["backwards"] == digests["in two"]
    assert len(set(digests.values())) == 3


def test_columns_that_nobody_asks_for_do_not_count(tmp_path: Path) -> None:
    write(tmp_path / "a" / "toy.jsonl", rows(3))
    write(tmp_path / "b" / "toy.jsonl", [{**row, "explanation": "so"} for row in rows(3)])
    assert prepared(tmp_path / "a").digest == prepared(tmp_path / "b").digest


def test_what_pandas_leaves_for_nothing_is_nothing(tmp_path: Path) -> None:
    nan = float("nan")
    write(tmp_path / "toy.parquet", [{**row, "field": nan, "explanation": nan} for row in rows(2)])
    dataset = prepared(tmp_path)
    assert [row["field"] for row in kept(dataset)] == [None, None]
    assert dataset.by_subject == {}


def test_rows_that_do_not_belong_are_left_out_before_they_are_counted(tmp_path: Path) -> None:
    strangers = [{**row, "field": "elsewhere", "gold": ""} for row in rows(5, start=100)]
    write(tmp_path / "toy.jsonl", [*strangers, *rows(4)])
    assert prepared(tmp_path).questions == 4
    assert prepared(tmp_path, Selection(limit=4)).questions == 4


# -------------------------------------------------------------------------------------- choosing


@given(
    number=st.integers(1, 60),
    limits=st.tuples(st.integers(1, 70), st.integers(1, 70)).map(sorted),
    seed=st.integers(),
    order=st.randoms(use_true_random=False),
)
@examples(40)
def test_more_questions_always_include_the_fewer_whatever_their_order(
    number: int, limits: Sequence[int], seed: int, order: Random
) -> None:
    fewer, more = limits
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder / "toy.jsonl", rows(number))
        chosen = prepared(folder, Selection(limit=fewer, seed=seed))
        few = keys(chosen)
        assert len(few) == chosen.questions == min(fewer, number)
        assert few <= keys(prepared(folder, Selection(limit=more, seed=seed)))
        write(folder / "toy.jsonl", order.sample(rows(number), number))
        again = prepared(folder, Selection(limit=fewer, seed=seed))
        assert (keys(again), again.digest) == (few, chosen.digest)


def test_another_seed_draws_other_questions(tmp_path: Path) -> None:
    write(tmp_path / "toy.jsonl", rows(200))
    draws = [keys(prepared(tmp_path, Selection(limit=20, seed=seed))) for seed in range(3)]
    assert draws[0] != draws[1] != draws[2] != draws[0]


def test_a_draw_is_no_stretch_of_the_file(tmp_path: Path) -> None:
    write(tmp_path / "toy.jsonl", rows(1000))
    numbers = [row["label"] for row in kept(prepared(tmp_path, Selection(limit=100)))]
    assert numbers == sorted(numbers)  # as they stand in the file
    assert min(numbers) < 100 < 900 < max(numbers)
    assert 400 < sum(numbers) / 100 < 600


@pytest.mark.parametrize("subject", ["set_theory", "Set Theory"])
def test_subjects_are_chosen_before_the_limit(tmp_path: Path, subject: str) -> None:
    write(tmp_path / "toy.jsonl", rows(30))
    dataset = prepared(tmp_path, Selection(subjects=(subject,), limit=7))
    assert dataset.by_subject == {"set_theory": 7}
    both = prepared(tmp_path, Selection(subjects=(subject, "logic")))
    assert both.by_subject == {"logic": 10, "set_theory": 10}


def test_an_unknown_subject_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "toy.jsonl", rows(30))
    (problem,) = problems(tmp_path, Selection(subjects=("logic", "logics", "logics")))
    assert_among([problem], "setting.choice", "subset", given="logics")
    assert "'logic'?" in problem.message
    assert {"logic", "number theory", "set_theory"} == listed(problem, "toy")
    write(tmp_path / "toy.jsonl", [{**row, "field": None} for row in rows(3)])
    (problem,) = problems(tmp_path, Selection(subjects=("logic",)))
    assert_among([problem], "setting.choice", "subset", given="logic")
    assert "\n  - toy: " in problem.message and "set theory" not in problem.message


# ------------------------------------------------------------------------------------- languages


def spoken(folder: Path, *languages: str, count: int = 20) -> None:
    for language in languages:
        write(folder / f"tongues_{language}.jsonl", rows(count))


def test_the_languages_of_the_index_are_asked_in_and_others_when_named(tmp_path: Path) -> None:
    spoken(tmp_path, "te", "de", "sw", "en")
    dataset = prepared(tmp_path, benchmark=Tongues())
    assert dataset.by_language == {"de": 20, "en": 20, "sw": 20}
    assert list(dataset.by_language) == ["de", "en", "sw"]  # as the index lists them
    dataset = prepared(tmp_path, Selection(languages=("te", "de")), Tongues())
    assert dataset.by_language == {"te": 20, "de": 20}


def test_the_limit_is_of_each_language_and_translations_come_together(tmp_path: Path) -> None:
    spoken(tmp_path, "de", "sw")
    dataset = prepared(tmp_path, Selection(limit=5), Tongues())
    assert dataset.by_language == {"de": 5, "sw": 5}
    german = {key for language, key in keys(dataset) if language == "de"}
    assert keys(dataset) == {(language, key) for language in ("de", "sw") for key in german}


def test_a_row_names_its_language_or_the_file_does(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    write(one / "tongues.jsonl", rows(3, language="sw") + rows(3, language="de"))
    write(other / "TONGUES_SW.csv", rows(3))
    write(other / "tongues_DE-DE.jsonl", rows(3, language=""))  # as the hub's file is called
    assert prepared(one, benchmark=Tongues()).digest == prepared(other, benchmark=Tongues()).digest


def test_a_row_of_no_language_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "tongues.csv", rows(2))
    (problem,) = problems(tmp_path, ALL, Tongues())
    assert refusal_of(problem) == ("data.invalid", "data.dir")
    assert " lines 2, 3: " in problem.message and "'language'" in problem.message


def test_what_is_in_one_language_takes_no_notice_of_languages(tmp_path: Path) -> None:
    write(tmp_path / "toy.jsonl", rows(3, language="python"))
    assert prepared(tmp_path, Selection(languages=("de",))).by_language == {"en": 3}


def test_a_language_that_is_not_there_is_refused(tmp_path: Path) -> None:
    spoken(tmp_path, "de", "te")
    asked = Selection(languages=("de", "xx", "xx"))
    (problem,) = problems(tmp_path, asked, Tongues())
    assert_among([problem], "setting.choice", "languages", given="xx")
    assert listed(problem, "tongues") == {"de", "te"}
    (tmp_path / "tongues_de.jsonl").unlink()
    assert_among(problems(tmp_path, ALL, Tongues()), "data.missing", "languages")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("xx", None),
        ("dt", None),  # two letters are close to any others
        ("german", None),
        ("DE", "de"),
        ("de-AT", "de"),
        ("telugu", "te"),
    ],
)
def test_what_language_was_meant_is_only_guessed_where_it_is_plain(
    tmp_path: Path, name: str, meant: str | None
) -> None:
    spoken(tmp_path, "de", "te")
    (problem,) = problems(tmp_path, Selection(languages=(name,)), Tongues())
    assert problem.given == name
    assert [it for it in ("de", "te") if f"'{it}'?" in problem.message] == [meant] * bool(meant)


def test_a_subject_that_is_in_another_language_only_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "tongues_de.jsonl", rows(1))
    write(tmp_path / "tongues_te.jsonl", rows(3))
    asked = Selection(subjects=("logic",))
    (problem,) = problems(tmp_path, asked, Tongues())
    assert problem.code == "data.empty"
    assert "logic" in problem.message and " de" in problem.message


# ---------------------------------------------------------------------------- several benchmarks


def test_a_benchmark_without_the_chosen_subjects_is_left_out(tmp_path: Path) -> None:
    write(tmp_path / "toy.jsonl", rows(9))
    write(tmp_path / "sayings.jsonl", [{**row, "field": None} for row in rows(4)])
    write(tmp_path / "tongues_de.jsonl", [{**row, "field": "law"} for row in rows(5)])
    everything = (Toy(), Sayings(), Tongues())
    found = together(tmp_path, Selection(subjects=("logic", "logic")), *everything)
    assert [(part.benchmark, part.questions) for part in found] == [("toy", 3)]
    assert [*found.left_out] == ["sayings", "tongues"]
    assert all(" logic" in why for why in found.left_out.values())
    for note, (name, why) in zip(found.notes, found.left_out.items(), strict=True):
        assert note.startswith(f"{name} ") and note.endswith(f": {why}")
    both = together(tmp_path, Selection(subjects=("logic", "law")), *everything)
    assert [(part.benchmark, part.questions) for part in both] == [("toy", 3), ("tongues", 5)]
    one, other = both.notes[1:]
    assert one.startswith("toy ") and one.endswith(" law")
    assert other.startswith("tongues ") and " en, sw " in other and other.endswith(" logic")
    (problem,) = problems(tmp_path, Selection(subjects=("medicine",)), *everything)
    assert_among([problem], "setting.choice", "subset", given="medicine")
    assert listed(problem, "toy") == {"logic", "number theory", "set_theory"}
    assert listed(problem, "tongues") == {"law"}
    assert "\n  - sayings: " in problem.message


def test_a_benchmark_takes_those_of_the_languages_that_it_has(tmp_path: Path) -> None:
    spoken(tmp_path, "de", "te", count=3)
    for language in ("de", "sw"):
        write(tmp_path / f"dialects_{language}.jsonl", rows(2))
    write(tmp_path / "toy.jsonl", rows(4))
    everything = (Toy(), Tongues(), Dialects())
    found = together(tmp_path, Selection(languages=("sw", "de", "sw")), *everything)
    assert [part.by_language for part in found] == [{"en": 4}, {"de": 3}, {"sw": 2, "de": 2}]
    assert found.left_out == {}
    (note,) = found.notes
    assert note.startswith("tongues ") and note.endswith(" sw")
    found = together(tmp_path, Selection(languages=("te",)), *everything)
    assert [part.benchmark for part in found] == ["toy", "tongues"]  # one tongue is no choice
    assert [*found.left_out] == ["dialects"] and found.left_out["dialects"].endswith(" te")
    (problem,) = problems(tmp_path, Selection(languages=("te", "yo")), *everything)
    assert_among([problem], "setting.choice", "languages", given="yo")
    assert listed(problem, "tongues") == {"de", "te"}


def test_all_that_is_of_none_is_told_at_once(tmp_path: Path) -> None:
    spoken(tmp_path, "de", "te")
    wrong = Selection(languages=("xx", "de"), subjects=("logic", "medicine"))
    found = [(it.code, it.setting, it.given) for it in problems(tmp_path, wrong, Tongues())]
    assert found == [
        ("setting.choice", "languages", "xx"),
        ("setting.choice", "subset", "medicine"),
    ]


def test_why_nothing_is_chosen_is_told_of_what_is_there(tmp_path: Path) -> None:
    write(tmp_path / "toy.jsonl", rows(3))
    write(tmp_path / "tongues_de.jsonl", rows(1))  # of number theory
    write(tmp_path / "dialects_de.jsonl", rows(1))
    write(tmp_path / "dialects_sw.jsonl", rows(2, start=1))
    chosen = Selection(languages=("de", "sw"), subjects=("logic",))
    found = together(tmp_path, chosen, Toy(), Tongues(), Dialects())
    assert [(part.benchmark, part.by_language) for part in found] == [
        ("toy", {"en": 1}),
        ("dialects", {"sw": 1}),
    ]
    assert [*found.left_out] == ["tongues"] and found.left_out["tongues"].endswith(" logic")
    chosen = Selection(languages=("de",), subjects=("logic",))
    found = together(tmp_path, chosen, Toy(), Tongues(), Dialects())
    assert "logic" in found.left_out["dialects"] and found.left_out["dialects"].endswith(" de")


def test_languages_that_change_nothing_are_told(tmp_path: Path) -> None:
    write(tmp_path / "toy.jsonl", rows(4))
    found = together(tmp_path, Selection(languages=("de",)), Toy())
    (note,) = found.notes
    assert note.startswith("languages ")


def test_the_mistakes_of_several_benchmarks_are_told_together(tmp_path: Path) -> None:
    write(tmp_path / "toy.jsonl", [{**row, "gold": ""} for row in rows(3)])
    write(tmp_path / "tongues.jsonl", rows(1))
    everything = (Toy(), Tongues(), Sayings(), Dialects())
    spoken_elsewhere = write(tmp_path / "dialects_de.jsonl", rows(1))
    found = problems(tmp_path, ALL, *everything)
    assert [(it.code, it.message.partition(":")[0]) for it in found] == [
        ("data.invalid", "toy"),
        ("data.invalid", "tongues"),
        ("data.missing", "sayings"),
    ]
    said = refusal(tmp_path, ALL, *everything).splitlines()
    assert " 3 " in said[0]
    assert said[1].startswith("  - toy: ") and said[4].startswith("  - tongues: ")
    assert said[2].startswith("      - toy.jsonl, lines 1, 2, 3: 'gold' ")
    assert said[-1].endswith("benchmarks=[dialects]")
    spoken_elsewhere.unlink()
    *_, absent = problems(tmp_path, ALL, *everything)
    assert refusal_of(absent) == ("data.missing", "data.dir")
    assert absent.message.endswith("sayings, dialects")
    said = refusal(tmp_path, ALL, *everything).splitlines()
    assert " 4 " in said[0]
    assert said[-1].endswith("benchmarks=[toy,tongues]")


def test_a_plain_row_is_told_of_in_plain_columns(tmp_path: Path) -> None:
    write(tmp_path / "toy.jsonl", [{"id": 1, "question": "?", "options": ["a", "b"]}])
    assert quoted(refusal(tmp_path))[:3] == ["answer", "subject", "id"]
    row = {"id": 1, "question": "?", "options": ["a", "b"], "answer": "", "subject": "x"}
    write(tmp_path / "toy.jsonl", [row])
    assert "line 1: 'gold' " in refusal(tmp_path)


@pytest.mark.parametrize(
    ("columns", "lacking"),
    [
        # Columns that no plain row has: the row is one of the hub's, and told so.
        ("id question answer answer_type category", "'image', 'raw_subject'"),
        ("id question answer_type category", "'image', 'answer', 'raw_subject'"),
        ("id question answer subject answer_type", ""),  # all that a plain one has
        ("id question answer image", "'subject'"),
        ("id question answer language", "'subject'"),
        ("id question", "'answer', 'subject'"),
    ],
)
def test_a_row_of_the_hubs_is_told_which_of_the_hubs_columns_it_lacks(
    tmp_path: Path, columns: str, lacking: str
) -> None:
    full = {**exact("q"), "subject": "Math", "language": "en"}
    write(tmp_path / "hle.jsonl", [{name: full[name] for name in columns.split()}])
    hle = benchmarks.load("hle")
    if not lacking:
        assert prepared(tmp_path, benchmark=hle).questions == 1
        return
    columns_named = quoted(refusal(tmp_path, ALL, hle))
    assert columns_named[: len(quoted(lacking)) + 2] == [*quoted(lacking), "id", "question"]


# --------------------------------------------------------------------------------------- mistakes


@pytest.mark.parametrize(
    ("change", "mistake"),
    [
        ({"gold": ""}, "'gold' "),
        ({"options": ["one"]}, "'options' .* 1 .* 2"),
        ({"options": 7}, r".*\(TypeError: "),
        ({"ask": "half a character: \ud800"}, ".*: 'utf-8' codec"),
        ({"label": 3}, ".*: toy.jsonl, line 4"),
    ],
)
def test_a_wrong_row_is_named_with_what_is_wrong(
    tmp_path: Path, change: dict[str, Any], mistake: str
) -> None:
    made = rows(12)
    made[7] |= change
    (tmp_path / "toy.jsonl").write_text("".join(json.dumps(row) + "\n" for row in made))
    (problem,) = problems(tmp_path)
    assert refusal_of(problem) == ("data.invalid", "data.dir")
    assert problem.message.startswith("toy: 1 of 12 ") and f" {tmp_path} " in problem.message
    assert re.search(rf"\n  - toy\.jsonl, line 8: {mistake}", problem.message)
    assert not (tmp_path / "chosen").exists()


def test_a_missing_column_is_named_with_those_there_are(tmp_path: Path) -> None:
    without = [{"label": 1, "ask": "?", "gold": "A", "long " * 99: 1}]
    write(tmp_path / "toy.jsonl", without)
    said = refusal(tmp_path)
    assert "toy.jsonl, line 1: " in said
    assert quoted(said)[:5] == ["options", "field", "label", "ask", "gold"]
    assert "id, question, " in said
    assert len(said) < 500
    write(tmp_path / "toy.jsonl", [{"id": 1, "question": "?", "options": [], "answer": "A"}])
    assert quoted(refusal(tmp_path))[:5] == ["subject", "id", "question", "options", "answer"]
    write(tmp_path / "toy.jsonl", [{"id": 1, "question": "?", "answer": "A", "subject": "x"}])
    assert quoted(refusal(tmp_path))[:5] == ["options", "id", "question", "answer", "subject"]


def test_a_table_that_names_no_columns_is_told_so(tmp_path: Path) -> None:
    (tmp_path / "toy.tsv").write_text("What is one and one?\t2\nAnd two?\t3\n")
    (problem,) = problems(tmp_path)
    assert refusal_of(problem) == ("data.invalid", "data.dir")
    assert "toy.tsv" in problem.message and "first line" in problem.message


def test_of_many_wrong_rows_the_first_are_told_and_all_counted(tmp_path: Path) -> None:
    write(tmp_path / "toy.parquet", [{**row, "gold": ""} for row in rows(20)])
    said = refusal(tmp_path)
    assert said.startswith("toy: 20 of 20 ")
    assert re.match(r"  - toy.parquet, rows 1, 2, 3, 4, 5 .*15 .*: 'gold' ", said.splitlines()[1])
    assert len(said.splitlines()) == 3
    write(tmp_path / "toy.parquet", [{**row, "options": ["x"] * row["label"]} for row in rows(20)])
    said = refusal(tmp_path)  # every row is wrong in its own way, but one
    assert re.fullmatch(r"  - toy.parquet, row 6: 'options' .*5 .*2", said.splitlines()[5])
    assert said.splitlines()[6] == "  - and 14 more"
    assert len(said.splitlines()) == 8


def test_what_a_wrong_row_holds_is_not_repeated_at_length(tmp_path: Path) -> None:
    made = rows(1)
    made[0]["long " * 999] = made[0].pop("gold")
    write(tmp_path / "toy.jsonl", made)
    assert len(refusal(tmp_path)) < 500


def test_a_file_that_cannot_be_read_does_not_hide_what_is_wrong_with_others(tmp_path: Path) -> None:
    write(tmp_path / "toy.jsonl", [{**row, "gold": ""} for row in rows(2)])
    (tmp_path / "toys_test.parquet").write_bytes(b"PAR1 and no more")
    (tmp_path / "toy_en.csv").write_bytes(b"PAR1")
    said = refusal(tmp_path).splitlines()
    assert said[0].startswith("toy: 2 files ") and " 2 of 2 " in said[0]
    assert f" in {tmp_path} " in said[0]
    assert said[1].startswith(f"  - {tmp_path}/toy_en.csv ") and "NAME.parquet" in said[1]
    assert said[2].startswith(f"  - {tmp_path}/toys_test.parquet ") and "Parquet" in said[2]
    assert said[3].startswith("  - toy.jsonl, lines 1, 2: 'gold' ")


def test_what_looks_like_a_file_of_ours_is_named(tmp_path: Path) -> None:
    (tmp_path / "Toy.json").touch()
    (tmp_path / "toys_test.jsonl").mkdir()
    (problem,) = problems(tmp_path)
    assert refusal_of(problem) == ("data.missing", "data.dir")
    assert "Toy.json (a file), toys_test.jsonl (a folder)" in problem.text


def test_every_kind_of_mistake_of_every_file_is_in_one_message(tmp_path: Path) -> None:
    write(tmp_path / "toy.jsonl", rows(2))
    with (tmp_path / "toy.jsonl").open("ab") as file:
        file.write(b'{"label":\n\xff\n')
    write(tmp_path / "toys_test.csv", [{**rows(1)[0], "gold": ""}, *rows(1)])
    said = refusal(tmp_path).splitlines()
    assert said[0].startswith("toy: 4 of 6 ")
    assert said[1].startswith("  - toy.jsonl, line 3: ") and "JSON" in said[1]
    assert said[2].startswith("  - toy.jsonl, line 4: ") and "UTF-8" in said[2]
    assert said[3].startswith("  - toys_test.csv, line 2: 'gold' ")
    assert said[4].startswith("  - toys_test.csv, line 3: ")
    assert said[4].endswith(": toy.jsonl, line 1")


def test_files_without_a_question_are_refused(tmp_path: Path) -> None:
    (tmp_path / "toy.jsonl").touch()
    write(tmp_path / "toy.csv", [{**rows(1)[0], "field": "elsewhere"}])
    (problem,) = problems(tmp_path)
    assert refusal_of(problem) == ("data.missing", "data.dir")
    assert f"toy.csv, toy.jsonl ({tmp_path})" in problem.message


@pytest.mark.parametrize("kind", WRITERS)
def test_rows_without_ids_are_known_by_their_place_among_the_rows(
    tmp_path: Path, kind: str
) -> None:
    unnamed = [{name: row[name] for name in row if name != "label"} for row in rows(4)]
    path = write(tmp_path / f"sayings.{kind}", [*unnamed, unnamed[1]])
    if kind == "jsonl":
        path.write_bytes(path.read_bytes().replace(b"\n", b"\n\n"))  # a line is no row
    dataset = prepared(tmp_path, benchmark=Sayings())
    assert [row["label"] for row in kept(dataset)] == [1, 2, 3, 4, 5]
    write(tmp_path / "sayings_en.jsonl", unnamed)
    assert re.search(
        rf"sayings_en\.jsonl, line 1: [\w ]+: sayings\.{kind},", refusal(tmp_path, ALL, Sayings())
    )


# -------------------------------------------------------------------------------------- a folder


@pytest.mark.parametrize(
    "name",
    [
        "toy.jsonl",
        "Toys_Test.csv",
        "toy_en.tsv",
        "test-0.parquet",
        "test-0.jsonl",
        "toy/whatever.jsonl.gz",
        "Toy/data/test-0.parquet",
    ],
)
def test_files_are_found_by_the_names_they_may_have(tmp_path: Path, name: str) -> None:
    kind = Path(name).name.partition(".")[2]
    write(tmp_path / "some.jsonl", rows(1))
    (tmp_path / "toy.txt").touch()
    (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
    (tmp_path / name).write_bytes(WRITERS[kind](rows(6)))
    dataset = prepared(tmp_path)
    assert (dataset.questions, dataset.files) == (6, (name,))


def test_files_of_a_benchmarks_own_folder_are_named_after_languages(tmp_path: Path) -> None:
    write(tmp_path / "tongues" / "de.jsonl", rows(2))
    write(tmp_path / "tongues" / "test" / "tongues_SW-KE.csv", rows(3))
    write(tmp_path / "tongues" / ".cache" / "en.jsonl", rows(4))
    dataset = prepared(tmp_path, benchmark=Tongues())
    assert dataset.by_language == {"de": 2, "sw": 3}
    assert dataset.files == ("tongues/de.jsonl", "tongues/test/tongues_SW-KE.csv")


def test_the_hubs_columns_of_another_dataset_are_translated(tmp_path: Path) -> None:
    english = [
        {("topic" if name == "field" else name): row[name] for name in row} for row in rows(3)
    ]
    write(tmp_path / "all.jsonl", english)
    write(tmp_path / "tongues_sw.jsonl", rows(3))
    dataset = prepared(tmp_path, benchmark=Tongues())
    assert dataset.by_language == {"en": 3, "sw": 3}
    assert [row["field"] for row in kept(dataset)] == [row["field"] for row in rows(3)] * 2


# --------------------------------------------------------------------------------------- shards


@pytest.mark.parametrize(("count", "sizes"), [(6, [6]), (60, [25, 25, 10]), (3200, [100] * 32)])
def test_shards_are_many_enough_to_share_and_large_enough_to_be_worth_it(
    tmp_path: Path, count: int, sizes: list[int]
) -> None:
    write(tmp_path / "toy.jsonl", rows(count))
    dataset = prepared(tmp_path)
    assert [len(shard.read_bytes().splitlines()) for shard in dataset.shards] == sizes
    assert sorted((tmp_path / "chosen" / "toy").iterdir()) == list(dataset.shards)


def test_what_an_earlier_preparation_left_is_not_believed(tmp_path: Path) -> None:
    write(tmp_path / "toy.jsonl", rows(60))
    whole = prepared(tmp_path)
    (unfinished := tmp_path / "chosen" / ".toy.tmp").mkdir()
    (unfinished / "00009.jsonl").write_text("half a li")
    whole.shards[0].write_text("changed")
    assert prepared(tmp_path, Selection(limit=20)).questions == 20
    assert prepared(tmp_path) == whole
    assert len(keys(whole)) == 60
    assert [path.name for path in (tmp_path / "chosen").iterdir()] == ["toy"]


def test_a_preparation_that_fails_leaves_nothing_that_looks_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "toy.jsonl", rows(60))
    prepared(tmp_path)
    put = Path.write_bytes

    def full(path: Path, content: bytes) -> int:
        if path.name == "00001.jsonl":
            raise OSError(28, "No space left on device")
        return put(path, content)

    monkeypatch.setattr(Path, "write_bytes", full)
    with refused("file.unwritable"):
        prepared(tmp_path)
    assert not (tmp_path / "chosen" / "toy").exists()


def test_a_file_that_changes_while_it_is_read_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "toy.jsonl", rows(60))
    settle = selection.settle

    def slow(*args: Any) -> Any:
        settled = settle(*args)
        write(path, rows(59))
        return settled

    monkeypatch.setattr(selection, "settle", slow)
    with refused("data.changed"):
        prepared(tmp_path)


def test_memory_stays_flat(tmp_path: Path) -> None:
    def peak(count: int) -> int:
        folder = tmp_path / str(count)
        write(folder / "toy.jsonl", [{**row, "ask": "?" * 4000} for row in rows(count)])
        tracemalloc.start()
        prepared(folder)
        high = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return high

    few, many = peak(300), peak(1300)
    # A row is 4 kB. What is kept of it is its key's hash, its rank and its digest.
    assert (many - few) / 1000 < 1000


# ------------------------------------------------------------------------------ samples, problems


def test_the_shipped_samples_are_read_like_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "_SAMPLES", tmp_path)
    write(tmp_path / "toy.jsonl", rows(12))
    samples = DataConf(source="samples")
    (dataset,) = datasets.prepare([Toy()], samples, Selection(), tmp_path / "chosen")
    assert (dataset.origin, dataset.questions) == ("samples", 12)


@pytest.mark.parametrize(
    ("conf", "selection", "mistake"),
    [
        (DataConf(dir="DIR"), Selection(limit=0), ("setting.range", "limit")),
        (DataConf(source="hob"), Selection(), ("setting.choice", "data.source")),
        (DataConf(source="samples", dir="DIR"), Selection(), ("setting.conflict", "data.dir")),
        (DataConf(source="samples", beside="."), Selection(), ("setting.conflict", "data.beside")),
        (DataConf(beside="."), Selection(), ("setting.conflict", "data.beside")),
        (DataConf(source="samples"), Selection(), ("data.missing", "data")),
        (DataConf(dir="DIR/none"), Selection(), ("file.unreadable", "data.dir")),
        (DataConf(dir="DIR/empty"), Selection(), ("data.missing", "data.dir")),
    ],
)
def test_what_can_be_known_before_is_said_before(
    tmp_path: Path, conf: DataConf, selection: Selection, mistake: Refusal
) -> None:
    write(tmp_path / "toy.jsonl", rows(3))
    (tmp_path / "empty").mkdir()
    if conf.dir is not None:
        conf.dir = conf.dir.replace("DIR", str(tmp_path))
    with refused(*mistake):
        datasets.prepare([Toy()], conf, selection, tmp_path / "chosen")


def test_a_language_that_the_hub_does_not_have_is_refused_before(tmp_path: Path) -> None:
    asked = Selection(languages=("yo",))
    with refused("setting.choice", "languages"):
        datasets.prepare([Toy(), Tongues()], DataConf(), asked, tmp_path / "chosen")
    write(tmp_path / "tongues.jsonl", rows(3, language="yo"))
    assert prepared(tmp_path, asked, Tongues()).by_language == {"yo": 3}


@pytest.mark.parametrize(
    ("overrides", "conf"),
    [
        ([], DataConf()),
        (["data=samples"], DataConf(source="samples")),
        (["data.dir=some/folder"], DataConf(dir="some/folder")),
    ],
)
def test_the_command_line_chooses_the_place(overrides: list[str], conf: DataConf) -> None:
    assert cli.compose(overrides).data == vars(conf)


# ------------------------------------------------------------------------- the benchmarks there are


@pytest.mark.parametrize("name", benchmarks.names())
def test_real_data_is_asked_whole(tmp_path: Path, name: str) -> None:
    benchmark = benchmarks.load(name)
    if not REAL.is_dir():
        pytest.skip(f"{REAL} is not there")
    try:
        sources.find(benchmark, DataConf(dir=str(REAL)))
    except ConfigurationError as error:
        pytest.skip(str(error))
    (dataset,) = datasets.prepare([benchmark], DataConf(dir=str(REAL)), Selection(), tmp_path)
    assert dataset.questions == QUESTIONS.get(name, dataset.questions) > 0
    seen = set()
    for row in kept(dataset):
        assert not list(benchmark.problems(row))
        # Programs are run by tests of their own: that takes minutes, and not all have a solution.
        assert benchmark.sandboxed or benchmark.grade(row, benchmark.gold(row)).correct
        seen.add((benchmark.language(row), benchmark.key(row)))
    assert len(seen) == dataset.questions == sum(dataset.by_language.values())


@pytest.mark.parametrize("name", benchmarks.names())
def test_files_of_the_hub_are_of_a_kind_that_is_read(name: str) -> None:
    benchmark = benchmarks.load(name)
    for language in benchmark.languages:
        assert all(map(ending, benchmark.source.of(language).listed(language)))


@pytest.mark.parametrize("name", benchmarks.names())
def test_samples_of_every_benchmark_are_sound(tmp_path: Path, name: str) -> None:
    benchmark = benchmarks.load(name)
    samples = DataConf(source="samples")
    (dataset,) = datasets.prepare([benchmark], samples, Selection(), tmp_path)
    assert dataset.questions >= (8 if benchmark.sandboxed else 12)
    if len(benchmark.languages) > 1:
        assert tuple(dataset.by_language) == INDEX_LANGUAGES


def test_problems_without_steps_are_told_so_in_both_kinds_of_columns(tmp_path: Path) -> None:
    shipped = Path(benchmarks.__path__[0]) / "samples" / "scicode.jsonl"
    made = [json.loads(line) for line in shipped.read_text().splitlines()[:3]]
    renamed = {"problem_id": "id", "problem_description_main": "question"}
    made[1] = {renamed.get(name, name): it for name, it in made[1].items()}
    made[1] |= {"options": None, "answer": None}
    del made[0]["sub_steps"], made[1]["sub_steps"]
    made[2]["sub_steps"] = []
    (tmp_path / "scicode.jsonl").write_text("".join(json.dumps(row) + "\n" for row in made))
    said = refusal(tmp_path, ALL, benchmarks.load("scicode"))
    assert said.count("lacks 'sub_steps'; it has ") == 2
    assert "scicode.jsonl, line 3: 'sub_steps' " in said


# ------------------------------------------------------------------- files beside the questions


def test_files_beside_the_questions_tell_more_of_them(tmp_path: Path) -> None:
    shipped = Path(benchmarks.__path__[0]) / "samples"
    folder, own = tmp_path / "data", tmp_path / "data" / "scicode"
    own.mkdir(parents=True)
    shutil.copy(shipped / "scicode.jsonl", folder)
    scicode = benchmarks.load("scicode")
    (bare,) = datasets.prepare([scicode], DataConf(dir=str(folder)), ALL, tmp_path / "1")
    assert all(row["targets"] == [None] * 3 for row in kept(bare))
    shutil.copy(shipped / "scicode_targets.jsonl", own)
    (told,) = datasets.prepare([scicode], DataConf(dir=str(folder)), ALL, tmp_path / "2")
    assert sum(row["targets"].count(None) for row in kept(told)) == 2
    assert told.digest != bare.digest


@pytest.mark.process  # h5py asks `uname`
def test_a_file_beside_the_questions_that_is_broken_is_told(tmp_path: Path) -> None:
    shutil.copy(Path(benchmarks.__path__[0]) / "samples" / "scicode.jsonl", tmp_path)
    (tmp_path / "test_data.h5").write_text("cut short")
    scicode = benchmarks.load("scicode")
    with refused("data.invalid", "data.dir"):
        datasets.prepare([scicode], DataConf(dir=str(tmp_path)), ALL, tmp_path / "out")


def test_what_goes_with_the_hubs_questions_may_lie_in_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetched: list[str] = []

    def fetch(source: Source, file: str) -> Path:
        fetched.append(f"{source.repo}/{file}")
        return tmp_path / file

    monkeypatch.setattr(hub_files, "fetch", fetch)
    scicode, (h5,) = benchmarks.load("scicode"), ("Srimadh/Scicode-test-data-h5/test_data.h5",)
    place = sources.find(scicode, DataConf(), scicode.languages)
    assert [file.name for file in place.files] == [
        "SciCode1/SciCode/problems_test.jsonl",
        "SciCode1/SciCode/problems_dev.jsonl",
    ]
    assert fetched[-1] == h5
    assert set(place.beside) == {"test_data.h5"}
    for name in ("test_data.h5", "13.6.txt", "other.txt"):
        (tmp_path / name).touch()
    fetched.clear()
    place = sources.find(scicode, DataConf(beside=str(tmp_path)), scicode.languages)
    assert set(place.beside) == {"test_data.h5", "13.6.txt"}
    assert h5 not in fetched


def test_what_goes_with_questions_of_a_folder_may_lie_in_another(tmp_path: Path) -> None:
    shipped, scicode = Path(benchmarks.__path__[0]) / "samples", benchmarks.load("scicode")
    folder, beside = tmp_path / "data", tmp_path / "beside"
    folder.mkdir()
    beside.mkdir()
    shutil.copy(shipped / "scicode.jsonl", folder)
    shutil.copy(shipped / "scicode_targets.jsonl", beside)
    conf = DataConf(dir=str(folder), beside=str(beside))
    (told,) = datasets.prepare([scicode], conf, ALL, tmp_path / "out")
    assert sum(row["targets"].count(None) for row in kept(told)) == 2
    for name in ("scicode_targets.jsonl", "13.6.txt"):
        (folder / name).touch()
    place = sources.find(scicode, conf)
    assert place.beside == {
        "scicode_targets.jsonl": beside / "scicode_targets.jsonl",  # there and among the questions
        "13.6.txt": folder / "13.6.txt",
    }


@pytest.mark.parametrize("source", [{}, {"dir": "DIR"}])
@pytest.mark.parametrize(
    ("beside", "mistake"),
    [
        ("none", "file.unreadable"),
        ("other.txt", "file.unreadable"),
        (".", "data.missing"),
    ],
)
def test_a_folder_that_nothing_would_be_read_from_is_refused(
    tmp_path: Path, source: dict[str, Any], beside: str, mistake: Code
) -> None:
    (tmp_path / "other.txt").touch()
    given = {name: it.replace("DIR", str(tmp_path)) for name, it in source.items()}
    conf = DataConf(**given, beside=f"{tmp_path}/{beside}")
    with refused(mistake, "data.beside", given=f"{tmp_path}/{beside}"):
        datasets.prepare([Toy(), benchmarks.load("scicode")], conf, ALL, tmp_path / "out")


def grown(folder: Path) -> Path:
    for keys in ("ab", "c"):
        revisions.publish(
            folder, [exact(key) for key in keys], [exact(f"p{keys}")], made=revisions.Made("r", 0)
        )
    return folder


@pytest.mark.parametrize("source", ["rolling", "hub"])
def test_a_dataset_that_grows_is_read_at_its_newest_or_as_it_was(
    tmp_path: Path, source: str
) -> None:
    folder = grown(tmp_path / "grown")
    read = {
        number: datasets.prepare(
            [benchmarks.load("hle")],
            DataConf(source=source, dir=str(folder), revision=number),
            ALL,
            tmp_path / f"out-{number}",
        )
        for number in (None, 1, 2)
    }
    assert read[1].datasets[0].questions == 2
    assert read[1].datasets[0].origin == str(folder / "revisions" / "0001")
    (newest,) = read[None]
    assert [row["id"] for row in newest.rows()] == ["a", "b", "c"]  # and nothing that is held out
    assert newest.digest == read[2].datasets[0].digest != read[1].datasets[0].digest
    assert not any("2,500" in note for it in read.values() for note in it.notes)
    # The folder of a revision does as well.
    alone = DataConf(dir=str(folder / "revisions" / "0001"))
    again = datasets.prepare([benchmarks.load("hle")], alone, ALL, tmp_path / "alone")
    assert again.datasets[0].digest == read[1].datasets[0].digest


@pytest.mark.parametrize(
    ("conf", "mistake"),
    [
        (DataConf(source="rolling"), ("setting.missing", "data.dir")),
        (DataConf(source="rolling", dir="DIR/none"), ("data.missing", "data.dir")),
        (DataConf(source="rolling", dir="DIR/file"), ("data.missing", "data.dir")),
        (DataConf(source="rolling", dir="DIR", beside="x"), ("setting.conflict", "data.beside")),
        (DataConf(dir="DIR", revision=7), ("data.missing", "data.revision")),
        (DataConf(revision=1), ("setting.conflict", "data.revision")),
        (DataConf(dir="DIR/revisions/0001", revision=1), ("setting.conflict", "data.revision")),
        (DataConf(source="samples", revision=1), ("setting.conflict", "data.revision")),
    ],
)
def test_a_dataset_that_does_not_grow_is_said(
    tmp_path: Path, conf: DataConf, mistake: Refusal
) -> None:
    folder = grown(tmp_path / "grown")
    (folder / "file").touch()
    if conf.dir:
        conf = dataclasses.replace(conf, dir=conf.dir.replace("DIR", str(folder)))
    with refused(*mistake):
        datasets.prepare([benchmarks.load("hle")], conf, ALL, tmp_path / "out")


def test_where_nobody_expects_all_questions_their_number_is_no_news(tmp_path: Path) -> None:
    write(tmp_path / "in" / "hle.jsonl", [exact("a")])
    conf = DataConf(dir=str(tmp_path / "in"))
    for counted in (True, False):
        data = datasets.prepare(
            [benchmarks.load("hle")], conf, ALL, tmp_path / str(counted), counted=counted
        )
        sizes = [values(it) for it in data.notes if code(it) == "data.size"]
        assert [(it["there"], it["size"]) for it in sizes] == [(1, 2500)] * counted
        assert not any("methodology" in it["counted_by"] for it in sizes)

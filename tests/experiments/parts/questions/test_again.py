"""Runs of questions looked at again: the same questions, put as they were."""

import json
import shutil
from pathlib import Path
from typing import Any

import finished
import pytest
from refusals import refused

from raybench import benchmarks
from raybench.errors import Code, ConfigurationError, RunFailed
from raybench.experiments.parts.questions.again import again, config_of

SAMPLES = Path(benchmarks.__path__[0]) / "samples"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return finished.folder(tmp_path, "benchmarks=[mmlu_pro,mgsm]", "data=samples", "limit=2")


def test_every_unit_is_there_once_with_its_question(run: Path) -> None:
    with again(run) as found:
        units = [
            unit
            for part in found.data
            for model in found.models
            for unit in found.units(part.benchmark, model.name)
        ]
        assert len(units) == len((run / "journal" / "units.jsonl").read_text().splitlines())
        for unit in units:
            question = found.question(unit)
            assert question.truth == unit["truth"]
            assert question.messages[-1].role == "user"
            assert bool(question.choices) is (unit["benchmark"] == "mmlu_pro")
        (part, _) = found.data
        assert [it["benchmark"] for it in found.units(part.benchmark, "sim-01")] == ["mmlu_pro"] * 2
        assert [*found.units("mmlu_pro", "nobody")] == []


def test_a_question_is_put_after_the_model_s_own_replies_to_those_before_it(tmp_path: Path) -> None:
    def reply(benchmark: Any, row: Any, record: Any) -> dict[str, Any]:
        said = f"```python\n# {record['model']} {record['key']} {record['repeat']}\n```"
        return finished.gold(benchmark, row, record) | {"response": said}

    run = finished.folder(tmp_path, "benchmarks=[scicode]", "data=samples", reply=reply)
    with again(run) as found:
        followed = 0
        for unit in found.units("scicode", "sim-02"):
            text = found.question(unit).messages[-1].content
            row = found._row(*found._rows["scicode", "en", unit["key"]])
            for key in benchmarks.load("scicode").follows(row):
                assert f"# sim-02 {key} {unit['repeat']}" in text
                followed += 1
        assert followed


def test_what_could_not_be_put_has_no_messages(tmp_path: Path) -> None:
    def reply(benchmark: Any, row: Any, record: Any) -> dict[str, Any]:
        broken = {"finish": "error", "error": "gone", "by": None, "response": ""}
        return finished.gold(benchmark, row, record) | broken

    run = finished.folder(tmp_path, "benchmarks=[scicode]", "data=samples", reply=reply)
    with again(run) as found:
        units = [*found.units("scicode", "sim-01")]
        puts = [bool(found.question(unit).messages) for unit in units]
    assert any(puts)  # the first ones of their chains
    assert not all(puts)


def test_a_run_without_results_is_not_over(tmp_path: Path) -> None:
    run = finished.folder(tmp_path, "benchmarks=[mmlu_pro]", "data=samples", done=False)
    with (run / "journal" / "units.jsonl").open("a") as journal:
        journal.write('{"model": "sim-01", "bench')  # a killed process left it
    with again(run) as found:
        assert found.results is None
        assert len([*found.units("mmlu_pro", "sim-01")]) == 14


def test_questions_of_gated_benchmarks_are_withheld_unless_they_are_samples(tmp_path: Path) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    shutil.copy(SAMPLES / "gpqa_diamond.jsonl", folder)
    for settings, names in (("data=samples", set()), (f"data.dir={folder}", {"gpqa_diamond"})):
        run = finished.folder(tmp_path / settings[-3:], "benchmarks=[gpqa_diamond]", settings)
        with again(run) as found:
            assert found.withheld == names


def test_other_questions_than_the_run_s_are_refused(tmp_path: Path) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    rows = (SAMPLES / "mmlu_pro.jsonl").read_text().splitlines()
    file = folder / "mmlu_pro.jsonl"
    file.write_text("\n".join(rows))
    run = finished.folder(tmp_path, "benchmarks=[mmlu_pro]", f"data.dir={folder}")
    file.write_text("\n".join([json.dumps(json.loads(rows[0]) | {"question": "?"}), *rows[1:]]))
    with (
        refused("data.changed", None, kind=ConfigurationError) as caught,
        again(run),
    ):
        pass
    assert " mmlu_pro " in str(caught.value) and str(run) in str(caught.value)


def test_a_folder_that_is_none_is_refused(tmp_path: Path) -> None:
    with refused("run.missing", given=str(tmp_path), kind=ConfigurationError) as caught:
        config_of(tmp_path)
    assert "runs/index/" in (caught.value.fix or "")


@pytest.mark.parametrize(
    ("change", "code", "named"),
    [
        (("experiment: index", "experiment: games"), "run.kind", " games, "),
        (("experiment: index", "experiment: hle_screen"), "run.kind", " held out"),
        (("experiment: index", "experiment: suite"), "run.kind", "parts/index/ID"),
        (("experiment: index", "experiment: [x"), "journal.version", "config.yaml"),
        (("experiment: index", "unheard: of"), "journal.version", "unheard"),
        (("", ""), "file.missing", "journal/units.jsonl"),
    ],
)
def test_a_run_of_something_else_is_refused(
    run: Path, change: tuple[str, str], code: Code, named: str
) -> None:
    shutil.rmtree(run / "journal")
    text = (run / "config.yaml").read_text()
    (run / "config.yaml").write_text(text.replace(*change, 1))
    with refused(code, kind=ConfigurationError) as caught:
        config_of(run)
    assert named in str(caught.value)


@pytest.mark.parametrize("line", ["[]\n", "{}\n", "no json\n"])
def test_a_journal_that_was_changed_is_told_by_its_line(run: Path, line: str) -> None:
    journal = run / "journal" / "units.jsonl"
    lines = len(journal.read_text().splitlines())
    with journal.open("a") as file:
        file.write(line)
    with (
        refused("journal.invalid", given=f"{journal}, line {lines + 1}", kind=RunFailed),
        again(run),
    ):
        pass


def test_results_that_cannot_be_read_are_told(run: Path) -> None:
    (run / "results.json").write_text("{")
    with refused("file.unreadable", kind=RunFailed) as caught, again(run):
        pass
    assert "results.json" in str(caught.value)

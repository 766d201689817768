"""Who is compared with whom, and what a RUN on the command line means."""

import json
from pathlib import Path
from typing import Any

import pytest
from compare.making import RUN, named, run, units
from refusals import refused

from raybench.compare import finding, pairing
from raybench.compare.finding import Places
from raybench.compare.found import Pair


def told(pairs: list[Pair]) -> list[tuple[str, str, str, str]]:
    return [
        (it.baseline.run.id, it.baseline.model, it.candidate.run.id, it.candidate.model)
        for it in pairs
    ]


def test_one_run_has_its_models_against_the_first(tmp_path: Path) -> None:
    one = run(tmp_path / "a", [], models=["x", "y", "z"])
    pairs, _ = pairing.pairs([named(one)])
    assert told(pairs) == [("a", "x", "a", "y"), ("a", "x", "a", "z")]
    pairs, _ = pairing.pairs([named(one)], "z")
    assert told(pairs) == [("a", "z", "a", "x"), ("a", "z", "a", "y")]
    with refused("setting.choice", "--baseline"):
        pairing.pairs([named(one)], "nobody")


def test_runs_of_one_model_each_are_against_the_first(tmp_path: Path) -> None:
    runs = [run(tmp_path / name, [], models=[f"m{name}"]) for name in "abc"]
    pairs, _ = pairing.pairs([named(it) for it in runs])
    assert told(pairs) == [("a", "ma", "b", "mb"), ("a", "ma", "c", "mc")]
    for baseline in ("mb", "b", str(tmp_path / "b")):
        pairs, _ = pairing.pairs([named(it) for it in runs], baseline)
        assert told(pairs) == [("b", "mb", "a", "ma"), ("b", "mb", "c", "mc")]


def test_runs_of_several_models_are_paired_by_name(tmp_path: Path) -> None:
    one = run(tmp_path / "a", [], models=["x", "y"])
    other = run(tmp_path / "b", [], models=["y", "x", "new"])
    pairs, notes = pairing.pairs([named(one), named(other)])
    assert told(pairs) == [("a", "x", "b", "x"), ("a", "y", "b", "y")]
    assert len(notes) == 1 and "new" in notes[0]


def test_models_are_picked(tmp_path: Path) -> None:
    one = run(tmp_path / "a", [], models=["x", "y"])
    other = run(tmp_path / "b", [], models=["z", "x"])
    pairs, _ = pairing.pairs([named(one, "y"), named(other, "z")])
    assert told(pairs) == [("a", "y", "b", "z")]
    pairs, _ = pairing.pairs([named(one, "x"), named(other)])  # the other's of that name
    assert told(pairs) == [("a", "x", "b", "x")]


def test_what_cannot_be_paired_is_an_error_with_the_models(tmp_path: Path) -> None:
    one = run(tmp_path / "a", [], models=["x", "y"])
    other = run(tmp_path / "b", [], models=["v", "w"])
    with refused("compare.ambiguous"):
        pairing.pairs([named(one), named(other)])
    with refused("compare.ambiguous"):
        pairing.pairs([named(one, "x")])
    lone = run(tmp_path / "c", [], models=["x"])
    with refused("compare.ambiguous"):
        pairing.pairs([named(lone)])
    games = run(tmp_path / "d", [], experiment="games")
    with refused("compare.nothing"):
        pairing.pairs([named(lone), named(games)])


def test_a_folder_an_id_and_a_model_with_colons_are_found(tmp_path: Path) -> None:
    ident = RUN.format(1)
    made = run(tmp_path / "runs" / "index" / ident, [], models=["qwen:7b", "x"])
    places = Places(tmp_path / "runs")
    for text, model in (
        (str(made.folder), None),
        (f"{made.folder}:qwen:7b", "qwen:7b"),
        (ident, None),
        (f"{ident}:x", "x"),
        (str(made.folder / "report.html"), None),
    ):
        found = finding.found(text, places)
        assert (found.run.folder, found.model) == (made.folder, model), text
    with refused("setting.choice", given="qwen"):
        finding.found(f"{ident}:qwen", places)


def test_an_id_of_mlflows_is_found_where_runs_remember_it(tmp_path: Path) -> None:
    made = run(tmp_path / "runs" / "index" / RUN.format(1), units("x", [True]), models=["x", "y"])
    other = {"uri": "http://b", "run_id": "c" * 32, "models": {}}
    record = {"uri": "http://a", "run_id": "a" * 32, "models": {"y": "b" * 32}, "others": [other]}
    (made.folder / "mlflow.json").write_text(json.dumps(record))
    places = Places(tmp_path / "runs", "sqlite:///" + str(tmp_path / "none.db"))
    for ident, model in (("a", None), ("b", "y"), ("c", None)):
        found = finding.found(ident * 32, places)
        assert (found.run.folder.resolve(), found.model) == (made.folder.resolve(), model)
    assert finding.found("a" * 32 + ":x", places).model == "x"
    with refused("run.missing", "--tracking"):
        finding.found("d" * 32, places)


def test_a_part_of_a_suite_is_found_by_its_id_and_by_mlflows(tmp_path: Path) -> None:
    ident = RUN.format(2)
    home = tmp_path / "runs" / "suite" / RUN.format(1) / "parts" / "index" / ident
    made = run(home, [], models=["x"])
    (home / "mlflow.json").write_text(json.dumps({"uri": "u", "run_id": "a" * 32, "models": {}}))
    places = Places(tmp_path / "runs", "sqlite:///" + str(tmp_path / "none.db"))
    for text in (ident, "a" * 32):
        assert finding.found(text, places).run.folder.resolve() == made.folder.resolve()


@pytest.mark.parametrize("text", ["x" * 300, "x" * 300 + "/config.yaml", "y/" * 3000])
def test_a_word_that_is_too_long_for_a_path_is_no_run(tmp_path: Path, text: str) -> None:
    with refused("run.missing"):
        finding.found(text, Places(tmp_path))


@pytest.mark.parametrize(
    "wrong",
    [
        {"run": [1]},
        {"run": {"data": {"mmlu_pro": 3}}},
        {"models": {"m": {"mmlu_pro/accuracy": 0.5}}},
        {"counts": {"m": None}},
    ],
)
def test_results_of_another_shape_are_refused(tmp_path: Path, wrong: dict[str, Any]) -> None:
    made = run(tmp_path / "a", units("m", [True]), results={"run": {}, **wrong})
    with refused("file.changed"):
        made.data  # noqa: B018


def test_every_mistake_is_told_at_once(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with refused("run.missing", given="nothing") as raised:
        finding.all_found([str(tmp_path / "empty"), "nothing"], Places(tmp_path))
    assert len(raised.value.problems) == 2 and str(tmp_path / "empty") in str(raised.value)

"""By what runs are known again: not by places, and those of earlier versions as well."""

import hashlib
import importlib
import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

import pytest
import yaml
from omegaconf import OmegaConf

from raybench import cli, saved
from raybench.pipeline import store
from raybench.pipeline.run_identity import fingerprint, fingerprints
from raybench.pipeline.terms import asking_of, models_of
from raybench.pipeline.typed import config_in
from raybench.reading import from_yaml

KEPT = {
    # +experiment=autobench roster=simulated iterations=1
    "autobench-e7b964abd7": "7ec052f0c3 c46c86e0a4 721777dc65 bbdbac406c c1ae2b39de 38032cd7a6",
    # +experiment=hle roster=simulated data=samples limit=2
    "hle-5de55392ec": "6d10a625da bbc45377d8 9cec53a7e0 080416413d",
    # +experiment=index roster=simulated data=samples 'benchmarks=[mgsm,math_500]' limit=2 repeats=1
    # checker=null 'judges=[]'
    "index-2e7b7a7346": "f5040527db 9cb3fd61c4 d31e41624f e688ff793a",
    # +experiment=index with vLLM models and a judge: config.yaml without the run
    "index-3592d00434": "08c253198d cc24ffbf7b 377e5f86dc fb956226fc",
}
"""Runs whose config.yaml is kept (November 2026), and the marks of all their settings.

The name of a file ends in the mark by which its run is found.
"""


def told(experiment: str = "index", prompt: str | None = "Be brief.", **index: Any) -> Any:
    model = {"name": "m", "engine": "simulated", "system_prompt": prompt}
    return {
        "experiment": experiment,
        "roster": {"name": "r", "models": [model]},
        "index": {"limit": 5, **index},
    }


@pytest.mark.parametrize(
    ("settings", "same"),
    [
        (told(own_system_prompts=True), True),
        (told(own_system_prompts=False), False),
        (told(experiment="suite", own_system_prompts=False), False),
        (told(prompt=None, own_system_prompts=False), True),
        (told(experiment="games", own_system_prompts=False), True),
    ],
)
def test_a_run_from_before_is_found_where_it_asked_alike(settings: Any, same: bool) -> None:
    before = {**settings, "index": {"limit": 5}}
    assert (fingerprint(settings) == fingerprint(before)) == same


@pytest.mark.parametrize(
    ("experiment", "engine", "chars", "role", "same"),
    [
        ("hle", "vllm", 350, "user", True),
        ("hle", "vllm", None, "user", False),
        ("hle", "vllm", 350, "system", False),
        ("hle", "openai", None, "user", True),
        ("hle", "openai", None, "system", False),
        ("suite", "vllm", None, "user", False),
        ("autobench", "vllm", None, "system", True),
    ],
)
def test_a_run_from_before_is_found_where_it_judged_alike(
    experiment: str, engine: str, chars: int | None, role: str, same: bool
) -> None:
    judge = {"name": "j", "engine": engine}
    before = {"experiment": experiment, "roster": {"judges": [judge]}, "hle": {"judges": ["j"]}}
    now = {**before, "hle": {"judges": ["j"], "judge_chars": chars, "judge_role": role}}
    assert (fingerprint(now) == fingerprint(before)) == same


def by_roster(experiment: str, *, exam: bool, index: bool, **suite: Any) -> Any:
    """Return settings as they are where the roster has a judge."""
    return {
        "experiment": experiment,
        "suite": suite,
        "index": {"judges": ["j"] if index else [], "checker": "j" if index else None},
        "hle": {"judges": ["j"] if exam else []},
    }


@pytest.mark.parametrize(
    ("experiment", "parts", "exam", "found"),
    [
        ("autobench", [], False, True),
        ("autobench", [], True, True),  # the roster had settings for the exam
        ("hle", [], True, True),
        ("index", [], False, False),
        ("suite", ["autobench", "games"], False, True),
        ("suite", ["index", "games"], True, False),
    ],
)
def test_runs_from_before_judges_were_the_rosters_are_found_where_none_is_asked(
    experiment: str, parts: list[str], exam: bool, found: bool
) -> None:
    before = by_roster(experiment, exam=exam, index=False, parts=parts)
    leaves = {
        "experiment": experiment,
        "suite.parts": parts,
        "index.judges": [],
        "index.checker": None,
        "hle.judges": before["hle"]["judges"],
    }
    mark = hashlib.sha256(json.dumps(leaves, sort_keys=True).encode()).hexdigest()[:10]
    now = by_roster(experiment, exam=True, index=True, parts=parts)
    assert (mark in fingerprints(now)) == found
    given = {**now, "index": {"judges": [], "checker": None}}
    assert mark in fingerprints(given), "what was asked can be asked for"


@pytest.mark.parametrize("before", [[], ["j"]], ids=["a roster's file", "a roster with settings"])
@pytest.mark.parametrize("experiment", ["autobench", "hle", "index", "suite", "hle_screen"])
def test_runs_from_before_a_screenings_judge_was_the_rosters_are_found(
    experiment: str, before: list[str]
) -> None:
    now = by_roster(experiment, exam=True, index=True, parts=["hle", "index"])
    now["hle_screen"] = {"judges": ["j"]}
    idle = experiment in ("autobench", "hle_screen")
    leaves = {
        "experiment": experiment,
        "suite.parts": ["hle", "index"],
        "index.judges": [] if idle or experiment == "hle" else ["j"],
        "index.checker": None if idle or experiment == "hle" else "j",
        "hle.judges": [] if idle or experiment == "index" else ["j"],
        "hle_screen.judges": before,
    }
    mark = hashlib.sha256(json.dumps(leaves, sort_keys=True).encode()).hexdigest()[:10]
    assert mark in fingerprints(now)
    other = {**now, "hle_screen": {"judges": ["k"]}}
    same = fingerprint(other) == fingerprint(now)
    assert same == (experiment != "hle_screen")


@pytest.mark.parametrize(
    ("benchmarks", "letters", "same"),
    [(["mmlu_pro"], "listed", True), (["mmlu_pro"], "all", False), (["mgsm"], "all", True)],
)
def test_a_run_from_before_is_found_where_its_prompts_named_the_same_letters(
    benchmarks: list[str], letters: str, same: bool
) -> None:
    before = told(prompt=None, benchmarks=benchmarks)
    now = told(prompt=None, benchmarks=benchmarks, letters=letters)
    assert (fingerprint(now) == fingerprint(before)) == same


@pytest.mark.parametrize(
    ("experiment", "added", "same"),
    [
        ("hle_screen", {"review": "required", "search": {}, "audit": 0, "late": False}, True),
        ("hle_screen", {"search": {"web": "plain"}}, False),
        ("hle_screen", {"audit": 200}, False),
        ("hle_screen", {"late": True}, False),
        ("hle", {"review": "required", "search": {"web": "plain"}, "late": True}, True),
    ],
)
def test_a_screening_from_before_is_found_where_it_asked_alike(
    experiment: str, added: dict[str, Any], same: bool
) -> None:
    before = {"experiment": experiment, "hle_screen": {"rule": "stumps"}}
    now = {**before, "hle_screen": {"rule": "stumps", **added}}
    assert (fingerprint(now) == fingerprint(before)) == same


def test_a_screening_from_before_publishes_as_it_did(tmp_path: Path) -> None:
    asked = cli.compose(["+experiment=hle_screen", "hle_screen.candidates=samples"])
    settings = cast(dict[str, Any], OmegaConf.to_container(asked, resolve=True))
    for name in ("review", "search", "audit", "late"):
        del settings["hle_screen"][name]
    file = tmp_path / "config.yaml"
    file.write_text(yaml.safe_dump(settings))
    assert config_in(file).hle_screen.review == "skip"
    assert saved.compose(str(file), []).hle_screen.review == "skip"


@pytest.mark.parametrize(
    ("experiment", "model", "tokens", "same"),
    [
        ("autobench", {"reasoning": True}, 4096, False),
        ("autobench", {"options": {"reasoning_parser": "qwen3"}}, 4096, False),
        ("suite", {"reasoning": True}, 4096, False),
        ("autobench", {"reasoning": True}, 0, True),
        ("autobench", {"reasoning": None, "options": {}}, 4096, True),
        ("autobench", {"reasoning": False, "options": {"reasoning_parser": "x"}}, 4096, True),
        ("games", {"reasoning": True}, 4096, True),
    ],
)
def test_a_run_from_before_is_found_where_models_had_no_more_room_to_think(
    experiment: str, model: dict[str, Any], tokens: int, same: bool
) -> None:
    autobench = {"iterations": 5}
    before = {"experiment": experiment, "roster": {"models": [model]}, "autobench": autobench}
    now = {**before, "autobench": {**autobench, "thinking_tokens": tokens}}
    assert (fingerprint(now) == fingerprint(before)) == same


def test_a_configuration_from_before_asks_as_it_did(tmp_path: Path) -> None:
    prompted = "roster.models=[{name: m, engine: simulated, system_prompt: Be brief.}]"
    asked = cli.compose(cli.at_home(["+experiment=index", prompted]))
    settings = cast(dict[str, Any], OmegaConf.to_container(asked, resolve=True))
    file = tmp_path / "config.yaml"
    del settings["index"]["own_system_prompts"]
    file.write_text(yaml.safe_dump(settings))
    (model,) = models_of(config_in(file))
    assert model.system_prompt == "Be brief."
    assert saved.compose(str(file), []).index.own_system_prompts is True
    del settings["index"]["letters"]
    file.write_text(yaml.safe_dump(settings))
    assert asking_of(config_in(file)).letters == "listed"
    settings["index"]["own_system_prompts"] = False
    file.write_text(yaml.safe_dump(settings))
    (model,) = models_of(config_in(file))
    assert model.system_prompt is None
    assert saved.compose(str(file), []).index.own_system_prompts is False


def placed(runs_dir: str, experiment: str = "games", dataset: str = "hle_rolling") -> Any:
    return {
        "experiment": experiment,
        "runs_dir": runs_dir,
        "optimise_players": {"folder": f"{runs_dir}/compiled_players", "train": 9},
        "hle_screen": {"dataset": f"{runs_dir}/{dataset}"},
    }


@pytest.mark.parametrize("experiment", ["games", "suite", "index", "hle_screen"])
def test_a_run_is_known_again_when_its_folder_has_moved(tmp_path: Path, experiment: str) -> None:
    here, there = (placed(it, experiment) for it in (str(tmp_path / "runs"), "runs"))
    assert fingerprint(here) == fingerprint(there)
    with store.open_run(tmp_path / "a", experiment, here) as run:
        name = run.id
    (tmp_path / "a").rename(tmp_path / "b")
    with store.open_run(tmp_path / "b", experiment, there) as run:
        assert (run.id, run.resumed) == (name, True)


def test_what_a_run_does_still_tells_it_apart() -> None:
    other = placed("runs")
    other["optimise_players"]["train"] = 10
    assert fingerprint(other) != fingerprint(placed("runs"))
    screened = [fingerprint(placed("runs", "hle_screen", it)) for it in ("hle_rolling", "look")]
    assert screened[0] != screened[1]


@pytest.mark.parametrize("runs_dir", ["runs", "/elsewhere/runs"])
def test_runs_that_earlier_versions_named_by_their_places_are_resumed(
    tmp_path: Path, runs_dir: str
) -> None:
    settings = placed(runs_dir)
    leaves = {
        "experiment": "games",
        "optimise_players.folder": f"{runs_dir}/compiled_players",
        "optimise_players.train": 9,
        "hle_screen.dataset": f"{runs_dir}/hle_rolling",
    }
    before = hashlib.sha256(json.dumps(leaves, sort_keys=True).encode()).hexdigest()[:10]
    (tmp_path / "games" / f"20260101-000000-000000-{before}").mkdir(parents=True)
    with store.open_run(tmp_path, "games", settings) as run:
        assert run.resumed and run.id.endswith(before)
    assert before in fingerprints(settings)


def kept(name: str) -> tuple[Path, Any, tuple[str, ...], str]:
    """Return a kept config.yaml, what it says, its experiment's conclusions and the run's mark."""
    experiment, _, mark = name.partition("-")
    file = Path(__file__).parent / "kept_configs" / f"{name}.yaml"
    room = importlib.import_module(f"raybench.experiments.{experiment}")
    return file, from_yaml(file.read_bytes()), room.CONCLUSIONS, mark


@pytest.mark.parametrize("name", KEPT)
def test_the_marks_of_kept_configurations_never_change(name: str) -> None:
    file, settings, conclusions, mark = kept(name)
    assert fingerprints(settings) == KEPT[name].split()
    assert fingerprint(settings, without=conclusions) == mark
    now = asdict(config_in(file))  # with every setting that this version adds
    assert fingerprint(now, without=conclusions) == mark
    again = cast(dict[str, Any], OmegaConf.to_container(saved.compose(str(file), [])))
    assert fingerprint(again, without=conclusions) == mark


def hosted_elsewhere(settings: Any) -> Iterator[Any]:
    """Yield the settings with other replicas and nodes, asked for in different places."""
    roster = settings["roster"]
    yield {**settings, "fleet": {**settings["fleet"], "replicas": "auto"}}
    hostings: list[dict[str, Any]] = [{"replicas": it} for it in (None, 2, "auto")]
    for part in ("models", "judges"):
        for hosting in (*hostings, {"nodes": {"gpu": "x"}}):
            models = [{**model, **hosting} for model in roster[part]]
            yield {**settings, "roster": {**roster, part: models}}


@pytest.mark.parametrize("name", KEPT)
def test_a_run_is_resumed_with_other_replicas_and_nodes(name: str, tmp_path: Path) -> None:
    _, settings, _, _ = kept(name)
    experiment = settings["experiment"]
    with store.open_run(tmp_path, experiment, settings) as run:
        with closing(run.journal("units")) as journal:
            journal.append({"id": 1})
        begun = run.id
    for asked in hosted_elsewhere(settings):
        with store.open_run(tmp_path, experiment, asked) as run:
            assert (run.id, run.resumed) == (begun, True)
            with closing(run.journal("units")) as journal:
                assert journal.records == [{"id": 1}]


def test_other_settings_of_a_model_still_tell_runs_apart() -> None:
    _, settings, _, _ = kept("index-3592d00434")
    first, second = settings["roster"]["models"]
    for models in ([first], [second, first], [first, {**second, "revision": "main"}]):
        other = {**settings, "roster": {**settings["roster"], "models": models}}
        assert fingerprint(other) != fingerprint(settings)

"""The command line as a person meets it: what it lists, refuses, plans, and how it says so."""

import asyncio
import errno
import json
import os
import signal
import subprocess
import sys
from copy import deepcopy
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from command import run_command
from helpers import ROOT, SIMULATED, raybench
from hydra._internal.hydra import Hydra
from hydra.core.config_store import ConfigStore
from omegaconf import OmegaConf
from refusals import assert_among, refusals
from statements import values

from raybench import __version__, cli
from raybench.errors import Code, ConfigurationError
from raybench.experiment_help import without_effect
from raybench.experiments import autobench

AUTOBENCH = "+experiment=autobench"


class Mistake(NamedTuple):
    """What a person types, and the problem that is reported."""

    arguments: list[str]
    code: Code
    setting: str | None
    given: Any = None
    names: tuple[str, ...] = ()
    """Settings, values and numbers that the text has to mention; in quotes those it proposes."""


MISTAKES = {
    "unknown experiment": Mistake(
        ["+experiment=autobnch"], "setting.choice", "experiment", "autobnch", ("'autobench'",)
    ),
    "missing plus": Mistake(
        ["experiment=autobench"],
        "setting.syntax", "experiment", "experiment=autobench", ("+experiment=autobench",),
    ),
    "no experiment": Mistake(
        ["roster=simulated"],
        "setting.missing", "experiment", None, ("+experiment=NAME", "+experiment=autobench"),
    ),
    "chosen twice": Mistake([AUTOBENCH, AUTOBENCH], "setting.duplicate", "experiment"),
    "two chosen": Mistake([AUTOBENCH, "+experiment=hle"], "setting.duplicate", "experiment"),
    "unknown roster": Mistake(
        [AUTOBENCH, "roster=embeded"],
        "setting.choice", "roster", "embeded", ("'embedded'", "roster=PATH.yaml"),
    ),
    "roster to be filled": Mistake(
        [AUTOBENCH, "roster=custom"],
        "setting.missing", "roster.models", None, ("roster.models='[{", "roster=PATH.yaml"),
    ),
    "roster without the ending of a file": Mistake(
        [AUTOBENCH, "roster=/tmp/mine"],
        "setting.choice", "roster", "/tmp/mine", ("'/tmp/mine'", "roster=PATH.yaml"),
    ),
    "judge and no candidates": Mistake(
        ["+experiment=hle_screen", "hle_screen.judges=[nobody]"],
        "setting.choice", "hle_screen.judges", "nobody", ("'nobody'",),
    ),
    "strategy next to a wrong script": Mistake(
        ["+experiment=games", "games.anchors=[nobody]", "games.strategy=wild"],
        "setting.choice", "games.strategy", "wild", ("'wild'",),
    ),
    "unknown benchmark": Mistake(
        ["+experiment=index", "index.benchmarks=[mmlu]"],
        "setting.choice", "index.benchmarks", "mmlu", ("'mmlu_pro'",),
    ),
    "unknown key": Mistake(
        [AUTOBENCH, "autobench.iteratons=3"],
        "setting.unknown", "autobench.iteratons", None, ("'autobench.iterations'",),
    ),
    "unknown key, forced": Mistake(
        [AUTOBENCH, "+autobench.iteratons=3"],
        "setting.unknown", "autobench.iteratons", None, ("'autobench.iterations'",),
    ),
    "wrong type": Mistake(
        [AUTOBENCH, "autobench.iterations=many"],
        "setting.type", "autobench.iterations", "many", ("autobench.iterations=NUMBER",),
    ),
    "impossible judges": Mistake(
        [AUTOBENCH, "autobench.rating_temperature=-1"],
        "setting.range", "autobench.rating_temperature", -1.0, ("0 to 2", "null"),
    ),
    "out of range": Mistake(
        [AUTOBENCH, "autobench.iterations=0"], "setting.range", "autobench.iterations", 0, ("1",)
    ),
    "setting of the named one": Mistake(
        ["+experiment=games", "+weights.chess=2"],
        "setting.unknown", "weights", None, ("'games.weights'",),
    ),
    "setting of a group": Mistake(
        [AUTOBENCH, "iterations=9"],
        "setting.unknown", "iterations", None, ("'autobench.iterations'",),
    ),
    **{
        f"setting without its prefix: {given}": Mistake(
            ["+experiment=index", given],
            "setting.unknown", given.strip("+").partition("=")[0], None, (f"'{meant}'",),
        )
        for given, meant in {
            "limt=5": "limit",
            "+limt=5": "limit",
            "benchmark=[mgsm]": "benchmarks",
            "lanugages=[de]": "languages",
            "roser=small": "roster",
        }.items()
    },
    "several values": Mistake(
        [AUTOBENCH, "seed=1,2"], "setting.syntax", "seed", "seed=1,2", ("--multirun",)
    ),
    "no list": Mistake(
        [AUTOBENCH, "autobench.topics=math"],
        "setting.type", "autobench.topics", None, ("autobench.topics=[a,b]",),
    ),
    "a table without a name": Mistake(
        [AUTOBENCH, "autobench.external=mmlu.csv"],
        "setting.type", "autobench.external", None, ("autobench.external.NAME=VALUE",),
    ),
    "a table of two names": Mistake(
        [AUTOBENCH, "autobench.external={a b: mmlu.csv}"],
        "setting.type", "autobench.external", None, ("spaces",),
    ),
    "a list for a table": Mistake(
        [AUTOBENCH, "fleet.nodes=[a,b]"],
        "setting.type", "fleet.nodes", None, ("fleet.nodes.NAME=VALUE",),
    ),
    "a table for a list": Mistake(
        [AUTOBENCH, "autobench.topics={a: b}"],
        "setting.type", "autobench.topics", None, ("autobench.topics=[a, b]",),
    ),
    **{
        f"a list for one value: {setting}": Mistake(
            [AUTOBENCH, f"{setting}=[a]"], "setting.type", setting, None, (f"{setting}=VALUE",)
        )
        for setting in ("fleet.address", "storage")
    },
    "a list for a number": Mistake([AUTOBENCH, "seed=[1]"], "setting.type", "seed", "[1]"),
    **{
        f"no number of replicas: {given}": Mistake(
            [AUTOBENCH, f"fleet.replicas={given}"],
            "setting.type", "fleet.replicas", given, ("fleet.replicas",),
        )
        for given in ("2.5", "[2]", "two")
    },
    "too few replicas": Mistake(
        [AUTOBENCH, "fleet.replicas=0"], "setting.range", "fleet.replicas", 0, ("auto",)
    ),
    "a list for a label": Mistake(
        [AUTOBENCH, "++fleet.nodes.zone=[a,b]"],
        "setting.type", "fleet.nodes.zone", None, ('"in(a,b)"',),
    ),
    "a number for a name": Mistake(
        [AUTOBENCH, "++fleet.nodes={1: a}"],
        "setting.type", "fleet.nodes.1", "1", ("fleet.nodes.1=VALUE",),
    ),
    "quotes around a name": Mistake(
        [AUTOBENCH, '++fleet.nodes={"bad label!!": yes}'],
        "setting.syntax", "fleet.nodes", '++fleet.nodes={"bad label!!": yes}', ("quotes",),
    ),
    "a name with a slash": Mistake(
        [AUTOBENCH, "++fleet.nodes.raybench/zone=a"],
        "setting.syntax", "fleet.nodes.raybench/zone", "++fleet.nodes.raybench/zone=a",
        ("'fleet.nodes={raybench/zone: …}'",),
    ),
    "a list for a group": Mistake(
        [AUTOBENCH, "fleet=[a]"], "setting.choice", "fleet", "a", ("--help",)
    ),
    "one topic twice": Mistake(
        [AUTOBENCH, "autobench.topics=[math,logic,math]"],
        "setting.duplicate", "autobench.topics", "math", ("2",),
    ),
    "chances of difficulties": Mistake(
        [AUTOBENCH, "autobench.difficulties=[{label: hard, phrase: a hard, probability: 0.4}]"],
        "setting.range", "autobench.difficulties", 0.4, ("1",),
    ),
    "no boolean": Mistake(
        [AUTOBENCH, "dry_run=maybe"], "setting.type", "dry_run", "maybe", ("true", "false")
    ),
    "null where there has to be a value": Mistake(
        ["+experiment=games", "games.matches=null"],
        "setting.type", "games.matches", None, ("null",),
    ),
    "no folder": Mistake([AUTOBENCH, "runs_dir="], "setting.missing", "runs_dir"),
    "unknown sandbox": Mistake(
        [AUTOBENCH, "sandbox.backend=namespace"],
        "setting.choice", "sandbox.backend", "namespace", ("'namespaces'",),
    ),
    "no slots": Mistake(
        [AUTOBENCH, "sandbox.slots=0"], "setting.range", "sandbox.slots", 0, ("1", "null")
    ),
    "no Python": Mistake(
        [AUTOBENCH, "sandbox.python="], "setting.missing", "sandbox.python", None, ("null",)
    ),
    "no value": Mistake(
        [AUTOBENCH, "autobench.iterations"],
        "setting.syntax", "autobench.iterations", "autobench.iterations", ("KEY=VALUE",),
    ),
    "empty roster": Mistake(
        [AUTOBENCH, "roster.models=[]"],
        "setting.missing", "roster.models", None, ("'embedded'", "roster=NAME"),
    ),
    "impossible temperature": Mistake(
        [AUTOBENCH, "roster.models.3.sampling.temperature=3"],
        "setting.range", "roster.models[].sampling.temperature", 3.0,
        ("'smollm2-boiling'", "0 to 2"),
    ),
    "one model": Mistake(
        [AUTOBENCH, "roster.models=[{name: a, engine: simulated}]"],
        "setting.range", "roster.models", None, ("autobench",),
    ),
    "duplicate names": Mistake(
        [AUTOBENCH, "roster.models.1.name=smollm2-greedy"],
        "setting.duplicate", "roster.models[].name", "smollm2-greedy", ("2",),
    ),
    "a name that judging takes": Mistake(
        [AUTOBENCH, "roster.models.1.name='smollm2-greedy (judge)'"],
        "setting.conflict", "roster.models[].name", "smollm2-greedy (judge)",
        ("'smollm2-greedy'",),
    ),
    "missing weights": Mistake(
        [AUTOBENCH, "roster.models.0.weights=/no/such/folder"],
        "model.weights", "roster.models[].weights", "/no/such/folder", ("config.json",),
    ),
    "no weights": Mistake(
        [AUTOBENCH, "roster.models=[{name: a},{name: b}]"],
        "setting.missing", "roster.models[].weights", None, ("'a'", "'embedded'"),
    ),
    "missing chat template": Mistake(
        [AUTOBENCH, "++roster.models.0.options.chat_template=/no/such.jinja"],
        "file.unreadable", "roster.models[].options.chat_template", None,
        ("'smollm2-greedy'", "'/no/such.jinja'", os.strerror(errno.ENOENT)),
    ),
    "unknown reasoning parser": Mistake(
        [AUTOBENCH, "++roster.models.0.options.reasoning_parser=qwen"],
        "setting.choice", "roster.models[].options.reasoning_parser", "qwen",
        ("'smollm2-greedy'", "'qwen3'"),
    ),
    "unknown engine": Mistake(
        [AUTOBENCH, "roster.models.0.engine=vlm"],
        "setting.choice", "roster.models[].engine", "vlm", ("'smollm2-greedy'", "'vllm'"),
    ),
    "a folder for runs that cannot be": Mistake(
        [AUTOBENCH, "runs_dir=/dev/null/runs"], "file.unwritable", "runs_dir", "/dev/null/runs"
    ),
    "unreadable data": Mistake(
        [AUTOBENCH, "data.dir=/no/such/data"],
        "file.unreadable", "data.dir", "/no/such/data", (os.strerror(errno.ENOENT),),
    ),
    "a file for a folder of data": Mistake(
        [AUTOBENCH, f"data.dir={__file__}"], "file.format", "data.dir", __file__
    ),
    "impossible memory": Mistake(
        [AUTOBENCH, "fleet.device=cpu", "fleet.kv_cache_gib=100000"],
        "resources.memory", "fleet.kv_cache_gib", None, ("100000.0", "smollm2-greedy"),
    ),
    "a time to send that is none": Mistake(
        [AUTOBENCH, "tracking.send=latr"], "setting.choice", "tracking.send", "latr", ("'later'",)
    ),
    "bad tracking URI": Mistake(
        [AUTOBENCH, "tracking.uri=ftp://host/x"],
        "tracking.store", "tracking.uri", None, ("'ftp'", "sqlite:///"),
    ),
}  # fmt: skip


SECRET = "sk-geheim-0123456789"
SECRETS = [
    "++roster.models.0.options.api_key",
    "++roster.models.0.options.extra_body.headers.Authorization",
    "++roster.models.0.options.hf_token",
    "++roster.models.0.options.base_url",
    "roster.models.0.api_key",
    "+roster.models.0.api_key",
    "api_key",
    "+api_key",
    "++fleet.api_key",
]


@pytest.mark.parametrize(
    ("setting", "engine"),
    [(setting, engine) for setting in SECRETS for engine in ("openai", "vllm")]
    + [("++roster.models.0.options.api_key_env", "openai")],
)
def test_a_secret_in_the_configuration_is_refused_and_not_repeated(
    setting: str, engine: str
) -> None:
    given = f"http://user:{SECRET}@host/v1" if setting.endswith("base_url") else SECRET
    with pytest.raises(ConfigurationError) as caught:
        cli.check(
            cli.compose(
                [
                    AUTOBENCH,
                    f"roster.models.0.engine={engine}",
                    "roster.models.0.weights=org/m",
                    f"{setting}='{given}'",
                ]
            )
        )
    key = setting.lstrip("+").rpartition(".")[2]
    expected: Code = "setting.secret" if ".options." in setting else "setting.unknown"
    if key == "api_key_env":
        expected = "setting.format"
    found = {(it.code, (it.setting or "").rpartition(".")[2]) for it in caught.value.problems}
    assert (expected, key) in found
    assert "geheim" not in str(caught.value)


@pytest.mark.parametrize("option", ["max_tokens: x", "tokenizer: org/t", "api_key_env: MY_KEY"])
def test_what_only_sounds_like_a_secret_is_none(option: str) -> None:
    roster = f"roster.models=[{{name: a, engine: vllm, weights: org/m, options: {{{option}}}}}]"
    config = cli.compose([AUTOBENCH, roster])
    with pytest.raises(ConfigurationError) as caught:
        cli.check(config)
    assert refusals(caught.value.problems) == [("setting.range", "roster.models")]  # one is too few


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_one_message_with_the_mend(name: str) -> None:
    mistake = MISTAKES[name]
    with pytest.raises(ConfigurationError) as caught:
        cli.check(cli.compose(mistake.arguments))
    problem = assert_among(
        caught.value.problems, mistake.code, mistake.setting, given=mistake.given
    )
    for each in mistake.names:
        assert each in problem.text


class Broken(NamedTuple):
    """The file of a roster, and the problem that is reported."""

    content: bytes
    code: Code
    setting: str | None
    names: tuple[str, ...] = ()
    """What the text has to mention; in quotes what it proposes."""


ROSTERS = {
    "a tab": Broken(
        b"name: x\nmodels:\n\t- a\n", "setting.syntax", None, ("mine.yaml", "line 3", "\\t")
    ),
    "an unquoted colon": Broken(
        b"name: x\nmodels:\n  - name: a\n    system_prompt: Note: be brief\n",
        "setting.syntax", None, ("mine.yaml", "line 4"),
    ),
    "not UTF-8": Broken(b"name: \xe9\n", "file.format", None, ("UTF-8",)),
    "a model that is a word": Broken(
        b"name: x\nmodels: [a, b]\n",
        "setting.type", "roster.models[0]", ("roster/mine", "- name: "),
    ),
    "a model without a name": Broken(
        b"name: x\nmodels:\n  - weights: org/m\n", "setting.missing", "roster.models[0].name"
    ),
    "a roster without a name": Broken(
        b"models:\n  - {name: a, engine: simulated}\n", "setting.missing", "roster.name"
    ),
    "an empty roster": Broken(b"", "setting.missing", "roster.name"),
    "models as a mapping": Broken(
        b"name: x\nmodels:\n  a: {engine: simulated}\n",
        "setting.type", None, ("roster/mine", "- name: "),
    ),
    "a roster that is a list": Broken(
        b"- a\n- b\n", "setting.type", None, ("roster/mine", "'models:'")
    ),
    "sampling in the wrong place": Broken(
        b"name: x\nmodels:\n  - name: a\n    temperature: 1\n",
        "setting.unknown", "temperature", ("sampling",),
    ),
    "an option in the wrong place": Broken(
        b"name: x\nmodels:\n  - name: a\n    base_url: http://h/v1\n",
        "setting.unknown", "base_url", ("under options",),
    ),
    "a model whose name is null": Broken(
        b"name: x\nmodels:\n  - {name: null, engine: simulated}\n",
        "setting.type", "name", ("roster/mine", "null"),
    ),
    "a list of replicas": Broken(
        b"name: x\nmodels:\n  - {name: a, replicas: [2]}\n",
        "setting.type", "replicas", ("roster/mine", "[2]", "auto"),
    ),
    "a typo in the sampling": Broken(
        b"name: x\nmodels:\n  - name: a\n    sampling: {temprature: 1}\n",
        "setting.unknown", "sampling.temprature", ("'sampling.temperature'",),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ROSTERS)
def test_a_mistake_in_ones_own_roster_is_told_with_its_place(name: str, tmp_path: Path) -> None:
    broken = ROSTERS[name]
    (tmp_path / "roster").mkdir()
    (tmp_path / "roster" / "mine.yaml").write_bytes(broken.content)
    with pytest.raises(ConfigurationError) as caught:
        cli.check(cli.compose([AUTOBENCH, "roster=mine"], str(tmp_path)))
    problem = assert_among(caught.value.problems, broken.code, broken.setting)
    for each in broken.names:
        assert each in problem.text


def test_an_empty_section_of_a_model_is_one_left_out(tmp_path: Path) -> None:
    (tmp_path / "roster").mkdir()
    (tmp_path / "roster" / "mine.yaml").write_text(
        "name: x\nmodels:\n"
        "  - {name: a, engine: simulated, options: null, sampling: null}\n"
        "  - {name: b, engine: simulated}\n"
    )
    config = cli.check(cli.compose([AUTOBENCH, "roster=mine"], str(tmp_path)))
    one, other = (model.spec() for model in config.roster.models)
    assert (one.sampling, one.options) == (other.sampling, other.options)


def test_an_unknown_flag_is_told_in_one_line(tmp_path: Path) -> None:
    done = run_command("--dry-run", AUTOBENCH, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("raybench: ")
    assert "--dry-run" in done.stderr
    assert "KEY=VALUE" in done.stderr
    assert "dry_run=true" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("given", "proposed"),
    [
        (["--experiment=index"], "+experiment=index"),
        (["--experiment", "index"], "+experiment="),
        (["dry_run=true", "--experiment=games"], "+experiment=games"),
    ],
)
def test_an_experiment_behind_dashes_is_proposed_with_a_plus(
    given: list[str], proposed: str, tmp_path: Path
) -> None:
    done = run_command(*given, "--json", cwd=tmp_path)
    error = json.loads(done.stdout.splitlines()[0])["error"]
    assert (done.returncode, error["code"]) == (2, "setting.syntax")
    assert proposed in error["fix"]


def noted(*arguments: str, cwd: Path) -> list[str]:
    """Return the notes of a plan."""
    done = run_command(*arguments, "dry_run=true", "--json", cwd=cwd)
    assert done.returncode == 0, done.stderr
    return list(json.loads(done.stdout.splitlines()[0])["plan"]["notes"])


@pytest.mark.parametrize(
    ("experiment", "given", "without"),
    [
        ("index", ["hle.limit=2", "games.matches=3", "seed=1"], ["hle.limit", "games.matches"]),
        ("index", ["limit=1", "seed=2", "fleet.device=cpu"], []),
        ("autobench", ["++games.rules.chess.plies=9"], ["games.rules.chess.plies"]),
        ("suite", ["hle.limit=2", "games.matches=9", "optimise_players.folder=x"], []),
        ("suite", ["hle_screen.limit=2", "serve.port=9"], ["hle_screen.limit", "serve.port"]),
        ("games", ["optimise_players.folder=x"], []),
    ],
)
def test_settings_that_the_experiment_does_not_read_are_named(
    experiment: str, given: list[str], without: list[str], tmp_path: Path
) -> None:
    of = ["index.benchmarks=[mgsm]", "suite.parts=[autobench,hle]"]  # which need no sandbox
    own = [it for it in of if it.startswith(experiment)]
    named = [f"+experiment={experiment}", "roster=simulated", "data=samples", *own, *given]
    found = [it for it in noted(*named, cwd=tmp_path) if "no effect" in it]
    assert len(found) == bool(without)
    keys = [it.lstrip("+").partition("=")[0] for it in given]
    assert [it for it in keys if any(it in note for note in found)] == without


def test_what_a_saved_configuration_holds_of_others_is_not_named(tmp_path: Path) -> None:
    config = cli.compose(["+experiment=autobench", "roster=simulated", "hle.limit=2"])
    (tmp_path / "config.yaml").write_text(OmegaConf.to_yaml(config, resolve=True))
    again = ("--from", "config.yaml")
    assert not any("hle.limit" in it for it in noted(*again, cwd=tmp_path))
    assert any("hle.limit" in it for it in noted(*again, "hle.limit=3", cwd=tmp_path))


@pytest.mark.parametrize("multirun", [False, True])
def test_a_run_begins_with_what_has_no_effect_on_it(
    multirun: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def run(*_: Any) -> None:
        pass

    monkeypatch.setattr(autobench, "run", run)
    flags = ["--multirun"] if multirun else []
    done = run_command(*flags, *SIMULATED, "hle.limit=2", cwd=tmp_path)
    assert (done.returncode, done.stderr.count("hle.limit")) == (0, 1)
    quiet = run_command(*flags, *SIMULATED, "iterations=2", cwd=tmp_path)
    assert (quiet.returncode, quiet.stderr) == (0, "")


def test_the_note_on_other_experiments_settings_proposes_the_experiments_own() -> None:
    config = cli.check(cli.compose(["+experiment=index", "roster=simulated"]), dry_run=True)
    keys = ["hle.limit", "hle.limit", "games.matches", "limit", "serve", "experiment"]
    (note,) = without_effect(config, keys, cli.experiments())
    assert values(note)["settings"] == "hle.limit, games.matches, serve"
    assert values(note)["meant"] == ["index.limit"]


@pytest.mark.parametrize("name", ["unknown experiment", "wrong type", "impossible memory"])
@pytest.mark.parametrize("multirun", [False, True])
def test_a_mistake_exits_with_2_and_leaves_nothing(
    name: str, multirun: bool, tmp_path: Path
) -> None:
    flags = ["--multirun"] if multirun else []
    done = run_command(*flags, *MISTAKES[name].arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("raybench: ")
    assert list(tmp_path.iterdir()) == []


def test_a_check_changes_neither_the_schema_nor_what_was_composed() -> None:
    wanted = [AUTOBENCH, "roster=simulated", "++fleet.nodes.zone=a", "autobench.topics=[math]"]
    composed = cli.compose(wanted)
    before = OmegaConf.to_yaml(composed), OmegaConf.to_yaml(cli._schema())
    first = cli.check(composed)
    first.autobench.topics.append("logic")
    first.fleet.nodes["zone"] = "b"
    with pytest.raises(ConfigurationError):
        cli.check(cli.compose([*wanted, "+autobench.unknown=1"]))
    assert (OmegaConf.to_yaml(composed), OmegaConf.to_yaml(cli._schema())) == before
    again = cli.check(composed)
    assert (again.autobench.topics, again.fleet.nodes) == (["math"], {"zone": "a"})


def test_hydra_shares_the_store_of_schemas_and_copies_what_it_reads_there() -> None:
    cli.compose([AUTOBENCH])
    store = ConfigStore.instance()
    assert deepcopy(store) is store
    store.load("schema.yaml").node["seed"] = 5
    assert store.load("schema.yaml").node["seed"] == 0


def test_all_mistakes_are_told_at_once() -> None:
    with pytest.raises(ConfigurationError) as caught:
        cli.check(cli.compose([AUTOBENCH, "autobench.iterations=0", "tracking.uri=ftp://x"]))
    assert refusals(caught.value.problems) == [
        ("setting.range", "autobench.iterations"),
        ("tracking.store", "tracking.uri"),
    ]


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (["+experiment=index", "limit=5", "seed=3"], ["index.limit=5", "seed=3"]),
        (
            ["+experiment=autobench", "iterations=2", "limit=5"],
            ["autobench.iterations=2", "limit=5"],
        ),
        (["+experiment=serve", "port=9000", "-m"], ["serve.port=9000", "-m"]),
        (["+experiment=games", "rules.chess.plies=9"], ["games.rules.chess.plies=9"]),
        (["+experiment=unheard_of", "limit=5"], ["limit=5"]),
        (["limit=5"], ["limit=5"]),
    ],
)
def test_an_experiments_own_settings_need_not_be_told_where_they_live(
    given: list[str], meant: list[str]
) -> None:
    assert [it for it in cli.at_home(given) if "experiment" not in it] == meant


@pytest.mark.parametrize(
    "given",
    [
        ["games.rules.chess.plies=9", "games.weights.dice=2"],
        ["games.rules={chess: {plies: 9}}", "games.weights={dice: 2}"],
        ["games.rules.chess={plies: 9}", "games.weights.dice=2"],
    ],
)
def test_tables_are_written_whole_or_by_their_entries(given: list[str]) -> None:
    asked = cli.with_tables(["+experiment=games", "roster=simulated", *given])
    found = cli.compose(asked)["games"]
    assert found["rules"] == {"chess": {"plies": 9}}
    assert found["weights"] == {"dice": 2}


def test_models_of_the_command_line_are_a_roster_of_their_own() -> None:
    one = "roster.models=[{name: mine, engine: simulated}]"
    config = cli.check(cli.compose(cli.own_roster(["+experiment=index", one, "data=samples"])))
    assert config.roster.name == "custom"
    # What suits the embedded models, the default, is not for them.
    assert (config.index.max_tokens, config.index.temperature) == (4096, 0.0)
    assert cli.own_roster([one, "roster=small"]) == [one, "roster=small"]
    assert cli.own_roster(["seed=1"]) == ["seed=1"]


def test_alone_it_lists_the_experiments(tmp_path: Path) -> None:
    done = run_command(cwd=tmp_path)
    assert done.returncode == 0
    for name, line in cli.experiments().items():
        assert f"+experiment={name}" in done.stdout
        assert line
        assert line in done.stdout


def test_dry_run_prints_the_plan_and_starts_nothing(tmp_path: Path) -> None:
    done = run_command(AUTOBENCH, "dry_run=true", cwd=tmp_path)
    assert done.returncode == 0
    for word in ("Models", "smollm2-greedy", "Engines", "Slots", "Units", "Calls"):
        assert word in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_its_version_is_its_own(tmp_path: Path) -> None:
    done = run_command("--version", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, f"raybench {__version__}\n")


def test_help_names_the_groups(tmp_path: Path) -> None:
    done = run_command("--help", cwd=tmp_path)
    assert done.returncode == 0
    assert "+experiment=autobench" in done.stdout
    for group in ("experiment", "roster", "fleet", "tracking", "data"):
        assert f"{group}:" in done.stdout


_IMPORTED = """
import contextlib, io, json, sys
from raybench.cli import main
heavy = {'ray', 'torch', 'vllm', 'mlflow', 'transformers', 'dspy', 'matplotlib', 'pandas',
         'scipy.stats', 'scipy.optimize', 'httpx'}
imported = []
for arguments in json.loads(sys.argv[1]):
    sys.argv = ['raybench', *arguments]
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            main()
            code = 0
        except SystemExit as ending:
            code = ending.code or 0
    imported.append([code, sorted(heavy & {*sys.modules})])
print(json.dumps(imported))
"""


@pytest.mark.process
def test_nothing_heavy_is_imported_before_it_is_needed(tmp_path: Path) -> None:
    commands = [
        [],
        ["--help"],
        [AUTOBENCH, "dry_run=true"],
        # vLLM's list of parsers is read, not imported.
        [AUTOBENCH, "dry_run=true", "++roster.models.0.options={reasoning_parser: olmo3}"],
        ["+experiment=games", "dry_run=true", "roster=simulated"],
    ]
    done = subprocess.run(
        [sys.executable, "-c", _IMPORTED, json.dumps(commands)],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    for arguments, imported in zip(commands, json.loads(done.stdout), strict=True):
        assert imported == [0, []], arguments


def test_what_is_plainly_asked_is_composed_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    compose, composed = Hydra.compose_config, list[Any]()

    def counted(*args: Any, **kwargs: Any) -> Any:
        composed.append(kwargs)
        return compose(*args, **kwargs)

    monkeypatch.setattr(Hydra, "compose_config", counted)
    done = run_command(AUTOBENCH, "roster=simulated", "dry_run=true", cwd=tmp_path)
    assert done.returncode == 0
    assert "fenced" in done.stdout
    assert len(composed) == 1


@pytest.mark.process
def test_the_mlflow_folder_does_not_shadow_the_library() -> None:
    assert (ROOT / "mlflow").is_dir()
    code = "import importlib.util; print(importlib.util.find_spec('mlflow').origin)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.endswith("mlflow/__init__.py\n")
    assert not (ROOT / "mlflow" / "__init__.py").exists()


@pytest.mark.process
def test_multirun_runs_every_job(tmp_path: Path) -> None:
    # People write the flag anywhere.
    done = raybench(*SIMULATED, "autobench.iterations=2", "--multirun", "seed=1,2", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    results = list((tmp_path / "runs" / "autobench").glob("*/results.json"))
    assert len(results) == 2
    assert len({result.read_text() for result in results}) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["runs"]


def test_a_second_sigterm_leaves_what_the_first_one_ends_its_time() -> None:
    """`timeout` sends it to the command, and once more to the group of both."""
    ended: list[str] = []

    async def run() -> None:
        try:
            os.kill(os.getpid(), signal.SIGTERM)
            await asyncio.sleep(600)
        finally:
            os.kill(os.getpid(), signal.SIGTERM)
            await asyncio.sleep(0)
            ended.append("in order")

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cli._until_terminated(run()))
    assert ended == ["in order"]

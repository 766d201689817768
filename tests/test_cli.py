"""The command line as a person meets it: what it lists, refuses, plans, and how it says so."""

import json
import subprocess
import sys
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from command import run_command
from helpers import ROOT, SIMULATED, raybench
from hydra._internal.hydra import Hydra
from hydra.core.config_store import ConfigStore
from omegaconf import OmegaConf

from raybench import __version__, cli
from raybench.errors import ConfigurationError

AUTOBENCH = "+experiment=autobench"

# What a person types, and what the answer has to name: the mistake and the mend.
MISTAKES = {
    "unknown experiment": (["+experiment=autobnch"], ["autobnch", "Did you mean 'autobench'"]),
    "missing plus": (["experiment=autobench"], ["plus", "+experiment=autobench"]),
    "no experiment": (["roster=simulated"], ["+experiment=NAME", "autobench"]),
    "chosen twice": ([AUTOBENCH, AUTOBENCH], ["'experiment' is chosen twice"]),
    "unknown roster": ([AUTOBENCH, "roster=embeded"], ["embeded", "Did you mean 'embedded'"]),
    "unknown key": (
        [AUTOBENCH, "autobench.iteratons=3"],
        ["autobench.iteratons", "Did you mean 'autobench.iterations'"],
    ),
    "unknown key, forced": (
        [AUTOBENCH, "+autobench.iteratons=3"],
        ["autobench.iteratons", "Did you mean 'autobench.iterations'"],
    ),
    "wrong type": (
        [AUTOBENCH, "autobench.iterations=many"],
        ["autobench.iterations", "many", "whole number"],
    ),
    "impossible judges": (
        [AUTOBENCH, "autobench.rating_temperature=-1"],
        ["autobench.rating_temperature", "0 to 2", "null"],
    ),
    "out of range": ([AUTOBENCH, "autobench.iterations=0"], ["autobench.iterations", "1 or more"]),
    "setting of the named one": (
        ["+experiment=games", "+weights.chess=2"],
        ["Did you mean 'games.weights'"],
    ),
    "setting of a group": ([AUTOBENCH, "iterations=9"], ["Did you mean 'autobench.iterations'"]),
    **{
        f"setting without its prefix: {given}": (
            ["+experiment=index", given],
            [f"unknown setting '{given.strip('+').partition('=')[0]}'", f"Did you mean '{meant}'"],
        )
        for given, meant in {
            "limt=5": "limit",
            "+limt=5": "limit",
            "benchmark=[mgsm]": "benchmarks",
            "lanugages=[de]": "languages",
            "roser=small": "roster",
        }.items()
    },
    "several values": ([AUTOBENCH, "seed=1,2"], ["seed=1,2", "--multirun"]),
    "no list": ([AUTOBENCH, "autobench.topics=math"], ["autobench.topics", "a list"]),
    "a table without a name": (
        [AUTOBENCH, "autobench.external=mmlu.csv"],
        ["'autobench.external' takes values by their names", "autobench.external.NAME=VALUE"],
    ),
    "a table of two names": (
        [AUTOBENCH, "autobench.external={a b: mmlu.csv}"],
        ["'autobench.external': its value is not what it takes", "no spaces"],
    ),
    "a list for a table": (
        [AUTOBENCH, "fleet.nodes=[a,b]"],
        ["'fleet.nodes' is a list", "by their names: fleet.nodes.NAME=VALUE"],
    ),
    "a table for a list": (
        [AUTOBENCH, "autobench.topics={a: b}"],
        ["'autobench.topics' is a mapping", "autobench.topics=[a, b]"],
    ),
    **{
        f"a list for one value: {setting}": (
            [AUTOBENCH, f"{setting}=[a]"],
            [f"'{setting}': it is a list, and takes one value: write {setting}=VALUE"],
        )
        for setting in ("fleet.address", "storage")
    },
    "a list for a number": ([AUTOBENCH, "seed=[1]"], ["'seed': '[1]' is not a whole number"]),
    "a list for a label": (
        [AUTOBENCH, "++fleet.nodes.zone=[a,b]"],
        ["'fleet.nodes.zone': it is a list", '"in(a,b)"'],
    ),
    "a number for a name": (
        [AUTOBENCH, "++fleet.nodes={1: a}"],
        ["'1' is no text", "write it as fleet.nodes.1=VALUE"],
    ),
    "quotes around a name": (
        [AUTOBENCH, '++fleet.nodes={"bad label!!": yes}'],
        ["'fleet.nodes={\"bad label!!\": yes}' is not", "names stand without quotes"],
    ),
    "a name with a slash": (
        [AUTOBENCH, "++fleet.nodes.raybench/zone=a"],
        ["a name with a / stands in braces: 'fleet.nodes={raybench/zone: …}'"],
    ),
    "a list for a group": ([AUTOBENCH, "fleet=[a]"], ["unknown fleet 'a'", "--help"]),
    "one topic twice": (
        [AUTOBENCH, "autobench.topics=[math,logic,math]"],
        ["autobench.topics names 'math' 2 times"],
    ),
    "chances of difficulties": (
        [AUTOBENCH, "autobench.difficulties=[{label: hard, phrase: a hard, probability: 0.4}]"],
        ["autobench.difficulties", "come to 0.4", "give such that come to 1"],
    ),
    "no boolean": ([AUTOBENCH, "dry_run=maybe"], ["dry_run", "true or false"]),
    "null where there has to be a value": (
        ["+experiment=games", "games.matches=null"],
        ["'games.matches': it cannot be null"],
    ),
    "no folder": ([AUTOBENCH, "runs_dir="], ["runs_dir", "name a folder"]),
    "unknown sandbox": (
        [AUTOBENCH, "sandbox.backend=namespace"],
        ["sandbox.backend", "Did you mean 'namespaces'"],
    ),
    "no slots": ([AUTOBENCH, "sandbox.slots=0"], ["sandbox.slots", "1 or more", "null"]),
    "no Python": ([AUTOBENCH, "sandbox.python="], ["sandbox.python", "a path or a name", "null"]),
    "no value": ([AUTOBENCH, "autobench.iterations"], ["autobench.iterations", "KEY=VALUE"]),
    "empty roster": ([AUTOBENCH, "roster.models=[]"], ["no models", "roster.models"]),
    "impossible temperature": (
        [AUTOBENCH, "roster.models.3.sampling.temperature=3"],
        ["smollm2-boiling", "sampling.temperature", "0 to 2"],
    ),
    "one model": (
        [AUTOBENCH, "roster.models=[{name: a, engine: simulated}]"],
        ["at least two models", "roster.models"],
    ),
    "duplicate names": (
        [AUTOBENCH, "roster.models.1.name=smollm2-greedy"],
        ["2 models named 'smollm2-greedy'", "name"],
    ),
    "a name that judging takes": (
        [AUTOBENCH, "roster.models.1.name='smollm2-greedy (judge)'"],
        ["named 'smollm2-greedy (judge)'", "when it judges", "another name"],
    ),
    "missing weights": (
        [AUTOBENCH, "roster.models.0.weights=/no/such/folder"],
        ["/no/such/folder", "does not exist", "config.json"],
    ),
    "no weights": (
        [AUTOBENCH, "roster.models=[{name: a},{name: b}]"],
        ["model 'a'", "no weights", "embedded"],
    ),
    "missing chat template": (
        [AUTOBENCH, "++roster.models.0.options.chat_template=/no/such.jinja"],
        ["smollm2-greedy", "'/no/such.jinja'", "No such file", "give a Jinja file, or its text"],
    ),
    "unknown reasoning parser": (
        [AUTOBENCH, "++roster.models.0.options.reasoning_parser=qwen"],
        ["smollm2-greedy", "reasoning_parser 'qwen'", "Did you mean 'qwen3'"],
    ),
    "unknown engine": (
        [AUTOBENCH, "roster.models.0.engine=vlm"],
        ["vlm", "Did you mean 'vllm'"],
    ),
    "a folder for runs that cannot be": (
        [AUTOBENCH, "runs_dir=/dev/null/runs"],
        ["runs_dir '/dev/null/runs'", "choose another"],
    ),
    "unreadable data": (
        [AUTOBENCH, "data.dir=/no/such/data"],
        ["data.dir", "/no/such/data", "No such file"],
    ),
    "a file for a folder of data": (
        [AUTOBENCH, f"data.dir={__file__}"],
        ["data.dir", "test_cli.py' is a file: give the folder that it is in"],
    ),
    "impossible memory": (
        [AUTOBENCH, "fleet.device=cpu", "fleet.kv_cache_gib=100000"],
        ["GiB", "fleet.kv_cache_gib"],
    ),
    "a time to send that is none": (
        [AUTOBENCH, "tracking.send=latr"],
        ["tracking.send", "Did you mean 'later'"],
    ),
    "bad tracking URI": ([AUTOBENCH, "tracking.uri=ftp://host/x"], ["tracking.uri", "sqlite:///"]),
}


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
    assert setting.lstrip("+").rpartition(".")[2] in str(caught.value)
    assert "geheim" not in str(caught.value)


@pytest.mark.parametrize("option", ["max_tokens: x", "tokenizer: org/t", "api_key_env: MY_KEY"])
def test_what_only_sounds_like_a_secret_is_none(option: str) -> None:
    roster = f"roster.models=[{{name: a, engine: vllm, weights: org/m, options: {{{option}}}}}]"
    config = cli.compose([AUTOBENCH, roster])
    with pytest.raises(ConfigurationError) as caught:  # one model is too few
        cli.check(config)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_one_message_with_the_mend(name: str) -> None:
    arguments, parts = MISTAKES[name]
    with pytest.raises(ConfigurationError) as caught:
        cli.check(cli.compose(arguments))
    for part in parts:
        assert part in str(caught.value)


ROSTERS = {
    "a tab": (b"name: x\nmodels:\n\t- a\n", ["line 3", "\\t"]),
    "an unquoted colon": (
        b"name: x\nmodels:\n  - name: a\n    system_prompt: Note: be brief\n",
        ["mine.yaml", "line 4"],
    ),
    "not UTF-8": (b"name: \xe9\n", ["UTF-8"]),
    "a model that is a word": (
        b"name: x\nmodels: [a, b]\n",
        ["roster/mine", "roster.models[0]", "is a word", "- name: "],
    ),
    "a model without a name": (
        b"name: x\nmodels:\n  - weights: org/m\n",
        ["'roster.models[0].name' has no value: give it one"],
    ),
    "a roster without a name": (
        b"models:\n  - {name: a, engine: simulated}\n",
        ["'roster.name' has no value: give it one"],
    ),
    "an empty roster": (b"", ["'roster.name' has no value: give it one"]),
    "models as a mapping": (
        b"name: x\nmodels:\n  a: {engine: simulated}\n",
        ["roster/mine", "models is a list", "- name: "],
    ),
    "a roster that is a list": (b"- a\n- b\n", ["roster/mine", "is a list", "a roster is"]),
    "sampling in the wrong place": (
        b"name: x\nmodels:\n  - name: a\n    temperature: 1\n",
        ["temperature", "under its sampling"],
    ),
    "an option in the wrong place": (
        b"name: x\nmodels:\n  - name: a\n    base_url: http://h/v1\n",
        ["base_url", "under options"],
    ),
    "a model whose name is null": (
        b"name: x\nmodels:\n  - {name: null, engine: simulated}\n",
        ["roster/mine", "'name': it cannot be null"],
    ),
    "a typo in the sampling": (
        b"name: x\nmodels:\n  - name: a\n    sampling: {temprature: 1}\n",
        ["temprature", "Did you mean 'sampling.temperature'"],
    ),
}


@pytest.mark.parametrize("name", ROSTERS)
def test_a_mistake_in_ones_own_roster_is_told_with_its_place(name: str, tmp_path: Path) -> None:
    content, parts = ROSTERS[name]
    (tmp_path / "roster").mkdir()
    (tmp_path / "roster" / "mine.yaml").write_bytes(content)
    with pytest.raises(ConfigurationError) as caught:
        cli.check(cli.compose([AUTOBENCH, "roster=mine"], str(tmp_path)))
    for part in parts:
        assert part in str(caught.value)


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


@pytest.mark.parametrize("name", ["unknown experiment", "wrong type", "impossible memory"])
@pytest.mark.parametrize("multirun", [False, True])
def test_a_mistake_exits_with_2_and_leaves_nothing(
    name: str, multirun: bool, tmp_path: Path
) -> None:
    flags = ["--multirun"] if multirun else []
    done = run_command(*flags, *MISTAKES[name][0], cwd=tmp_path)
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
    assert "autobench.iterations" in str(caught.value)
    assert "tracking.uri" in str(caught.value)


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
         'scipy.stats', 'scipy.optimize'}
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
    assert "judges rate is fenced" in done.stdout
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

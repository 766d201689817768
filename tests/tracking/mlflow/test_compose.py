"""The server for teams, as far as it can be held to something without a Docker engine."""

import os
import re
import subprocess
from importlib import metadata
from typing import Any

import pytest
import yaml
from helpers import ROOT

FOLDER = ROOT / "mlflow"
TEXT = (FOLDER / "compose.yaml").read_text()
COMPOSE: dict[str, Any] = yaml.safe_load(TEXT)
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
VARIABLE = re.compile(r"\$\{(\w+)(:[-?])?([^}]*)\}")


def test_it_has_the_parts_that_it_is_to_have() -> None:
    assert set(COMPOSE) == {"name", "services", "volumes", "networks"}
    assert set(SERVICES) == {"mlflow", "postgres", "files"}
    known = {
        "build", "image", "restart", "depends_on", "ports", "environment", "networks",
        "healthcheck", "volumes", "command",
    }  # fmt: skip
    for name, service in SERVICES.items():
        assert set(service) <= known, name
        assert set(service["networks"]) <= set(COMPOSE["networks"])
        for volume in service.get("volumes", ()):
            assert volume.partition(":")[0] in COMPOSE["volumes"]


def test_images_are_pinned() -> None:
    images = [service["image"] for service in SERVICES.values()]
    images += re.findall(r"^FROM (\S+)", (FOLDER / "Dockerfile").read_text(), re.M)
    for image in images:
        name, _, tag = image.rpartition(":")
        assert name, image
        assert re.match(r"\d+\.\d+", tag), image


def test_everything_is_waited_for_and_started_again() -> None:
    for name, service in SERVICES.items():
        assert service["restart"] == "unless-stopped", name
        check = service["healthcheck"]
        assert set(check) == {"test", "interval", "timeout", "retries", "start_period"}, name
        assert check["test"][0] in ("CMD", "CMD-SHELL")
    waits = SERVICES["mlflow"]["depends_on"]
    assert waits == {it: {"condition": "service_healthy"} for it in ("postgres", "files")}


def test_what_is_kept_outlives_its_container() -> None:
    kept = {name for name, service in SERVICES.items() if service.get("volumes")}
    assert kept == {"postgres", "files"}


def test_only_mlflow_is_reached_and_from_this_machine_alone() -> None:
    assert [name for name, service in SERVICES.items() if "ports" in service] == ["mlflow"]
    assert SERVICES["mlflow"]["ports"] == ["${BIND:-127.0.0.1}:${PORT:-5000}:5000"]
    assert COMPOSE["networks"]["inside"] == {"internal": True}
    assert {name for name, it in SERVICES.items() if "outside" in it["networks"]} == {"mlflow"}


def test_secrets_come_from_outside_and_have_no_default() -> None:
    for service in SERVICES.values():
        for name, value in service["environment"].items():
            if re.search("PASSWORD|SECRET|ACCESS_KEY", name):
                assert VARIABLE.fullmatch(value), name
                assert ":?" in value, name
    # An address may hold one, and then only by its variable.
    for login in re.findall(r"://[^\s\"]*@", TEXT):
        assert re.fullmatch(r"://mlflow:\$\{POSTGRES_PASSWORD:\?[^}]*\}@", login)
    assert "PASSWORD" not in (FOLDER / "Dockerfile").read_text()


def test_every_variable_is_told() -> None:
    used = {match[1] for match in VARIABLE.finditer(TEXT)}
    example, readme = (FOLDER / "env.example").read_text(), (FOLDER / "README.md").read_text()
    assert used == set(re.findall(r"^#? ?([A-Z0-9_]+)=", example, re.M))
    assert all(f"`{name}`" in readme for name in used)
    needed = {match[1] for match in VARIABLE.finditer(TEXT) if match[2] == ":?"}
    assert needed == set(re.findall(r"^([A-Z0-9_]+)=$", example, re.M))


def test_the_server_is_of_the_version_that_raybench_has() -> None:
    ours = metadata.version("mlflow")
    told = re.findall(r"MLFLOW_VERSION=(\S+)", (FOLDER / "Dockerfile").read_text())
    assert told == [ours]
    assert SERVICES["mlflow"]["image"].endswith(f":{ours}")


def test_the_address_names_the_driver_that_the_image_has() -> None:
    """Without, SQLAlchemy takes one by its own version: the server did not start."""
    address = SERVICES["mlflow"]["environment"]["MLFLOW_BACKEND_STORE_URI"]
    driver = address.partition("://")[0].partition("+")[2]
    assert driver and f'"{driver}-binary==' in (FOLDER / "Dockerfile").read_text()


@pytest.mark.process  # importing MLflow asks for its commit
def test_the_server_hears_what_it_is_told() -> None:
    """The environment that compose.yaml sets is one that `mlflow server` reads."""
    from mlflow.cli import server

    heard = {option.envvar for option in server.params}
    told = {it for it in SERVICES["mlflow"]["environment"] if it.startswith("MLFLOW_")}
    from mlflow.environment_variables import MLFLOW_SERVER_ENABLE_JOB_EXECUTION as JOBS

    assert told - {"MLFLOW_S3_ENDPOINT_URL", JOBS.name} <= heard
    allowed = SERVICES["mlflow"]["environment"]["MLFLOW_SERVER_ALLOWED_HOSTS"]
    from mlflow.server.security_utils import is_allowed_host_header

    default = VARIABLE.fullmatch(allowed)
    assert default is not None
    hosts = default[3].split(",")
    assert is_allowed_host_header(hosts, "127.0.0.1:5000")
    assert not is_allowed_host_header(hosts, "evil.example.org:5000")


def test_workers_for_jobs_are_turned_on_as_the_readme_says() -> None:
    told = VARIABLE.fullmatch(
        SERVICES["mlflow"]["environment"]["MLFLOW_SERVER_ENABLE_JOB_EXECUTION"]
    )
    assert told is not None
    assert told.groups() == ("MLFLOW_SERVER_ENABLE_JOB_EXECUTION", ":-", "false")


@pytest.mark.process
@pytest.mark.parametrize("name", ["serve.sh"])
def test_scripts_are_sound(name: str) -> None:
    assert os.access(FOLDER / name, os.X_OK)
    subprocess.run(["sh", "-n", str(FOLDER / name)], check=True)

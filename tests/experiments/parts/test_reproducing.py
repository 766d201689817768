from typing import Any

import pytest

from raybench.experiments.parts import models, reproducing, surroundings
from raybench.experiments.parts.reproducing import published
from raybench.types import ModelSpec, Plan

ABOUT: dict[str, Any] = {
    "id": "20260101-000000-000000-0123456789",
    "experiment": "index",
    "seed": 7,
    "raybench": "0.1.0",
    "python": "3.11.7",
    "git": "c0ffee-dirty",
    "command": "python -m raybench +experiment=index data.dir=…/x",
    "packages": {"count": 3, "sha256": "ab" * 32},
    "hardware": {
        "driver": {"cpu": "A CPU", "cpus": 8, "memory_gib": 32, "system": "Linux x86_64"},
        "cluster": [{"nodes": 2, "cpus": 64, "memory_gib": 512, "gpus": 8, "gpu": "H100"}],
    },
    "reused": 5,
    "data": {"mmlu_pro": {"origin": "ORG/mmlu@rev", "questions": 14, "digest": "cd" * 32}},
}


def plan(*specs: ModelSpec) -> Plan:
    return Plan("index", specs, (), None, 1, "unit", "1")


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("+experiment=index", "+experiment=index"),
        ("roster.models=[Qwen/Qwen2.5-7B]", "roster.models=[Qwen/Qwen2.5-7B]"),
        ("max_tokens=3", "max_tokens=3"),
        ("data.dir=/home/someone/data", "data.dir=…"),
        ("data.dir=/home/someone", "data.dir=…"),
        ("data.dir=~/data/", "data.dir=…"),
        ("data.dir=../../home/someone/data", "data.dir=…"),
        ("data.dir=data/../../someone/data", "data.dir=…"),
        ("data.dir=/Users/Some One/data", "data.dir=…"),
        ("data.dir=/Users/Some One", "data.dir=…"),
        ("data.dir=data/own", "data.dir=data/own"),
        ("tracking.uri=sqlite:///home/someone/m.db", "tracking.uri=sqlite://…"),
        ("fleet={address: head.corp:6379}", "fleet=…"),
        ("serve={'host': head.corp}", "serve=…"),
        ("++roster.models.0.options.token=abc", "++roster.models.0.options.token=…"),
        ("roster.models=[{max_tokens:3}]", "roster.models=[{max_tokens:3}]"),
        ("games.budget_tokens=9", "games.budget_tokens=9"),
        ("autobench.external={a:/home/someone/t.csv}", "autobench.external={a:…/t.csv}"),
        ("tracking.uri=sqlite:///runs/m.db", "tracking.uri=sqlite:///runs/m.db"),
        ("tracking.uri=sqlite:////home/someone/m.db", "tracking.uri=sqlite://…"),
        ("tracking.uri=postgresql://me:secret@host/db", "tracking.uri=postgresql://…"),
        ("fleet.address=10.1.2.3:6379", "fleet.address=…"),
        ("++roster.models.0.options.api_key=abc", "++roster.models.0.options.api_key=…"),
        ("roster.models=[{options:{api_key:abc}}]", "roster.models=…"),
        ('roster.models=[{options:{"Authorization":"Bearer abc"}}]', "roster.models=…"),
        ("serve.api_key_env=KEY", "serve.api_key_env=KEY"),
        (
            "roster.models=[{options:{base_url:http://host:1/v1,api_key_env:KEY}}]",
            "roster.models=[{options:{base_url:http://…,api_key_env:KEY}}]",
        ),
    ],
)
def test_what_is_published_names_nobody_and_holds_no_secret(given: str, meant: str) -> None:
    assert published(given) == meant


def test_the_section_has_the_command_versions_hardware_and_data() -> None:
    found = reproducing.section(plan(ModelSpec("a", "simulated", "")), ABOUT)
    assert [*found.commands.values()] == [reproducing.AGAIN, ABOUT["command"]]
    assert "left out" in [*found.commands][1]
    assert "0123456789" in found.text and "index.cache=false" in found.text
    assert found.table is not None
    rows = {str(what): str(which) for what, which in found.table.rows}
    assert rows["seed"] == "7"
    assert "c0ffee" in rows["raybench"] and "commit" in rows["raybench"]
    assert "3 in requirements.txt" in rows["packages"] and "abab" in rows["packages"]
    assert "64 CPUs, 8 GPUs" in rows["hardware"] and "H100" in rows["hardware"]
    assert "2 nodes" in rows["hardware"]
    assert "ORG/mmlu@rev" in rows["data: mmlu_pro"] and "cdcd" in rows["data: mmlu_pro"]


def test_every_setting_is_there_and_nothing_that_is_secret() -> None:
    settings = {"autobench": {"iterations": 50, "tasks": "/home/someone/t.jsonl", "api_key": "x1"}}
    found = reproducing.section(plan(ModelSpec("a", "simulated", "")), ABOUT, settings)
    text = found.items[-1].body["autobench"]
    assert "iterations: 50" in text and "…/t.jsonl" in text
    assert "someone" not in text and "x1" not in text


def test_what_differs_is_said_by_engine() -> None:
    def said(*engines: str) -> dict[str, str]:
        specs = (ModelSpec(name, name, "w") for name in engines)  # type: ignore[arg-type]
        (item,) = reproducing.section(plan(*specs), {**ABOUT, "resumed": True}).items
        return dict(item.body)

    assert "same" in said("simulated")["engine simulated"]
    both = said("vllm", "openai")
    assert "kernels" in both["engine vllm"] and "endpoint" in both["engine openai"]
    assert "last session" in both["sessions"] and both["cache"].startswith("5 replies")


def test_models_are_shown_without_secrets_and_places() -> None:
    options = {
        "base_url": "http://inside.example:8000/v1",
        "headers": {"Authorization": "Bearer abc"},
        "api_key_env": "KEY",
        "chat_template": "x" * 5000,
    }
    spec = ModelSpec("a", "openai", "/home/someone/weights/a", options=options)
    table = models.section([spec]).table
    assert table is not None
    shown = str(table.rows)
    for hidden in ("inside.example", "Bearer", "someone"):
        assert hidden not in shown
    assert "KEY" in shown
    assert len(shown) < 1000


def test_the_machine_is_told_by_its_class() -> None:
    import getpass
    import socket

    told = surroundings.told({"driver": surroundings.driver(), "cluster": []})
    assert "CPUs" in told and "GiB" in told
    assert socket.gethostname() not in told
    assert getpass.getuser() not in told.split()


def test_packages_are_listed_as_pip_reads_them() -> None:
    lines = surroundings.packages().splitlines()
    names = [line.partition("==")[0] for line in lines]
    assert names == sorted(set(names))
    assert any(line.startswith("ray==") for line in lines)
    assert not any("/" in line for line in lines)

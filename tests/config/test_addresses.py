"""What may be written for a host, and for a cluster of Ray."""

import pytest
from helpers import SIMULATED
from ray._common.network_utils import parse_address
from refusals import refusal, refused

from raybench import cli
from raybench.config import FleetConf, ServeConf, addresses, places


@pytest.mark.parametrize(
    "address", ["head:6379", "10.0.0.1:6379", "[::1]:6379", "ray-head.ns.svc:6379", "a_b:1"]
)
def test_where_a_clusters_head_is(address: str) -> None:
    assert not [*addresses.cluster_problems("fleet.address", address)]
    assert parse_address(address)  # Ray reads it, too


@pytest.mark.parametrize("address", [None, "auto", "local", "ray://head:10001", "ray://[::1]:1"])
def test_what_else_leads_to_a_cluster(address: str | None) -> None:
    assert not [*addresses.cluster_problems("fleet.address", address)]


@pytest.mark.parametrize(
    "address",
    [
        "not_an_address", "5", "a:b", "head", "head:", ":6379", "head:0", "head:65536", "::1:6379",
        "[::g]:6379", "999.1.1.1:6379", "http://head:8265", "ray://head", "a b:1", " head:6379",
        "True", "head:６３７９", f"head:{'9' * 5000}", "a-:1",
    ],
)  # fmt: skip
def test_what_leads_nowhere_is_told_before_anything_starts(address: str) -> None:
    (told,) = places.fleet_problems(FleetConf(address=address))
    assert (*refusal(told), told.given) == ("setting.format", "fleet.address", address)
    assert told.fix and "HOST:PORT" in told.fix


@pytest.mark.parametrize("given", ["", "' '"])
def test_an_empty_one_is_told_with_the_word_for_none(given: str) -> None:
    with refused("setting.missing", "fleet.address"):
        cli.check(cli.compose([*SIMULATED, f"fleet.address={given}"]))


def test_a_login_is_not_repeated() -> None:
    (told,) = addresses.cluster_problems("fleet.address", "me:geheim@head")
    assert refusal(told) == ("setting.secret", "fleet.address")
    assert "geheim" not in repr(told)


@pytest.mark.parametrize("host", ["0.0.0.0", "127.0.0.1", "::", "::1", "localhost", "gpu-1.lan"])
def test_where_an_endpoint_may_listen(host: str) -> None:
    assert not [*places.serve_problems(ServeConf(host=host))]


@pytest.mark.parametrize("host", ["999.1.1.1", "1.2.3", "10", "a b", "http://here", "[::1]", "-a"])
def test_where_an_endpoint_cannot_listen(host: str) -> None:
    (told,) = places.serve_problems(ServeConf(host=host))
    assert (*refusal(told), told.given) == ("setting.format", "serve.host", host)

"""Addresses: what may be written for a host, and for a cluster of Ray."""

import re
from collections.abc import Iterator
from ipaddress import IPv4Address, IPv6Address

from raybench.errors import Problem

_NAME = re.compile(r"(?!-)[A-Za-z0-9_-]{1,63}(?<!-)(?:\.(?!-)[A-Za-z0-9_-]{1,63}(?<!-))*\.?")
_NUMBERS = re.compile(r"[0-9.]+")
_FORM = (
    "give HOST:PORT or [IPV6]:PORT of the cluster's head (Ray's port is 6379), ray://HOST:PORT of "
    "its client server (10001), auto for the Ray that runs on this machine, local for one of the "
    "run's own, or null to go by RAY_ADDRESS"
)


def is_host(text: str) -> bool:
    """Tell whether something is a host's name or address; what is all numbers is an address."""
    try:
        if _NUMBERS.fullmatch(text):
            IPv4Address(text)
        elif ":" in text:
            IPv6Address(text)
        else:
            return _NAME.fullmatch(text) is not None
    except ValueError:
        return False
    return True


def cluster_problems(setting: str, address: str | None) -> Iterator[Problem]:
    """Yield what is wrong with the form of a cluster's address.

    What may be a login is not repeated. Who is there, if anybody, shows when the run begins.
    """
    if address is None or address in ("auto", "local"):
        return
    if "@" in address:
        yield Problem(
            "setting.secret",
            f"{setting} holds a login (it is not repeated here: it would be copied into "
            "config.yaml)",
            setting=setting,
            fix="give host:port or ray://host:port. Ray's own token is read from RAY_AUTH_TOKEN, "
            "RAY_AUTH_TOKEN_PATH or ~/.ray/auth_token",
        )
    elif not address.strip():
        yield Problem("setting.missing", f"{setting} is empty", setting=setting, fix=_FORM)
    elif not _is_cluster(address):
        yield Problem(
            "setting.format",
            f"{setting} is '{address}', which names no cluster",
            setting=setting,
            given=address,
            fix=_FORM,
        )


def _is_cluster(address: str) -> bool:
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    elif ":" in host:  # which of the colons begins the port, nobody can tell
        return False
    # Digits of other scripts are digits to Python, and none to Ray.
    numbered = port.isascii() and port.isdigit() and 0 < int(port[:6]) < 65536 and len(port) < 6
    return bool(colon) and numbered and is_host(host)

"""Who of a family of processes listens where."""

import ipaddress
import socket
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

import psutil


class Listener(NamedTuple):
    """A process, and an address at which it takes calls."""

    process: str
    address: str
    port: int

    @property
    def inside(self) -> bool:
        """Tell whether only this machine gets there."""
        found = ipaddress.ip_address(self.address)
        return (getattr(found, "ipv4_mapped", None) or found).is_loopback


def listeners(variable: tuple[str, str] | None = None) -> list[Listener]:
    """Return where this process and those below it listen that have a variable with this value."""
    return [
        Listener(process.name(), link.laddr.ip, link.laddr.port)
        for process in _family(variable)
        for link in process.net_connections("inet")
        # What UDP hears it hears of everybody.
        if link.status == psutil.CONN_LISTEN or (link.type == socket.SOCK_DGRAM and not link.raddr)
    ]


def _family(variable: tuple[str, str] | None) -> Iterator[psutil.Process]:
    """Yield this process, and those below it that have the variable, if one is given."""
    us = psutil.Process()
    yield us
    for process in us.children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            if variable is None or variable in process.environ().items():
                yield process

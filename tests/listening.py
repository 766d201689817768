"""Who of a family of processes listens where."""

import ipaddress
import socket
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


def listeners() -> list[Listener]:
    """Return where this process and all below it listen."""
    us = psutil.Process()
    return [
        Listener(process.name(), link.laddr.ip, link.laddr.port)
        for process in (us, *us.children(recursive=True))
        for link in process.net_connections("inet")
        # What UDP hears it hears of everybody.
        if link.status == psutil.CONN_LISTEN or (link.type == socket.SOCK_DGRAM and not link.raddr)
    ]

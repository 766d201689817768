"""How the server and its client talk: JSON, preceded by its length, and open descriptors.

What programs are given and what they write never passes here: the server would have it in its
memory, and so would every program that it forks off later.
"""

import array
import json
import socket
import struct
from collections.abc import Sequence
from typing import Any

_LENGTH = struct.Struct("!Q")
_MOST_DESCRIPTORS = 16


class ClosedError(Exception):
    """The other side has gone."""


def send(to: socket.socket, said: Any, descriptors: Sequence[int] = ()) -> None:
    """Write a message. Raises ClosedError where nobody reads it."""
    text = json.dumps(said).encode()
    rights = array.array("i", descriptors)
    beside = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)] if descriptors else []
    try:
        to.sendmsg([_LENGTH.pack(len(text))], beside)
        to.sendall(text)
    except (BrokenPipeError, ConnectionResetError) as error:
        raise ClosedError from error


def receive(of: socket.socket) -> tuple[Any, list[int]]:
    """Read a message. Raises ClosedError where there is none to come."""
    room = socket.CMSG_SPACE(_MOST_DESCRIPTORS * array.array("i").itemsize)
    try:
        head, beside, _, _ = of.recvmsg(_LENGTH.size, room)
        if len(head) < _LENGTH.size:
            raise ClosedError
        text = _exactly(of, _LENGTH.unpack(head)[0])
    except ConnectionResetError as error:
        raise ClosedError from error
    descriptors = array.array("i")
    for level, kind, data in beside:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            descriptors.frombytes(data[: len(data) - len(data) % descriptors.itemsize])
    return json.loads(text), list(descriptors)


def _exactly(of: socket.socket, length: int) -> bytes:
    pieces, missing = [], length
    while missing:
        if not (piece := of.recv(missing)):
            raise ClosedError
        pieces.append(piece)
        missing -= len(piece)
    return b"".join(pieces)

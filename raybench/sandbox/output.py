"""What a program writes, kept within bounds: the beginning and the end of it."""

from collections import deque

_CUT = "\n… {} bytes left out …\n"


class Kept:
    """The first and the last part of a stream of bytes."""

    def __init__(self, bound: int) -> None:
        self._head_room = bound - bound // 2
        self._tail_room = bound // 2
        self._head: list[bytes] = []
        self._tail: deque[bytes] = deque()
        self._tail_size = 0
        self.total = 0

    def add(self, data: bytes) -> None:
        """Take in what was written next."""
        self.total += len(data)
        first, rest = data[: self._head_room], data[self._head_room :]
        self._head_room -= len(first)
        if first:
            self._head.append(first)
        if rest:
            self._tail.append(rest)
            self._tail_size += len(rest)
            while self._tail_size - len(self._tail[0]) >= self._tail_room:
                self._tail_size -= len(self._tail.popleft())

    @property
    def truncated(self) -> bool:
        """Tell whether anything was left out."""
        return self.total > self._size()

    def bytes(self) -> bytes:
        """Return what is kept, with a mark where something is missing."""
        tail = b"".join(self._tail)
        if len(tail) > self._tail_room:
            tail = tail[len(tail) - self._tail_room :]
        head = b"".join(self._head)
        missing = self.total - len(head) - len(tail)
        mark = _CUT.format(missing).encode() if missing else b""
        return head + mark + tail

    def _size(self) -> int:
        return sum(map(len, self._head)) + min(self._tail_size, self._tail_room)

"""What moves have cost: loads, wakes, swaps, and the device time that swaps took."""

from dataclasses import dataclass


@dataclass(slots=True)
class MoveCosts:
    """Counts of moves, and device seconds. A swap brings in a replica that others made way for."""

    loads: int = 0
    wakes: int = 0
    swaps: int = 0
    swap_seconds: float = 0.0
    """Device time of the moves of swaps. One device has one move at a time."""
    devices: int = 0
    _since: float = 0.0
    _device_seconds: float = 0.0

    def set_devices(self, devices: int, now: float) -> None:
        """Note how many devices there are from now on."""
        self._device_seconds, self._since = self.device_seconds(now), now
        self.devices = devices

    def add_arrival(self, *, from_sleep: bool, is_swap: bool) -> None:
        """Count a load or a wake that begins."""
        self.wakes += from_sleep
        self.loads += not from_sleep
        self.swaps += is_swap

    def add_move(self, devices: int, seconds: float, *, is_swap: bool) -> None:
        """Add the time of a move that has ended."""
        if is_swap:
            self.swap_seconds += devices * seconds

    def device_seconds(self, now: float) -> float:
        """Return the time of all devices so far."""
        return self._device_seconds + self.devices * (now - self._since)

    def swap_share(self, now: float) -> float:
        """Return the share of all device time that swaps took."""
        whole = self.device_seconds(now)
        return self.swap_seconds / whole if whole > 0 else 0.0

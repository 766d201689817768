"""What moves have cost: loads, wakes, swaps, and the device time that swaps took."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Swaps:
    """What swaps have cost in some time: moves by which one engine made way for another."""

    count: int = 0
    """Engines brought in that others had to make way for."""
    seconds: float = 0.0
    """Device time of these moves; loads into free memory do not count."""
    share: float = 0.0
    """Those seconds as a share of all device time."""
    loads: int = 0
    """Loads and wakes in all."""
    device_seconds: float = 0.0
    """All device time."""

    def since(self, earlier: "Swaps") -> "Swaps":
        """Return what they have cost since then."""
        seconds = self.seconds - earlier.seconds
        whole = self.device_seconds - earlier.device_seconds
        return Swaps(
            self.count - earlier.count,
            seconds,
            seconds / whole if whole > 0 else 0.0,
            self.loads - earlier.loads,
            whole,
        )


@dataclass(slots=True)
class MoveCosts:
    """Counts of moves, and device seconds. A swap brings in a replica that others made way for."""

    loads: int = 0
    wakes: int = 0
    swaps: int = 0
    swap_seconds: float = 0.0
    """Device time of the moves of swaps. Moves at the same time on one device count once."""
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

    def device_seconds(self, now: float) -> float:
        """Return the time of all devices so far."""
        return self._device_seconds + self.devices * (now - self._since)

    def until(self, now: float, under_way_s: float = 0.0) -> Swaps:
        """Return what swaps have cost so far, with the device time of those under way."""
        seconds, whole = self.swap_seconds + under_way_s, self.device_seconds(now)
        share = seconds / whole if whole > 0 else 0.0
        return Swaps(self.swaps, seconds, share, self.loads + self.wakes, whole)

    def swap_share(self, now: float) -> float:
        """Return the share of all device time that swaps took."""
        return self.until(now).share

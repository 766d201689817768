"""What swapping costs: engines that others make way for, and the time that devices lose to it."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Swaps:
    """What swapping has cost so far."""

    count: int = 0
    """Engines brought in that others had to make way for."""
    seconds: float = 0.0
    """Device time in which engines came and went; loads into free memory are none of it."""
    share: float = 0.0
    """Those seconds as a share of all device time so far."""
    loads: int = 0
    """Engines brought in at all, with the first ones."""
    device_seconds: float = 0.0
    """All device time so far."""

    def since(self, earlier: "Swaps") -> "Swaps":
        """Return what it has cost since then."""
        seconds = self.seconds - earlier.seconds
        whole = self.device_seconds - earlier.device_seconds
        return Swaps(
            self.count - earlier.count,
            seconds,
            seconds / whole if whole > 0 else 0.0,
            self.loads - earlier.loads,
            whole,
        )


class SwapMeter:
    """Counts swaps, and measures them on every device: several engines may move there at once."""

    def __init__(self, devices: int, now: float) -> None:
        """Measure from now on, on so many devices."""
        self._devices = devices
        self._since = now
        self._whole = 0.0
        """All device time before that: there were as many devices as long as that since then."""
        self._count = 0
        self._loads = 0
        self._lost = 0.0
        self._moving: dict[str, tuple[int, float]] = {}
        """By device, how many engines come or go there for a swap, and since when any does."""

    def there_are(self, devices: int, now: float) -> None:
        """Note how many devices there are from now on."""
        self._whole, self._since = self._all(now), now
        self._devices = devices

    def brought_in(self, *, in_place_of_others: bool) -> None:
        """Count an engine that comes in."""
        self._loads += 1
        self._count += in_place_of_others

    def begins(self, devices: Iterable[str], now: float) -> None:
        """Note that an engine comes or goes on these devices for a swap."""
        for device in devices:
            movers, since = self._moving.get(device, (0, now))
            self._moving[device] = (movers + 1, since)

    def ends(self, devices: Iterable[str], now: float) -> None:
        """Note that it has come or gone."""
        for device in devices:
            movers, since = self._moving.pop(device)
            if movers > 1:
                self._moving[device] = (movers - 1, since)
            else:
                self._lost += now - since

    def total(self, now: float) -> Swaps:
        """Return what swapping has cost so far."""
        lost = self._lost + sum(now - since for _, since in self._moving.values())
        whole = self._all(now)
        return Swaps(self._count, lost, lost / whole if whole > 0 else 0.0, self._loads, whole)

    def _all(self, now: float) -> float:
        return self._whole + (now - self._since) * self._devices

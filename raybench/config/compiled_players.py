"""Compiled players: which are listed, taken in, given out."""

from dataclasses import dataclass, field


@dataclass
class CompiledPlayersConf:
    """What is done; the values are in conf/compiled_players/default.yaml."""

    models: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    take: list[str] = field(default_factory=list)
    give: str | None = None

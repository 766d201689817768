"""+experiment=compiled_players: lists compiled players, takes some in, gives some out."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from raybench import games
from raybench.config import Config
from raybench.errors import ConfigurationError, Problem, did_you_mean
from raybench.paths import expanded
from raybench.pipeline import compiled
from raybench.pipeline.compiled import Entry
from raybench.tracking import console
from raybench.types import Plan

_HEAD = (
    "model", "game", "positions", "program", "optimiser", "metric", "seed", "train", "before",
    "after", "made", "key",
)  # fmt: skip


def plan(config: Config) -> Plan:
    """Say what would be done."""
    conf = config.compiled_players
    notes = [f"lists {_folder(config)}"]
    notes += [f"takes in {it}" for it in conf.take]
    notes += [f"copies those listed to {conf.give}"] if conf.give else []
    return Plan(
        experiment="compiled_players",
        models=(),
        engines=(),
        slots=0,
        units=0,
        unit="player",
        calls="none",
        notes=tuple(notes),
    )


async def run(config: Config, resolved: Mapping[str, Any]) -> None:
    """Do it."""
    conf, folder = config.compiled_players, _folder(config)
    for entry in [compiled.read(path) for it in conf.take for path in _files(Path(it))]:
        console.say(f"Taken: {compiled.copied(entry, folder)}")
    there, broken = _read(folder)
    for problem in broken:
        console.warn(problem)
    known = {str(it.made.get("model")) for it in there}
    for name in conf.models:
        if there and name not in known:
            raise ConfigurationError(
                Problem(
                    "setting.choice",
                    f"compiled_players.models: no player was made for '{name}'",
                    setting="compiled_players.models",
                    given=name,
                    fix=did_you_mean(name, known),
                )
            )
    wanted = {games.load(name).name for name in conf.names}
    listed = [
        it
        for it in there
        if (not conf.models or it.made.get("model") in conf.models)
        and (not wanted or it.about.get("game") in wanted)
    ]
    if not listed:
        every = f" ({len(there)} are of other models or games)" if there else ""
        console.out(
            f"No compiled players in {folder}{every}: +experiment=optimise_players makes some",
            players=[],
        )
        return
    console.out(
        "\n".join(_table([_HEAD, *map(_row, listed)])),
        players=[{"file": str(it.path), "about": it.about, "made": it.made} for it in listed],
    )
    if conf.give is not None:
        for entry in listed:
            console.say(f"Given: {compiled.copied(entry, expanded(conf.give))}")


def _folder(config: Config) -> Path:
    return expanded(config.optimise_players.folder)


def _files(path: Path) -> list[Path]:
    """Return a file, or those of a folder."""
    path = expanded(path)
    if not path.exists():
        raise ConfigurationError(
            Problem(
                "file.missing",
                f"compiled_players.take: '{path}' is not there",
                setting="compiled_players.take",
                given=str(path),
                fix="give a file that +experiment=optimise_players left, or a folder of some",
            )
        )
    return [*compiled.every(path)] if path.is_dir() else [path]


def _read(folder: Path) -> tuple[list[Entry], list[str]]:
    """Return the players of a folder, and what is wrong with files that are none."""
    found, broken = [], []
    for path in compiled.every(folder):
        try:
            found.append(compiled.read(path))
        except ConfigurationError as error:
            broken.append(str(error))
    return found, broken


def _row(entry: Entry) -> tuple[str, ...]:
    about, made = entry.about, entry.made
    held_out: Mapping[str, Any] = made.get("held_out", {})
    settings: Mapping[str, Any] = about.get("settings", {})
    optimiser = {**about.get("optimiser", {})}
    name = optimiser.pop("use", "?")
    options = ",".join(f"{key}={it}" for key, it in optimiser.items())
    return (
        str(made.get("model", "?")),
        str(about.get("game", "?")),
        str(about.get("positions", "?")),
        str(about.get("module", "?")),
        f"{name}({options})" if options else name,
        str(about.get("metric", "?")),
        str(settings.get("seed", "?")),
        str(settings.get("sizes", {}).get("train", "?")),
        _worth(held_out.get("before")),
        _worth(held_out.get("after")),
        str(made.get("on", "?")),
        entry.key,
    )


def _worth(estimate: Mapping[str, Any] | None) -> str:
    value = (estimate or {}).get("value")
    return "—" if value is None else f"{value:.3f}"


def _table(rows: Sequence[Sequence[str]]) -> Iterable[str]:
    wide = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ("  ".join(map(str.ljust, row, wide)).rstrip() for row in rows)

"""Which runs are a part's, of those that lie where its runs do."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from omegaconf import OmegaConf
from suites import SMALL, roster

from raybench import cli
from raybench.experiments.games import setup
from raybench.experiments.suite import parts
from raybench.experiments.suite.parts import Found, Part
from raybench.pipeline.run_identity import settings
from raybench.pipeline.store import RESULTS, open_run
from raybench.stats.joint import Joint


def parts_of(folder: Path) -> dict[str, Part]:
    composed = cli.compose([*SMALL, *roster([0.2, 0.8])])
    resolved = cast(dict[str, Any], OmegaConf.to_container(composed, resolve=True))
    return {it.name: it for it in parts.of(cli.check(composed), resolved, folder)}


def ran(part: Part, **changed: Any) -> Path:
    """Leave what a run of the part leaves, with some of its settings changed."""
    own = {**cast(Mapping[str, Any], part.resolved[part.name]), **changed}
    resolved = {**part.resolved, part.name: own}
    section = replace(getattr(part.config, part.name), **changed)
    config = replace(part.config, **{part.name: section})
    limits: tuple[str, ...] = ()
    aside: tuple[str, ...] = ()
    if part.name == "games":  # as it opens its run
        config = setup.seated(config)
        resolved = dict(setup.resolved(config, resolved))
        limits, aside = setup.limits(config), setup.aside(config)
    conclusions = part.room.CONCLUSIONS
    with open_run(
        part.folder.parent,
        part.name,
        resolved,
        conclusions=conclusions,
        limits=limits,
        aside=aside,
    ) as run:
        told = {
            "concluded_with": settings(resolved, conclusions),
            "limits": settings(resolved, limits),
        }
        run.write_json(RESULTS, {"run": told})
    return run.folder


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("hle", {"limit": 3}),
        ("index", {"limit": 3}),
        ("autobench", {"iterations": 2}),
        ("games", {"tries": 2}),
        ("games", {"matches": 2}),
    ],
)
def test_a_run_beside_a_part_with_something_changed_is_none_of_it(
    tmp_path: Path, name: str, changed: dict[str, Any]
) -> None:
    part = parts_of(tmp_path)[name]
    assert (part.last, part.over) == (None, False)
    own = ran(part)
    assert part.last == own / RESULTS and part.over
    assert ran(part, **changed) != own
    assert part.last == own / RESULTS and part.over
    later = ran(part)
    assert part.last == later / RESULTS and part.over


def found(name: str, **data: str) -> Found:
    """Return what a part came to that asked data of these digests."""
    read = {of: {"digest": digest} for of, digest in data.items()}
    results = {"run": {"inputs": {"rules": "r"}, "data": read}}
    return Found(name, results, "score", Joint.read([]), Path(name))


def test_what_two_parts_asked_otherwise_under_one_name_bears_their_names() -> None:
    several = [found("index", hle="1", aime="2"), found("hle", hle="3"), found("games", maze="4")]
    assert parts.asked(several) == {
        "rules": "r",
        "index/hle": "1",
        "hle/hle": "3",
        "aime": "2",
        "maze": "4",
    }
    assert parts.asked([found("index", hle="1"), found("hle", hle="1")]) == {
        "rules": "r",
        "hle": "1",
    }


def test_parts_are_stored_where_they_lie_in_the_suites_folder(tmp_path: Path) -> None:
    stored = f"file://{tmp_path}/stored"
    composed = cli.compose([*SMALL, *roster([0.2, 0.8]), f"storage={stored}"])
    resolved = cast(dict[str, Any], OmegaConf.to_container(composed, resolve=True))
    for part in parts.of(cli.check(composed), resolved, tmp_path / "runs" / "suite" / "ID"):
        assert part.config.storage == part.resolved["storage"] == f"{stored}/suite/ID/parts"
        assert part.folder == tmp_path / "runs" / "suite" / "ID" / "parts" / part.name

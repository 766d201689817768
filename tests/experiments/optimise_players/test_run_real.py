"""A real model learns on the CPU, and plays against itself as it was, and against scripts."""

import json
from pathlib import Path

import pytest
from helpers import NEEDS_MODEL, last_run, raybench, results_of

pytest.importorskip("dspy", reason="programs need DSPy")
pytestmark = [pytest.mark.slow, pytest.mark.engine, pytest.mark.timeout(600), NEEDS_MODEL]

LEARNS = (
    "optimise_players.train=12",
    "optimise_players.validation=4",
    "optimise_players.optimiser={use: BootstrapFewShot, max_labeled_demos: 6}",
)


def test_the_embedded_model_learns_and_plays_by_what_it_learned(ready: Path) -> None:
    done = raybench(
        "+experiment=optimise_players", "roster=embedded_pair", *LEARNS, "held_out=20",
        cwd=ready, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    learned = results_of(ready, "optimise_players")
    gain = learned["models"]["smollm2-taught"]["liars_dice_odds/gain"]
    assert gain["n"] == 20 and gain["ci95"][0] < gain["value"] < gain["ci95"][1]
    assert not learned["simulated"] and learned["counts"]["smollm2-taught"]["ok"] == 40
    (player,) = (ready / "runs" / "compiled_players").iterdir()
    assert len(json.loads(player.read_text())["program"]["demos"]) == 6

    done = raybench(
        "+experiment=games", "roster=embedded_pair", *LEARNS, "matches=24", cwd=ready, timeout=300
    )

    assert done.returncode == 0, done.stderr
    assert "gain" in done.stdout and player.name in done.stdout
    ratings = results_of(ready, "games")["models"]
    assert ratings.keys() == {"smollm2-plain", "smollm2-taught", "random", "able"}
    lines = (last_run(ready, "games") / "journal" / "matches.jsonl").read_text().splitlines()
    played = [json.loads(line) for line in lines]
    assert len(played) == 24 and not any(it["forfeits"] for it in played)
    by = {
        it["seats"][role]: name.split("@")[0]
        for it in played
        for role, name in it["strategies"].items()
    }
    assert by == {
        "smollm2-plain": "program",
        "smollm2-taught": f"program module=predict compiled={player.name}",
        "random": "script random",
        "able": "script able",
    }

"""A real model learns on the CPU, and plays against itself as it was, and against scripts.

The short form asks the engine that the session shares; in the long one both runs start their own.
"""

import json
from pathlib import Path

import pytest
from helpers import NEEDS_MODEL, last_run, raybench, results_of
from served import Served

pytest.importorskip("dspy", reason="programs need DSPy")
pytestmark = [pytest.mark.engine, pytest.mark.timeout(600), NEEDS_MODEL]

LEARNS = (
    "optimise_players.train=12",
    "optimise_players.validation=4",
    "optimise_players.optimiser={use: BootstrapFewShot, max_labeled_demos: 6}",
)


@pytest.mark.usefixtures("on_lasting_ray")
def test_a_served_model_learns_and_plays_by_what_it_learned(
    ready: Path, served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in served.environment.items():
        monkeypatch.setenv(name, value)
    models = (
        served.model(name, "greedy", temperature=0.0, max_tokens=200)
        for name in ("smollm2-plain", "smollm2-taught")
    )
    check_learning(ready, f"roster.models=[{', '.join(models)}]", held_out=8, matches=6)


@pytest.mark.long(
    short="tests/experiments/optimise_players/test_run_real.py"
    "::test_a_served_model_learns_and_plays_by_what_it_learned"
)
def test_the_embedded_model_learns_and_plays_by_what_it_learned(ready: Path) -> None:
    check_learning(ready, held_out=20, matches=24)


def check_learning(ready: Path, *models: str, held_out: int, matches: int) -> None:
    """Have a model learn, and then play by what it learned."""
    common = ("roster=embedded_pair", *models, *LEARNS)
    done = raybench(
        "+experiment=optimise_players", *common, f"held_out={held_out}", cwd=ready, timeout=300
    )
    assert done.returncode == 0, done.stderr
    learned = results_of(ready, "optimise_players")
    gain = learned["models"]["smollm2-taught"]["liars_dice_odds/gain"]
    assert gain["n"] == held_out and gain["ci95"][0] <= gain["value"] <= gain["ci95"][1]
    assert not learned["simulated"]
    assert learned["counts"]["smollm2-taught"]["ok"] == 2 * held_out
    (player,) = (ready / "runs" / "compiled_players").iterdir()
    assert len(json.loads(player.read_text())["program"]["demos"]) == 6

    done = raybench("+experiment=games", *common, f"matches={matches}", cwd=ready, timeout=300)
    assert done.returncode == 0, done.stderr
    assert player.name in done.stdout
    ratings = results_of(ready, "games")["models"]
    assert ratings.keys() == {"smollm2-plain", "smollm2-taught", "random", "able"}
    lines = (last_run(ready, "games") / "journal" / "matches.jsonl").read_text().splitlines()
    played = [json.loads(line) for line in lines]
    assert len(played) == matches and not any(it["forfeits"] for it in played)
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

"""A model whose endpoint is gone while wordings are compared: the rest is played, and it later."""

import re
from collections import Counter
from pathlib import Path

import pytest
from helpers import last_run, results_of, with_store
from in_process import run_here
from leaving import Leaving, matches


@pytest.mark.slow
def test_every_wording_is_played_as_far_as_can_be_and_the_rest_later(tmp_path: Path) -> None:
    folder = with_store(tmp_path / "runs")
    with Leaving() as server:
        models = ", ".join(
            f"{{name: {name}, engine: openai, weights: {name},"
            f" options: {{base_url: '{server.url}'}}}}"
            for name in "abc"
        )
        command = (
            "+experiment=games_phrasings", "stages=[before]", "wordings=[0,2]",
            "games.names=[liars_dice]", "games.matches=60", "games.bootstrap=0",
            "games.at_once=6", f"roster.models=[{models}]",
        )  # fmt: skip
        first = run_here(*command, "games.patience_s=0.5", cwd=folder)
        run = last_run(folder, "games_phrasings")
        assert first.returncode == 1 and "Traceback" not in first.stderr
        assert re.search("phrasing 0, [^:]+: c ", first.stderr)
        assert re.search("phrasing 2, [^:]+: c ", first.stderr)
        assert not (run / "results.json").exists(), "they would end it"
        without = Counter(it["cell"] for it in matches(run) if "c" not in it["seats"].values())
        assert without == {"before/phrasing_0": 20, "before/phrasing_2": 20}
        server.gone = False
        done = run_here(*command, "games.patience_s=0.5", cwd=folder)
        assert done.returncode == 0, done.stderr
    assert last_run(folder, "games_phrasings") == run
    assert Counter(it["cell"] for it in matches(run)) == dict.fromkeys(without, 60)
    assert results_of(folder, "games_phrasings")["run"]["units"] == 120

"""Games of a real model under Ray Serve: moves that are listed, speeches, a jury held to JSON."""

import json
from pathlib import Path

import pytest
from helpers import NEEDS_MODEL, last_run, raybench, results_of

pytestmark = [pytest.mark.slow, NEEDS_MODEL, pytest.mark.timeout(600)]

COMMAND = (
    "+experiment=games",
    "roster=embedded",
    "roster.models=[{name: cool, weights: embedded, sampling: {temperature: 0.5}},"
    " {name: hot, weights: embedded, sampling: {temperature: 1.4}}]",
    "games.names=[liars_dice,debate]",
    "games.jury=[smollm2-judge]",
    "games.matches=8",
    "games.rules.debate.rebuttals=1",
    "games.speech_tokens=24",
    "games.bootstrap=100",
    "fleet.kv_cache_gib=0.5",
)


def test_a_real_model_plays_and_judges(ready: Path) -> None:
    done = raybench(*COMMAND, cwd=ready, timeout=500)
    assert done.returncode == 0, done.stderr + done.stdout
    results = results_of(ready, "games")
    assert results["simulated"] is False
    journal = last_run(ready, "games") / "journal" / "matches.jsonl"
    matches = [json.loads(line) for line in journal.read_text(encoding="utf-8").splitlines()]
    assert [it["void"] for it in matches] == [None] * 8
    turns = [turn for it in matches for turn in it["turns"]]
    for turn in turns:
        if turn["action"] in ("bid", "bid_or_call"):
            # Held to the moves that the game lists: whatever so small a model thinks, one of them.
            assert turn["error"] is None
            assert turn["tokens"] > 0 and turn["seconds"] > 0
    debates = [it for it in matches if it["game"] == "debate"]
    assert len(debates) == 4
    # Structured decoding: all votes can be read, whatever they are worth.
    assert [it["ballots"] for it in debates] == [[1, 0]] * 4
    for model in ("cool", "hot"):
        of = results["models"][model]
        assert of["games/valid_replies"]["n"] == sum(turn["model"] == model for turn in turns)
        assert results["counts"][model]["infra_error"] == 0
    asked = results["fleet"]["this_session"]["models"]
    assert asked["smollm2-judge"]["requests"] == 2 * len(debates)
    assert asked["cool"]["requests"] == sum(turn["model"] == "cool" for turn in turns)
    assert "# Debate" in (journal.parents[1] / "transcripts" / "debate.md").read_text()

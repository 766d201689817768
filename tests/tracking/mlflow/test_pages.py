"""MLflow's own pages show a run: its row and description, and two models side by side."""

import json
from pathlib import Path

import pytest
from browsing import Seen
from tracked import EXPERIMENT, Server, children, client_of, whole_run

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

_PATIENCE_MS = 120_000


def test_a_run_is_found_opened_and_compared(server: Server, tmp_path: Path, seen: Seen) -> None:
    server.start()
    run = tmp_path / "run"
    tracker = whole_run(server.uri, run)
    look(seen, server.uri, tracker.run_id or "", children(run))


def look(seen: Seen, uri: str, parent: str, models: dict[str, str]) -> None:
    """Go through the pages as somebody does who compares two models.

    What MLflow's pages complain of by themselves is not ours to mend.
    """
    seen.page.set_default_timeout(_PATIENCE_MS)
    experiment = client_of(uri).get_experiment_by_name(EXPERIMENT).experiment_id
    runs = f"{uri}/#/experiments/{experiment}/runs"

    def there(text: str) -> None:
        seen.page.get_by_text(text).first.wait_for()

    seen.page.goto(runs)
    there("run one")
    seen.picture("mlflow-runs")

    seen.page.goto(f"{runs}/{parent}")
    there("Board")  # the leaderboard, as the run's description
    seen.picture("mlflow-run")

    ids = json.dumps([models["alpha"], models["beta"]])
    seen.page.goto(f"{uri}/#/compare-runs?runs={ids}&experiments={json.dumps([experiment])}")
    there("Comparing 2 Runs from 1 Experiment")
    there("demo/score/ci_low")
    body = seen.page.inner_text("body")
    for text in ("alpha", "beta", "0.7", "0.4", "demo/score"):
        assert text in body
    seen.picture("mlflow-compare")

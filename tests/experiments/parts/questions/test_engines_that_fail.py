"""A run whose engines do not come up, though its pipeline was begun before that is known."""

from pathlib import Path

import pytest
from helpers import NEEDS_MODEL, last_run, own_cache, raybench, wait_for_silence, with_store

pytestmark = [pytest.mark.engine, NEEDS_MODEL, pytest.mark.timeout(400)]


def test_where_no_engine_comes_up_the_reason_is_told_and_nothing_is_kept(tmp_path: Path) -> None:
    model = "{name: odd, weights: embedded, options: {kv_cache_dtype: odd}}"
    folder = with_store(tmp_path)
    environment = own_cache(folder) | {"RAY_SERVE_MAX_PER_REPLICA_RETRY_COUNT": "1"}
    done = raybench(
        "+experiment=index", "roster=embedded", f"roster.models=[{model}]", "data=samples",
        "index.benchmarks=[mmlu_pro]", "index.limit=4", "index.repeats=1",
        cwd=folder, environment=environment, timeout=300,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    end = done.stderr.split("raybench: ")[-1]
    assert " odd " in end and "input_value='odd'" in end
    assert "Traceback" not in done.stderr
    journal = last_run(folder, "index") / "journal" / "units.jsonl"
    assert not journal.exists() or not journal.read_bytes()
    assert not wait_for_silence()

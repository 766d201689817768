"""What `storage` may say."""

from pathlib import Path
from typing import Any, cast

import pytest
from helpers import SIMULATED
from omegaconf import OmegaConf

from raybench import cli
from raybench.config import storage
from raybench.errors import ConfigurationError
from raybench.pipeline.store import fingerprint


@pytest.mark.parametrize(
    "uri",
    [
        "",
        "s3://bucket",
        "s3://bucket/a/b?endpoint_override=127.0.0.1:9000&scheme=http&region=us-east-1",
        "gs://bucket/prefix",
        "abfss://container@account.dfs.core.windows.net/prefix",
        "file:///shared/runs",
    ],
)
def test_what_leads_to_a_store(uri: str) -> None:
    assert not [*storage.problems(uri, 0)]


@pytest.mark.parametrize(
    ("uri", "wrong"),
    [
        ("s3:///prefix", "names no bucket"),
        ("/shared/runs", "begins with '/shared/runs'"),
        ("http://bucket/x", "begins with 'http'"),
        ("file://shared/runs", "names no folder"),
        ("s3://bucket:port/x", "no URI that can be read"),
        ("s3://[bucket", "no URI that can be read"),
    ],
)
def test_what_leads_nowhere_is_told_with_the_mend(uri: str, wrong: str) -> None:
    (told,) = storage.problems(uri, 1)
    assert wrong in told
    assert "give s3://BUCKET/PREFIX" in told


@pytest.mark.parametrize(
    "uri",
    [
        "s3://AKIAHUSH:hush@bucket/x",
        "s3://hush@bucket/x",
        "abfss://container:hush@account.dfs.core.windows.net/x",
        "s3://bucket/x?secret_key=hush",
        "abfss://container@account.dfs.core.windows.net/x?sig=hush",
    ],
)
def test_credentials_are_refused_and_not_repeated(uri: str) -> None:
    (told,) = storage.problems(uri, 1)
    assert "credentials" in told
    assert "hush" not in told.lower()


def test_patience_is_a_number_of_seconds() -> None:
    assert [*storage.problems(None, 0.5)] == []
    for wrong in (-1.0, float("nan")):
        assert "storage_patience_s" in next(storage.problems(None, wrong))


def test_what_lies_below_keeps_how_it_is_reached() -> None:
    assert (
        storage.below("s3://bucket/a/?scheme=http", "suite", "ID", "parts")
        == "s3://bucket/a/suite/ID/parts?scheme=http"
    )
    assert storage.below("s3://bucket", "suite") == "s3://bucket/suite"
    assert storage.below("file:///shared", "suite") == "file:///shared/suite"


def test_a_store_that_cannot_be_written_to_is_told_before_anything_starts() -> None:
    wrong = [*SIMULATED, "storage=file:///proc/nobody/writes/here"]
    with pytest.raises(ConfigurationError) as told:
        cli.check(cli.compose(wrong))
    assert "storage file:///proc/nobody/writes/here cannot be written to" in str(told.value)
    assert "leave it null" in str(told.value)
    assert cli.check(cli.compose([*wrong, "dry_run=true"])).storage  # a plan asks no store


def test_a_clusters_image_may_set_it_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    alone = cli.compose(SIMULATED)
    assert cli.check(alone).storage is None
    monkeypatch.setenv("RAYBENCH_STORAGE", f"file://{tmp_path}")
    stored = cli.compose(SIMULATED)
    assert cli.check(stored).storage == f"file://{tmp_path}"
    marks = {fingerprint(cast(Any, OmegaConf.to_container(it))) for it in (alone, stored)}
    assert len(marks) == 1  # the same run, wherever it is kept

"""What `storage` may say."""

from pathlib import Path
from typing import Any, cast

import pytest
from helpers import SIMULATED
from omegaconf import OmegaConf
from refusals import Refusal, refusal, refused

from raybench import cli
from raybench.config import storage
from raybench.errors import Code
from raybench.pipeline.run_identity import fingerprint


@pytest.mark.parametrize(
    "uri",
    [
        None,
        "s3://bucket",
        "s3://bucket/a/b?endpoint_override=127.0.0.1:9000&scheme=http&region=us-east-1",
        "gs://bucket/prefix",
        "abfss://container@account.dfs.core.windows.net/prefix",
        "s3://bucket/x?tls_ca_file_path=/etc/me@home.pem",
        "file:///shared/runs",
    ],
)
def test_what_leads_to_a_store(uri: str | None) -> None:
    assert not [*storage.problems(uri, 0)]


@pytest.mark.parametrize(
    ("uri", "wrong"),
    [
        ("", "setting.missing"),
        (" ", "setting.missing"),
        ("s3:///prefix", "setting.format"),
        ("/shared/runs", "setting.format"),
        ("http://bucket/x", "setting.format"),
        ("file://shared/runs", "setting.format"),
        ("s3://bucket:port/x", "setting.format"),
        ("s3://[bucket", "setting.format"),
    ],
)
def test_what_leads_nowhere_is_told_with_the_mend(uri: str, wrong: Code) -> None:
    (told,) = storage.problems(uri, 1)
    assert refusal(told) == (wrong, "storage")
    assert told.fix and "s3://BUCKET/PREFIX" in told.fix


@pytest.mark.parametrize(
    "uri",
    [
        "s3://AKIAHUSH:hush@bucket/x",
        "s3://hush@bucket/x",
        "abfss://container:hush@account.dfs.core.windows.net/x",
        "s3://bucket/x?secret_key=hush",
        "abfss://container@account.dfs.core.windows.net/x?sig=hush",
        "abfss://container%3Ahush@account.dfs.core.windows.net/x",
        "abfss://container@account/x?blob_storage_authority=me:hush@127.0.0.1:9",
        "s3://me%3Ahush%40bucket/x",
        "s3://a%2Fme%3Ahush%2540bucket/x",
        "s3://bucket/x?endpoint_override=me:hush@127.0.0.1:9",
        "s3://bucket/x?endpoint_override=http://me:hush@127.0.0.1:9",
        "s3://bucket/x?endpoint_override=me%3Ahush%40127.0.0.1:9",
        "s3://bucket/x?endpoint%5Foverride=me%253Ahush%252540127.0.0.1:9",
        "s3://bucket/x?secret%255Fkey=hush",
        "s3://bucket/x?endpoint_override=me:hush#@127.0.0.1:9",
        "hush@127.0.0.1/x",
    ],
)
def test_credentials_are_refused_and_not_repeated(uri: str) -> None:
    (told,) = storage.problems(uri, 1)
    assert refusal(told) == ("setting.secret", "storage")
    assert "hush" not in repr(told).lower()


def test_patience_is_a_number_of_seconds() -> None:
    assert [*storage.problems(None, 0.5)] == []
    for wrong in (-1.0, float("nan"), float("inf")):
        (told,) = storage.problems(None, wrong)
        assert refusal(told) == ("setting.range", "storage_patience_s")


@pytest.mark.parametrize(
    ("override", "wrong"),
    [
        ("storage=", ("setting.missing", "storage")),
        ("storage=[a]", ("setting.type", "storage")),
        ("storage={a: b}", ("setting.type", "storage")),
        ("storage_patience_s=inf", ("setting.range", "storage_patience_s")),
        ("storage_patience_s=nan", ("setting.range", "storage_patience_s")),
        ("storage_patience_s=-1", ("setting.range", "storage_patience_s")),
    ],
)
def test_what_is_no_storage_is_told_in_words(override: str, wrong: Refusal) -> None:
    with refused(*wrong) as told:
        cli.check(cli.compose([*SIMULATED, override]))
    assert "Error merging" not in str(told.value)


def test_what_lies_below_keeps_how_it_is_reached() -> None:
    assert (
        storage.below("s3://bucket/a/?scheme=http", "suite", "ID", "parts")
        == "s3://bucket/a/suite/ID/parts?scheme=http"
    )
    assert storage.below("s3://bucket", "suite") == "s3://bucket/suite"
    assert storage.below("file:///shared", "suite") == "file:///shared/suite"


def test_a_store_that_cannot_be_written_to_is_told_before_anything_starts() -> None:
    place = "file:///proc/nobody/writes/here"
    wrong = [*SIMULATED, f"storage={place}"]
    with refused("storage.unwritable", "storage", given=place) as told:
        cli.check(cli.compose(wrong))
    assert told.value.fix
    assert cli.check(cli.compose([*wrong, "dry_run=true"])).storage  # a plan asks no store


def test_a_clusters_image_may_set_it_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    alone = cli.compose(SIMULATED)
    assert cli.check(alone).storage is None
    monkeypatch.setenv("RAYBENCH_STORAGE", f"file://{tmp_path}")
    stored = cli.compose(SIMULATED)
    assert cli.check(stored).storage == f"file://{tmp_path}"
    marks = {fingerprint(cast(Any, OmegaConf.to_container(it))) for it in (alone, stored)}
    assert len(marks) == 1  # the same run, wherever it is kept

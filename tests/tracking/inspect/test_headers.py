"""The head of a log: who was asked what, and a score only where there is one."""

from dataclasses import replace
from typing import Any

import examined

from raybench.tracking.inspect import headers
from raybench.tracking.inspect.headers import About, Passed, Task
from raybench.types import Estimate, ModelSpec, Sampling

ABOUT = About(
    run="20260102-030405-000006-ab",
    experiment="hle",
    roster="mine",
    seed=7,
    began="2026-01-02T03:04:05+00:00",
    finished="2026-01-02T03:05:00+00:00",
    simulated=False,
    versions={"raybench": "0.1.0", "python": "3.11.7", "git": "abc", "ray": "2.60.0"},
    judges=("j", "k"),
)
DIGEST = "0123456789abcdef" * 4
TASK = Task("hle", "hub: cais/hle@5a81", DIGEST, 3, {"en": 3}, 2, withheld=False)
MODEL = ModelSpec(
    "m_1", "vllm", "org/m", "r1", Sampling(0.5, 0.9, 100), system_prompt="Be kind.", reasoning=True
)
VALUE = Estimate(0.5, 0.25, (0.1, 0.9), 3, "by hand").to_json()
REFUSED = Estimate(None, None, None, 3, "not computed: 1 unit awaits review").to_json()


def passed(*records: dict[str, Any]) -> Passed:
    found = Passed()
    for record in records:
        found.add(record, {"input_tokens": 10, "output_tokens": 5})
    return found


def header(metrics: Any = None, about: About = ABOUT, *records: dict[str, Any]) -> Any:
    return headers.header(about, TASK, MODEL, metrics, passed(*records))


def test_it_says_who_was_asked_what_and_how() -> None:
    spec = headers.start(ABOUT, TASK, MODEL)["eval"]
    assert (spec["task"], spec["task_version"]) == ("hle", "0123456789abcdef")
    assert spec["model"] == "raybench/m_1"
    assert spec["dataset"]["location"] == "hub: cais/hle@5a81"
    assert spec["dataset"]["samples"] == 3
    assert spec["metadata"]["dataset_digest"] == DIGEST
    assert spec["model_generate_config"] == {
        "temperature": 0.5,
        "top_p": 0.9,
        "max_tokens": 100,
        "system_message": "Be kind.",
    }
    assert spec["metadata"]["seed"] == 7, "of the run: every request has a seed of its own"
    assert spec["packages"] == {"raybench": "0.1.0", "ray": "2.60.0"}
    assert spec["config"]["epochs"] == 2
    assert spec["tags"] == ["raybench", "hle"]
    assert [it["name"] for it in spec["scorers"]] == ["hle", "k"]


def test_what_models_write_is_shown_as_plain_text_unless_asked_otherwise() -> None:
    def trusted(about: About) -> Any:
        return headers.start(about, TASK, MODEL)["eval"]["viewer"]["trust_content"]

    assert trusted(ABOUT) is False
    assert trusted(replace(ABOUT, rich=True)) is True


def test_stand_ins_are_marked() -> None:
    spec = headers.start(replace(ABOUT, simulated=True), TASK, MODEL)["eval"]
    assert "simulated" in spec["tags"]
    assert spec["metadata"]["simulated"] is True


def test_a_score_comes_with_its_interval_and_method() -> None:
    metrics = {"hle/accuracy": VALUE, "hle/confidence": VALUE, "aime_2024/accuracy": VALUE}
    found = header(metrics, ABOUT, examined.record(), examined.unjudged("error", error="gone"))
    assert found["status"] == "success"
    results = found["results"]
    assert (results["total_samples"], results["completed_samples"]) == (6, 1)
    (score,) = results["scores"]
    assert {name: it["value"] for name, it in score["metrics"].items()} == {
        "accuracy": 0.5,
        "stderr": 0.25,
    }
    assert score["metadata"] == {"ci95": [0.1, 0.9], "n": 3, "method": "by hand"}
    assert (score["scored_samples"], score["unscored_samples"]) == (1, 1)
    assert [*results["metadata"]] == ["accuracy", "confidence"]
    assert found["stats"]["model_usage"]["raybench/m_1"]["input_tokens"] == 20


def test_a_refused_score_is_none_and_says_why() -> None:
    (score,) = header({"hle/accuracy": REFUSED})["results"]["scores"]
    assert score["metrics"] == {}
    assert score["metadata"]["method"] == REFUSED["method"]


def test_the_second_judge_s_accuracy_is_a_score() -> None:
    found = header({"hle/accuracy": VALUE, "hle/accuracy_second_judge": VALUE})
    assert [it["name"] for it in found["results"]["scores"]] == ["hle", "k"]


def test_a_run_that_is_not_over_has_started_and_has_no_results() -> None:
    found = header(None, replace(ABOUT, finished=""))
    assert found["status"] == "started"
    assert "results" not in found


def test_a_model_that_could_not_be_had_is_an_error() -> None:
    found = header({}, replace(ABOUT, failed={"m_1": "no memory"}))
    assert (found["status"], found["error"]["message"]) == ("error", "no memory")
    assert header({}, replace(ABOUT, failed={"other": "no memory"}))["status"] == "success"


def test_a_file_s_name_says_when_what_and_who_and_is_the_same_again() -> None:
    name = headers.file_name(ABOUT, TASK, MODEL)
    when, task, model, _ = name.split("_")
    assert (when, task, model) == ("2026-01-02T03-04-05-00-00", "hle", "m-1")
    assert name == headers.file_name(ABOUT, TASK, MODEL)
    others = [replace(MODEL, name="m-1"), replace(MODEL, name="m 1"), replace(MODEL, name="ü/../x")]
    names = {headers.file_name(ABOUT, TASK, it) for it in [MODEL, *others]}
    assert len(names) == 4
    assert not any("/" in it for it in names)

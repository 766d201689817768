"""Units as samples of Inspect's format: what each becomes, and what never does."""

import json
from typing import Any, get_args

import examined
import pytest
from hypothesis import given
from hypothesis import strategies as st

from raybench.tracking.inspect.archive import encoded
from raybench.tracking.inspect.samples import WITHHELD, Put, identity, sample, summary
from raybench.types import Finish, Message

ASKED = Put(
    (Message("system", "Be short."), Message("user", "6 × 7?")), truth="42", choices=("41", "42")
)
BEGAN = "2026-01-02T03:04:05+00:00"
WHOLE = {"cached_tokens": None, "seconds": 1.5, "address": None}


def record(**changes: Any) -> dict[str, Any]:
    return examined.record(**WHOLE | changes)


def made(put: Put | None = ASKED, **changes: Any) -> dict[str, Any]:
    return sample(record(**changes), put, name="q1", uuid="0f", at=BEGAN)


def test_a_sample_has_what_was_asked_and_what_was_said() -> None:
    found = made(repeat=2, reasoning="Six sevens.", response="42")
    assert (found["id"], found["epoch"], found["uuid"]) == ("q1", 3, "0f")
    assert [(it["role"], it["content"]) for it in found["input"]] == [
        ("system", "Be short."),
        ("user", "6 × 7?"),
    ]
    assert (found["target"], found["choices"]) == ("42", ["41", "42"])
    assert found["messages"][:2] == found["input"]
    assert len({it["id"] for it in found["messages"]}) == 3
    assert found["messages"][2]["content"] == [
        {"type": "reasoning", "reasoning": "Six sevens."},
        {"type": "text", "text": "42"},
    ]
    assert found["output"]["completion"] == "42"
    assert found["output"]["choices"][0]["stop_reason"] == "stop"
    assert found["output"]["time"] == found["total_time"] == 1.5


def test_its_one_event_is_the_call_by_which_tables_find_messages() -> None:
    found = made(response="42", reused=True)
    (event,) = found["events"]
    assert (event["event"], event["timestamp"], event["cache"]) == ("model", BEGAN, "read")
    assert event["input"] == found["input"]
    assert event["output"] == found["output"]
    (hidden,) = made(None)["events"]
    assert [it["content"] for it in hidden["input"]] == [WITHHELD]
    (broken,) = made(finish="error", error="hung", by=None)["events"]
    assert (broken["error"], broken["output"]["choices"]) == ("hung", [])


def test_a_verdict_comes_with_the_answer_and_the_judge_s_words() -> None:
    score = made(correct=True)["scores"]["hle"]
    assert (score["value"], score["answer"]) == ("C", "42")
    said, _, why = score["explanation"].partition("\n\n")
    assert "j" in said.split() and why == "So."
    assert score["metadata"]["judgements"]["j"]["confidence"] == 80
    assert made(correct=False)["scores"]["hle"]["value"] == "I"


def test_what_other_judges_say_are_scores_of_their_own() -> None:
    told = examined.judged(("j", True), ("k", False))
    told["l"] = {"error": "said nothing"}
    scores = made(correct=True, judgements=told)["scores"]
    assert {name: it["value"] for name, it in scores.items()} == {"hle": "C", "k": "I"}


def test_other_rules_verdicts_are_scores_of_their_own() -> None:
    details = {"official": False}
    program: dict[str, Any] = {"benchmark": "livecodebench", "details": details}
    scores = made(correct=True, judgements={}, **program)["scores"]
    assert {it: scores[it]["value"] for it in scores} == {"livecodebench": "C", "official": "I"}


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"finish": "error", "error": "the server hung", "by": None}, "the server hung"),
        ({"by": None, "judge_error": "j said nothing"}, "the reply has no grade: j said nothing"),
    ],
)
def test_what_broke_is_an_error_and_never_a_zero(changes: dict[str, Any], why: str) -> None:
    found = made(correct=False, answer=None, **changes)
    assert found["error"]["message"] == why
    assert found["scores"] == {}
    assert summary(found)["error"] == why


def test_a_question_that_was_not_put_has_neither_score_nor_error() -> None:
    found = made(finish="unsupported", error="it takes no images", by=None, correct=False)
    assert found["scores"] == {}
    assert "error" not in found


def test_a_grade_without_the_checker_s_word_is_there_and_says_so() -> None:
    found = made(by="script", judge_error="nothing said", judgements={})
    assert found["scores"]["hle"]["value"] == "C"
    assert found["metadata"]["judge_error"] == "nothing said"


def test_no_reply_is_no_message() -> None:
    found = made(finish="error", error="gone", response="", by=None)
    assert found["messages"] == found["input"]
    assert found["output"]["choices"] == []


@pytest.mark.parametrize("finish", sorted({*get_args(Finish)} - {"error"}))
def test_every_end_of_a_reply_has_a_name_in_the_format(finish: Finish) -> None:
    reason = made(finish=finish)["output"]["choices"][0]["stop_reason"]
    assert reason in ("stop", "max_tokens", "model_length", "content_filter", "unknown")


def test_a_cut_reply_and_one_that_says_no_answer_are_told_apart() -> None:
    cut, mute = made(finish="length")["metadata"], made(answer=None)["metadata"]
    assert (cut["truncated"], cut["unparsed"]) == (True, False)
    assert (mute["truncated"], mute["unparsed"]) == (False, True)


def test_tokens_from_a_cache_are_counted_once() -> None:
    usage = made(prompt_tokens=10, cached_tokens=8, output_tokens=3)["model_usage"]["raybench/a"]
    assert usage == {
        "input_tokens": 2,
        "output_tokens": 3,
        "total_tokens": 13,
        "input_tokens_cache_read": 8,
    }


def test_images_are_parts_of_a_message_and_stay_out_of_the_list() -> None:
    put = Put((Message("user", "What?", images=("data:image/png;base64,AA",)),), "a cat")
    found = made(put)
    assert found["input"][0]["content"] == [
        {"type": "text", "text": "What?"},
        {"type": "image", "image": "data:image/png;base64,AA"},
    ]
    assert summary(found)["input"][0]["content"] == "What?\n(image)"


def test_translations_of_a_question_are_samples_of_their_own_and_one_cluster() -> None:
    names = [identity(record(key="7", language=it), languages=2) for it in ("de", "fr")]
    assert names == ["de/7", "fr/7"]
    assert {made(key="7", language=it)["metadata"]["cluster"] for it in ("de", "fr")} == {"7"}
    assert identity(record(key="7"), languages=1) == "7"


SECRET = "zq-secret"


def test_a_withheld_unit_has_none_of_its_texts() -> None:
    texts = {it: f"{SECRET} {it}" for it in ("response", "reasoning", "answer", "truth", "reason")}
    told = {"j": {"correct": True, "extracted": SECRET, "reasoning": SECRET, "confidence": 1}}
    found = made(None, judgements=told, details={"stated": SECRET}, flags=[SECRET], **texts)
    assert SECRET not in json.dumps([found, summary(found)])
    # A refusal, and what a judge said instead of a verdict, may quote what was asked.
    failed = {"error": SECRET, "judge_error": SECRET, "correct": None, "by": None}
    for finish in ("refusal", "error"):
        refused = made(None, finish=finish, **texts, **failed)
        assert SECRET not in json.dumps([refused, summary(refused)])
        assert refused["error"]["message"] == WITHHELD
    assert found["input"] == found["target"] == found["output"]["completion"] == WITHHELD
    assert found["scores"] == {"hle": {"value": "C"}}


ANY = st.text(st.characters(codec=None), max_size=40)


@given(key=ANY, response=ANY, reasoning=ANY, answer=st.none() | ANY, reason=ANY, put=ANY)
def test_whatever_is_said_all_is_json_that_everybody_reads(
    key: str, response: str, reasoning: str, answer: str | None, reason: str, put: str
) -> None:
    changes = {"response": response, "reasoning": reasoning, "answer": answer, "reason": reason}
    whole = record(key=key, **changes)
    name = identity(whole, languages=1)
    found = sample(whole, Put((Message("user", put),), truth=put), name=name, uuid="0", at=BEGAN)
    assert "\0" not in name
    for value in (found, summary(found)):
        json.loads(encoded(value).decode("utf-8"))  # strict: no half pairs


@given(st.text(max_size=5000))
def test_the_list_shows_the_beginning_of_a_text_and_the_sample_has_it_whole(text: str) -> None:
    found = made(Put((Message("user", text),), truth=text))
    assert found["input"][0]["content"] == found["target"] == text
    listed = summary(found)["target"]
    assert text.startswith(listed.removesuffix("...")) or listed == text
    assert len(listed) <= 1027

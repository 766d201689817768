import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import Refusal, refusal

from raybench.fleet import vllm_options
from raybench.fleet.vllm_options import arguments, problems

TEMPLATE = "{% for message in messages %}{{ message['content'] }}{% endfor %}"


def test_what_is_not_about_chatting_is_vllms_to_judge() -> None:
    options = {"max_model_len": "lots", "tensor_parallel_size": 512, "generation_config": "vllm"}
    assert list(problems("model 'm'", options)) == []
    assert arguments(options) == options


def test_what_vllm_does_not_know_is_told_before_anything_starts() -> None:
    near, far = problems("model 'm'", {"max_modle_len": 512, "xyz": 1, "dtype": "auto"})
    assert refusal(near) == ("setting.unknown", "roster.models[].options.max_modle_len")
    assert "'max_model_len'" in near.text
    assert refusal(far) == ("setting.unknown", "roster.models[].options.xyz")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("data_parallel_size", 2),
        ("data_parallel_backend", "ray"),
        ("nnodes", 2),
        ("node_rank", 1),
        ("distributed_executor_backend", "mp"),
    ],
)
def test_copies_nodes_and_executors_are_not_left_to_vllm(name: str, value: Any) -> None:
    (problem,) = problems("model 'm'", {name: value, "tensor_parallel_size": 2})
    assert refusal(problem) == ("setting.conflict", f"roster.models[].options.{name}")
    assert problem.given == value and "replicas: N" in (problem.fix or "")


@pytest.mark.parametrize("name", ["decode_context_parallel_size", "enable_expert_parallel"])
def test_parallelism_within_an_engine_is_left_to_vllm(name: str) -> None:
    assert list(problems("model 'm'", {name: 2})) == []


@pytest.mark.slow  # the import of vLLM
def test_the_names_are_those_that_vllm_takes() -> None:
    from dataclasses import fields

    from vllm.engine.arg_utils import AsyncEngineArgs

    assert {field.name for field in fields(AsyncEngineArgs)} <= vllm_options._arguments()


def test_without_vllm_any_option_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vllm", None)  # as where it is not installed
    assert vllm_options._arguments.__wrapped__() == frozenset()


def test_a_template_may_be_a_file_or_its_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.jinja").write_text(TEMPLATE)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    for template in (TEMPLATE, str(tmp_path / "mine.jinja"), "~/mine.jinja", "mine.jinja"):
        options = {"chat_template": template, "chat_template_kwargs": {"enable_thinking": False}}
        assert list(problems("model 'm'", options)) == []
        assert arguments(options) == {
            "chat_template": TEMPLATE,
            "default_chat_template_kwargs": {"enable_thinking": False},
        }


@pytest.mark.parametrize("tag", ["{% generation %}a{% endgeneration %}", "{% break %}"])
def test_tags_that_transformers_knows_are_no_mistake(tag: str) -> None:
    template = f"{{% for message in messages %}}{tag}{{% endfor %}}"
    assert list(problems("model 'm'", {"chat_template": template})) == []


TEMPLATE_OPTION = "roster.models[].options.chat_template"
PARSER = "roster.models[].options.reasoning_parser"


@pytest.mark.parametrize(
    ("options", "wrong", "part"),
    [
        (
            {"chat_template": "/no/such.jinja"},
            ("file.unreadable", TEMPLATE_OPTION),
            "'/no/such.jinja'",
        ),
        ({"chat_template": "chatml"}, ("file.unreadable", TEMPLATE_OPTION), "'chatml'"),
        ({"chat_template": "/"}, ("file.unreadable", TEMPLATE_OPTION), "directory"),
        (
            {"chat_template": "~nobody-of-this-name/a.jinja"},
            ("file.unreadable", TEMPLATE_OPTION),
            "~",
        ),
        ({"chat_template": 5}, ("file.unreadable", TEMPLATE_OPTION), "'5'"),
        ({"chat_template": "a\n{% for x in %}"}, ("setting.format", TEMPLATE_OPTION), "line 2"),
        ({"chat_template": "two\nlines"}, ("file.format", TEMPLATE_OPTION), ""),
        (
            {"chat_template_kwargs": "thinking"},
            ("setting.type", f"{TEMPLATE_OPTION}_kwargs"),
            "{enable",
        ),
        ({"reasoning_parser": "qwen"}, ("setting.choice", PARSER), "'qwen3'"),
        ({"reasoning_parser": 3}, ("setting.choice", PARSER), "deepseek_r1"),
    ],
)
def test_each_mistake_is_named_with_the_mend(
    options: dict[str, Any], wrong: Refusal, part: str
) -> None:
    (problem,) = problems("model 'mine'", options)
    assert refusal(problem) == wrong
    assert problem.message.startswith("model 'mine': ")
    assert part in problem.text


def test_a_file_without_a_template_is_named(tmp_path: Path) -> None:
    (tmp_path / "empty.jinja").touch()
    (tmp_path / "latin.jinja").write_bytes(b"{{ '\xe9' }}")
    (empty,) = problems("m", {"chat_template": str(tmp_path / "empty.jinja")})
    assert refusal(empty) == ("file.format", TEMPLATE_OPTION)
    (latin,) = problems("m", {"chat_template": str(tmp_path / "latin.jinja")})
    assert refusal(latin) == ("file.unreadable", TEMPLATE_OPTION) and "utf-8" in latin.message


@pytest.mark.parametrize(
    "options",
    [
        {"reasoning_parser": "deepseek_r1"},
        {"reasoning_parser": None},
        {"reasoning_parser": ""},
        {"reasoning_parser": "mine", "reasoning_parser_plugin": "/my/parser.py"},
        {"chat_template": None, "chat_template_kwargs": None},
    ],
)
def test_what_may_be_is_no_mistake(options: dict[str, Any]) -> None:
    assert list(problems("model 'm'", options)) == []


def test_without_vllm_any_parser_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vllm", None)  # as where it is not installed
    assert list(problems("model 'm'", {"reasoning_parser": "qwen"})) == []


@given(st.text() | st.text("{%}~/ \n\x00"))
def test_whatever_the_template_is_the_answer_is_words(template: str) -> None:
    options = {"chat_template": template}
    if not list(problems("m", options)):
        assert "{" in arguments(options)["chat_template"]

import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raybench.fleet import vllm_options
from raybench.fleet.vllm_options import arguments, problems

TEMPLATE = "{% for message in messages %}{{ message['content'] }}{% endfor %}"


def test_what_is_not_about_chatting_is_vllms_to_judge() -> None:
    options = {"max_model_len": "lots", "tensor_parallel_size": 512, "generation_config": "vllm"}
    assert list(problems("model 'm'", options)) == []
    assert arguments(options) == options


def test_what_vllm_does_not_know_is_told_before_anything_starts() -> None:
    near, far = problems("model 'm'", {"max_modle_len": 512, "xyz": 1, "dtype": "auto"})
    assert near == (
        "model 'm': unknown options.max_modle_len: it is no engine argument of vLLM. "
        "Did you mean 'max_model_len'?"
    )
    assert far == "model 'm': unknown options.xyz: it is no engine argument of vLLM."


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


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"chat_template": "/no/such.jinja"}, ["'/no/such.jinja' cannot be read", "No such file"]),
        ({"chat_template": "chatml"}, ["'chatml' cannot be read", "a Jinja file, or its text"]),
        ({"chat_template": "/"}, ["'/' cannot be read", "directory"]),
        ({"chat_template": "~nobody-of-this-name/a.jinja"}, ["cannot be read", "No such file"]),
        ({"chat_template": 5}, ["'5' cannot be read"]),
        ({"chat_template": "a\n{% for x in %}"}, ["no Jinja template", "line 2"]),
        ({"chat_template": "two\nlines"}, ["holds no Jinja template"]),
        ({"chat_template_kwargs": "thinking"}, ["chat_template_kwargs is 'thinking'", "{enable"]),
        ({"reasoning_parser": "qwen"}, ["reasoning_parser 'qwen'", "Did you mean 'qwen3'?"]),
        ({"reasoning_parser": 3}, ["reasoning_parser '3'", "There is: ", "deepseek_r1"]),
    ],
)
def test_each_mistake_is_named_with_the_mend(options: dict[str, Any], said: list[str]) -> None:
    (problem,) = problems("model 'mine'", options)
    assert problem.startswith("model 'mine': ")
    for part in said:
        assert part in problem


def test_a_file_without_a_template_is_named(tmp_path: Path) -> None:
    (tmp_path / "empty.jinja").touch()
    (tmp_path / "latin.jinja").write_bytes(b"{{ '\xe9' }}")
    (empty,) = problems("m", {"chat_template": str(tmp_path / "empty.jinja")})
    assert "holds no Jinja template" in empty
    (latin,) = problems("m", {"chat_template": str(tmp_path / "latin.jinja")})
    assert "utf-8" in latin


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

"""Which texts a model reads of a conversation's system, through real templates and a tokenizer."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from helpers import NEEDS_MODEL
from hypothesis import given
from hypothesis import strategies as st

from raybench.fleet import embedded
from raybench.fleet.chat import messages
from raybench.fleet.system_role import (
    folded,
    is_alone,
    joined,
    joined_chat,
    lacks_it,
    needs_a_user,
    takes_users_in_a_row,
    with_own,
)
from raybench.types import Message

IMAGE = "data:image/png;base64,iVBORw0KGgo="
GEMMA = """\
{{ bos_token }}{% if messages[0]['role'] == 'system' %}\
{{ raise_exception('System role not supported') }}{% endif %}\
{% for message in messages %}\
{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}\
{{ raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') }}\
{% endif %}<start_of_turn>{{ 'model' if message['role'] == 'assistant' else message['role'] }}
{{ message['content'] | trim }}<end_of_turn>
{% endfor %}{% if add_generation_prompt %}<start_of_turn>model
{% endif %}"""
"""As a Gemma's: no system message."""
SILENT = """\
{% for message in messages %}{% if message['role'] in ('user', 'assistant') %}\
<|{{ message['role'] }}|>{{ message['content'] }}{% endif %}{% endfor %}"""
"""Leaves system messages out."""
WITH_THE_LAST = """\
{% if messages[0]['role'] == 'system' %}{% set system = messages[0]['content'] %}\
{% set messages = messages[1:] %}{% endif %}{% for message in messages %}\
[{{ message['role'] }}]{% if loop.last %}{{ system }} {% endif %}{{ message['content'] }}\
{% endfor %}"""
"""As a Mistral's: the system text goes before the last message, and is lost where there is none."""
PARTICULAR = "{{ raise_exception('no documents were given') }}"
"""Raises, whatever the roles."""


def user(text: str, **more: Any) -> Message:
    return Message("user", text, **more)


def system(text: str) -> Message:
    return Message("system", text)


# --------------------------------------------------------------------------- one system message


def test_a_models_own_text_comes_first_in_the_one_system_message() -> None:
    asked = (system("Answer in a line."), user("Why?"))
    assert with_own("Be kind.", asked) == (system("Be kind.\n\nAnswer in a line."), user("Why?"))
    assert with_own("Be kind.", asked[1:]) == (system("Be kind."), user("Why?"))
    for nothing in (None, ""):
        assert with_own(nothing, asked) == asked


# ------------------------------------------------------------------------------------------ none


def test_the_text_goes_before_the_first_user_message() -> None:
    turns = (
        system("Be kind."),
        user("Why?", images=(IMAGE,), foreign=True),
        Message("assistant", "So."),
        user("Oh?"),
    )
    assert folded(turns) == (
        user("Be kind.\n\nWhy?", images=(IMAGE,), foreign=True),
        *turns[2:],
    )


def test_a_conversation_that_the_model_begins_still_has_its_text_read() -> None:
    turns = (system("Be kind."), Message("assistant", "Ask."), user("Why?"))
    assert folded(turns) == (Message("assistant", "Ask."), user("Be kind.\n\nWhy?"))
    assert folded((system("Be kind."),)) == (user("Be kind."),)
    assert folded((system("Be kind."), user("", images=(IMAGE,)))) == (
        user("Be kind.", images=(IMAGE,)),
    )


def test_the_text_can_be_a_user_message_of_its_own() -> None:
    asked = (system("Be kind."), user("Why?", images=(IMAGE,), foreign=True))
    assert folded(asked, apart=True) == (user("Be kind."), asked[1])
    # Where a template refuses two in a row, it is the same as before the question.
    assert joined(folded(asked, apart=True)) == folded(asked)
    assert joined_chat(messages(folded(asked[:1], apart=True))) == messages((user("Be kind."),))


def test_only_user_messages_that_follow_each_other_become_one() -> None:
    said = (user("a"), Message("assistant", "b"), user("c"), user(""), user("d"))
    assert joined(said) == (user("a"), Message("assistant", "b"), user("c\n\nd"))
    assert joined_chat(messages(said)) == [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": "b"},
        {"role": "user", "content": "c\n\nd"},
    ]
    shown = joined_chat(messages((user("a"), user("b", images=(IMAGE,)))))
    assert shown == [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "a"},
                {"type": "text", "text": "b"},
                {"type": "image_url", "image_url": {"url": IMAGE}},
            ],
        }
    ]


turns = st.lists(
    st.builds(Message, st.sampled_from(["system", "user", "assistant"]), st.text()), max_size=5
).map(tuple)


@given(turns)
def test_all_that_was_said_is_said_without_the_role(conversation: tuple[Message, ...]) -> None:
    without = folded(conversation)
    assert all(message.role != "system" for message in without)
    assert folded(without) == without
    said = "".join(message.content for message in without)
    assert all(message.content in said for message in conversation)
    if all(message.role != "system" for message in conversation):
        assert without == conversation


# ------------------------------------------------------------------------------- who takes none


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(str(embedded.prepare()))


@pytest.mark.slow  # the import of transformers
@NEEDS_MODEL
@pytest.mark.parametrize(
    ("template", "lacks"),
    [(None, False), (GEMMA, True), (SILENT, True), (PARTICULAR, False)],
)
def test_templates_show_whether_they_have_the_role(
    tokenizer: Any, template: str | None, lacks: bool
) -> None:
    async def rendered(conversation: Sequence[Message]) -> str:
        return str(
            tokenizer.apply_chat_template(
                messages(conversation), chat_template=template, tokenize=False
            )
        )

    assert asyncio.run(lacks_it(rendered)) == lacks


@pytest.mark.slow  # the import of transformers
@NEEDS_MODEL
@pytest.mark.parametrize(
    ("template", "needs"),
    [(None, False), (WITH_THE_LAST, True), (GEMMA, True), (SILENT, True)],
)
def test_templates_show_whether_a_system_message_can_stand_alone(
    tokenizer: Any, template: str | None, needs: bool
) -> None:
    async def rendered(conversation: Sequence[Message]) -> str:
        return str(
            tokenizer.apply_chat_template(
                messages(conversation), chat_template=template, tokenize=False
            )
        )

    assert asyncio.run(needs_a_user(rendered)) == needs
    if template == WITH_THE_LAST:
        assert not asyncio.run(lacks_it(rendered))


@pytest.mark.slow  # the import of transformers
@NEEDS_MODEL
@pytest.mark.parametrize(
    ("template", "takes"), [(None, True), (GEMMA, False), (SILENT, True), (WITH_THE_LAST, True)]
)
def test_templates_show_whether_they_take_two_user_messages_in_a_row(
    tokenizer: Any, template: str | None, takes: bool
) -> None:
    async def rendered(conversation: Sequence[Message]) -> str:
        return str(
            tokenizer.apply_chat_template(
                messages(conversation), chat_template=template, tokenize=False
            )
        )

    assert asyncio.run(takes_users_in_a_row(rendered)) == takes


def test_a_system_message_alone_keeps_what_is_said_of_its_text() -> None:
    alone = (Message("system", "Judge this.", foreign=True),)
    assert is_alone(alone) and not is_alone((*alone, user("Why?")))
    assert folded(alone) == (user("Judge this.", foreign=True),)


@pytest.mark.slow  # the import of transformers
@NEEDS_MODEL
def test_a_gemma_reads_the_folded_text_in_the_users_turn(tokenizer: Any) -> None:
    asked = (system("Be kind."), user("Why?"))
    assert tokenizer.apply_chat_template(
        messages(folded(asked)), chat_template=GEMMA, tokenize=False, add_generation_prompt=True
    ) == (
        f"{tokenizer.bos_token}<start_of_turn>user\nBe kind.\n\nWhy?<end_of_turn>\n"
        "<start_of_turn>model\n"
    )

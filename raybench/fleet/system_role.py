"""System messages: a model's own and a request's made one, and models that take none."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from raybench.types import Message

_BETWEEN = "\n\n"
_ABOVE = ("system", "developer")
_MARK = "aquamarine"
_PROBE = (Message("system", f"Say {_MARK}."), Message("user", "Go on."))

Render = Callable[[Sequence[Message]], Awaitable[str]]
"""Makes the prompt that a model reads of a conversation."""


def with_own(own: str | None, messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """Return the conversation under one system message: the model's own text, then what it has."""
    if not own:
        return messages
    first, rest = Message("system", own), messages
    if messages and messages[0].role == "system":
        theirs, rest = messages[0], messages[1:]
        first = replace(theirs, content=own + _BETWEEN + theirs.content)
    return (first, *rest)


def folded(messages: tuple[Message, ...], *, apart: bool = False) -> tuple[Message, ...]:
    """Return the conversation with its system text before that of the first user message.

    `apart` makes user messages of system messages instead.
    """
    if apart:
        return tuple(replace(it, role="user") if it.role == "system" else it for it in messages)
    texts = [message.content for message in messages if message.role == "system"]
    rest = [message for message in messages if message.role != "system"]
    if not texts:
        return messages
    place = next((place for place, turn in enumerate(rest) if turn.role == "user"), None)
    if place is None:
        above = [message for message in messages if message.role == "system"]
        foreign = any(message.foreign for message in above)
        return (Message("user", _BETWEEN.join(texts), foreign=foreign), *rest)
    asked = rest[place]
    texts += [asked.content] if asked.content else []
    rest[place] = replace(asked, content=_BETWEEN.join(texts))
    return tuple(rest)


def folded_chat(messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the same of a conversation as the OpenAI protocol has it."""
    above = [part for turn in messages if turn.get("role") in _ABOVE for part in _parts(turn)]
    rest = [dict(turn) for turn in messages if turn.get("role") not in _ABOVE]
    if not above:
        return rest
    asked = next((turn for turn in rest if turn.get("role") == "user"), None)
    if asked is None:
        rest.insert(0, asked := {"role": "user", "content": []})
    parts = [*above, *_parts(asked)]
    if all(part.get("type") == "text" for part in parts):
        asked["content"] = _BETWEEN.join(part["text"] for part in parts)
    else:
        asked["content"] = parts
    return rest


def joined(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """Return the conversation with user messages that follow each other as one."""
    found: list[Message] = []
    for message in messages:
        if found and message.role == "user" == found[-1].role:
            last = found.pop()
            message = Message(
                "user",
                _BETWEEN.join(text for text in (last.content, message.content) if text),
                (*last.images, *message.images),
                foreign=last.foreign or message.foreign,
            )
        found.append(message)
    return tuple(found)


def joined_chat(messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the same of a conversation as the OpenAI protocol has it."""
    found: list[dict[str, Any]] = []
    for turn in messages:
        if not found or not turn.get("role") == "user" == found[-1].get("role"):
            found.append(dict(turn))
            continue
        parts = [*_parts(found[-1]), *_parts(turn)]
        texts = all(part.get("type") == "text" for part in parts)
        told = _BETWEEN.join(part["text"] for part in parts if part["text"]) if texts else parts
        found[-1]["content"] = told
    return found


def _parts(turn: Mapping[str, Any]) -> list[Any]:
    content = turn.get("content") or []
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


async def lacks_it(render: Render) -> bool:
    """Tell whether a model's chat template refuses a system message, or leaves it out unsaid."""
    try:
        return _MARK not in await render(_PROBE)
    except Exception:  # a template raises what it likes
        try:
            return _MARK in await render(folded(_PROBE))
        except Exception:  # then it is not the role that it minds
            return False


async def needs_a_user(render: Render) -> bool:
    """Tell whether a chat template refuses a system message alone, or leaves it out unsaid."""
    try:
        return _MARK not in await render(_PROBE[:1])
    except Exception:  # as above
        return True


async def takes_users_in_a_row(render: Render) -> bool:
    """Tell whether a chat template takes two user messages in a row, and shows both."""
    first, second = folded(_PROBE, apart=True)
    try:
        prompt = await render((first, second))
    except Exception:  # as above
        return False
    return _MARK in prompt and second.content in prompt


def is_alone(messages: Sequence[Message]) -> bool:
    """Tell whether there is nothing but system messages."""
    return all(message.role == "system" for message in messages)

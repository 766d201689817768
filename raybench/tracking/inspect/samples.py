"""A graded unit as a sample of Inspect's log format: plain dictionaries, and nothing is read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from raybench import benchmarks
from raybench.tracking.inspect import known_as
from raybench.types import Finish, Message

Record = Mapping[str, Any]
"""A unit as the journal has it."""
Sample = dict[str, Any]

WITHHELD = "(withheld: the authors of this benchmark ask not to publish its questions)"
_STOP: Mapping[Finish, str] = {
    "stop": "stop",
    "length": "max_tokens",
    "late": "unknown",
    "thinking": "max_tokens",
    "empty": "stop",
    "refusal": "content_filter",
    "overflow": "model_length",
    "unsupported": "unknown",
}
"""How a reply ended, in the words that the format has."""
_CUT = ("length", "late", "thinking")
_LONGEST = 1024
"""What a list of samples shows of a text; the sample itself has it whole."""


@dataclass(frozen=True, slots=True)
class Put:
    """A question as it was put to a model."""

    messages: tuple[Message, ...]
    truth: str
    """The right answer; '' where none is known."""
    choices: Sequence[str] = ()
    """What there was to choose from, in the order in which it was listed."""


def identity(record: Record, *, languages: int) -> str:
    """Return what names a unit's question: where there are languages, translations share a key."""
    named = f"{record['language']}/{record['key']}" if languages > 1 else str(record["key"])
    # It names a file in an archive, which knows no such characters.
    return named.replace("\0", "").encode("utf-8", "replace").decode()


def sample(record: Record, put: Put | None, *, name: str, uuid: str, at: str) -> Sample:
    """Return a unit as a sample, under a name that its question's other askings share.

    One whose question is withheld (None) has none of its texts. `at` is when its run began: when
    it was asked itself, no journal says.
    """
    model = known_as(record["model"])
    withheld = Message("user", WITHHELD)
    asked = [
        _message(it, f"{uuid}-{place}")
        for place, it in enumerate(put.messages if put else [withheld])
    ]
    reply = _reply(record, f"{uuid}-reply", told=put is not None)
    usage = _usage(record)
    output = {
        "model": model,
        "choices": [{"message": reply, "stop_reason": _STOP[record["finish"]]}] if reply else [],
        "completion": record["response"] if put else WITHHELD,
        "usage": usage,
        "time": record["seconds"],
        **({"error": _said(record["error"], told=put is not None)} if record["error"] else {}),
    }
    return {
        "id": name,
        "epoch": record["repeat"] + 1,
        "uuid": uuid,
        "input": asked if put else WITHHELD,
        "target": put.truth if put else WITHHELD,
        **({"choices": list(put.choices)} if put and put.choices else {}),
        "messages": [*asked, *([reply] if reply else [])],
        "output": output,
        "events": [_call(record, asked, output, f"{uuid}-call", at)],
        "scores": _scores(record, told=put is not None),
        "metadata": _metadata(record, told=put is not None),
        "model_usage": {model: usage},
        "total_time": record["seconds"],
        "working_time": record["seconds"],
        **({"error": _error(_said(why, told=put is not None))} if (why := broken(record)) else {}),
    }


def summary(sample: Sample) -> dict[str, Any]:
    """Return the line that a list of samples has of one."""
    return {
        "id": sample["id"],
        "epoch": sample["epoch"],
        "uuid": sample["uuid"],
        "input": _thin_input(sample["input"]),
        "target": _thin(sample["target"]),
        **({"choices": [_thin(it) for it in sample["choices"]]} if "choices" in sample else {}),
        "scores": {
            name: {key: _thin(value) for key, value in score.items() if key != "metadata"}
            for name, score in sample["scores"].items()
        },
        "metadata": {
            name: _thin(value)
            for name, value in sample["metadata"].items()
            if not isinstance(value, Mapping | list)
        },
        "model_usage": sample["model_usage"],
        "total_time": sample["total_time"],
        "working_time": sample["working_time"],
        "completed": True,
        "message_count": len(sample["messages"]),
        **({"error": _thin(sample["error"]["message"])} if "error" in sample else {}),
    }


def broken(record: Record) -> str | None:
    """Return why a unit counts neither as right nor as wrong, where something broke."""
    if record["finish"] == "error":
        return str(record["error"])
    if record["by"] is None and record["judge_error"] is not None:
        return f"the reply has no grade: {record['judge_error']}"
    return None


def scored(record: Record) -> bool:
    """Tell whether a unit counts as right or wrong."""
    return broken(record) is None and record["finish"] != "unsupported"


def verdicts(record: Record) -> dict[str, bool]:
    """Return what else was said of a unit: other rules' verdicts, and those of further judges."""
    details = record.get("details", {})
    told = [*record.get("judgements", {}).items()][1:]  # the first one's word is the grade
    return {
        **{name: bool(details.get(name)) for name in benchmarks.load(record["benchmark"]).verdicts},
        **{str(name): it["correct"] for name, it in told if it.get("correct") is not None},
    }


def _message(message: Message, name: str) -> dict[str, Any]:
    content: Any = message.content
    if message.images:
        content = [
            {"type": "text", "text": message.content},
            *({"type": "image", "image": image} for image in message.images),
        ]
    # What was shown as said by the model is input, too.
    return {"id": name, "role": message.role, "content": content, "source": "input"}


def _reply(record: Record, name: str, *, told: bool) -> dict[str, Any] | None:
    if record["finish"] == "error":
        return None
    content: Any = record["response"]
    if not told:
        content = WITHHELD
    elif record["reasoning"]:
        content = [
            {"type": "reasoning", "reasoning": record["reasoning"]},
            {"type": "text", "text": record["response"]},
        ]
    return {
        "id": name,
        "role": "assistant",
        "content": content,
        "source": "generate",
        "model": known_as(record["model"]),
    }


def _call(
    record: Record, asked: list[dict[str, Any]], output: Mapping[str, Any], name: str, at: str
) -> dict[str, Any]:
    """Return the one event of a sample, by which Inspect's tables find messages."""
    return {
        "event": "model",
        "uuid": name,
        "timestamp": at,
        "working_start": 0.0,
        "working_time": record["seconds"],
        "model": known_as(record["model"]),
        "input": asked,
        "tools": [],
        "tool_choice": "none",
        "config": {},  # that of all samples stands in the head
        "output": output,
        **({"error": output["error"]} if record["error"] else {}),
        **({"cache": "read"} if record["reused"] else {}),
    }


def _usage(record: Record) -> dict[str, int]:
    told, said, cached = (record[f"{name}_tokens"] for name in ("prompt", "output", "cached"))
    # The format counts what came from a cache apart from what had to be read.
    return {
        "input_tokens": told - (cached or 0),
        "output_tokens": said,
        "total_tokens": told + said,
        **({} if cached is None else {"input_tokens_cache_read": cached}),
    }


def _scores(record: Record, *, told: bool) -> dict[str, Any]:
    if not scored(record):
        return {}
    first: dict[str, Any] = {"value": _value(record["correct"])}
    if told:
        first |= {"answer": record["answer"], "explanation": _explanation(record)}
        first["metadata"] = {
            name: record[name] for name in ("by", "judgements", "parity") if record.get(name)
        }
    return {
        record["benchmark"]: first,
        **{name: {"value": _value(right)} for name, right in verdicts(record).items()},
    }


def _value(right: bool) -> str:
    return "C" if right else "I"


def _explanation(record: Record) -> str:
    words = [f"{it['reasoning']}" for it in _judged(record)]
    return "\n\n".join([str(record["reason"]), *words])


def _judged(record: Record) -> list[Mapping[str, Any]]:
    told = [*record.get("judgements", {}).values()][:1]
    return [it for it in told if it.get("reasoning")]


def _metadata(record: Record, *, told: bool) -> dict[str, Any]:
    found = {
        "benchmark": record["benchmark"],
        "key": record["key"],
        "language": record["language"],
        "subject": record["subject"],
        # What stands alone is a cluster of its own; translations of a question are one.
        "cluster": record["cluster"] or str(record["key"]),
        "repeat": record["repeat"],
        "finish": record["finish"],
        "truncated": record["finish"] in _CUT,
        "unparsed": record["finish"] != "error" and record["answer"] is None,
        "reused": record["reused"],
        "judge_error": record["judge_error"] and _said(record["judge_error"], told=told),
    }
    if told:
        found |= {name: record[name] for name in ("flags", "details") if name in record}
    return {name: value for name, value in found.items() if value is not None}


def _said(why: str, *, told: bool) -> str:
    """Return why something failed: of what is withheld no word, as it may be quoted there."""
    return why if told else WITHHELD


def _error(why: str) -> dict[str, str]:
    return {"message": why, "traceback": "", "traceback_ansi": ""}


def _thin_input(asked: Any) -> Any:
    if isinstance(asked, str):
        return _thin(asked)
    return [{**it, "content": _thin(_text(it["content"]))} for it in asked]


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(it.get("text", "(image)") for it in content)


def _thin(value: Any) -> Any:
    if isinstance(value, str) and len(value) > _LONGEST:
        return f"{value[:_LONGEST]}..."
    return value

"""How a move is asked for, and how it is read from a reply."""

import json
import re
from collections.abc import Sequence
from typing import Any

from raybench.players.contract import NoMove, Unmarked
from raybench.types import Completion, Form

HOW: dict[Form, str] = {
    "line": "Think first if you like. Then end your reply with one line that holds nothing but "
    "your move, as in:\nMove: YOUR MOVE",
    "text": "Reply with exactly what you say, and nothing else.",
    "code": "End your reply with it, and nothing else of yours, in one code block: between a line "
    "of ``` and another.",
}
"""What a player is told about the form of its reply."""
_LINE = re.compile(
    r"^[ \t>*_#`-]*(?:(?:final|my|best|next)[ \t]+)?(?:move|answer)[ \t*_`]*[:：][ \t*_`]*(.*)$",
    re.I | re.M,
)
_BLOCK = re.compile(r"^[ \t]*```[^\n`]*\n(.*?)^[ \t]*```", re.S | re.M)
_JSON = re.compile(r'\s*\{\s*"move"\s*:\s*("(?:[^"\\\x00-\x1f]|\\["\\/bfnrt])*")\s*\}\s*')
"""What `as_schema` makes of a reply: no more of JSON is taken for a move."""
_WRAPPED = "*_`\"'“”<>[]"
_CUT = ("length", "thinking", "overflow")


def read(reply: Completion, form: Form) -> str:
    """Return the move that the reply holds.

    Raises NoMove where there is none, or where the reply was cut before its end was safe; Unmarked
    where the reply is a line by itself, as many models answer, which may be a move or not. Of a
    speech that was cut, what was said counts: time was up.
    """
    text = reply.text.strip()
    if not text:
        raise NoMove(_why_empty(reply))
    if form == "line":
        return _line(reply)
    if form == "code":
        return _block(reply)
    return text


def as_reply(move: str, form: Form) -> str:
    """Return a reply that holds the move."""
    return {"line": f"Move: {move}", "text": move, "code": f"```python\n{move}\n```"}[form]


def as_schema(moves: Sequence[str]) -> dict[str, Any]:
    """Return the JSON schema of a reply that holds one of the moves."""
    return {
        "type": "object",
        "properties": {"move": {"type": "string", "enum": [*moves]}},
        "required": ["move"],
        "additionalProperties": False,
    }


def _line(reply: Completion) -> str:
    if (held := _JSON.fullmatch(reply.text)) and (move := _bare(json.loads(held[1]))):
        return move
    # Of a reply that was cut, the last line may be half a move.
    cut = reply.finish in _CUT
    text = reply.text.rpartition("\n")[0] if cut else reply.text
    if found := [*_LINE.finditer(text)]:
        if move := _bare(found[-1][1]) or _below(text[found[-1].end() :]):
            return move
        if moves := [move for it in found if (move := _bare(it[1]))]:
            return moves[-1]
        raise NoMove(_cut(reply, "there is no move behind 'Move:' in the reply"))
    why = _cut(reply, "there is no line 'Move: …' in the reply")
    lines = text.strip().splitlines()
    if not cut and len(lines) == 1 and (move := _bare(lines[0])):
        raise Unmarked(move, why)
    raise NoMove(why)


def _below(rest: str) -> str:
    """Return a move that stands alone below the line that announces it; '' where none does."""
    lines = [move for it in rest.splitlines() if (move := _bare(it))]
    return lines[0] if len(lines) == 1 else ""


def _bare(move: str) -> str:
    """Return a move without what people wrap it in."""
    return move.strip().strip(_WRAPPED).strip()


def _block(reply: Completion) -> str:
    if found := _BLOCK.findall(reply.text.replace("\r\n", "\n")):
        return str(found[-1])
    raise NoMove(_cut(reply, "there is no code block (``` … ```) in the reply"))


def _cut(reply: Completion, what: str) -> str:
    if reply.finish not in _CUT:
        return what
    return f"{what}: it was cut off after {reply.output_tokens} tokens; be brief"


def _why_empty(reply: Completion) -> str:
    if reply.finish == "thinking":
        return _cut(reply, "the reply ended while you were thinking, before your move")
    if reply.finish == "refusal":
        return "the reply was declined instead of given"
    if reply.finish == "overflow":
        return "the prompt and a reply do not fit into the model's context"
    if reply.finish == "unsupported":
        return "the model does not take what the prompt holds"
    return "the reply is empty"

"""How a move is read from a reply, and written into one."""

import json
import re
from collections.abc import Sequence
from typing import Any

from raybench.players.parts.contract import Check, Decision, Made, NoMove
from raybench.statements import Statement
from raybench.types import Completion, Form

_LINE = re.compile(
    r"^[ \t>*_#`-]*(?:(?:final|my|best|next)[ \t]+)?(?:move|answer)[ \t*_`]*[:：][ \t*_`]*(.*)$",
    re.I | re.M,
)
_BLOCK = re.compile(r"^[ \t]*```[^\n`]*\n(.*?)^[ \t]*```", re.S | re.M)
_JSON = re.compile(r'\s*\{\s*"move"\s*:\s*("(?:[^"\\\x00-\x1f]|\\["\\/bfnrt])*")\s*\}\s*')
"""What `as_schema` makes of a reply: no more of JSON is taken for a move."""
_WRAPPED = "*_`\"'“”<>[]"
_CUT = ("length", "thinking", "overflow")


def read(reply: Completion, form: Form, check: Check) -> Made:
    """Return the move that the reply holds.

    Raises NoMove where there is none, or where the reply was cut before its end was safe. A reply
    that is a line by itself, as many models answer, is a move where the game takes it. Of a speech
    that was cut, what was said counts: time was up.
    """
    try:
        return Made(_move(reply, form, check), reply.text)
    except NoMove as why:
        raise NoMove(why.reason, reply.text) from None


def valid(reply: Completion, decision: Decision) -> tuple[Made, object]:
    """Return the move that the reply holds, and what it comes to, which equal moves share.

    Raises NoMove where there is none, or none that the game takes.
    """
    made = read(reply, decision.seen.form, decision.check)
    try:
        return made, decision.check(made.move)
    except NoMove as why:
        raise NoMove(why.reason, made.reply) from None


def _move(reply: Completion, form: Form, check: Check) -> str:
    text = reply.text.strip()
    if not text:
        raise NoMove(_why_empty(reply))
    if form == "line":
        return _line(reply, check)
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


def _line(reply: Completion, check: Check) -> str:
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
        what = Statement("reply.no_move", "there is no move behind 'Move:' in the reply")
        raise NoMove(_cut(reply, what))
    why = _cut(reply, Statement("reply.no_line", "there is no line 'Move: …' in the reply"))
    lines = text.strip().splitlines()
    if not cut and len(lines) == 1 and (move := _bare(lines[0])):
        return _taken(move, why, check)
    raise NoMove(why)


def _taken(line: str, why: str, check: Check) -> str:
    """Return a line that nothing marks as a move, where it is one by the rules.

    Refused, it is talk: how many lines that takes says nothing of whether a move was meant.
    """
    try:
        check(line)
    except NoMove as refusal:
        raise NoMove(
            Statement(
                "reply.refused",
                "{why}, and taken whole it is no move: {refusal}",
                why=why,
                refusal=refusal.reason,
            )
        ) from None
    return line


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
    what = Statement("reply.no_block", "there is no code block (``` … ```) in the reply")
    raise NoMove(_cut(reply, what))


def _cut(reply: Completion, what: str) -> str:
    if reply.finish not in _CUT:
        return what
    return Statement(
        "reply.cut",
        "{what}: it was cut off after {tokens} tokens; be brief",
        what=what,
        tokens=reply.output_tokens,
    )


def _why_empty(reply: Completion) -> str:
    if reply.finish == "thinking":
        what = Statement(
            "reply.thinking", "the reply ended while you were thinking, before your move"
        )
        return _cut(reply, what)
    if reply.finish == "refusal":
        return Statement("reply.refusal", "the reply was declined instead of given")
    if reply.finish == "overflow":
        return Statement(
            "reply.overflow", "the prompt and a reply do not fit into the model's context"
        )
    if reply.finish == "unsupported":
        return Statement("reply.unsupported", "the model does not take what the prompt holds")
    return Statement("reply.empty", "the reply is empty")

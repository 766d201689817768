"""Simulated engine: stand-ins with a latent ability, for scale, determinism and tests.

They see only the prompt and answer in text, as a real model would. An answer carries its quality in
words ('of quality 0.731'), drawn around the model's ability; a judge reads that quality back and
rates it with an error that shrinks with its own ability. The same seed gives the same reply.
"""

import asyncio
import json
import math
import random
import re
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

from raybench.errors import did_you_mean
from raybench.fleet.streams import Placed
from raybench.types import Completion, ModelSpec, Request

_EXPRESSIONS = re.compile(r"YOUR TASK\s.*Expression 1: (.*)\n\s*Expression 2: (.*)", re.DOTALL)
_QUALITY = re.compile(r"of quality (\d\.\d{3})")
JudgeKind = Literal["skilled", "random"]


@dataclass(frozen=True)
class Ability:
    """What a simulated model's options say about it."""

    ability: float = 0.5
    """Mean quality of what it writes, from 0 to 1."""
    spread: float = 0.1
    """Standard deviation of that quality."""
    judge: JudgeKind = "skilled"
    """A random judge rates without reading."""
    judge_noise: float = 0.2
    """Standard deviation of the error of a judge of ability 0; one of ability 1 makes none."""
    unparsed: float = 0.0
    """Share of replies to a request for a rating that do not hold one."""
    infra_error: float = 0.0
    """Share of requests that get no reply."""
    latency_s: float = 0.0
    """Time one batch takes."""


def problems(where: str, options: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with a simulated model's options."""
    known = {field.name for field in fields(Ability)}
    for name in options:
        if name not in known:
            yield f"{where}: unknown simulated option '{name}'." + did_you_mean(name, known)
    if options.get("judge", "skilled") not in get_args(JudgeKind):
        yield f"{where}: judge is '{options['judge']}'." + did_you_mean(
            str(options["judge"]), get_args(JudgeKind)
        )
    for name in known - {"judge"} & set(options):
        value = options[name]
        upper = 1.0 if name in ("ability", "unparsed", "infra_error") else float("inf")
        fits = isinstance(value, int | float) and math.isfinite(value) and 0 <= value <= upper
        if not fits:
            yield f"{where}: simulated option '{name}' is {value!r}; it is a number from 0" + (
                " to 1" if upper == 1 else " up"
            )


class SimulatedEngine:
    """Serves every simulated model of a roster."""

    async def complete(self, model: ModelSpec, requests: Sequence[Request]) -> list[Completion]:
        """Answer each request from the model's ability and the request's seed."""
        ability = Ability(**model.options)
        await asyncio.sleep(ability.latency_s)
        return [_reply(model.name, ability, request) for request in requests]

    async def stream(self, model: ModelSpec, requests: Sequence[Request]) -> AsyncGenerator[Placed]:
        """Answer the batch like `complete`, a reply at a time."""
        for placed in enumerate(await self.complete(model, requests)):
            yield placed


def _reply(name: str, ability: Ability, request: Request) -> Completion:
    rng = random.Random(f"{request.seed}/{name}")
    prompt = request.messages[-1].content
    if rng.random() < ability.infra_error:
        return Completion.failed("simulated infrastructure error")
    if request.json_schema is not None:
        text = json.dumps(_instance(request.json_schema, rng))
    elif request.gold is not None:
        knows = rng.random() < _quality(ability, rng)
        text = request.gold if knows else _spoilt(request.gold, rng)
    elif pair := _EXPRESSIONS.search(prompt):
        text = "Yes" if pair[1].split() == pair[2].split() else "No"
    elif "<rank>" in prompt:
        text = _rating(prompt, ability, rng, constrained=request.regex is not None)
    elif prompt.startswith("Generate "):
        text = f"Simulated question of quality {_quality(ability, rng):.3f}, number {rng.random()}?"
    else:
        text = f"Simulated answer of quality {_quality(ability, rng):.3f}."
    if request.regex is not None and not re.fullmatch(request.regex, text):
        return Completion.failed(f"no simulated reply matches the regex {request.regex!r}")
    return Completion(
        text=text,
        finish="stop",
        prompt_tokens=sum(len(message.content.split()) for message in request.messages),
        output_tokens=len(text.split()),
        seconds=ability.latency_s,
    )


def _spoilt(gold: str, rng: random.Random) -> str:
    """Return a right reply with its last number or option changed; of a program, what it gives."""
    if gold.startswith("```"):
        returns = [*re.finditer(r"^([ \t]*return)\b.*$", gold, re.MULTILINE)]
        if not returns:
            return gold.replace("\n", "\nraise NotImplementedError\n", 1)
        return f"{gold[: returns[-1].end(1)]} None{gold[returns[-1].end() :]}"
    found = [*re.finditer(r"\d+|\b[A-J]\b", gold)]
    if not found:
        return "I do not know."
    last = found[-1]
    if last[0].isdigit():
        other = str(int(last[0]) + rng.randint(1, 9))
    else:
        other = rng.choice([letter for letter in "ABCD" if letter != last[0]])
    return gold[: last.start()] + other + gold[last.end() :]


def _quality(ability: Ability, rng: random.Random) -> float:
    return min(1.0, max(0.0, rng.gauss(ability.ability, ability.spread)))


def _rating(prompt: str, ability: Ability, rng: random.Random, *, constrained: bool) -> str:
    seen = _QUALITY.findall(prompt)
    if not constrained and rng.random() < ability.unparsed:
        return "I would rather not say."
    if ability.judge == "random" or not seen:
        return f"<rank>{rng.randint(1, 5)}</rank>"
    # What is judged stands last in the prompt: the answer after the question it answers.
    noise = rng.gauss(0, ability.judge_noise * (1 - ability.ability))
    rank = min(5, max(1, round(1 + 4 * (float(seen[-1]) + noise))))
    return f"<rank>{rank}</rank>"


def _instance(schema: Mapping[str, Any], rng: random.Random) -> Any:
    """Return a value that fits the schema, as far as experiments use schemas."""
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return rng.choice(list(schema["enum"]))
    match schema.get("type"):
        case "object":
            properties: Mapping[str, Any] = schema.get("properties", {})
            return {name: _instance(part, rng) for name, part in properties.items()}
        case "array":
            count = min(max(1, schema.get("minItems", 1)), schema.get("maxItems", math.inf))
            return [_instance(schema.get("items", {}), rng) for _ in range(count)]
        case "integer":
            return rng.randint(*_bounds(schema, 100))
        case "number":
            return rng.uniform(*_bounds(schema, 1))
        case "boolean":
            return rng.random() < 0.5
        case "null":
            return None
        case _:
            return "simulated"


def _bounds(schema: Mapping[str, Any], span: int) -> tuple[Any, Any]:
    low = schema.get("minimum", min(0, schema.get("maximum", 0)))
    return low, schema.get("maximum", low + span)

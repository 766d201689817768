"""Everything that reads what models, endpoints, datasets or strangers' run folders hold.

Games, benchmarks and readers of files are found where they are registered: a new one is tried
without being named here.
"""

import random
import zlib
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

import httpx
from fuzz import files
from fuzz.files import JSON
from fuzz.trying import Parser

from raybench import benchmarks, csv_cells, games
from raybench.autobench import faults, fence, prompts
from raybench.benchmarks.parts import harness
from raybench.benchmarks.parts.contract import Benchmark, Grade, UngradableError
from raybench.benchmarks.parts.hle import images, judging, options
from raybench.benchmarks.parts.hle.screening import closed, plain, review
from raybench.benchmarks.parts.judged import Judged, Judgement
from raybench.benchmarks.parts.livecodebench import cases, comparing
from raybench.benchmarks.parts.scicode import codec, steps
from raybench.benchmarks.parts.tally import safe
from raybench.errors import ConfigurationError, Problem
from raybench.fleet import (
    chat,
    concessions,
    control_tokens,
    patience,
    reasons,
    remote_replies,
    token_limits,
    token_wordings,
)
from raybench.games import MANAGER, InvalidMove, Unjudged
from raybench.games.parts import conformance
from raybench.grading import (
    choice,
    equality,
    extract,
    likeness,
    numbers,
    programs,
    suspicion,
    syntax,
)
from raybench.grading import math as maths
from raybench.grading.improved import choice as improved_choice
from raybench.grading.improved import maths as improved_maths
from raybench.grading.improved import numbers as improved_numbers
from raybench.grading.improved import statements
from raybench.pipeline.files import rows
from raybench.players.parts.contract import NoMove
from raybench.players.parts.reading import read
from raybench.tracking import text, uri
from raybench.tracking.console import words
from raybench.types import Completion, Finish

SAMPLES = Path(benchmarks.__file__).parent / "samples"
ANSWERS = (
    *(
        "Answer: A",
        "**Answer**: B",
        "answer:",
        "Answer\u200b: C",
        "Respuesta: D",
        "答案：Ａ",
        "উত্তর: ক",
    ),
    *(
        "\\boxed{",
        "\\boxed {",
        "}",
        "{",
        "\\{",
        "the answer is ",
        "(A)",
        "A.",
        "not A",
        "A or B",
        "42",
    ),
    *(
        "1,000",
        "3.14",
        "\\frac{1}{2}",
        "-7",
        "1/2",
        "**",
        "_",
        " is wrong",
        "e.g. ",
        "final answer",
    ),
)
LATEX = (
    *(
        "\\frac{",
        "\\sqrt[",
        "\\dfrac",
        "\\left(",
        "\\right)",
        "\\text{",
        "\\begin{matrix}",
        "\\\\",
        "&",
    ),
    *(
        "^{",
        "_{",
        "}",
        "x",
        "y",
        "2",
        "10",
        "1.5",
        ".5",
        "\\pi",
        "\\infty",
        "\\cup",
        "[",
        ")",
        ",",
        "!",
    ),
    *(
        "^",
        "**",
        "+",
        "-",
        "\\cdot",
        "\\times",
        "\\pm",
        "\\%",
        "\\$",
        "°",
        "=",
        "\\le",
        "in ",
        " mod ",
    ),
    *(
        "\\binom{9}{4}",
        "sqrt",
        "(",
        "(((",
        "2^2^2",
        "9!!!",
        "10^{10^{10}}",
        "\\overline{3}",
        "_{16}",
    ),
)
CODE = (
    *(
        "```python\n",
        "```py\n",
        "```\n",
        "\n```",
        "~~~\n",
        "> ```\n",
        "> ",
        "def add(a, b):\n",
        "    return a",
    ),
    *(
        "import os\n",
        "from x import (\n",
        "class A:\n",
        "@",
        "async ",
        "lambda: ",
        "'''",
        '"""',
        "#",
        "\\\n",
    ),
    *(
        "    ",
        "\t",
        "(",
        "[",
        "{",
        ")",
        "]",
        "x = 1\n",
        "if x:\n",
        "else:\n",
        "try:\n",
        ">>> ",
        "yield\n",
    ),
    *("__import__('os')", "os._exit(0)", "\f", "f'{x!r:{y}}'", "match x:\n", "-" * 50, "not ", "~"),
)
JUDGED = (
    *("extracted_final_answer: ", "reasoning: ", "correct: yes", "correct: no", "confidence: 95%"),
    *(
        "**",
        "> ",
        "# ",
        "Answer: ",
        "exact answer:",
        "final ",
        "Confidence: ",
        "0.5",
        "100",
        "```json\n",
    ),
    *(
        "{",
        "}",
        '"correct": "yes"',
        '"confidence": 1e400',
        ",",
        ":",
        "explanation:",
        "n't",
        "unless",
    ),
    *("<rank>3</rank>", "<rank>", "</rank>", "5", "yes", "no", "\n```\n", "[", '{"a":', "'"),
)
REPLY = (
    *(
        '{"choices": [',
        '{"message": {"content": "',
        '"}, "finish_reason": "stop"}',
        "]}",
        '"usage": {',
    ),
    *(
        '"prompt_tokens": ',
        "null",
        "{}",
        "[]",
        '"content": ["',
        "\\ud800",
        '{"error": ',
        '"code": "',
    ),
    *(
        '{"error": {"message": "',
        "max_completion_tokens",
        "context length",
        "content policy",
        "1e999",
    ),
    *(
        '{"choices":[{"message":{"content":"x"},"finish_reason":"length"}]}',
        '"reasoning_content": 1',
    ),
    *(
        '{"detail": ',
        "not supported",
        "temperature",
        "<think>",
        "</think>",
        '{"choices": [{"message": ',
    ),
)
ENDINGS: tuple[Finish, ...] = ("stop", "length", "thinking", "empty", "refusal", "overflow")


def registry() -> list[Parser]:
    """Return all parsers, by their names."""
    found = [*_of_grading(), *_of_autobench(), *_of_hle(), *_of_code(), *_of_endpoints()]
    found += [*_of_benchmarks(), *_of_games(), *_of_shown(), *files.parsers()]
    assert len({it.name for it in found}) == len(found)
    return sorted(found, key=lambda it: it.name)


def _of_grading() -> Iterator[Parser]:
    letter, none = str, type(None)
    yield Parser("grading.extract.choice", extract.choice, ANSWERS, (letter, none))
    yield Parser("grading.extract.boxed", extract.boxed, (*ANSWERS, *LATEX), (str, none))
    yield Parser("grading.extract.code", extract.code, CODE, (str, none))
    yield Parser("grading.extract.last_line", extract.last_line, ANSWERS, (str, none))
    yield Parser("grading.choice.localised", choice.localised, ANSWERS, (str, none))
    stated = partial(_second, numbers.stated, "Answer")
    yield Parser("grading.numbers.stated", stated, ANSWERS, (str, none))
    listed = [f"option {it}" for it in "abcdefghij"]
    improved = partial(_second, improved_choice.stated, listed)
    yield Parser("grading.improved.choice", improved, ANSWERS, str, (ValueError,))
    yield Parser(
        "grading.improved.numbers", improved_numbers.stated, ANSWERS, object, (ValueError,)
    )
    yield Parser("grading.improved.statements", statements.statements, ANSWERS, list)
    yield Parser("grading.improved.last_line", statements.last_line, ANSWERS, str)
    for name, decide, kind in (
        ("grading.math.decide", maths.decide, str),
        ("grading.math.equivalent", maths.equivalent, bool),
        ("grading.improved.maths", improved_maths.decide, str),
    ):
        yield Parser(name, partial(_halves, decide), LATEX, kind, heavy=True)
    yield Parser("grading.equality.verdict", equality.verdict, JUDGED, (bool, none))
    yield Parser("grading.likeness.words", likeness.words, ANSWERS, list)
    yield Parser("grading.likeness.digest", likeness.digest, ANSWERS, bytes)
    yield Parser("grading.suspicion.flags", suspicion.flags, CODE, tuple, heavy=True)
    for reader in (syntax.parsed, syntax.names, syntax.failing_line, syntax.returns):
        yield Parser(f"grading.syntax.{reader.__name__}", reader, CODE)
    yield Parser("grading.programs.program", _program, CODE, heavy=True)


def _of_autobench() -> Iterator[Parser]:
    yield Parser("autobench.prompts.parse_rank", prompts.parse_rank, JUDGED, (int, type(None)))
    yield Parser("autobench.faults", faults.found, (*ANSWERS, *JUDGED), list)
    yield Parser("autobench.fence", partial(_second, fence.enclosed, "the answer"), JUDGED, str)
    yield Parser("autobench.prompts.rate_answer", partial(_fenced), JUDGED, str)


def _of_hle() -> Iterator[Parser]:
    none = type(None)
    yield Parser("hle.judging.answer", judging.answer, JUDGED, (str, none))
    yield Parser("hle.judging.confidence", judging.confidence, JUDGED, (int, none))
    yield Parser("hle.judging.read", judging.read, JUDGED, (Judgement, none))
    same = partial(_second, judging.same_letter, "A")
    yield Parser("hle.judging.same_letter", same, JUDGED, (bool, none))
    yield Parser(
        "hle.options.read", options.read, ("A. ", "\n", "(B) ", "Answer Choices:\n"), tuple
    )
    uris = ("data:image/png;base64,", "iVBORw0KGgo", "=", "http://", "file:", "image/svg+xml", "/")
    yield Parser("hle.images.decoded", images.decoded, uris, tuple, (ValueError,))
    yield Parser("hle.images.unsendable", images.unsendable, uris, (str, none))
    yield Parser("hle_screen.closed.answer", _all(closed.answer), ANSWERS, list)
    question = partial(closed.question, choice=True)
    yield Parser("hle_screen.closed.question", _all(question), ANSWERS, list)
    yield Parser("hle_screen.plain.form", plain.form, ANSWERS, str)
    yield Parser("hle_screen.plain.beyond", _all(partial(plain.beyond)), ANSWERS, list)
    cells = ("id,round,question\n", ",", ";", "\t", '"', '""', "=1+1", "'", "\r", "accept", "1")
    yield Parser("hle_screen.review.rows", _all(review.rows), cells, list, (review.SheetError,))
    yield Parser("csv_cells.guard_cell", _guarded, cells, str)


def _of_code() -> Iterator[Parser]:
    yield Parser("scicode.steps.written", steps.written, CODE, (str, type(None)))
    yield Parser("scicode.steps.code", steps.code, CODE, (str, type(None)))
    tagged = ('{"t": "', "tuple", "array", '", "v": ', '"dtype": "', "<f8", '"shape": [', "9" * 20)
    yield Parser("scicode.codec", _of_json(codec.decode), (*JSON, *tagged), object, (ValueError,))
    yield Parser("harness.told", partial(_second, harness.told, "word"), (*JSON, '"word"'), dict)
    packed = ("eJw", "gASV", "[{", '"input": "', '"output": "', '"testtype": "stdin"', "}]", "=")
    yield Parser("livecodebench.cases", _cases, (*packed, *JSON), object, (ValueError,))
    yield Parser("livecodebench.pickles", _pickle, JSON, str, (ValueError,), binary=True)
    same = partial(_halves, comparing.same_text)
    yield Parser("livecodebench.same_text", same, ("1", " ", "\n", "1.0", "1e400", "nan"), bool)
    value = partial(_halves, comparing.same_value)
    yield Parser("livecodebench.same_value", value, JSON, bool, (ValueError,))


def _of_endpoints() -> Iterator[Parser]:
    answer = (Completion, remote_replies.Failure)
    yield Parser("fleet.remote.reply", _reply, REPLY, answer, binary=True)
    yield Parser("fleet.remote.refusal", _refusal, REPLY, object, binary=True)
    yield Parser("fleet.chat.separated", chat.separated, ("<think>", "</think>", "\n"), tuple)
    yield Parser("fleet.chat.answered", partial(_second, chat.answered, "stop"), REPLY, Completion)
    yield Parser("fleet.chat.turned_down", chat.turned_down, REPLY, (str, type(None)))
    numbers = ("tokens", " 4096 ", "9" * 20, "maximum context length is ", "{", "`max_new_tokens`")
    said = (*REPLY, *numbers, "max_tokens: 5 > 3, which is the maximum allowed number of output ")
    yield Parser("fleet.token_wordings", _tokens, said, object)
    listed = (
        '{"data": [{"id": "m", ',
        '"max_model_len": ',
        '"top_provider": {',
        "4096",
        "-1",
        "}]}",
    )
    offered = _of_json(lambda told: token_limits.offered(told, "m"))
    yield Parser("fleet.token_limits", offered, (*JSON, *listed), token_limits.Offer, (ValueError,))
    after = ("Wed, 21 Oct 2026 07:28:00 GMT", "120", "1.5", "-1", "99999999999", "+0000", ":", ",")
    yield Parser("fleet.patience.retry_after", _retry_after, after, float, most=2_000)
    yield Parser("fleet.control_tokens", control_tokens.broken, ("<|im_end|>", "<|", "|>"), str)
    told = (
        "ValueError: ",
        "\n",
        "(EngineCore pid=1) ",
        "ERROR 11-24 10:00:00 [x.py:1] ",
        "Traceback",
    )
    for reader in (reasons.error_in, reasons.last_line, reasons.of_hub, reasons.mended):
        yield Parser(f"fleet.reasons.{reader.__name__}", reader, told, str)
    causes = partial(_second, reasons.root_cause, "see the root cause above", first=True)
    yield Parser("fleet.reasons.root_cause", causes, told, str)


def _of_shown() -> Iterator[Parser]:
    for reader in (text.printable, text.one_line, words.clean):
        yield Parser(f"shown.{reader.__name__}", reader, ("\x1b[2J", "\u202e", "\x07"), str)
    address = (
        "http://",
        "me:",
        "pass@",
        "host",
        ":5000",
        "?key=",
        "&",
        "sqlite:///",
        "//",
        "#",
        "[",
    )
    yield Parser("tracking.uri.redacted", uri.redacted, address, str)
    yield Parser("tracking.uri.masked", partial(_halves, uri.masked), address, str, (ValueError,))
    check = Parser("tracking.uri.check", uri.check_uri, address, type(None), (ConfigurationError,))
    yield check
    yield Parser("tally.safe", safe, ANSWERS, str)


# ----------------------------------------------------------------- what is found where it is listed


def _of_benchmarks() -> Iterator[Parser]:
    for name in benchmarks.names():
        benchmark = benchmarks.load(name)
        if not benchmark.sandboxed:
            reader = partial(_grade, benchmark)
            own = (*ANSWERS, *LATEX)
            yield Parser(f"benchmarks.{name}.grade", reader, own, Grade, (UngradableError,))
            improved = partial(_grade, benchmark, improved=True)
            yield Parser(f"benchmarks.{name}.improved", improved, own, Grade, (UngradableError,))
        if isinstance(benchmark, Judged):
            judged = (Judgement, type(None))
            yield Parser(f"benchmarks.{name}.judgement", benchmark.judgement, JUDGED, judged)
        problems = partial(_problems, benchmark)
        yield Parser(f"benchmarks.{name}.problems", problems, (*JSON, *ANSWERS), list, heavy=True)


@cache
def sample_rows(name: str) -> tuple[Mapping[str, Any], ...]:
    """Return a benchmark's sample rows in its own columns."""
    of = benchmarks.load(name)
    beside = {it: SAMPLES / it for it in of.beside if (SAMPLES / it).exists()}
    found = [row for _, row in rows(SAMPLES / f"{name}.jsonl") if isinstance(row, dict)]
    return tuple(it for row in found[:4] for it in of.questions({"language": "en"} | row, beside))


def _picked(given: str, among: Any) -> Any:
    return among[zlib.crc32(given.encode("utf-8", "surrogatepass")) % len(among)]


def _grade(benchmark: Benchmark, response: str, *, improved: bool = False) -> Grade:
    row = _picked(response, sample_rows(benchmark.name))
    return (benchmark.improved if improved else benchmark.grade)(row, response)


def _problems(benchmark: Benchmark, told: str) -> list[Problem]:
    """Have a row looked at of which a column holds something else."""
    row = dict(_picked(told, sample_rows(benchmark.name)))
    column = _picked(told, sorted(row))
    for value in (told, [told], {told: told}, None, 10**30, float("nan")):
        wrong = list(benchmark.problems(row | {column: value}))
        if not wrong:
            benchmark.key(row | {column: value})
    return wrong


def _of_games() -> Iterator[Parser]:
    for name in games.names():
        own = tuple(dict.fromkeys(move for _, move in _played(name)[1]))[:60]
        forms = ("Move: ", "**Move:** ", "```\n", "\n```", '{"move": "', '"}', "Answer: ", *JSON)
        raises = (NoMove, InvalidMove, Unjudged)
        turn = partial(_turn, name)
        yield Parser(f"games.{name}.reply", turn, (*own, *forms), object, raises, heavy=True)
        move = partial(_move, name)
        yield Parser(f"games.{name}.apply", move, (*own, *forms), object, raises, heavy=True)


@cache
def _played(name: str) -> tuple[list[Any], list[tuple[str, str]]]:
    states, moves = list[Any](), list[tuple[str, str]]()
    for seed in range(3):
        played = conformance.play(games.load(name), seed, good=bool(seed % 2))
        states += [it for it in played.states if not it.over]
        moves += played.moves
    some = random.Random(name).sample(states, min(40, len(states)))
    kept = [it for it in states if it.to_move == MANAGER][:5]
    return [*some, *kept], moves


def _move(name: str, told: str) -> object:
    state = _picked(told, _played(name)[0])
    after = state.apply(told)
    return after.to_move or after.scores()


def _turn(name: str, told: str) -> object:
    state = _picked(told, [it for it in _played(name)[0] if it.to_move != MANAGER])
    reply = Completion(told, _picked(told, ENDINGS))

    def check(move: str) -> object:
        try:
            return state.apply(move)
        except InvalidMove as error:
            raise NoMove(str(error)) from error

    return state.apply(read(reply, state.observe(state.to_move).form, check).move)


# ------------------------------------------------------------------------ how some are called


def _second(call: Callable[..., Any], other: Any, told: Any, *, first: bool = False) -> Any:
    return call(other, told) if first else call(told, other)


def _halves(call: Callable[[str, str], Any], told: str) -> Any:
    """Call with both parts of a text: what is behind its middle, and what before."""
    middle = len(told) // 2
    return call(told[:middle], told[middle:])


def _all(call: Callable[[str], Any]) -> Callable[[str], list[Any]]:
    return lambda told: list(call(told))


def _of_json(call: Callable[[Any], Any]) -> Callable[[str], Any]:
    import json

    def read(told: str) -> Any:
        try:
            value = json.loads(told)
        except (ValueError, RecursionError):
            value = told
        return call(value)

    return read


def _fenced(told: str) -> str:
    return prompts.rate_answer(told, told[::-1], fenced=True)


def _guarded(told: str) -> str:
    assert csv_cells.unguard_cell(csv_cells.guard_cell(told)) == told
    return csv_cells.guard_cell(told)


def _program(told: str) -> str:
    found = programs.program(told, "def add(a, b):\n    '''Add.'''\n", "add")
    return found.after("def add(a, b):\n") if found else ""


def _cases(told: str) -> object:
    cases._read.cache_clear()
    row = {
        "question_id": "1",
        "metadata": "{}",
        "public_test_cases": told,
        "private_test_cases": told[::-1],
    }
    return cases.of(row)


def _pickle(told: bytes) -> str:
    return cases._pickled_text(told)


def _tokens(told: str) -> object:
    refusal = token_wordings.token_refusal(told)
    return refusal and refusal.room(100)


def _reply(told: bytes) -> object:
    return remote_replies.read(remote_replies.told_by(httpx.Response(200, content=told)))


def _refusal(content: bytes) -> object:
    response = httpx.Response(400, content=content)
    body = {"messages": [{"role": "user", "content": "x"}], "temperature": 1.0, "max_tokens": 5}
    told = remote_replies.told_by(response)
    said = remote_replies.message(told)
    concessions.mend(body, said)
    return remote_replies.declined(remote_replies.status_of(response, told), told, body)


def _retry_after(told: str) -> float:
    found = patience.retry_after({"retry-after": told, "retry-after-ms": told[::-1]}, 1e9)
    assert found >= 0
    return found

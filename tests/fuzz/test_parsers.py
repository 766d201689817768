"""The short form: every parser with some hostile texts. The long one: python -m tests.fuzz."""

import random
import re
from pathlib import Path

import pytest
from fuzz.parsers import registry
from fuzz.trying import Parser, TooLong, attempts, searched, within

from raybench import benchmarks, games
from raybench.pipeline import files

PARSERS = {it.name: it for it in registry()}
PUMPED: dict[str, str | bytes] = {
    "hle.judging.read": "```" + "\n" * 30_000 + "x",
    "grading.math.decide": r"\frac{+" * 30,
    "hle.options.read": "Answer Choices:\nA. \n" * 1_500,
    "benchmarks.scicode.problems": "\u200bfinal answerfinal answer",
    "compare.names": "//:" * 10_000,
    "journal.Journal": b"[" * 30_000 + b"\n",
    "store.inputs.json": b"null",
    "storage.lease": b"[" * 30_000,
    "compiled.read": b'{"about": ' + b"[" * 30_000,
    "autobench.given": b"[" * 30_000 + b"\n",
    "compare.results": b"[" * 30_000,
    "compare.journal": b"[" * 30_000 + b"\n",
    "compare.config": b"? " * 3_000,
    "saved.config": b"2001-99-99",
    "typed.config": b"- " * 150 + b"\n",
}
"""What was found so: each took for ever, or ended with an error that nobody had told of."""


@pytest.mark.parametrize("name", PARSERS)
def test_a_parser_gets_along_with_whatever_is_written(name: str) -> None:
    searched(PARSERS[name], 8 if PARSERS[name].heavy else 25)


@pytest.mark.parametrize("name", PUMPED)
def test_what_was_found_once_is_mended(name: str) -> None:
    PARSERS[name].tried(PUMPED[name])


def test_references_to_references_are_not_followed() -> None:
    lines = ["a: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"b{it}: &a{it + 1} [{', '.join([f'*a{it}'] * 10)}]" for it in range(12)]
    bomb = "\n".join(["experiment: games", *lines]).encode()
    for name in ("compare.config", "saved.config", "typed.config"):
        PARSERS[name].tried(bomb)
        with pytest.raises(Exception, match="1,000,000"):
            PARSERS[name].call(bomb)


def test_no_game_no_benchmark_and_no_kind_of_file_is_left_out() -> None:
    for game in games.names():
        assert {f"games.{game}.reply", f"games.{game}.apply"} <= {*PARSERS}
    for name in benchmarks.names():
        assert f"benchmarks.{name}.problems" in PARSERS
        graded = {f"benchmarks.{name}.grade", f"benchmarks.{name}.improved"}
        assert graded <= {*PARSERS} or benchmarks.load(name).sandboxed
    for end in files.ENDINGS:
        assert f"files{end}" in PARSERS


def test_whoever_reads_json_or_yaml_of_others_is_tried_or_named_here() -> None:
    """What reads only what this very process, or the sandbox's own program, has written."""
    ours = {
        "sandbox": "what the sandbox's own program says, a word at its side",
        "pipeline/stages.py": "blocks on their way",
        "pipeline/graph.py": "blocks on their way",
        "pipeline/generation.py": "jobs that the graph wrote",
        "pipeline/rows.py": "rows that this machine wrote",
        "pipeline/responses.py": "a cache that this machine wrote",
        "pipeline/reply_log.py": "replies that processes of this run wrote",
        "pipeline/written_once.py": "what this machine wrote",
        "pipeline/files.py": "tried",
        "experiments": "the journal of the run itself, which `journal.Journal` has looked through",
        "tracking/report/packing.py": "what a page was given by itself",
        "positions": "texts of jails, which run in the sandbox",
        "fleet": "configurations of weights, tried by `test_hub.py`; what stand-ins say",
        "tournament/votes.py": "moves that a game has taken",
        "games/parts/debate/missing.py": "moves that a game has taken",
        "players/parts/programs": "texts that were matched as JSON, or made by us",
        "players/parts/reading.py": "texts that were matched as JSON, or made by us",
        "benchmarks/parts": "tried, in the sandbox, or what it says",
        "games/parts": "tried",
        "reading.py": "the reader itself",
    }
    root = Path(benchmarks.__file__).parents[1]
    calls = re.compile(r"\bjson\.loads?\(|raw_decode|safe_load")
    found = [it.relative_to(root) for it in root.rglob("*.py") if calls.search(it.read_text())]
    left = [str(it) for it in found if not any(str(it).startswith(each) for each in ours)]
    assert left == []


def test_what_takes_too_long_is_ended_and_told() -> None:
    def slow(text: str) -> object:
        return re.fullmatch(r"(a*)*b", text)

    with pytest.raises(TooLong), within(0.2):
        slow("a" * 40)
    wrong = Parser("wrong", lambda it: 1 // (len(it) % 3), ("a",), int)
    count, told = attempts(wrong, 100, random.Random(1))
    assert count < 100
    assert "ZeroDivisionError" in told
    with pytest.raises(AssertionError, match="returned int"):
        Parser("other", len, ("a",), str).tried("x")

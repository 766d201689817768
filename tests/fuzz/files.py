"""Readers of files: journals, run folders of strangers, datasets, tables, compiled players."""

import gzip
import io
import json
import random
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fuzz.trying import Parser

from raybench.autobench.analysis import tables
from raybench.compare.finding import Places, found
from raybench.compare.results import estimate
from raybench.compare.runs import Stored
from raybench.errors import RaybenchError
from raybench.experiments.autobench import given
from raybench.pipeline import compiled, store
from raybench.pipeline import files as rows
from raybench.pipeline.journal import Journal
from raybench.pipeline.storage import segments
from raybench.pipeline.storage.lease import Broken, Lease
from raybench.pipeline.typed import config_in
from raybench.players.parts.programs.saved import Saved
from raybench.saved import _loaded
from raybench.tracking.mlflow import killed, spool

JSON = (
    '{"',
    '": ',
    "{",
    "}",
    "[",
    "]",
    ",",
    '"',
    "null",
    "true",
    "1",
    "1e999",
    "-",
    "\\u",
    "\n",
    "\r\n",
    "[[[[",
    "NaN",
)
LINES = ('{"unit": 1}\n', '{"a": {"b": [1, 2]}}\n', "\n", "{}\n", "[]\n", "1\n", '"x"\n', *JSON)
YAML = (
    *(
        "experiment: games\n",
        "roster:\n",
        "  models:\n",
        "  - name: a\n",
        "  - {name: ",
        "}\n",
        "seed: 1\n",
    ),
    *(
        "&a ",
        "*a",
        "!!python/object/apply:os.system [id]\n",
        "!!binary ",
        "? ",
        ": ",
        "- ",
        "|\n",
        ">\n",
    ),
    *(
        "2001-99-99",
        "0x",
        "<<: ",
        "%YAML 9.9\n",
        "---\n",
        "...\n",
        "[",
        "{",
        "${oc.env:HOME}",
        "???\n",
    ),
    *(
        "# raybench 0.1\n",
        "# ray 2.60\n",
        '"\\x',
        "'",
        "\t",
        "games:\n",
        "  rules: ",
        "1:1:1",
        ".inf",
    ),
)
RESULTS = (
    *(
        '{"run": {',
        '"models": {',
        '"counts": {',
        '"m": {',
        '"x": {"value": ',
        "null",
        "}",
        '"ci95": [',
    ),
    *('"data": {"a": {"digest": ', '"n": "', ",", "]", '"simulated": true', *JSON),
)
TABLE = (
    "model,score\n",
    "a,61.3\n",
    "b,",
    "c,1%\n",
    '"',
    ",",
    ";",
    "nan",
    "inf",
    "\n",
    "\r",
    "1e400",
)
PLAYER = (
    '{"about": {',
    '"made": {',
    '"program": {',
    '"digest": "',
    '"module": ',
    '"actions": ',
    *JSON,
)
SPOOLED = (
    '{"kind": "open"}\n',
    '{"kind": "end", "at_ms": 1}\n',
    '{"kind": ',
    '"started_ms": ',
    *LINES,
)
LEASE = (
    '{"generation": 1, "owner": "ab", "beat": 0, "at_work": true, "tail": [1, "ab"], "journals": {',
    '"units": {"merged": [9, "0f"], "first": 0, "spans": [[1, "ab", 0, 1]]}',
    '"../x": ',
    '"merged": null, ',
    '"spans": [',
    "}}",
    "1e999",
    *JSON,
)
SEGMENTS = ("journal/", "units/", "000001-ab-00000000-9-", "0123456789abcdef", ".jsonl", "../", "-")
NAMES = ("runs/", "../", "/", ":", "config.yaml", "\x00", "a" * 32, "~", "x" * 300, "model", "..")


def parsers() -> Iterator[Parser]:
    """Yield the readers of files."""
    ours: tuple[type[Exception], ...] = (RaybenchError,)
    yield Parser("journal.Journal", _in("j.jsonl", _journal), LINES, list, ours, binary=True)
    for name in (store.RESULTS, store.INPUTS):
        yield Parser(f"store.{name}", _in(name, _of_store), RESULTS, dict, ours, binary=True)
    for end in rows.ENDINGS:
        own = TABLE if rows.is_table(f"x{end}") else LINES
        reader = _in(f"rows{end}", lambda it: list(rows.rows(it)))
        yield Parser(f"files{end}", reader, own, list, ours, binary=True)
    for end, change in ((".parquet", _damaged), (".jsonl.gz", gzip.compress)):
        reader = _in(f"rows{end}", lambda it: list(rows.rows(it)), change)
        yield Parser(f"files.whole{end}", reader, LINES, list, ours, binary=True)
    yield Parser("storage.lease", _lease, LEASE, dict, (Broken,), binary=True)
    yield Parser("storage.segments", lambda it: segments.read([it]), SEGMENTS, list)
    yield Parser("tables.external", _in("t.csv", _table), TABLE, tables.Table, ours, binary=True)
    yield Parser("autobench.given", _in("t.jsonl", _tasks), LINES, tuple, ours, binary=True)
    yield Parser("compiled.read", _in("a.json", compiled.read), PLAYER, object, ours, binary=True)
    saved = Parser("players.saved", lambda it: Saved.of(it, "x"), PLAYER, Saved, (ValueError,))
    yield saved
    yield Parser("saved.config", _in(store.CONFIG, _saved), YAML, dict, ours, binary=True)
    yield Parser(
        "typed.config", _in(store.CONFIG, config_in), YAML, object, ours, binary=True, heavy=True
    )
    yield Parser("compare.config", _in(store.CONFIG, _stored), YAML, object, ours, binary=True)
    yield Parser(
        "compare.results", _beside(store.RESULTS, _results), RESULTS, object, ours, binary=True
    )
    yield Parser(
        "compare.headline", _beside(store.HEADLINE, _headline), LINES, str, ours, binary=True
    )
    yield Parser(
        "compare.journal", _beside("journal/units.jsonl", _lines), LINES, list, ours, binary=True
    )
    yield Parser("compare.names", _named, NAMES, object, ours)
    yield Parser(
        "compare.mlflow.json",
        _beside("mlflow.json", _remembered),
        RESULTS,
        object,
        ours,
        binary=True,
    )
    # What is no entry of ours ends the sending of that run, which says so.
    unlike = (*ours, LookupError, TypeError, ValueError, AttributeError)
    ended = _in(spool.SPOOL, lambda it: list(killed.last_words(it.parent)))
    yield Parser("spool.last_words", ended, SPOOLED, list, unlike, binary=True)
    yield Parser(
        "spool.mlflow.jsonl", _in(spool.SPOOL, _spooled), SPOOLED, object, ours, binary=True
    )
    yield Parser("spool.mlflow.json", _in(spool.SENT, _sent), RESULTS, object, ours, binary=True)


def _in(
    name: str, call: Callable[[Path], Any], change: Callable[[bytes], bytes] = bytes
) -> Callable[[bytes], Any]:
    """Return what has a file of these bytes read, or of what they are changed into."""

    def read(told: bytes) -> Any:
        with TemporaryDirectory(prefix="fuzz") as folder:
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(change(told))
            return call(path)

    return read


def _beside(name: str, call: Callable[[Stored], Any]) -> Callable[[bytes], Any]:
    """Return what has a file of these bytes read in the folder of a run that is whole else."""

    def read(path: Path) -> Any:
        folder = path.parents[len(Path(name).parts) - 1]
        (folder / store.CONFIG).write_text("{experiment: games, roster: {models: [{name: m}]}}")
        return call(Stored.at(folder))

    return _in(name, read)


@cache
def _parquet() -> bytes:
    import pyarrow
    import pyarrow.parquet

    table = {"text": ["x", "y" * 50, None], "whole": [1, 2, 3], "many": [[1.5], [2.0, 3.0], []]}
    written = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table(table), written, compression="snappy")
    return written.getvalue()


def _damaged(told: bytes) -> bytes:
    """Return a whole Parquet file of which some bytes are others, as these say."""
    rng, found = random.Random(told), bytearray(_parquet())
    for _ in range(rng.choice((1, 1, 2, 5, 20))):
        found[rng.randrange(len(found))] = rng.choice((0, 255, 128, rng.randrange(256)))
    return bytes(found)


def _journal(path: Path) -> list[Any]:
    journal = Journal(path)
    try:
        read, size = len(journal.records), path.stat().st_size
        journal.append({"unit": "new"})  # what was read can be gone on with
        journal.close()
        again = Journal(path)
        assert [*again.records[:read], {"unit": "new"}] == again.records
        assert path.read_bytes()[:size].count(b"\n") == read
        again.close()
        return again.records
    finally:
        journal.close()


def _lease(told: bytes) -> dict[str, Any]:
    lease = Lease.of(told)
    assert Lease.of(lease.text().encode()) == lease
    return lease.history([])


def _of_store(path: Path) -> dict[str, Any]:
    return store._told(path.parent) | store.inputs_of(path.parent)


def _table(path: Path) -> tables.Table:
    return tables.read("t", str(path), ["a", "b", "c"])


def _tasks(path: Path) -> tuple[Any, ...]:
    return given.read(path, "autobench.tasks")


def _saved(path: Path) -> dict[str, Any]:
    return _loaded(str(path))


def _stored(path: Path) -> object:
    run = Stored.at(path.parent)
    return run.models, run.versions, run.section, run.simulated, run.samples("x")


def _results(run: Stored) -> object:
    told = [estimate(it) for of in run.results.get("models", {}).values() for it in of.values()]
    return told, run.data, run.inputs, run.digest("a"), run.without("models", "m")


def _headline(run: Stored) -> str:
    return run.ranked_by


def _lines(run: Stored) -> list[Any]:
    listed = list(run.lines("units"))
    for it in listed:
        # As it was written, NaN and all.
        assert json.dumps(run.at_offset("units", it.number, it.offset)) == json.dumps(it.record)
    return listed


def _named(told: str) -> object:
    with TemporaryDirectory(prefix="fuzz") as folder:
        return found(told, Places(Path(folder), f"sqlite:///{folder}/none.db"))


def _remembered(run: Stored) -> object:
    return found("a" * 32, Places(run.folder.parents[1], f"sqlite:///{run.folder}/none.db"))


def _spooled(path: Path) -> object:
    assert spool.ended(path.parent) in (True, False)
    assert spool.address(path.parent) is None or spool.opened(path.parent)
    entries = spool.Spool(path.parent)
    entries.append({"kind": "again"})
    entries.close()
    return [it for it, _ in spool.read(path.parent)][-1]


def _sent(path: Path) -> object:
    return list(spool._all_sent(path.parent))

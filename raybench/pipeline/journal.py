"""Journals: append-only JSON lines, of which each is on the disk before it counts."""

import contextlib
import json
import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from raybench.errors import Problem, RunFailed
from raybench.reading import from_json

Keep = Callable[[dict[str, Any]], Any]


def whole_record(record: dict[str, Any]) -> dict[str, Any]:
    """Keep all of a record."""
    return record


class Journal:
    """Append-only JSON lines, one record per unit; each is on the disk when `append` returns.

    `keep` makes of each record what stays in memory of it: texts need not. `stored` writes lines
    to where they have to be as well before they count.
    """

    def __init__(
        self, path: Path, keep: Keep = whole_record, stored: Callable[[bytes], None] | None = None
    ) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self.records: list[Any] = []
        self._keep = keep
        self._stored = stored
        self._file = path.open("a+b")
        self._recover()

    def append(self, record: Mapping[str, Any]) -> None:
        """Write the record durably, then count it."""
        self.extend([record])

    def extend(self, records: Sequence[Mapping[str, Any]]) -> None:
        """Write the records durably, then count them."""
        lines = (json.dumps(record, ensure_ascii=False, allow_nan=False) for record in records)
        try:
            # Half a surrogate pair is no text, but an endpoint may send one; json reads it back.
            text = "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogatepass")
            self._file.write(text)
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise RunFailed(
                Problem(
                    "file.unwritable",
                    f"the journal {self.path} cannot be written: {error}",
                    given=str(self.path),
                    fix="Mend that; what it holds is kept",
                )
            ) from error
        if self._stored and text:
            self._stored(text)
        first = len(self.records) + 1
        self.records += [self._kept(dict(it), n) for n, it in enumerate(records, start=first)]

    def close(self) -> None:
        """Close the file."""
        with contextlib.suppress(OSError):  # `append` has said what could not be written
            self._file.close()

    def _recover(self) -> None:
        """Read what is there; cut off a last line that a killed process left half-written."""
        self._file.seek(0)
        good = 0
        for number, line in enumerate(self._file, start=1):
            if not line.endswith(b"\n"):
                break  # torn: its unit never counted and is done again
            try:
                record = from_json(line)
                if not isinstance(record, dict):
                    raise ValueError("no object")
            except ValueError as error:
                raise self._refusal(number, error) from error
            self.records.append(self._kept(record, number))
            good += len(line)
        self._file.truncate(good)

    def _kept(self, record: dict[str, Any], number: int) -> Any:
        """Return what stays in memory of a record, which stands on this line of the file."""
        try:
            return self._keep(record)
        # ArithmeticError: a number that no counter holds.
        except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError) as error:
            raise self._refusal(number, error) from error

    def _refusal(self, number: int, error: Exception) -> RunFailed:
        """Return the error that names a line which cannot be read or counted."""
        why = f"it lacks {error}" if isinstance(error, KeyError) else f"{error}"
        path = shlex.quote(str(self.path))
        return RunFailed(
            Problem(
                "journal.invalid",
                f"{self.path}, line {number}, is not what a run leaves ({why})",
                given=f"{self.path}, line {number}",
                fix=f"Set the line aside with: sed -i.bak {number}d {path} (the file as it was is "
                "kept next to it, and what the line held is done again), or start anew with "
                "resume=false",
            )
        )

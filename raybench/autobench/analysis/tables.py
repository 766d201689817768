"""Scores of models from elsewhere: a CSV of model and score, read with its mistakes told.

The paper compares with MMLU-Pro and GPQA (its tables 1 and 3). The text of the paper that we have
lost every number of both, so that no such table ships: users give their own.
"""

import csv
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from raybench.errors import ConfigurationError, closest

FEWEST = 3
"""Fewer models have hardly an order to agree on."""


@dataclass(frozen=True)
class Table:
    """What another benchmark says of the models."""

    name: str
    scores: Mapping[str, float]
    missing: tuple[str, ...] = ()
    """Models of ours that it does not have."""


def read(name: str, path: str, models: Sequence[str]) -> Table:
    """Read a table: a line of two headings, then a model of ours and its score on each line.

    A mark of byte order, blank lines, spaces and percent signs are taken. Raises
    ConfigurationError with everything that is wrong, each with its line.
    """
    file = Path(path).expanduser()
    try:
        text = file.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise ConfigurationError(
            f"autobench.external.{name}: there is no file '{path}': give the path of a CSV with a "
            "line 'model,score' and a line for each model"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no text in UTF-8"
        raise ConfigurationError(
            f"autobench.external.{name}: '{path}' cannot be read ({why}): give a readable CSV of "
            "model and score"
        ) from error
    return parse(text, name, path, models)


def parse(text: str, name: str, where: str, models: Sequence[str]) -> Table:
    """Return the table that a CSV's text holds; `where` is what its mistakes are told with."""
    scores: dict[str, float] = {}
    lines: dict[str, int] = {}
    wrong: list[str] = []
    headed = False  # by whatever names
    for line, cells in _rows(text):
        at = f"{where}:{line}"
        if not headed:
            headed = True
            if len(cells) == 2 and _number(cells[1]) is not None:
                wrong.append(f"{at}: the first line is headings, such as 'model,score': add it")
            elif len(cells) != 2:
                wrong.append(_columns(at, cells))
            continue
        if len(cells) != 2:
            wrong.append(_columns(at, cells))
            continue
        model, score = cells[0], _number(cells[1])
        if model not in models:
            close = closest(model, models)
            mend = f"did you mean '{close}'?" if close else "the roster has no such model:"
            wrong.append(
                f"{at}: unknown model '{model}': {mend} Name it as the roster does, or take the "
                "line out"
            )
        elif model in lines:
            wrong.append(f"{at}: '{model}' stands in line {lines[model]} already: keep one")
        elif score is None:
            wrong.append(f"{at}: '{cells[1]}' is no number: give the score of '{model}', like 61.3")
        else:
            scores[model] = score
        lines.setdefault(model, line)
    if not wrong and len(scores) < FEWEST:
        wrong.append(
            f"{where} has {len(scores)} of the roster's models: rankings are compared over "
            f"{FEWEST} or more"
        )
    if wrong:
        raise ConfigurationError(f"autobench.external.{name}: " + "\n    ".join(wrong))
    return Table(name, scores, tuple(model for model in models if model not in scores))


def problems(external: Mapping[str, str], models: Sequence[str]) -> Iterator[str]:
    """Yield what is wrong with the tables that the configuration names."""
    for name, path in external.items():
        try:
            read(name, path, models)
        except ConfigurationError as error:
            yield str(error)


def _rows(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the lines that hold something, numbered from 1, without the space around cells."""
    reader = csv.reader(text.splitlines())
    for cells in reader:
        if any(cell.strip() for cell in cells):
            yield reader.line_num, [cell.strip() for cell in cells]


def _number(text: str) -> float | None:
    try:
        number = float(text.removesuffix("%").strip())
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _columns(at: str, cells: Sequence[str]) -> str:
    many = "one column" if len(cells) == 1 else f"{len(cells)} columns"
    return f"{at}: {many} where two are expected: give a model, a comma and its score"

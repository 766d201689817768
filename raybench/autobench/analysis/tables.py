"""Scores of models from elsewhere: a CSV of model and score, read with its mistakes told.

The paper compares with MMLU-Pro and GPQA (its tables 1 and 3). The text of the paper that we have
lost every number of both, so that no such table ships: users give their own.
"""

import csv
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from raybench.csv_cells import unguard_cell
from raybench.errors import ConfigurationError, Problem, closest
from raybench.paths import expanded
from raybench.statements import Statement

FEWEST = 3
"""Fewer models have hardly an order to agree on."""
SETTING = "autobench.external"
_MODEL, _SCORE = "model", "score"
_NAMED = 5
"""Names that a remark has one by one."""


@dataclass(frozen=True)
class Table:
    """What another benchmark says of the models."""

    name: str
    scores: Mapping[str, float]
    missing: tuple[str, ...] = ()
    """Models of ours that it does not have."""
    others: tuple[str, ...] = ()
    """Models that it has beside ours."""

    @property
    def remark(self) -> str:
        """What is to be said of whom it has and has not; '' where it has exactly ours."""
        if not self.missing and not self.others:
            return ""
        ours = len(self.scores) + len(self.missing)
        meant = {name: of for name in self.others if (of := closest(name, self.missing))}
        guesses = [f"{name} for {of}" for name, of in meant.items()]
        return Statement(
            "table.models",
            "{name} has {there} of the {ours} models{missing}{others}{guesses}",
            name=self.name,
            there=len(self.scores),
            ours=ours,
            missing=f", and not {_several(self.missing)}" if self.missing else "",
            others=f"; not in the roster: {_several(self.others)}" if self.others else "",
            guesses=f" (another name: {_several(guesses)}?)" if guesses else "",
            meant=meant,
        )


def read(name: str, path: str, models: Sequence[str], *, setting: str = SETTING) -> Table:
    """Read a table: a line of headings, then a model and its score on each line.

    Of more than two columns those headed 'model' and 'score' count. Models that are not ours are
    left out, and kept by name. `setting` is where its path is given. A mark of byte order, blank
    lines, spaces and percent signs are taken. Raises ConfigurationError with everything that is
    wrong, each with its line.
    """
    file = expanded(path)
    try:
        text = file.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise ConfigurationError(
            Problem(
                "file.missing",
                f"{setting}.{name}: there is no file '{path}'",
                setting=f"{setting}.{name}",
                given=path,
                fix="give the path of a CSV with a line 'model,score' and a line for each model",
            )
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no text in UTF-8"
        raise ConfigurationError(
            Problem(
                "file.unreadable",
                f"{setting}.{name}: '{path}' cannot be read ({why})",
                setting=f"{setting}.{name}",
                given=path,
                fix="give a readable CSV of model and score",
            )
        ) from error
    return parse(text, name, path, models, setting=setting)


def parse(
    text: str, name: str, where: str, models: Sequence[str], *, setting: str = SETTING
) -> Table:
    """Return the table that a CSV's text holds; `where` is what its mistakes are told with."""
    table, wrong = parse_leniently(text, name, where, models)
    if wrong:
        raise ConfigurationError(
            Problem(
                "file.format",
                f"{setting}.{name}: " + ("\n    ".join(wrong)),
                setting=f"{setting}.{name}",
            )
        )
    return table


def parse_leniently(
    text: str, name: str, where: str, models: Sequence[str]
) -> tuple[Table, list[Statement]]:
    """Return the table that a CSV's text holds, and every mistake in the text."""
    scores: dict[str, float] = {}
    lines: dict[str, int] = {}
    wrong: list[Statement] = []
    places: tuple[int, int] | None = None
    width = 0
    for line, cells in _rows(text):
        at = f"{where}:{line}"
        if not width:
            width, places = len(cells), _places(cells)
            if places is None:
                wrong.append(_headings(at, cells))
                break
            continue
        if places is None or len(cells) != width:
            wrong.append(
                Statement(
                    "table.width",
                    "{at}: its columns are {columns}, those of the headings {width}",
                    at=at,
                    columns=len(cells),
                    width=width,
                )
            )
            continue
        model, told = (cells[place] for place in places)
        model = unguard_cell(model)  # our own leaderboard.csv may be the table
        score = _number(told)
        if model in lines:
            wrong.append(
                Statement(
                    "table.repeated",
                    "{at}: '{model}' stands in line {first} already: keep one",
                    at=at,
                    model=model,
                    first=lines[model],
                )
            )
        elif score is not None:
            scores[model] = score
        elif model in models:
            wrong.append(
                Statement(
                    "table.number",
                    "{at}: '{told}' is no number: give the score of '{model}', like 61.3",
                    at=at,
                    told=told,
                    model=model,
                )
            )
        lines.setdefault(model, line)
    ours = {model: scores[model] for model in models if model in scores}
    others = tuple(model for model in lines if model not in models)
    if not wrong and len(ours) < FEWEST:
        known = f", but {_several(others)}" if others else ""
        wrong.append(
            Statement(
                "table.few_models",
                "{where} has {there} of the roster's models{known}: rankings are compared over "
                "{least} or more, by the names of the roster ({roster})",
                where=where,
                there=len(ours),
                known=known,
                least=FEWEST,
                roster=_several(models),
            )
        )
    return Table(name, ours, tuple(model for model in models if model not in ours), others), wrong


def problems(
    external: Mapping[str, str], models: Sequence[str], *, setting: str = SETTING
) -> Iterator[Problem]:
    """Yield what is wrong with the tables that the configuration names."""
    for name, path in external.items():
        try:
            read(name, path, models, setting=setting)
        except ConfigurationError as error:
            yield from error.problems


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


def _places(headings: Sequence[str]) -> tuple[int, int] | None:
    """Return which columns are the model and its score; None where that cannot be told."""
    if len(headings) == 2:
        return None if _number(headings[1]) is not None else (0, 1)
    names = [heading.lower() for heading in headings]
    if names.count(_MODEL) == 1 and names.count(_SCORE) == 1:
        return names.index(_MODEL), names.index(_SCORE)
    return None


def _headings(at: str, cells: Sequence[str]) -> Statement:
    if len(cells) == 2:
        return Statement(
            "table.no_headings",
            "{at}: the first line is headings, such as 'model,score': add it",
            at=at,
        )
    return Statement(
        "table.columns",
        "{at}: {many} where two are expected, the model and its score: head those two '{model}' "
        "and '{score}'",
        at=at,
        many="one column" if len(cells) == 1 else f"{len(cells)} columns",
        model=_MODEL,
        score=_SCORE,
    )


def _several(names: Sequence[str]) -> str:
    named = ", ".join(names[:_NAMED])
    return named if len(names) <= _NAMED else f"{named} and {len(names) - _NAMED} more"

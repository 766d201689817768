"""The leaderboard: results.json as ranked rows, Markdown and CSV, with every number's caveats."""

import csv
import io
import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from raybench.csv_cells import guard_cell
from raybench.statements import Statement
from raybench.stats.guessing import OPEN, against
from raybench.tracking.text import one_line
from raybench.types import Counts, Estimate, reason_of

BOARD = "leaderboard.md"
"""Its name in a run's folder."""
SIMULATED = (
    "simulated: stand-ins with invented abilities took part; "
    "these numbers say nothing about real models."
)
UNSAFE = (
    "unsafe: programs ran without walls, which let them read and change anything, these results "
    "included."
)

COUNT_MEANINGS: Mapping[str, str] = {
    "ok": "complete replies that could be read, right or wrong",
    "truncated": "replies cut off: at the most tokens allowed, judged as they are, or at a "
    "deadline",
    "unparsed": "replies that are empty, or in which what was asked for (an answer, a rating, "
    "a move) cannot be found",
    "infra_error": "requests to this model that got no reply: never a zero",
    "judge_error": "judgments of this model's replies that are missing, for any reason",
}

_COUNT_NAMES = tuple(Counts().to_json())
_GUESSED = "†"
_ROUNDING = 1e-12
"""By how much of themselves equal scores may differ: shares of few answers lie far wider apart."""
"""How the method of an estimate without a value begins."""
_MOST_NAMED = 3
"""Models that a note names one by one."""


@dataclass(frozen=True, slots=True)
class Column:
    """One metric of the leaderboard. The first column is the headline: it sets the order."""

    key: str
    title: str
    digits: int = 3
    higher_is_better: bool = True
    chance: float | None = None
    """What guessing would score. Estimates that cannot be told from it are marked."""
    place: str = ""
    """The metric of the models' places, where more than the values sets the order: the results then
    have the models in that order."""

    def mark(self, cell: "Cell") -> str:
        """Return the mark of an estimate that cannot be told from guessing, or ''."""
        score = Estimate(cell.value, cell.stderr, cell.ci95, cell.n, cell.method)
        return _GUESSED if against(score, self.chance) == OPEN else ""


@dataclass(frozen=True, slots=True)
class Cell:
    """One model's estimate of one metric. A value of None is a refusal, and method says why.

    An interval with one end may be known all the same.
    """

    value: float | None
    ci95: tuple[float, float] | None
    stderr: float | None
    n: int
    method: str

    @classmethod
    def of(cls, estimate: Estimate) -> "Cell":
        """Return the cell that shows an estimate."""
        return cls(estimate.value, estimate.ci95, estimate.stderr, estimate.n, estimate.method)

    def text(self, digits: int, mark: str = "") -> str:
        """Return '0.731 [0.65, 0.81]', without the interval where there is none, or '—'."""
        return f"{self.number(digits, mark)} {self.interval(digits)}".strip()

    def number(self, digits: int, mark: str = "") -> str:
        """Return '0.731'; '≥ 0.650' where but that end of the interval is known; or '—'."""
        if self.value is not None:
            return f"{self.value:z.{digits}f}{mark}"
        low, high = self.ends
        if low is not None and high is None:
            return f"≥ {low:z.{digits}f}"
        if high is not None and low is None:
            return f"≤ {high:z.{digits}f}"
        return "—"

    @property
    def ends(self) -> tuple[float | None, float | None]:
        """Return the ends of the interval that are known."""
        low, high = self.ci95 or (-math.inf, math.inf)
        return low if math.isfinite(low) else None, high if math.isfinite(high) else None

    @property
    def told(self) -> bool:
        """Tell whether there is anything to show."""
        return self.number(0) != "—"

    def interval(self, digits: int) -> str:
        """Return '[0.65, 0.81]', a digit coarser than the value, or '' where there is none."""
        if self.value is None or self.ci95 is None:
            return ""
        coarse = max(digits - 1, 0)
        low, high = self.ci95
        return f"[{low:z.{coarse}f}, {high:z.{coarse}f}]"


@dataclass(frozen=True, slots=True)
class Board:
    """A further leaderboard, of something else than models, for the terminal and the Markdown."""

    title: str
    lines: Mapping[str, Mapping[str, Estimate]]
    columns: Sequence[Column]
    """The first sets the order."""
    of: str
    """What its lines are."""

    def results(self) -> dict[str, Any]:
        """Return it as results.json has models: their alarms are told where those stand."""
        return {
            "models": {
                name: {key: estimate.to_json() for key, estimate in of.items()}
                for name, of in self.lines.items()
            }
        }


@dataclass(frozen=True, slots=True)
class Row:
    """One model's line. Headlines apart by rounding alone share a rank; a refused one has none.

    Where a metric has the places, the rank is its value, or is known to lie between two.
    """

    rank: int | None
    model: str
    cells: tuple[Cell, ...]
    counts: Mapping[str, int]
    between: tuple[int, int] | None = None

    @property
    def place(self) -> str:
        """Return the rank as it is shown: '1', '2–4' or '—'."""
        if self.rank is None and self.between is not None:
            return f"{self.between[0]}–{self.between[1]}"
        return str(self.rank or "—")


def rows(results: Mapping[str, Any], columns: Sequence[Column]) -> list[Row]:
    """Return every model's row, best headline first, refused ones last in their given order.

    Where the headline has a metric for the places, the order is the given one.
    """
    models, counts = results.get("models", {}), results.get("counts", {})
    lines = [
        Row(
            rank=None,
            model=name,
            cells=tuple(_cell(models.get(name, {}).get(column.key)) for column in columns),
            counts=dict.fromkeys(_COUNT_NAMES, 0) | dict(counts.get(name, {})),
        )
        for name in dict.fromkeys([*models, *counts])
    ]
    if not columns:
        return lines
    if columns[0].place:
        return [_placed(line, models.get(line.model, {}).get(columns[0].place)) for line in lines]
    sign = -1.0 if columns[0].higher_is_better else 1.0

    def order(row: Row) -> float:
        value = row.cells[0].value
        return math.inf if value is None else sign * value

    ranked: list[Row] = []
    for place, row in enumerate(sorted(lines, key=order), start=1):
        rank: int | None = place
        if row.cells[0].value is None:
            rank = None
        elif ranked and _alike(ranked[-1].cells[0].value, row.cells[0].value):
            rank = ranked[-1].rank
        ranked.append(Row(rank, row.model, row.cells, row.counts))
    return ranked


def unsafe(results: Mapping[str, Any]) -> bool:
    """Tell whether replies that are programs ran without walls, be it on one node of many."""
    ran = results.get("run", {}).get("programs", {}).get("ran", ())
    return any(place["backend"] == "unsafe" for place in ran)


def alarms(results: Mapping[str, Any]) -> list[str]:
    """Return what has to be read before any number is."""
    told = {SIMULATED: bool(results.get("simulated")), UNSAFE: unsafe(results)}
    held = [alarm for alarm, holds in told.items() if holds]
    return [*held, *_screened_by_simulated(results), *_overflowed(results)]


def _screened_by_simulated(results: Mapping[str, Any]) -> list[str]:
    """Return a warning where simulated models chose the questions, whoever answers them."""
    run = results.get("run", {})
    if run.get("screening", {}).get("simulated") and not results.get("simulated"):
        return [
            Statement(
                "alarm.simulated_screening",
                "simulated: simulated models screened questions of this dataset; real models may "
                "answer them.",
            )
        ]
    data = run.get("data")
    names = [
        name
        for name, part in (data.items() if isinstance(data, Mapping) else ())
        if isinstance(part, Mapping) and part.get("screened_by_simulated")
    ]
    if not names:
        return []
    return [
        Statement(
            "alarm.simulated_questions",
            "simulated: simulated models screened the questions of {benchmarks}; scores on them "
            "cannot be compared with scores on other questions.",
            benchmarks=", ".join(names),
        )
    ]


def _overflowed(results: Mapping[str, Any]) -> list[str]:
    """Return a warning for each model that no prompt of some benchmark fits."""
    return [
        Statement(
            "alarm.overflow",
            "{model} has no score in {benchmarks}: no prompt fits into the context that it is "
            "served with. Serve it with a larger context, or leave it out.",
            model=model,
            benchmarks=", ".join(of),
            prompts=sum(of.values()),
        )
        for model, of in results.get("run", {}).get("overflowed", {}).items()
    ]


def counts_shown(lines: Iterable[Row]) -> list[str]:
    """Return the counts that are not zero for every model, in their usual order."""
    table = list(lines)
    names = dict.fromkeys(name for row in table for name in row.counts)
    return [name for name in names if any(row.counts.get(name) for row in table)]


def refusals(lines: Iterable[Row]) -> dict[str, int]:
    """Return why numbers were refused, each reason with the number of its footnote."""
    reasons = (cell.method for row in lines for cell in row.cells if cell.value is None)
    return {reason: mark for mark, reason in enumerate(dict.fromkeys(reasons), start=1)}


def measured(
    results: Mapping[str, Any], columns: Sequence[Column], of: str = "model"
) -> tuple[list[Column], list[str]]:
    """Return the columns in which some model has a number, and why the others have none.

    The first one stays in any case: it sets the order.
    """
    lines = rows(results, columns)
    shown, why = list(columns[:1]), list[str]()
    for place, column in enumerate(columns[1:], start=1):
        cells = [row.cells[place] for row in lines]
        if any(cell.told for cell in cells):
            shown.append(column)
        elif reasons := dict.fromkeys(_reason(cell) for cell in cells):
            why.append(
                Statement(
                    "leaderboard.no_number",
                    "{column}: not computed: {reasons}",
                    column=column.title,
                    of=of,
                    reasons="; ".join(reasons),
                )
            )
    return shown, why


def _reason(cell: Cell) -> str:
    return reason_of(one_line(cell.method))


def notes(lines: Sequence[Row], columns: Sequence[Column], of: str = "model") -> list[str]:
    """Return what is to be read below the table: the order, the methods, the marks."""
    told = [ranking(lines, columns, of), *methods(lines, columns), guesses(lines, columns)]
    return [note for note in told if note]


def ranking(lines: Sequence[Row], columns: Sequence[Column], of: str = "model") -> str:
    """Return by what the models are ranked, and which columns could not be used for that."""
    return "; ".join(ranked_by(lines, columns, of))


def ranked_by(lines: Sequence[Row], columns: Sequence[Column], of: str = "model") -> list[str]:
    """Return the parts of that text: what sets the order, then what is to be known about it."""
    if not lines or not columns:
        return []
    none = [
        column.title
        for place, column in enumerate(columns)
        if not any(row.cells[place].told for row in lines)
    ]
    refused = Statement(
        "ranking.refused",
        "{columns} could not be computed for any {of}",
        columns=_listed(none),
        of=of,
    )
    head = columns[0]
    if head.place and any(row.place != "—" for row in lines):
        parts: list[str] = [
            Statement(
                "ranking.groups",
                "Ranked by group, as wins lead only from a higher to a lower one, then by {column}",
                column=head.title,
            )
        ]
        if any(row.between for row in lines):
            parts.append(
                Statement(
                    "ranking.between",
                    "where not all groups are compared, a rank is a range",
                )
            )
        if any(row.place == "—" for row in lines):
            parts.append(
                Statement(
                    "ranking.compared_with_none",
                    "a {of} without any comparison has no rank",
                    of=of,
                )
            )
        return [*parts, refused] if none else parts
    if head.title in none:
        return [Statement("ranking.none", "Not ranked: {refused}", refused=refused)]
    lower = "" if head.higher_is_better else ", the lower the better"
    parts = [
        Statement("ranking.score", "Ranked by {column}{lower}", column=head.title, lower=lower)
    ]
    if any(row.rank is None for row in lines):
        parts.append(Statement("ranking.without_score", "a {of} without it has no rank", of=of))
    if _rounded_alike(lines, head):
        parts.append(
            Statement(
                "ranking.rounded",
                "where the same number is shown, digits that are not shown decide",
            )
        )
    return [*parts, refused] if none else parts


def _rounded_alike(lines: Sequence[Row], head: Column) -> bool:
    """Tell whether two lines of different ranks show the same number."""
    shown = {(row.place, row.cells[0].number(head.digits)) for row in lines if row.rank is not None}
    return len({number for _, number in shown}) < len(shown)


def remarked(remarks: Mapping[str, str]) -> list[str]:
    """Return the footnotes on the run itself, which follow those on the table."""
    return [f"{name}: {text}" for name, text in remarks.items()]


def methods(lines: Sequence[Row], columns: Sequence[Column]) -> list[str]:
    """Return how numbers were made, and over how many items; columns made alike share a line."""
    alike: dict[str, dict[str, str]] = {}
    lower = {column.title for column in columns if not column.higher_is_better}
    for place, column in enumerate(columns):
        cells = {row.model: row.cells[place] for row in lines if row.cells[place].value is not None}
        if cells:
            told = {model: one_line(cell.method) for model, cell in cells.items()}
            sizes = [cell.n for cell in cells.values()]
            least, most = f"{min(sizes):,}", f"{max(sizes):,}"
            n = least if least == most else f"{least}–{most}"
            method = _without_title(_together(told), column.title)
            alike.setdefault(method, {})[column.title] = n
    return [
        Statement(
            "leaderboard.method",
            "{columns}: {method} (n = {n}{direction})",
            columns=", ".join(sizes),
            method=method,
            n=", ".join(_once([*sizes.values()])),
            direction=_direction([*sizes], lower),
        )
        for method, sizes in alike.items()
    ]


def _direction(titles: Sequence[str], lower: Collection[str]) -> str:
    """Return which columns of a footnote are the better the lower they are, or ''."""
    found = [title for title in titles if title in lower]
    if not found:
        return ""
    return f"; {_listed(found) + ': ' if len(found) < len(titles) else ''}lower is better"


def guesses(lines: Sequence[Row], columns: Sequence[Column]) -> str:
    """Return what the mark of guessing means, where a number bears it, or ''."""
    marked = [
        f"{column.title} {column.chance:.{column.digits}f}"
        for place, column in enumerate(columns)
        if any(column.mark(row.cells[place]) for row in lines)
    ]
    if not marked:
        return ""
    return Statement(
        "leaderboard.guesses",
        "{mark} not distinguishable from guessing, which would score: {scores}",
        mark=_GUESSED,
        scores=", ".join(marked),
    )


def _together(methods_of: Mapping[str, str]) -> str:
    """Return the methods of several models as one: what they share, then who differs in what."""
    clauses = {model: method.split("; ") for model, method in methods_of.items()}
    every = dict.fromkeys(clause for of in clauses.values() for clause in of)
    having = {clause: [name for name, of in clauses.items() if clause in of] for clause in every}
    shared = [clause for clause in every if len(having[clause]) == len(clauses)]
    own = [
        f"{clause} ({_few(models)})"
        for clause, models in having.items()
        if len(models) < len(clauses)
    ]
    return "; ".join(shared + own)


def _without_title(method: str, title: str) -> str:
    """Return the method without what the title already says: 'Rating', 'Index (partial)'."""
    method = method.removeprefix(f"{title.lower()}; ")
    found = re.search(r"\((\w+)\)$", title)
    return method.removeprefix(f"{found[1]}: ") if found else method


def _few(names: Sequence[str]) -> str:
    shown = [one_line(name) for name in names[:_MOST_NAMED]]
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def _listed(names: Sequence[str]) -> str:
    return " and ".join([*([", ".join(names[:-1])] if len(names) > 1 else []), *names[-1:]])


def _once(values: Sequence[str]) -> Sequence[str]:
    return values[:1] if len(set(values)) == 1 else values


def to_markdown(
    results: Mapping[str, Any],
    columns: Sequence[Column],
    remarks: Mapping[str, str] = MappingProxyType({}),
    *,
    of: str = "model",
    known: Mapping[str, int] = MappingProxyType({}),
) -> str:
    """Return leaderboard.md: the table, footnotes for refused numbers, how the rest was made.

    Without models there is no table. `remarks` are what is to be said of the run, by short names;
    `of` is what the lines are, and `known` are the footnotes that stand above already.
    """
    lines = rows(results, columns)
    marks, below = dict[str, int](), list[str]()
    for reason in refusals(lines):
        note = _escaped(reason)
        marks[reason] = known.get(note, len(known) + len(below) + 1)
        below += [f"[^{marks[reason]}]: {note}"] * (note not in known)
    counts = counts_shown(lines)
    head = ["rank", of, *(column.title for column in columns), *counts]
    right = ["---:", "---", *["---:"] * (len(columns) + len(counts))]
    table = [[_escaped(name) for name in head], right]
    for row in lines:
        values = [
            cell.text(column.digits, column.mark(cell))
            + (f"[^{marks[cell.method]}]" if cell.value is None else "")
            for cell, column in zip(row.cells, columns, strict=True)
        ]
        numbers = [str(row.counts.get(name, 0)) for name in counts]
        table.append([row.place, _escaped(row.model), *values, *numbers])
    blocks = [
        *([f"**{alarm}**"] for alarm in alarms(results)),
        [f"| {' | '.join(line)} |" for line in table if lines],
        below,
        [_item(note) for note in [*notes(lines, columns, of), *remarked(remarks)]],
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def with_boards(text: str, boards: Sequence[Board]) -> str:
    """Return leaderboard.md with further leaderboards below it."""
    blocks, footnotes = [text], re.compile(r"^\[\^(\d+)\]: (.*)$", re.MULTILINE)
    for board in boards:
        known = {note: int(mark) for mark, note in footnotes.findall("\n".join(blocks))}
        shown = to_markdown(board.results(), board.columns, of=board.of, known=known)
        blocks.append(f"## {_escaped(board.title)}\n\n{shown}")
    return "\n".join(blocks)


def to_csv(results: Mapping[str, Any], columns: Sequence[Column], of: str = "model") -> str:
    """Return leaderboard.csv: all digits, bounds, sizes, methods and counts, a column each."""
    lines = rows(results, columns)
    counts = list(dict.fromkeys(name for row in lines for name in row.counts)) or _COUNT_NAMES
    parts = ("ci_low", "ci_high", "stderr", "n", "method")
    keys = [name for c in columns for name in (c.key, *(f"{c.key}/{part}" for part in parts))]
    stamps = {"simulated": bool(results.get("simulated")), "unsafe": unsafe(results)}
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(map(guard_cell, ["rank", of, *keys, *counts, *stamps]))
    for row in lines:
        values: list[object] = []
        for cell in row.cells:
            values += [
                cell.value,
                *cell.ends,
                cell.stderr,
                cell.n,
                guard_cell(one_line(cell.method)),
            ]
        numbers = [row.counts.get(name, 0) for name in counts]
        stamped = [str(stamp).lower() for stamp in stamps.values()]
        rank = row.rank if row.between is None else row.place
        writer.writerow([rank, guard_cell(one_line(row.model)), *values, *numbers, *stamped])
    return out.getvalue()


def _cell(estimate: Mapping[str, Any] | None) -> Cell:
    if estimate is None:
        return Cell(None, None, None, 0, "not measured")
    value, ci95, method = estimate.get("value"), estimate.get("ci95"), estimate.get("method", "")
    if value is None or not math.isfinite(value):
        low, high = ci95 or (None, None)
        ends = (-math.inf if low is None else low, math.inf if high is None else high)
        why = method or "not computed, without a reason"
        return Cell(None, ends if ci95 else None, None, estimate.get("n", 0), why)
    bounds = None if ci95 is None or None in ci95 else (float(ci95[0]), float(ci95[1]))
    return Cell(float(value), bounds, estimate.get("stderr"), estimate.get("n", 0), method)


def _placed(row: Row, place: Mapping[str, Any] | None) -> Row:
    value, ends = (place or {}).get("value"), (place or {}).get("ci95")
    if value is not None:
        return replace(row, rank=int(value))
    return replace(row, between=(int(ends[0]), int(ends[1])) if ends else None)


def _alike(one: float | None, other: float | None) -> bool:
    """Tell whether two values are the same but for the order in which they were added up."""
    return one is not None and other is not None and math.isclose(one, other, rel_tol=_ROUNDING)


def _item(note: str) -> str:
    """Return a footnote as an item of a list; a command in its second line as a block of code."""
    text, _, command = note.partition("\n")
    return f"- {_escaped(text)}" + (f"\n\n      {one_line(command)}\n" if command else "")


def _escaped(text: str) -> str:
    """Return a name as Markdown text: no markup, no HTML, no cell of its own."""
    line = one_line(text)
    # An underscore inside a word is no markup, and most names have one.
    line = re.sub(r"[\\`*\[\]|]|(?<![^\W_])_|_(?![^\W_])", r"\\\g<0>", line)
    return line.replace("&", "&amp;").replace("<", "&lt;")

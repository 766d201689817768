"""A comparison in the terminal: coloured there, plain and unbroken in a file.

What decides comes first: of several pairs the table of their verdicts, of one its scores. Details
follow pair by pair, of many those that moved; what is so of several is said once, before them.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TextIO

from raybench.compare.found import Concluded, Judged, Pair, Setting, Table, Word
from raybench.compare.shown import flipped, summary
from raybench.compare.shown.once import Own, Shared, once
from raybench.compare.shown.rows import Row
from raybench.compare.shown.told import simulated
from raybench.compare.shown.words import P_HOLM, WOULD_SHOW, P, explained, held_apart
from raybench.tracking.leaderboard import SIMULATED
from raybench.tracking.text import one_line

_STYLES: dict[Word, str] = {"better": "bold green", "worse": "bold red", "refused": "dim"}
_OVERALL: dict[str, str] = {"better": "bold green", "worse": "bold red", "mixed": "bold yellow"}
_MOST = 12
"""Settings that differ shown; JSON and the page have all."""
_ROWS = 40
"""Lines of a table of facts shown; likewise."""
_PAIRS = 4
"""Pairs printed with all their scores; of more, those that moved."""
_LEFT = (
    "Scores and notes of {left:,} of {all:,} pairs are left out here: --details {all} prints them, "
    "RUN:MODEL one of them, and --html FILE, --out DIR and --json have all."
)
_ABOUT = "Differences are the candidate's less the baseline's, with 95 % intervals."


@dataclass(frozen=True, slots=True)
class Wanted:
    """How much of the details is asked for; None: what most people want to see."""

    pairs: int | None = None
    """Pairs with all their scores, those that moved first."""
    flips: int | None = None
    """Flipped items of each benchmark and direction."""


def show(
    found: Sequence[Concluded],
    notes: Sequence[str],
    file: TextIO | None = None,
    wanted: Wanted = Wanted(),
) -> None:
    """Print what decides, what it means, and the pairs that moved."""
    from rich.console import Console
    from rich.text import Text

    out = file or sys.stdout
    console = Console(file=out, highlight=False)
    if not console.is_terminal:
        # A file has room for everything, and whoever searches it wants unbroken lines.
        console = Console(file=out, highlight=False, width=400)
    said, runs = once(found), _runs(found)
    with console.capture() as capture:
        if simulated(found):
            console.print(Text(SIMULATED, style="bold yellow"), soft_wrap=not console.is_terminal)
        if len(found) > 1:
            if sum(bool(it.scores) for it in found) > 1:
                headline = Text(one_line(summary.headline(found)), style="bold")
                console.print(headline, soft_wrap=not console.is_terminal)
            everywhere = [it for it in said.settings if it.everywhere]
            _dim(console, [*runs, *_apart(everywhere)])
            _fitting(console, _summary(found), lambda: _summary_compact(found))
            some = [it for it in said.settings if not it.everywhere]
            of = (it.told for it in said.notes)
            _dim(console, [_ABOUT, summary.ABOUT, *explained(found), *notes, *of, *_apart(some)])
        detailed = _detailed(found, wanted.pairs)
        for place, (it, own) in enumerate(zip(found, said.own, strict=True)):
            if place in detailed:
                _pair(console, it, own, wanted.flips, sides=not runs)
            elif wanted.flips and any(flipped.lines(it.compared, wanted.flips)):
                _title(console, it.compared.pair)
                _flips(console, it, wanted.flips)
        if left := len(found) - len(detailed):
            console.print()
            _dim(console, [_LEFT.format(left=left, all=len(found))])
        if len(found) == 1:
            _dim(console, [_ABOUT, *explained(found), *notes])
    encoding = out.encoding or "utf-8"
    for line in capture.get().splitlines():
        print(line.rstrip().encode(encoding, "replace").decode(encoding), file=out)


def _detailed(found: Sequence[Concluded], wanted: int | None) -> Sequence[int]:
    """Return the places of the pairs of which all is printed: so many, or those that say most.

    The only one; of a few those in which anything differs, of many those that moved.
    """
    if wanted is not None or len(found) == 1:
        return range(len(found))[: 1 if wanted is None else max(wanted, len(found) == 1)]
    few = len(found) <= _PAIRS
    told = (
        place
        for place, it in enumerate(found)
        if not it.scores or it.verdict in _OVERALL or (few and it.verdict != "identical")
    )
    return list(told)[:_PAIRS]


def _dim(console: Any, lines: Iterable[str]) -> None:
    from rich.text import Text

    for line in lines:
        lead = "  " if line.startswith("  ") else ""
        console.print(Text(lead + one_line(line), style="dim"), soft_wrap=not console.is_terminal)


def _runs(found: Sequence[Concluded]) -> list[str]:
    """Say of which runs all pairs are, where they are of the same ones."""
    pairs = [it.compared.pair for it in found]
    runs = {(it.baseline.run.folder, it.candidate.run.folder) for it in pairs}
    if len(pairs) == 1 or len(runs) > 1:
        return []
    ((one, other),) = runs
    if one == other:
        return [f"All are models of {one}."]
    return [f"Baselines are models of {one}, candidates of {other}."]


def _apart(shared: Sequence[Shared[Setting]]) -> Iterator[str]:
    """Yield which settings differ between the sides of several pairs."""
    if shared:
        settings = [it.what for it in shared]
        yield held_apart(settings)
        of = {it.what: f" ({it.of})" for it in shared}
        yield from (line + (of[it] if it else "") for it, line in _differ(settings))


def _differ(settings: Sequence[Setting]) -> Iterator[tuple[Setting | None, str]]:
    for it in settings[:_MOST]:
        yield it, f"  {it.kind}: {it.name}: {it.baseline} → {it.candidate}"
    if len(settings) > _MOST:
        yield None, f"  … and {len(settings) - _MOST} more (--json, --html)"


def _pair(console: Any, found: Concluded, own: Own, flips: int | None, *, sides: bool) -> None:
    from rich.text import Text

    _title(console, found.compared.pair)
    headline = Text.assemble(
        (one_line(found.headline), _OVERALL.get(found.verdict, "bold")),
        f". {one_line(found.sentence)}",
    )
    console.print(headline, soft_wrap=not console.is_terminal)
    if sides:
        _dim(console, _sides(found.compared.pair))
    if found.scores:
        _fitting(console, _table(found.scores), lambda: _compact(found.scores))
    for facts in found.compared.tables:
        _facts(console, facts)
    _flips(console, found, flips)
    _dim(console, own.notes)
    if own.settings:
        _dim(console, [held_apart(own.settings), *(line for _, line in _differ(own.settings))])


def _title(console: Any, pair: Pair) -> None:
    from rich.text import Text

    baseline, candidate = pair.titles
    told = Text(one_line(f"{candidate} against {baseline} (baseline)"), style="bold")
    console.print()
    console.print(told, soft_wrap=not console.is_terminal)


def _flips(console: Any, found: Concluded, most: int | None) -> None:
    from rich.text import Text

    for line in flipped.lines(found.compared, most):
        # An address that is cut opens nothing.
        console.print(Text(line), soft_wrap=line.startswith("  ") or not console.is_terminal)


def _fitting(console: Any, table: Any, compact: Callable[[], Any]) -> None:
    """Print a table, or where there is no room for it, the same in fewer columns."""
    from rich.console import Console

    room = Console(file=console.file, width=10_000).measure(table).maximum
    console.print(table if room <= console.width else compact(), crop=False)


def _sides(pair: Pair) -> Iterator[str]:
    for name, side in (("baseline", pair.baseline), ("candidate", pair.candidate)):
        yield f"{name:<9} {', '.join(it for it in (side.model, str(side.run.folder)) if it)}"


def _facts(console: Any, facts: Table) -> None:
    from rich.text import Text

    console.print(Text(one_line(facts.title), style="bold"), soft_wrap=not console.is_terminal)
    table = _bare(facts.head)
    for row in facts.rows[:_ROWS]:
        table.add_row(*(Text(one_line(it)) for it in row))
    console.print(table, crop=False)
    if left := len(facts.rows[_ROWS:]):
        _dim(console, [f"  … and {left:,} more (--json, --html)"])


def _bare(left: Iterable[str], right: Iterable[str] = ()) -> Any:
    from rich import box
    from rich.table import Table as Drawn

    table = Drawn(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for head in left:
        table.add_column(head, overflow="fold")
    for head in right:
        table.add_column(head, justify="right", no_wrap=True)
    return table


def _summary(found: Sequence[Concluded]) -> Any:
    """Return every pair's verdict, and the difference that stands for it."""
    from rich.text import Text

    table = _bare((), ())
    for head in ("candidate", "verdict", "score"):
        table.add_column(head, no_wrap=True)
    for head in ("difference", P_HOLM, "better in", "worse in", "of"):
        table.add_column(head, justify="right", no_wrap=True)
    table.add_column("baseline", no_wrap=True)
    for it in summary.rows(found):
        table.add_row(
            Text(one_line(it.candidate)),
            Text(it.brief, style=_OVERALL.get(it.verdict, "")),
            Text(it.score),
            Text(it.difference),
            it.p_holm,
            it.better,
            it.worse,
            it.of,
            Text(one_line(it.baseline)),
        )
    return table


def _summary_compact(found: Sequence[Concluded]) -> Any:
    """Return the same in half the width: each pair has two lines."""
    from rich.text import Text

    table = _bare(("candidate", "verdict", "difference"), (P_HOLM,))
    for it in summary.rows(found):
        value, _, interval = it.difference.partition(" [")
        better = "" if it.of == "—" else f"\n+{it.better} −{it.worse} of {it.of}"
        table.add_row(
            Text(one_line(it.candidate)).append(f"\n{one_line(it.baseline)}", "dim"),
            Text(it.brief, style=_OVERALL.get(it.verdict, "")).append(better, "dim"),
            Text(f"{value} {it.score}").append(f"\n[{interval}" if interval else "", "dim"),
            it.p_holm,
        )
    return table


def _table(scores: Sequence[Judged]) -> Any:
    from rich.text import Text

    heads = ("baseline", "candidate", "difference", "n", "+ −", P, P_HOLM, WOULD_SHOW)
    table = _bare((), ())
    table.add_column("score", no_wrap=True)
    for head in heads:
        table.add_column(head, justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    for it in map(Row.of, scores):
        table.add_row(
            Text(it.title),
            it.baseline,
            it.candidate,
            Text(it.difference),
            it.n,
            it.changed,
            it.p,
            it.p_holm,
            it.here,
            Text(it.shown, style=_STYLES.get(it.verdict, "")),
        )
    return table


def _compact(scores: Sequence[Judged]) -> Any:
    """Return the same in half the width: each score has two lines."""
    from rich.text import Text

    table = _bare(("score",), ("base → cand.", "difference", f"{P}\n{P_HOLM}"))
    table.add_column("verdict", no_wrap=True)
    for it in map(Row.of, scores):
        found, _, interval = it.difference.partition(" ")
        changed = "" if it.changed == "—" else f"{it.changed} of "
        table.add_row(
            Text(it.title),
            Text(f"{it.baseline} → {it.candidate}").append(f"\n{changed}{it.n}", "dim"),
            Text(found).append(f"\n{interval}", "dim"),
            f"{it.p}\n{it.p_holm}",
            Text(it.shown.replace(": ", "\n"), style=_STYLES.get(it.verdict, "")).append(
                "" if it.here == "—" else f"\n{WOULD_SHOW} {it.here}", "dim"
            ),
        )
    return table

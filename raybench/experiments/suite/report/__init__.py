"""What the page of a suite shows below its answer and its table."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from raybench.autobench.analysis.tables import Table as Scores
from raybench.experiments.parts.deviations import DEVIATIONS
from raybench.experiments.suite import facts, words
from raybench.experiments.suite.comparison import CONSENSUS, Compared, Rank, chances
from raybench.experiments.suite.parts import Found
from raybench.pipeline.store import REPORT
from raybench.statements import Statement
from raybench.stats.agreement import Agreement
from raybench.stats.consensus import Consensus
from raybench.stats.disagreement import Shift
from raybench.tracking import plots
from raybench.tracking.report import Item, Section, Table, Value

_LONG = 20
"""Of more models the table of ranks is folded away."""
_TOLD = 5
"""Of so many models it is said why, where none of their shifts holds."""
_LISTED = 12
_HEADS = ("models", "τ", "ρ", "sure pairs alike", "opposed", "τ, were the models others")


def sections(
    compared: Compared,
    found: Sequence[Found],
    tables: Sequence[Scores],
    failed: Mapping[str, str],
    folder: Path,
) -> Iterator[Section]:
    """Yield the sections of the report."""
    if failed:
        yield Section(
            "What failed",
            "\n".join(f"{name}: {why}" for name, why in failed.items())
            + "\nWhen that is mended, the same command plays what is missing.",
        )
    if len(compared.rankings) > 1:
        yield _places(compared)
        yield from _pairs(compared, found)
        yield from _shifts(compared, found)
    yield from _external(compared, tables)
    if len(compared.rankings) > 1:
        yield _consensus(compared)
    yield _parts(found, folder)
    yield from _deviations(found)


def _places(compared: Compared) -> Section:
    order = [place.model for place in compared.consensus.places]
    agreed = {it.model: Rank(it.rank, it.between) for it in compared.consensus.places}
    ways: dict[str, Mapping[str, Rank]] = {CONSENSUS: agreed, **compared.ranks}
    raised = [shift.model for shift in compared.shifts if shift.holds]
    return Section(
        "Ranks by each way",
        "A line for each model, bars are what the orders that hold (Holm's steps, 95 %) leave of "
        "its rank"
        + (
            "; bold are models that rank differently by more than noise explains."
            if raised
            else "; none ranks differently by more than noise explains."
        ),
        figure=plots.places(
            {
                name: {model: (rank.value, rank.between) for model, rank in of.items()}
                for name, of in ways.items()
            },
            order,
            raised,
        ),
        table=Table(
            ("model", *ways),
            [
                (model, *(of[model].told if model in of else None for of in ways.values()))
                for model in order
            ],
            "Ranks, 1 is the best, with those between which they lie for all models at once. '—': "
            "without a score there; its consensus is by the others.",
        ),
        folded=f"Ranks of {len(order)} models" if len(order) > _LONG else "",
    )


def _pairs(compared: Compared, found: Sequence[Found]) -> Iterator[Section]:
    names = list(compared.rankings)
    if len(names) > 2:
        matrix: list[list[float | str | None]] = [
            [_tau(compared, one, other) for other in names] for one in names
        ]
        figure = plots.heatmap(matrix, names, names, "Kendall's τ-b", ends=(-1.0, 1.0))
    else:
        figure = None
    common, raised = words.shared(found), chances(compared.pairs)
    yield Section(
        "How far each two agree",
        "Kendall's τ-b and Spearman's ρ of each two rankings: 1 is the same order, 0 none in "
        "common, −1 the opposite. Intervals (95 %) take account of the noise on both sides: other "
        "questions, iterations and matches of the same kind might have given other scores. They "
        "are of these models; the last interval is also of others of the same kind. p: how often "
        "orders that have nothing to do with each other agree, or contradict, so far, raised by "
        "Holm's steps over all pairs of ways.",
        figure=figure,
        table=Table(
            ("pair", *_HEADS, "p (Holm)"),
            [
                [*_pair(names, it), _p(raised[names]) if names in raised else None]
                for names, it in compared.pairs.items()
            ],
            "Sure pairs: of two models whose order holds on both sides (Holm's steps), how many "
            "stand alike in both and how many the other way round. Noise lowers a correlation, "
            "so intervals reach beyond it; where its sign is open, to where it would be if all "
            "pairs that do not hold stood alike on both sides, or the other way round."
            + (f" Beware: {common}." if common else "")
            + (f" {alone}" if (alone := _open(compared.pairs.values())) else ""),
            digits=3,
        ),
    )


def _tau(compared: Compared, one: str, other: str) -> float | None:
    if one == other:
        return None
    found = compared.pairs.get((one, other)) or compared.pairs[other, one]
    return found.kendall.value


def _pair(names: tuple[str, str], found: Agreement) -> list[Value]:
    return [
        f"{names[0]} and {names[1]}",
        len(found.models),
        found.kendall,
        found.spearman,
        found.alike,
        len(found.opposed),
        found.others,
    ]


def _open(found: Iterable[Agreement]) -> str:
    """Say why some τ has no interval over other models, where that is so."""
    reasons = (
        it.others.method.rpartition("; ")[2]
        for it in found
        if it.others.value is not None and it.others.ci95 is None
    )
    return "".join(f"Were the models others: {why}." for why in dict.fromkeys(reasons))


def _shifts(compared: Compared, found: Sequence[Found]) -> Iterator[Section]:
    held = [shift for shift in compared.shifts if shift.holds]
    moved = [shift for shift in compared.shifts if shift.places.value]
    told = held[:_LISTED] or sorted(moved, key=lambda it: -(it.places.value or 0.0))[:_TOLD]
    if not told:
        yield Section("Who ranks differently", "Every model has the same rank in every way.")
        return
    by_title = {it.title: it for it in found}
    yield Section(
        "Who ranks differently",
        (
            f"{len(held)} of {len(compared.shifts)} models rank differently from one way to "
            "another by more than noise explains (p below 0.05, raised by Holm's steps over all "
            "models and pairs of ways)."
            if held
            else "No difference is more than noise explains; these are the largest. What the parts "
            "know is told all the same."
        )
        + " Facts stand below each: what sets the model apart in one of the two ways. No part has "
        "tried whether they are the cause.",
        table=Table(
            ("model", "better in", "rank there", "worse in", "rank here", "places", "p (Holm)"),
            [_shift(shift) for shift in told],
            "For each model the two ways in which it differs most surely, ranks among the models "
            "that both have.",
            digits=1,
        ),
        items=[_why(shift, by_title) for shift in told],
    )


def _shift(shift: Shift) -> list[Value]:
    return [
        shift.model,
        shift.higher,
        f"{shift.ranks[0]:g} of {shift.among}",
        shift.lower,
        f"{shift.ranks[1]:g} of {shift.among}",
        shift.places,
        _p(shift.p),
    ]


def _p(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def _why(shift: Shift, found: Mapping[str, Found]) -> Item:
    told = {title: facts.facts(found[title], shift.model) for title in (shift.higher, shift.lower)}
    body = {title: "\n".join(f"- {it}" for it in of) for title, of in told.items() if of}
    many = sum(map(len, told.values()))
    summary = (
        f"{shift.model}: {shift.ranks[0]:g} by {shift.higher}, {shift.ranks[1]:g} by "
        f"{shift.lower}: "
        + (f"{many} fact{'s' * (many > 1)}" if many else "the data do not say why")
    )
    return Item(summary, body or {"Why": facts.NOTHING})


def _external(compared: Compared, tables: Sequence[Scores]) -> Iterator[Section]:
    remarks = {table.name: table.remark for table in tables}
    for name, of in compared.tables.items():
        yield Section(
            f"Agreement with {name}",
            "Scores from elsewhere, taken as they are: without an error of their own.",
            table=Table(
                ("way", *_HEADS),
                [[way, *_pair(("", ""), it)[1:]] for way, it in of.items()],
                " ".join(
                    filter(None, [remarks.get(name) and f"{remarks[name]}.", _open(of.values())])
                ),
                digits=3,
            ),
        )


def _consensus(compared: Compared) -> Section:
    agreed = compared.consensus
    same = agreed.unsettled == 0
    less = [place for place in agreed.places if len(place.rankings) < len(compared.rankings)]
    return Section(
        "How the consensus is made",
        "A model's consensus score is the share of the other models that it stands above, averaged "
        "over the ways that have both (Borda's count), each way weighing the same. Its interval is "
        "what is left by the pairs in which the model is surely above or below others. "
        f"Kemeny's order, which contradicts the ways in the fewest pairs"
        f"{'' if agreed.exact else ' (looked for, not found for sure, of so many models)'}, is "
        f"{kemeny(agreed)}"
        + ("." if same else f": {', '.join(agreed.kemeny)}.")
        + (
            " Placed by fewer ways: "
            + "; ".join(f"{it.model} by {', '.join(it.rankings)}" for it in less)
            + "."
            if less
            else ""
        ),
    )


def kemeny(agreed: Consensus) -> str:
    """Return whether Kemeny's order is another, and how it has those that are equal in this one."""
    if agreed.unsettled:
        return Statement(
            "suite.other_order", "another in {pairs} pairs of models", pairs=agreed.unsettled
        )
    equals: dict[int, list[str]] = {}
    ranks = {it.model: it.rank for it in agreed.places}
    for model in agreed.kemeny:
        equals.setdefault(ranks[model], []).append(model)
    apart = [each for each in equals.values() if len(each) > 1]
    if not apart:
        return Statement("suite.same_order", "the same")
    return Statement(
        "suite.same_order_but_equals",
        "the same; of those that are equal here it has {orders}",
        orders=", ".join(" before ".join(each) for each in apart),
        equals=apart,
    )


def _parts(found: Sequence[Found], folder: Path) -> Section:
    return Section(
        "The parts",
        "Each is a whole run with a report of its own.",
        links={
            f"{it.title}: {it.results['run']['experiment']}, {it.units}": (
                (it.folder / REPORT).relative_to(folder).as_posix()
            )
            for it in found
        },
        table=Table(
            ("way", "experiment", "ranked by", "models ranked", "units", "run"),
            [
                (
                    it.title,
                    it.name,
                    it.metric,
                    len(it.joint.models),
                    it.units,
                    it.folder.name,
                )
                for it in found
            ],
        ),
    )


def _deviations(found: Sequence[Found]) -> Iterator[Section]:
    """Yield the section that names the deviations of all parts, if there are any."""
    rows = [
        (part.title, it["setting"], it["text"], it["source"])
        for part in found
        for it in part.deviations
    ]
    if rows:
        table = Table(("part", "setting", "in this run", "the source"), rows)
        yield Section(DEVIATIONS, "Each part is held against its own source.", table=table)

"""What it is worth to sit in a role, and how each model does there."""

from collections.abc import Iterator, Sequence

from raybench import games
from raybench.experiments.games.report.shown import LONG, Shown
from raybench.tournament.meetings import in_roles
from raybench.tracking.report import Section, Table, Value
from raybench.types import Estimate

_SHARES = (
    "The share of the others that a model was better than in each role, ties as half, here and in "
    "the games below. Seats are balanced, so that no model has the better role more often. Whom it "
    "met there is no part of it: where strong models mostly meet strong ones, ratings and not "
    "shares say who is better."
)


def sections(shown: Shown) -> Iterator[Section]:
    """Yield the worth of roles by game, and the models' results in them."""
    yield from _worth(shown)
    said = False
    for game in shown.games:
        matches = shown.of(game)
        by_model = {model: in_roles(matches, model) for model in shown.best_first}
        roles = shown.roles(game, {role for of in by_model.values() for role in of})
        rows: list[tuple[Value, ...]] = [
            (model, *(of.get(role) for role in roles)) for model, of in by_model.items() if of
        ]
        if len(roles) > 1 and rows:
            yield Section(
                f"{games.load(game).title}: results by role",
                "" if said else _SHARES,
                table=Table(("model", *roles), rows, digits=3),
                folded=f"{len(rows)} models in {len(roles)} roles",
            )
            said = True


def _worth(shown: Shown) -> Iterator[Section]:
    rows = [
        (games.load(game).title, role, over, points)
        for game in shown.games
        for role, over, points in shown.worth(game)
    ]
    if rows:
        yield Section(
            "What a role is worth",
            "By how many points of the rating it is better to sit in one role than in another. In "
            "chess the first is White's advantage; in games whose sides do different things it "
            "says which side has it easier.",
            table=Table(
                ("game", "role", "over", "points"), rows, caption=_unbounded(rows), digits=0
            ),
            folded=f"{len(rows)} pairs of roles" * (len(rows) > LONG),
        )


def _unbounded(rows: Sequence[tuple[str, str, str, Estimate]]) -> str:
    """Return why numbers have no interval, by game, or ''."""
    why = dict.fromkeys(
        f"{game}: {clause}"
        for game, _, _, points in rows
        for clause in points.method.split("; ")
        if clause.startswith("no interval")
    )
    return ". ".join(why) + "." * bool(why)

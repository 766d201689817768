"""What it is worth to sit in a role, and how each model does there."""

from collections.abc import Iterator, Sequence

from raybench import games
from raybench.experiments.games.report.shown import LONG, Shown
from raybench.tournament.meetings import in_roles
from raybench.tracking.report import Section, Table, Value
from raybench.types import Estimate

_SHARES = (
    "The share of opponents that a model beat in each role, a tie as half, here and in the games "
    "below. Roles are balanced, so that no model has the better role more often. The shares ignore "
    "how strong the opponents were: use the ratings to compare models."
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
            "How many rating points one role is worth more than another: in chess the advantage of "
            "White, in games with different tasks which side is easier.",
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

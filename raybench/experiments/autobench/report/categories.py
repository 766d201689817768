"""Who is how good at what: scores by topic and by difficulty."""

from collections.abc import Iterator, Sequence

from raybench.autobench import categories
from raybench.autobench.categories import Category, Kind
from raybench.autobench.protocol import Record, counted
from raybench.autobench.settings import Settings
from raybench.autobench.sources import Sources
from raybench.tracking import plots
from raybench.tracking.report import Section, Table, Value


def sections(
    records: Sequence[Record], protocol: Settings, models: Sequence[str]
) -> Iterator[Section]:
    """Yield the leaderboards of topics and difficulties, where there is more than one."""
    kinds: tuple[tuple[Kind, str], ...] = (("topic", "topics"), ("difficulty", "difficulties"))
    played = list(counted(records, protocol))
    over = Sources.of(records, protocol).over("iterations")
    for kind, several in kinds:
        found = categories.categories(played, protocol, kind)
        if len(found) > 1:
            yield _section(kind, several, found, models, over)


def _section(
    kind: Kind, several: str, found: Sequence[Category], models: Sequence[str], over: str
) -> Section:
    few = [it.name for it in found if it.scored < 2]
    ranks = [it.ranks for it in found]
    rows: list[Sequence[Value]] = [("scored iterations", *(it.scored for it in found))]
    rows += [(model, *(it.scores[model] for it in found)) for model in models]
    rows += [(f"{model}: rank", *(places.get(model) for places in ranks)) for model in models]
    return Section(
        f"Scores by {kind}",
        f"The same scores over the iterations of one {kind} alone. They rest on few iterations "
        "each: neighbours in a column may differ by chance alone."
        + (f" Too few for a number: {', '.join(few)}." if few else ""),
        figure=plots.heatmap(
            [[it.scores[model].value for it in found] for model in models],
            rows=list(models),
            columns=[f"{it.name} ({it.scored})" for it in found],
            label="score (scored iterations in parentheses)",
        ),
        table=Table(
            (kind, *(it.name for it in found)),
            rows,
            caption=f"With 95 % intervals over {over}, one by one: of many, one in twenty misses. "
            f"Ranks are among the models that have a number in that {kind}.",
        ),
        folded=f"Scores of {len(models)} models in {len(found)} {several}, and their ranks",
    )

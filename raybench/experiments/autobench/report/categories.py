"""Who is how good at what: scores by topic and by difficulty."""

from collections.abc import Iterator, Mapping, Sequence

from raybench.autobench import categories, summary
from raybench.autobench.categories import Category, Kind
from raybench.autobench.protocol import Record, counted
from raybench.autobench.settings import Settings
from raybench.autobench.sources import Sources
from raybench.experiments.parts import profiles
from raybench.tracking.report import Section, Table, Value
from raybench.types import Estimate


def sections(
    records: Sequence[Record],
    protocol: Settings,
    metrics: Mapping[str, Mapping[str, Estimate]],
    models: Sequence[str],
) -> Iterator[Section]:
    """Yield the leaderboards of topics and difficulties, where there is more than one."""
    kinds: tuple[tuple[Kind, str], ...] = (("topic", "topics"), ("difficulty", "difficulties"))
    played = list(counted(records, protocol))
    over = Sources.of(records, protocol).over("iterations")
    for kind, several in kinds:
        found = categories.categories(played, protocol, kind)
        if len(found) > 1:
            yield _section(kind, several, found, metrics, models, over)


def _section(
    kind: Kind,
    several: str,
    found: Sequence[Category],
    metrics: Mapping[str, Mapping[str, Estimate]],
    models: Sequence[str],
    over: str,
) -> Section:
    few = [it.name for it in found if it.scored < 2]
    ranks = [it.ranks for it in found]
    rows: list[Sequence[Value]] = [("scored iterations", *(it.scored for it in found))]
    rows += [(model, *(it.scores[model] for it in found)) for model in models]
    rows += [(f"{model}: rank", *(places.get(model) for places in ranks)) for model in models]
    by_name = {it.name: it for it in found}
    figure, told = profiles.drawn(
        models,
        {it.name: it.scored for it in found},
        lambda model, name: by_name[name].scores.get(model),
        lambda model: metrics[model][summary.SCORE].value,
        "score (1-5)",
        kinds=several,
        counted="scored iterations",
    )
    return Section(
        f"Scores by {kind}",
        f"The same scores over the iterations of one {kind} only. Each rests on few iterations: "
        "neighbours in a column may differ by chance."
        + (f" Too few for a number: {', '.join(few)}. " if few else " ")
        + told,
        figure=figure,
        table=Table(
            (kind, *(it.name for it in found)),
            rows,
            caption=f"With 95 % intervals over {over}: about one in twenty misses the true value. "
            f"Ranks are among the models that have a number in that {kind}.",
        ),
        folded=f"Scores of {len(models)} models in {len(found)} {several}, and their ranks",
    )

"""What comes out of a suite: all headlines, how far they agree, and who stands elsewhere."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from raybench.autobench.analysis import tables
from raybench.config import Config
from raybench.config.suite import TITLES
from raybench.experiments.parts import digests
from raybench.experiments.parts.outcome import Outcome
from raybench.experiments.suite import words
from raybench.experiments.suite.comparison import CONSENSUS, Compared, compared, whole
from raybench.experiments.suite.parts import Found, asked
from raybench.experiments.suite.report import sections
from raybench.statements import Statement
from raybench.stats import consensus
from raybench.stats.agreement import Agreement
from raybench.tracking.leaderboard import Board, Column
from raybench.types import Counts, Estimate

RANK = Column("suite/consensus_rank", "Consensus rank", digits=0, higher_is_better=False)
SCORE = Column(consensus.METRIC, "Stands above", digits=3)
SHIFTS = "shifts.jsonl"
"""Each model's surest difference of ranks between two ways."""
_ASKED = ("judges", "checker", "deviations")
"""What results.json says of how a part asked, where the part says it."""
_DIGITS: Mapping[str, int] = {"games": 0}


def concluded(
    config: Config, found: Sequence[Found], failed: Mapping[str, str], folder: Path
) -> Outcome:
    """Return what the parts that there are come to."""
    models = [model.name for model in config.roster.models]
    others = tuple(
        tables.read(name, path, models, setting="suite.external")
        for name, path in config.suite.external.items()
    )
    all_of = compared(found, others, seed=config.seed)
    answer = words.answer(all_of, failed, len(models))
    several = len(all_of.rankings) > 1
    heads = [Column(it.metric, _title(it), digits=_DIGITS.get(it.name, 3)) for it in found]
    return Outcome(
        answer=answer,
        metrics=_metrics(models, all_of, found),
        counts={model: _counts(model, found) for model in models},
        failures=[],
        columns=(*([RANK, SCORE] if several else []), *(heads or [RANK])),
        sections=list(sections(all_of, found, others, failed, folder)),
        boards=list(_boards(all_of)),
        agreement=_agreement(all_of),
        inputs={
            **asked(found),
            **{f"suite.external.{it.name}": digests.of([it.scores]) for it in others},
        },
        about={"parts": _told(found, failed), **overflowed(found)},
        settings={"parts": ", ".join(config.suite.parts)},
        notes={
            "Agreement": answer,
            **({"Beware": shared} if (shared := words.shared(found)) else {}),
            **words.conditions(found),
            **{f"Table {it.name}": it.remark for it in others if it.remark},
            **{f"Part {it.title}": f"{it.folder / 'report.html'}, {it.units}" for it in found},
        },
        files={SHIFTS: _shifts(all_of)},
        heard=[model for model in models if any(_heard(it, model) for it in found)],
        unfinished=_unfinished(failed),
    )


def _title(part: Found) -> str:
    metric = part.metric
    if part.name == "index" and metric != "index/intelligence":
        return f"{part.title} ({metric.removeprefix('index/').replace('/accuracy', '')})"
    return part.title


def _metrics(
    models: Sequence[str], all_of: Compared, found: Sequence[Found]
) -> dict[str, dict[str, Estimate]]:
    """Return every model's metrics, the best first."""
    places = {place.model: place for place in all_of.consensus.places}
    several = len(all_of.rankings) > 1
    metrics: dict[str, dict[str, Estimate]] = {}
    for model in dict.fromkeys([*(places if several else ()), *models]):
        of = metrics[model] = {}
        if several and model in places:
            place = places[model]
            ends = (float(place.between[0]), float(place.between[1]))
            of[RANK.key] = Estimate(
                float(place.rank), None, ends, len(place.rankings),
                f"rank by the consensus score among {len(places)}, 1 is the best; what orders that "
                "hold by Holm's steps leave",
            )  # fmt: skip
            of[SCORE.key] = place.score
        elif several:
            by = sum(model in ranking.models for ranking in all_of.rankings.values())
            why = (
                Statement(
                    "refused.ranked_alone", "not computed: no way ranks another model with it"
                )
                if by
                else Statement("refused.unranked", "not computed: no way ranks it")
            )
            refused = Estimate(None, None, None, by, why)
            of[RANK.key] = of[SCORE.key] = refused
        for part in found:
            score = part.estimate(model, part.metric)
            if score is not None:
                of[part.metric] = score
        for title, ranks in all_of.ranks.items():
            if model in ranks:
                name = next(name for name, called in TITLES.items() if called == title)
                of[f"suite/{name}_rank"] = ranks[model].estimate(len(ranks))
    for shift in all_of.shifts:
        metrics[shift.model]["suite/largest_shift"] = shift.places
    return metrics


def _counts(model: str, found: Sequence[Found]) -> Counts:
    total: Counter[str] = Counter()
    for part in found:
        total.update(part.results["counts"].get(model, {}))
    return Counts(**total)


def _agreement(all_of: Compared) -> dict[str, dict[str, Estimate]]:
    """Return the correlations of every two ways, and of each with each table."""
    names = {title: name for name, title in TITLES.items()} | {CONSENSUS: "consensus"}
    told = {
        f"{names[one]}_vs_{names[other]}": _correlations(it)
        for (one, other), it in all_of.pairs.items()
    }
    for table, of in all_of.tables.items():
        told |= {f"{names[way]}_vs_{table}": _correlations(it) for way, it in of.items()}
    mean = whole(all_of)
    return told | ({"all": {"mean_kendall": mean}} if mean is not None else {})


def _boards(all_of: Compared) -> Iterator[Board]:
    """Yield how far each two ways agree, and how far each agrees with each table."""
    pairs = {f"{one} and {other}": it for (one, other), it in all_of.pairs.items()}
    by_title = {"How far each two agree": pairs} if pairs else {}
    for name, of in all_of.tables.items():
        by_title[f"Agreement with {name}"] = dict(of)
    columns = (Column("kendall", "Kendall's τ"), Column("spearman", "Spearman's ρ"))
    for title, found in by_title.items():
        yield Board(title, {name: _correlations(it) for name, it in found.items()}, columns, "pair")


def _correlations(found: Agreement) -> dict[str, Estimate]:
    return {
        "kendall": found.kendall,
        "spearman": found.spearman,
        "kendall_over_models": found.others,
    }


def _told(found: Sequence[Found], failed: Mapping[str, str]) -> dict[str, Any]:
    return {
        **{
            it.name: {
                "run": it.folder.name,
                "ranked_by": it.metric,
                "models": len(it.joint.models),
                "units": it.results["run"]["units"],
                "mlflow_run_id": it.results["run"]["mlflow_run_id"],
                **{name: of for name, of in it.results["run"].items() if name in _ASKED},
                **({"samples": True} if it.samples else {}),
            }
            for it in found
        },
        **{name: {"failed": why} for name, why in failed.items()},
    }


def overflowed(found: Sequence[Found]) -> dict[str, Any]:
    """Return the models that no prompt of some benchmark fits, of all parts: a warning on top."""
    models: dict[str, dict[str, int]] = {}
    for part in found:
        for model, of in part.results["run"].get("overflowed", {}).items():
            models.setdefault(model, {}).update(of)
    return {"overflowed": models} if models else {}


def _shifts(all_of: Compared) -> Iterator[dict[str, Any]]:
    for shift in all_of.shifts:
        yield {
            "model": shift.model,
            "better_in": shift.higher,
            "worse_in": shift.lower,
            "ranks": list(shift.ranks),
            "among": shift.among,
            "places": shift.places.to_json(),
            "p_holm": shift.p,
            "holds": shift.holds,
        }


def _heard(part: Found, model: str) -> bool:
    counts = part.results["counts"].get(model, {})
    return any(counts.get(name) for name in ("ok", "truncated", "unparsed"))


def _unfinished(failed: Mapping[str, str]) -> str:
    if not failed:
        return ""
    reasons = "\n".join(f"  - {name}: {why.splitlines()[0]}" for name, why in failed.items())
    return f"{len(failed)} part{'s' * (len(failed) > 1)} failed:\n{reasons}"

"""A comparison as JSON: the shape stays, fields are only added.

    {"schema": 1, "level": 0.05, "tests": how many were corrected together (Holm),
     "simulated": stand-ins took part, "notes": [...],
     "headline": how many models improved and worsened, in words,
     "counts": {"improved", "worsened", "mixed", "not_told", "identical", "not_tested":
                how many comparisons with scores have that verdict},
     "comparisons": [{
        "part": of a suite, or null,
        "baseline", "candidate": {"run", "folder", "experiment", "model", "finished", "simulated",
                                  "mlflow_run_id", "report": FILE, or null while there is none},
        "verdict": "better" | "worse" | "mixed" | "identical" | "not distinguishable" |
                   "not tested",
        "headline": how many scores improved and worsened, in words,
        "counts": {"improved", "worsened", "not_told", "identical", "refused": how many scores},
        "sentence": ..., "notes": [...],
        "settings": [{"kind", "name", "baseline", "candidate"}],
        "scores": [{"metric", "title", "verdict", "words", "higher_is_better",
                    "baseline", "candidate", "difference":
                        {"value", "stderr", "ci95", "n", "method"},
                    "p", "p_holm", "test", "no_test": why there is no test, or null,
                    "gained", "lost", "detectable", "detectable_here",
                    "needed", "needed_for_two_points",
                    "counts": {"baseline", "candidate": {"ok", "truncated", ...}} | null,
                    "notes": [...]}],
        "tables": [{"title", "head": [...], "rows": [[...]]}],
        "flips": [{"benchmark", "title", "of": "questions" | "matches" | "tasks" | ...,
                   "higher_is_better", "gained", "lost", "shown", "withheld",
                   "items": [{"key", "title", "language", "subject", "difference", "question",
                              "baseline", "candidate": {"said": "right", "won", "4.17", ...,
                                  "report": FILE#unit=KEY, or null where it does not show it,
                                  "journal": {"path", "line", "offset"}, which one it is
                                  (questions: "right", "times", "repeat"; matches: "match", ...)
                                  and of the record "response", "reasoning", "answer", "truth",
                                  "reason", ...}}]}]}]}

`difference` is the candidate's less the baseline's. `detectable` is the smallest difference that
four in five such comparisons would find if it were tested alone, `detectable_here` among all tests
here; `needed` is how many questions would show the observed difference. A verdict of a score is
"better", "worse", "identical", "not distinguishable" or "refused"; a value that is null is refused,
and `difference.method` says why. A score without a test is "not distinguishable", and `no_test`
says why it has none. Where a score is "identical", `difference.ci95` is about other questions: no
observation here differs. The verdict of a pair is "better" where some score is and none is
worse: `headline` and `counts` say of how many scores it holds.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from raybench.compare.found import Concluded, Flip, Flips, Judged, Pair, Reply, Side, Word
from raybench.compare.judging import LEVEL
from raybench.compare.shown import summary

SCHEMA = 1
_COUNTS: Mapping[str, Word] = {
    "improved": "better",
    "worsened": "worse",
    "not_told": "not distinguishable",
    "identical": "identical",
    "refused": "refused",
}


def told(found: Sequence[Concluded], notes: Sequence[str] = ()) -> dict[str, Any]:
    """Return the whole comparison."""
    return {
        "schema": SCHEMA,
        "level": LEVEL,
        "tests": found[0].tests if found else 0,
        "simulated": simulated(found),
        "notes": list(notes),
        "headline": summary.headline(found),
        "counts": summary.counts(found),
        "comparisons": [_pair(it) for it in found],
    }


def simulated(found: Sequence[Concluded]) -> bool:
    """Tell whether stand-ins took part."""
    pairs = [it.compared.pair for it in found]
    return any(side.run.simulated for it in pairs for side in (it.baseline, it.candidate))


def _pair(found: Concluded) -> dict[str, Any]:
    compared = found.compared
    return {
        "part": compared.pair.part or None,
        "baseline": _side(compared.pair.baseline),
        "candidate": _side(compared.pair.candidate),
        "verdict": found.verdict,
        "headline": found.headline,
        "counts": {name: found.count(word) for name, word in _COUNTS.items()},
        "sentence": found.sentence,
        "notes": list(compared.notes),
        "settings": [
            {"kind": it.kind, "name": it.name, "baseline": it.baseline, "candidate": it.candidate}
            for it in compared.settings
        ],
        "scores": [_score(it) for it in found.scores],
        "tables": [
            {"title": it.title, "head": list(it.head), "rows": [list(row) for row in it.rows]}
            for it in compared.tables
        ],
        "flips": [_flips(it, compared.pair) for it in compared.flips],
    }


def _side(side: Side) -> dict[str, Any]:
    run = side.run
    return {
        "run": run.id,
        "folder": str(run.folder),
        "experiment": run.experiment,
        "model": side.model,
        "finished": run.finished,
        "simulated": run.simulated,
        "mlflow_run_id": run.results.get("run", {}).get("mlflow_run_id"),
        "report": str(report) if (report := side.report) else None,
    }


def _score(judged: Judged) -> dict[str, Any]:
    score = judged.score
    counts = score.counts
    return {
        "metric": score.metric,
        "title": score.title,
        "verdict": judged.verdict,
        "words": judged.words,
        "higher_is_better": score.higher_is_better,
        "baseline": score.baseline.to_json(),
        "candidate": score.candidate.to_json(),
        "difference": score.difference.to_json(),
        "p": score.p,
        "p_holm": judged.p_holm,
        "test": score.test,
        "no_test": score.no_test or None,
        "gained": score.gained,
        "lost": score.lost,
        "detectable": judged.detectable,
        "detectable_here": judged.detectable_here,
        "needed": judged.needed,
        "needed_for_two_points": judged.needed_for_two_points,
        "counts": counts and {"baseline": counts[0].to_json(), "candidate": counts[1].to_json()},
        "notes": list(score.notes),
    }


def _flips(flips: Flips, pair: Pair) -> dict[str, Any]:
    return {
        "benchmark": flips.benchmark,
        "title": flips.title,
        "of": flips.of,
        "higher_is_better": flips.higher_is_better,
        "gained": flips.gained,
        "lost": flips.lost,
        "shown": len(flips.items),
        "withheld": flips.withheld,
        "items": [_flip(it, pair) for it in flips.items],
    }


def _flip(flip: Flip, pair: Pair) -> dict[str, Any]:
    return {
        "key": flip.key,
        "title": flip.title,
        "language": flip.language or None,
        "subject": flip.subject,
        "difference": flip.difference,
        "question": flip.question,
        "baseline": _reply(flip.baseline, pair.baseline),
        "candidate": _reply(flip.candidate, pair.candidate),
    }


def _reply(reply: Reply, side: Side) -> dict[str, Any]:
    journal: Mapping[str, Any] = {
        "path": str(reply.journal),
        "line": reply.line,
        "offset": reply.offset,
    }
    report = side.report
    return {
        "said": reply.said,
        "report": f"{report}#unit={reply.unit}" if report and reply.unit else None,
        "journal": journal,
        **reply.facts,
        **reply.record,
    }

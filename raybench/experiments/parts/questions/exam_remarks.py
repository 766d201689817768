"""What has to be said wherever HLE's published questions are asked, in plan and report."""

from raybench.benchmarks.parts.hle import curation
from raybench.benchmarks.parts.hle.metrics import NAME
from raybench.config import Config
from raybench.pipeline.datasets import Prepared
from raybench.pipeline.sources import HUB, SAMPLES
from raybench.pipeline.terms import Terms
from raybench.statements import Statement


def remarks(config: Config, data: Prepared) -> dict[str, str]:
    """Return the caveats, by short names; nothing where other questions are asked."""
    part = next((it for it in data if it.benchmark == NAME), None)
    if part is None or part.origin == SAMPLES or config.data.source == "rolling" or part.stamp:
        return {}
    if Terms.of(config).section == "hle_screen":  # its candidates are questions of its own
        return {}
    found: dict[str, str] = {}
    panel = [it.name for it in config.roster.models if curation.took_part(it.spec())]
    if panel:
        found["HLE's curation"] = Statement(
            "hle.curation",
            "HLE's authors kept questions that {models} failed: the methodology discourages "
            "comparing such models with others on HLE, as the questions may be biased against them",
            models=", ".join(panel),
        )
    if part.origin.startswith(HUB):
        found["HLE's questions"] = Statement(
            "hle.counts",
            "the pinned revision has {all:,} questions, {text:,} of them text only; the "
            "methodology counts {counted:,} text-only questions of {of:,}, in the dataset before "
            "its authors finalised it: its scores are not over the same questions",
            all=curation.ALL,
            text=curation.TEXT_ONLY,
            counted=curation.COUNTED,
            of=curation.COUNTED_OF,
        )
    return found

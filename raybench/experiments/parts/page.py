"""The report of a run: its page, with how it was run in words."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from raybench.experiments.parts import models, recording, reproducing, surroundings
from raybench.experiments.parts.deviations import DEVIATIONS, IN_REPORT, JUDGED
from raybench.experiments.parts.outcome import Outcome
from raybench.statements import Statement
from raybench.tracking import console, report
from raybench.tracking.console import counted
from raybench.types import Plan

CONDITIONS = (JUDGED, "Checked by", "Samples", DEVIATIONS)
"""Footnotes that a reader needs before the numbers."""
_TOLD_APART = (
    "id",
    "unit",
    "units",
    "seconds_this_session",
    "mlflow_run_id",
    "command",
    "conditions",
    "packages",
    "hardware",
)


def page(
    plan: Plan,
    roster: str,
    outcome: Outcome,
    results: Mapping[str, Any],
    settings: Mapping[str, Any] = MappingProxyType({}),
    whole: str = "",
) -> Iterator[str]:
    """Yield the run's report.html in parts.

    `settings` are those of the experiment, by their section; `whole` is where the report lies of
    what this run is a part of.
    """
    about, account = results["run"], results["fleet"]["this_session"]
    remarks = reported(outcome)
    return report.parts(
        title=f"raybench: {plan.experiment}",
        subtitle=f"{f'roster {roster}, ' if plan.models else ''}run {about['id']}",
        results=results,
        columns=outcome.columns,
        sections=[
            *outcome.sections,
            *_models(plan, outcome),
            reproducing.section(plan, about, settings),
        ],
        run=_words(about, outcome, account),
        of=outcome.of,
        units=outcome.units,
        answer=outcome.answer,
        conditions=conditions(remarks),
        remarks=remarks,
        back={"The suite that this run is a part of": whole} if whole else {},
    )


def reported(outcome: Outcome) -> dict[str, str]:
    """Return the footnotes of a report: it links what other places refer to."""
    return {
        name: text.removesuffix(IN_REPORT)
        for name, text in outcome.notes.items()
        if text != outcome.answer
    }


def conditions(remarks: Mapping[str, str]) -> dict[str, str]:
    """Return what stands under a report's headline: who judged, samples, and how it deviates."""
    return {name: remarks[name] for name in CONDITIONS if name in remarks}


def _models(plan: Plan, outcome: Outcome) -> list[report.Section]:
    """Return the section that says who was asked, unless the experiment has it or asks nobody."""
    if not plan.models or any(it.title == models.TITLE for it in outcome.sections):
        return []
    text = "As configured. The section on how to reproduce this run has the experiment's settings."
    return [models.section(plan.models, text)]


def _words(
    about: Mapping[str, Any], outcome: Outcome, account: Mapping[str, Any]
) -> dict[str, str]:
    """Return how it was run, for people: what there is, in words and by plain names."""
    plain = {
        name: value
        for name, value in about.items()
        # What the experiment adds, it tells by itself; how to do it again is a section of its own.
        if name not in (*_TOLD_APART, *outcome.about, *recording.VERSIONED)
        and value not in (None, {})
    }
    return {
        "run": about["id"],
        **{name.replace("_", " "): _shown(value) for name, value in plain.items()},
        "units": counted(about["units"], about["unit"]),
        **outcome.settings,
        "time, this session": console.duration(about["seconds_this_session"]),
        "asked, this session": _asked(account),
        **({"retries, this session": told} if (told := retries(account)) else {}),
        **({"shorter replies, this session": told} if (told := _limits(account)) else {}),
        "prefix cache, this session": _hit_rate(account),
        **({"swaps, this session": _swaps(account)} if account["total"]["swaps"] else {}),
        "hardware": surroundings.told(about["hardware"]),
        "versions": ", ".join(
            f"{name} {about[name]}" for name in recording.VERSIONED if name in about
        ),
        **({"MLflow run": about["mlflow_run_id"]} if about["mlflow_run_id"] else {}),
    }


def _shown(value: object) -> str:
    if isinstance(value, Mapping):
        return "; ".join(f"{name}: {_shown(each)}" for name, each in value.items()) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)


def _asked(account: Mapping[str, Any]) -> str:
    total = account["total"]
    if not total["requests"]:
        return "nothing"
    return (
        f"{counted(total['requests'], 'call')}, {total['errors']:,} of which got no reply; "
        f"{counted(total['prompt_tokens'], 'prompt token')}, "
        f"{counted(total['output_tokens'], 'output token')}"
    )


def retries(account: Mapping[str, Any]) -> str:
    """Return how often endpoints turned requests away that they answered later; '' if never."""
    return "; ".join(
        Statement(
            "fleet.retries",
            "{model}: requests turned away as too many (HTTP 429): {limited:,}; by errors of the "
            "server (HTTP 5xx): {broken:,}. They were answered later. Pauses that the endpoint "
            "asked for: {pauses:,}",
            model=model,
            limited=of.get("rate_limited", 0),
            broken=of.get("server_errors", 0),
            pauses=of.get("pauses", 0),
        )
        for model, tally in account.get("models", {}).items()
        if (of := tally.get("retries"))
    )


def _limits(account: Mapping[str, Any]) -> str:
    """Return which models' replies could have fewer tokens than were asked for; '' if none's."""
    return "; ".join(
        Statement(
            "fleet.token_limits",
            "{model}: the endpoint allowed fewer tokens than were asked for, {lowest:,} at least "
            "(replies: {replies:,})",
            model=model,
            replies=of["replies"],
            lowest=of["lowest"],
        )
        for model, tally in account.get("models", {}).items()
        if (of := tally.get("token_limits"))
    )


UNREPORTED = "not reported by any engine"
"""What stands for a number that engines do not tell."""


def _hit_rate(account: Mapping[str, Any]) -> str:
    total = account["total"]
    if total["prefix_hit_rate"] is None:
        return UNREPORTED if total["requests"] else "nothing was asked"
    return f"{total['prefix_hit_rate']:.3f} ({total['cached_tokens']:,} prompt tokens from caches)"


def _swaps(account: Mapping[str, Any]) -> str:
    total = account["total"]
    return (
        f"{total['swaps']}, which took {total['swap_seconds']:g} s, {total['swap_share']:.1%} of "
        "the devices' time"
    )

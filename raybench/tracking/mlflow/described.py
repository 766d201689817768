"""What MLflow is told of results: metrics, tags and inputs, in the words of the spool."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from raybench.tracking.mlflow import entries
from raybench.tracking.mlflow.spool import PARENT
from raybench.tracking.text import printable

_DIGEST = 36  # MLflow's own limit for what a dataset is known by
_HUB = re.compile(r"hub: (?P<path>[\w.\-]+/[\w.\-]+)@(?P<revision>[0-9a-f]{7,40})", re.ASCII)
_NOTE = 8000  # and for a tag, which the run's description is
_CUT = "\n\n… (all of it: leaderboard.md, among the artifacts)"


def numbers(results: Mapping[str, Any]) -> Iterator[tuple[str, str, object]]:
    """Yield the numbers of results.json: run, key and value."""
    for model, metrics in results.get("models", {}).items():
        for key, estimate in metrics.items():
            for name, value in entries.of_estimate(key, estimate):
                yield model, name, value
    for model, counts in results.get("counts", {}).items():
        for name, value in counts.items():
            yield model, f"counts/{name}", value
    for other, of in results.get("agreement", {}).items():
        for key, estimate in of.items():
            for name, value in entries.of_estimate(f"agreement/{other}/{key}", estimate):
                yield PARENT, name, value
    account = results.get("fleet", {}).get("this_session", {})
    for name, value in entries.of_tree("fleet", account.get("total", {})):
        yield PARENT, name, value


def tags(results: Mapping[str, Any]) -> dict[str, str]:
    """Return the tags that all runs have by what came out."""
    about = results.get("run", {})
    found = {
        entries.key(name): entries.text(str(value).lower())
        for name, value in about.get("concluded_with", {}).items()
    }
    if results.get("simulated"):
        found["simulated"] = "true"
    return found | entries.of_programs(about.get("programs", {}).get("ran", ()))


def failures(results: Mapping[str, Any]) -> dict[str, str]:
    """Return why models failed, and for them the parent."""
    failed = dict(results.get("run", {}).get("failed", {}))
    if failed:
        failed[PARENT] = "; ".join(f"{model}: {reason}" for model, reason in failed.items())
    return {run: entries.text(str(reason)) for run, reason in failed.items()}


def inputs(results: Mapping[str, Any], digests: Mapping[str, str]) -> list[dict[str, str]]:
    """Return what was asked or read, known by the digest of what it says.

    `digests` are those of what the run read, by name; of what was asked, results.json knows more.
    """
    data = results.get("run", {}).get("data", {})
    return [
        *(_dataset(name, about) for name, about in data.items()),
        *(
            _input(name, digest, "raybench", {"origin": name}, {})
            for name, digest in digests.items()
            if name not in data
        ),
    ]


def note(text: str) -> str:
    """Return a run's description, cut between lines where it is longer than MLflow takes."""
    shown = printable(text)
    if len(shown) <= _NOTE:
        return shown
    return shown[: _NOTE - len(_CUT)].rpartition("\n")[0] + _CUT


def _dataset(name: str, about: Mapping[str, Any]) -> dict[str, str]:
    origin = str(about["origin"])
    profile = {"questions": about["questions"]}
    if hub := _HUB.fullmatch(origin):  # MLflow's page then has a link to it
        return _input(name, about["digest"], "hf", hub.groupdict(), profile)
    return _input(name, about["digest"], "raybench", {"origin": origin}, profile)


def _input(
    name: str, digest: str, kind: str, source: Mapping[str, str], profile: Mapping[str, Any]
) -> dict[str, str]:
    return {
        "name": entries.text(name)[:500],
        "digest": entries.text(digest)[:_DIGEST],
        "source_type": kind,
        "source": json.dumps(source),
        "profile": json.dumps(profile),
    }

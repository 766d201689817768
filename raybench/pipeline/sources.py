"""Where a benchmark's questions lie: at the Hugging Face hub, in a folder, or shipped with us."""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from raybench import benchmarks
from raybench.benchmarks import Benchmark, Source
from raybench.config import DataConf
from raybench.errors import ConfigurationError, Problem, not_a_choice
from raybench.paths import exists, expanded
from raybench.pipeline import hub_files, revisions, screenings
from raybench.pipeline.files import ENDINGS, ending
from raybench.pipeline.revisions import Stamp
from raybench.pipeline.screenings import ScreenedDataset

SAMPLES = "samples"
"""The origin of questions that are shipped with us."""
HUB = "hub: "
"""How the origin of questions from the hub begins."""
_SOURCES = ("hub", SAMPLES, "rolling")
_STAND_INS = " (simulated models had a say in these)"
_SAMPLES = Path(benchmarks.__file__).parent / "samples"


class NoFiles(ConfigurationError):
    """A folder holds no file of a benchmark."""


@dataclass(frozen=True, slots=True)
class File:
    """A file of questions."""

    path: Path
    name: str
    """What people know it by."""
    language: str | None = None
    """The language of those of its rows that name none."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a benchmark's questions are read from."""

    origin: str
    files: tuple[File, ...]
    beside: Mapping[str, Path] = field(default_factory=dict)
    """Files that tell more of the questions, by the names that their benchmark has for them."""
    stamp: Stamp | None = None
    """What a revision says of how its questions came there."""


def problems(
    conf: DataConf, asked: Sequence[Benchmark], runs_dir: Path | None = None
) -> Iterator[Problem]:
    """Yield what is wrong with where these benchmarks' questions are to come from.

    Below `runs_dir` lie the screenings that may have made a dataset.
    """
    if conf.source not in _SOURCES:
        yield not_a_choice("data.source", conf.source, _SOURCES)
    elif conf.source == "rolling":
        yield from _rolling_problems(conf, runs_dir)
    elif conf.revision is not None and (conf.dir is None or not _grows(conf)):
        yield Problem(
            "setting.conflict",
            f"data.revision is {conf.revision}, and {conf.dir or 'what is read'} has no revisions",
            setting="data.revision",
            given=conf.revision,
            fix="leave it out, or read a dataset that grows with data=rolling",
        )
    elif conf.source != "hub":  # the samples are shipped with all that goes with them
        for name in ("dir", "beside"):
            if getattr(conf, name) is not None:
                yield Problem(
                    "setting.conflict",
                    f"data.{name} and data={conf.source} are both given",
                    setting=f"data.{name}",
                    fix="leave one of them out",
                )
    elif conf.beside is not None:
        yield from _beside_problems(conf.beside, asked)


def _rolling_problems(conf: DataConf, runs_dir: Path | None) -> Iterator[Problem]:
    if conf.dir is None:
        yield Problem(
            "setting.missing",
            "data=rolling has no data.dir",
            setting="data.dir",
            fix="name the dataset of a screening with data.dir=FOLDER",
        )
    elif conf.beside is not None:
        yield Problem(
            "setting.conflict",
            "data.beside and data=rolling are both given",
            setting="data.beside",
            fix="leave one of them out",
        )
    elif not _grows(conf):
        known = screenings.find_datasets(runs_dir) if runs_dir else []
        yield _unpublished(conf.dir, known, str(runs_dir or screenings.RUNS))


def _unpublished(given: str, screened: Sequence[ScreenedDataset], runs_dir: str) -> Problem:
    """Say what a dataset without a revision lacks, and which other dataset may be meant."""
    folder = expanded(given).absolute()
    known = {expanded(it.folder).absolute(): it for it in screened}
    states = revisions.states(folder)
    if states:
        dataset = ScreenedDataset(
            given, states, False, known[folder].sheets if folder in known else ()
        )
        return Problem(
            "data.unreviewed",
            f"'{given}' has no published questions yet: no question is approved "
            f"({screenings.in_words(states)})",
            setting="data.dir",
            given=given,
            fix=_review(dataset, runs_dir),
        )
    meant = next((it for it in known.values() if it.published or it.waits), None)
    if meant is None:
        fix = (
            "Screen candidates and have reviewers approve them ("
            + screenings.screen_command("candidates=FILE", dataset=given, runs_dir=runs_dir)
            + "), or name the dataset of another screening with data.dir=FOLDER"
            + screenings.TO_FILL_IN
        )
    elif meant.published:
        fix = (
            f"The screening in '{meant.folder}' has published questions. Ask these"
            f"{screenings.TO_FILL_IN}: " + screenings.exam_command(meant.folder, runs_dir=runs_dir)
        )
    else:
        review = _review(meant, runs_dir)
        told = "" if screenings.TO_FILL_IN in review else screenings.TO_FILL_IN
        fix = (
            f"The screening in '{meant.folder}' waits for reviews "
            f"({screenings.in_words(meant.states)}). {review}. Then ask its "
            f"questions{told}: {screenings.exam_command(meant.folder, runs_dir=runs_dir)}"
        )
    return Problem(
        "data.missing",
        f"'{given}' has no published questions: no screening has used this folder yet",
        setting="data.dir",
        given=given,
        fix=fix,
    )


def _review(dataset: ScreenedDataset, runs_dir: str) -> str:
    """Return what has to be done before the questions of a dataset are published."""
    where = {"dataset": dataset.folder, "runs_dir": runs_dir}
    if not dataset.waits:
        command = screenings.screen_command("candidates=FILE", **where)
        return (
            "No question waits for a review: screen revised or other candidates"
            f"{screenings.TO_FILL_IN}: {command}"
        )
    sheets = [it for it in dataset.sheets if exists(Path(it))]
    told = "" if sheets else screenings.TO_FILL_IN
    return (
        f"Fill in the review sheets and hand them in{told}: "
        f"{screenings.hand_in_command(sheets, **where)}. For experiments only, a screening with "
        "review=skip publishes without reviews"
    )


def _grows(conf: DataConf) -> bool:
    return conf.dir is not None and revisions.newest(expanded(conf.dir)) is not None


def _beside_problems(given: str, asked: Sequence[Benchmark]) -> Iterator[Problem]:
    """Yield why nothing of the folder would be read: what is asked for is not ignored silently."""
    known = [name for benchmark in asked for name in benchmark.beside]
    names = ", ".join(benchmark.name for benchmark in asked)
    if not known:
        yield Problem(
            "setting.conflict",
            f"data.beside is '{given}', and no file goes with questions of {names}",
            setting="data.beside",
            given=given,
            fix="leave it out",
        )
        return
    try:
        there = {path.name for path in _listed(expanded(given), "data.beside")}
    except ConfigurationError as error:
        yield from error.problems
        return
    if there.isdisjoint(known):
        yield Problem(
            "data.missing",
            f"data.beside: '{given}' holds none of the files that go with the questions of "
            f"{names} ({', '.join(known)})",
            setting="data.beside",
            given=given,
            fix="give the folder that does, or leave it out",
        )


def at_hub(conf: DataConf) -> bool:
    """Tell whether questions come from the hub."""
    return conf.dir is None and conf.source == "hub"


def is_published(conf: DataConf) -> bool:
    """Tell whether there should be as many questions as a benchmark's publisher says."""
    revision = conf.dir is not None and revisions.stamp(expanded(conf.dir)) is not None
    return conf.source == "hub" and not revision and not _grows(conf)


def check_access(benchmark: Benchmark, languages: Container[str]) -> None:
    """Raise ConfigurationError where the hub will not hand the benchmark out, as far as we know."""
    for language, source, file in _upstream(benchmark):
        if language in languages:
            hub_files.check_access(source, file)


def is_here(benchmark: Benchmark, languages: Container[str]) -> bool:
    """Tell whether the benchmark's files in these languages were fetched from the hub before."""
    return all(
        hub_files.is_here(source, file)
        for language, source, file in _upstream(benchmark)
        if language in languages
    )


def published_files(
    benchmark: Benchmark, conf: DataConf, languages: Container[str]
) -> list[tuple[Source, str]]:
    """Return the hub's files that a run reads: questions in these languages, and what goes along.

    What `data.beside` has is not among them.
    """
    if not at_hub(conf):
        return []
    given = _beside(benchmark, *_given(conf))
    files = [
        *((source, file) for name, source, file in _upstream(benchmark) if name in languages),
        *((source, it) for name, source, it in _published_beside(benchmark) if name not in given),
    ]
    # Several languages may be in one file.
    return [*{(it.repo, it.revision, file): (it, file) for it, file in files}.values()]


def find(benchmark: Benchmark, conf: DataConf, languages: Container[str] = ()) -> Place:
    """Return where the benchmark's questions are, fetching those in these languages from the hub.

    Raises ConfigurationError where there are none, RunFailed where the hub does not answer.
    """
    if conf.dir is not None:
        folder = expanded(conf.dir)
        if _grows(conf):
            folder = revisions.published(folder, conf.revision)
        revisions.require_questions(folder)
        place = _in_folder(benchmark, folder, *_given(conf))
        stamp = revisions.stamp(folder)
        told = _STAND_INS if stamp and stamp.simulated else ""
        return replace(place, origin=f"{place.origin}{told}", stamp=stamp)
    if conf.source == SAMPLES:
        return _shipped(benchmark)
    return _at_hub(benchmark, languages, conf)


def _at_hub(benchmark: Benchmark, languages: Container[str], conf: DataConf) -> Place:
    spoken = _languages(
        (f"{source.repo}/{file}", name) for name, source, file in _upstream(benchmark)
    )
    wanted = [found for found in _upstream(benchmark) if found[0] in languages]
    paths = {f"{source.repo}/{file}": hub_files.fetch(source, file) for _, source, file in wanted}
    origins = dict.fromkeys(f"{source.repo}@{source.revision}" for _, source, _ in wanted)
    return Place(
        f"{HUB}{', '.join(origins)}",
        tuple(File(path, name, spoken[name]) for name, path in paths.items()),
        _beside_hub(benchmark, conf),
    )


def _beside_hub(benchmark: Benchmark, conf: DataConf) -> dict[str, Path]:
    """Return what lies in the folder that was given for it, and, where that lacks it, the hub's."""
    found = _beside(benchmark, *_given(conf))
    for name, source, file in _published_beside(benchmark):
        if name not in found:
            found[name] = hub_files.fetch(source, file)
    return found


def _published_beside(benchmark: Benchmark) -> Iterator[tuple[str, Source, str]]:
    """Yield the files beside a benchmark's questions that the hub has, each with its name here."""
    for name, source in benchmark.beside.items():
        if source is not None:
            (file,) = (it for language in source.files for it in source.listed(language))
            yield name, source, file


def _given(conf: DataConf) -> list[Path]:
    """Return the folder that was given for what goes with the questions, if one was."""
    return [] if conf.beside is None else [expanded(conf.beside)]


def _beside(benchmark: Benchmark, *folders: Path) -> dict[str, Path]:
    """Return the files beside a benchmark's questions, of the first folder that has each."""
    if not benchmark.beside:
        return {}
    there = [{path.name: path for path in _listed(folder)} for folder in folders]
    found = {name: [it[name] for it in there if name in it] for name in benchmark.beside}
    return {name: paths[0] for name, paths in found.items() if paths}


def _shipped(benchmark: Benchmark) -> Place:
    path = _SAMPLES / f"{benchmark.name}.jsonl"
    if not path.is_file():
        raise ConfigurationError(
            Problem(
                "data.missing",
                f"no questions of {benchmark.name} are shipped",
                setting="data",
                fix="leave data=samples out, or give files of yours with data.dir=FOLDER",
            )
        )
    return Place(SAMPLES, (File(path, path.name),), _beside(benchmark, _SAMPLES))


def _in_folder(benchmark: Benchmark, folder: Path, *beside: Path) -> Place:
    """Find the files that are named after the benchmark, or as the hub names them.

    What goes with them may lie among them; where it lies in folders that were given for it, it is
    taken from there.
    """
    own = (benchmark.name, *benchmark.stems)
    upstream = _languages(
        (_stem(PurePosixPath(file).name), language) for language, _, file in _upstream(benchmark)
    )
    names = upstream | _own_stems(benchmark)
    files: list[File] = []
    folders = [folder]
    for path in _listed(folder):
        if path.is_dir() and path.name.lower() in own:
            folders.insert(0, path)
            files += _in_own_folder(benchmark, path, names)
        elif path.is_file() and ending(path.name) and _stem(path.name) in names:
            files.append(File(path, path.name, names[_stem(path.name)]))
    if not files:
        named = dict.fromkeys((*own, *upstream))
        kinds = ", ".join(kind.removeprefix(".") for kind in ENDINGS)
        raise NoFiles(
            Problem(
                "data.missing",
                f"'{folder}' holds no questions of {benchmark.name}. They are looked for in files "
                f"named {', '.join(named)} or {benchmark.name}_LANGUAGE, and in a folder "
                f"{benchmark.name}, with one of the endings {kinds}{_near(folder, names)}",
                setting="data.dir",
                given=str(folder),
                fix="name yours so, or choose another data.dir",
            )
        )
    # The samples are known by their origin, and may be published: no folder has that name.
    origin = f"./{folder}" if str(folder) == SAMPLES else str(folder)
    return Place(origin, tuple(files), _beside(benchmark, *beside, *folders))


def _near(folder: Path, names: Container[str]) -> str:
    """Name what looks like a file of ours and is none."""
    near = [path for path in _listed(folder) if path.name.lower().partition(".")[0] in names]
    told = (f"{path.name} ({'a folder' if path.is_dir() else 'a file'})" for path in near)
    return f"; there is {', '.join(told)}" if near else ""


def _in_own_folder(
    benchmark: Benchmark, folder: Path, names: dict[str, str | None]
) -> Iterator[File]:
    """Yield all files of a folder that is the benchmark's, or a copy of its repository."""
    alone: dict[str, str | None] = {name.lower(): name for name in benchmark.languages}
    names = alone | names
    for path in _listed(folder):
        if path.is_file() and ending(path.name) and path.name not in benchmark.beside:
            yield File(path, f"{folder.name}/{path.name}", names.get(_stem(path.name)))
    nested = _languages((file, name) for name, _, file in _upstream(benchmark))
    for file, language in nested.items():
        if "/" in file and (folder / file).is_file():
            yield File(folder / file, f"{folder.name}/{file}", language)


def _own_stems(benchmark: Benchmark) -> dict[str, str | None]:
    """Return what files of the benchmark may be called, each with its language if it names one."""
    stems: dict[str, str | None] = {}
    for stem in (benchmark.name, *benchmark.stems):
        stems[stem] = None
        for language in benchmark.languages:
            stems[f"{stem}_{language}".lower()] = language
    return stems


def _upstream(benchmark: Benchmark) -> Iterator[tuple[str, Source, str]]:
    """Yield every language with the hub's dataset and each file that its questions are in."""
    for language in benchmark.languages:
        source = benchmark.source.of(language)
        for file in source.listed(language):
            yield language, source, file


def _languages(files: Iterable[tuple[str, str]]) -> dict[str, str | None]:
    """Return the language that each file is in; None where one is in several."""
    languages: dict[str, str | None] = {}
    for file, language in files:
        languages[file] = None if file in languages else language
    return languages


def _stem(name: str) -> str:
    return name.lower().removesuffix(ending(name))


def _listed(folder: Path, setting: str = "data.dir") -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    except OSError as error:
        raise ConfigurationError(
            Problem(
                "file.unreadable",
                f"{setting}: '{folder}' cannot be read ({error.strerror})",
                setting=setting,
                given=str(folder),
                fix="give a readable folder",
            )
        ) from error

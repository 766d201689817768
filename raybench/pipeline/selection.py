"""Which questions are asked: of what the benchmarks' files hold, what was chosen and what lacks."""

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from raybench.benchmarks import Benchmark
from raybench.benchmarks.parts.contract import INDEX_LANGUAGES
from raybench.errors import ConfigurationError, Problem, closest, plain
from raybench.pipeline.questions import Question

_CHOOSE = "Ask for what there is; +experiment=index can ask other benchmarks: benchmarks=[…]"


@dataclass(frozen=True, slots=True)
class Selection:
    """Which of the questions are asked. What is named twice counts once."""

    limit: int | None = None
    """Questions of each language; the fewer are always among the more."""
    subjects: tuple[str, ...] = ()
    """Only these; none named means all."""
    languages: tuple[str, ...] | None = None
    """Of what there is in several; none named means those of the Multilingual Index."""
    seed: int = 0
    """Draws the questions that come below the limit."""
    images: bool = False
    """Questions with an image are among them."""

    def covers(self, question: Question) -> bool:
        """Tell whether the question is about one of the subjects; images only where wanted."""
        if question.pictured and not self.images:
            return False
        return not self.subjects or plain(question.subject or "") in map(plain, self.subjects)

    def rank(self, question: Question) -> int:
        """Return where the question comes in the draw, whatever else there is to draw from.

        Translations that share a key come together, and so do the questions of a cluster, all of
        them. Without a limit there is no draw.
        """
        if self.limit is None:
            return 0
        drawn_by = question.cluster or question.key
        drawn = hashlib.blake2b(f"{self.seed}\0{drawn_by}".encode(), digest_size=16)
        return int.from_bytes(drawn.digest())

    def spoken(self, benchmark: Benchmark, there: Collection[str]) -> tuple[str, ...]:
        """Return the languages to ask in, of those there are questions in."""
        if not _several(benchmark):
            return benchmark.languages
        wanted = dict.fromkeys(self.languages or INDEX_LANGUAGES)
        return tuple(language for language in wanted if language in there)


@dataclass(frozen=True, slots=True)
class Choice:
    """By which the chosen questions are known."""

    selection: Selection
    highest: Mapping[str, int]
    """The highest rank that is chosen, by language."""
    questions: int

    def __contains__(self, question: Question) -> bool:
        highest = self.highest.get(question.language, -1)
        return self.selection.covers(question) and self.selection.rank(question) <= highest


@dataclass(frozen=True, slots=True)
class Survey:
    """What there is of a benchmark, as far as choosing has to know."""

    benchmark: Benchmark
    ranks: Mapping[str, Sequence[int]]
    """Of the questions about the chosen subjects, by language. Every language is here that was
    looked into."""
    subjects: Collection[str]
    languages: Collection[str]
    """Those there are questions in, looked into or not."""
    pictured: int = 0
    """Questions that are left out for their images."""

    @classmethod
    def of(
        cls, benchmark: Benchmark, questions: Iterable[Question], selection: Selection
    ) -> "Survey":
        """Go through all questions once."""
        ranks: dict[str, list[int]] = {}
        subjects: set[str] = set()
        pictured = 0
        for question in questions:
            pictured += question.pictured and not selection.images
            of_language = ranks.setdefault(question.language, [])
            if question.subject is not None:
                subjects.add(question.subject)
            if selection.covers(question):
                of_language.append(selection.rank(question))
        return cls(benchmark, ranks, subjects, ranks.keys(), pictured)

    def choice(self, selection: Selection) -> Choice:
        """Return what is chosen here, which may be nothing."""
        chosen = {
            language: sorted(self.ranks[language])[: selection.limit]
            for language in selection.spoken(self.benchmark, self.ranks)
        }
        highest = {language: taken[-1] for language, taken in chosen.items() if taken}
        # Those that share the last one's rank come with it.
        questions = sum(
            rank <= last for language, last in highest.items() for rank in self.ranks[language]
        )
        return Choice(selection, highest, questions)

    def lacks(self, selection: Selection) -> str:
        """Return which of the chosen languages and subjects have no question here, or ''."""
        languages = _unspoken(selection, self.languages) if _several(self.benchmark) else []
        if _several(self.benchmark) and not selection.languages:
            asked = selection.spoken(self.benchmark, self.benchmark.languages)
            languages = [name for name in asked if name not in self.languages]
        subjects = _unnamed(selection, self.subjects)
        parts = [f"in {', '.join(languages)}"] if languages else []
        parts += [f"about {', '.join(subjects)}"] if subjects else []
        return " and none ".join(parts)

    def void(self, selection: Selection) -> str:
        """Return why nothing is chosen here."""
        languages = selection.spoken(self.benchmark, self.languages)
        if not languages:  # nor is it known then what its questions are about
            return f"in {', '.join(_unspoken(selection, ()))}"
        subjects = f"about {', '.join(dict.fromkeys(selection.subjects))}"
        if not self.subjects:
            return f"{subjects} (it names no subjects)"
        if len(_unnamed(selection, self.subjects)) == len(_unnamed(selection, ())):
            return subjects
        return f"{subjects} in {', '.join(languages)}"


@dataclass(frozen=True, slots=True)
class Settled:
    """What is asked of several benchmarks."""

    choices: Mapping[str, Choice]
    """By benchmark."""
    left_out: Mapping[str, str]
    """The benchmarks that have nothing of what was chosen, and what they lack."""
    notes: tuple[str, ...]
    """What the person should know before the run: what was chosen and is not there."""


def settle(surveys: Sequence[Survey], selection: Selection) -> Settled:
    """Choose from every benchmark that has any of what was chosen.

    Raises ConfigurationError where something is of none of them, or nothing is left to ask.
    """
    unknown = [
        *_unknown_languages([(it.benchmark, it.languages) for it in surveys], selection),
        *_unknown_subjects(surveys, selection),
    ]
    if unknown:
        raise ConfigurationError(unknown, ending=_CHOOSE)
    choices = {it.benchmark.name: it.choice(selection) for it in surveys}
    chosen = {name: choice for name, choice in choices.items() if choice.questions}
    left_out = {
        it.benchmark.name: f"it has no questions {it.void(selection)}"
        for it in surveys
        if it.benchmark.name not in chosen
    }
    if not chosen:
        told = "".join(f"\n  - {name}: {why}" for name, why in left_out.items())
        raise ConfigurationError(
            Problem("data.empty", f"nothing is left to ask:{told}", fix=_CHOOSE)
        )
    notes = [f"{name} is left out: {why}" for name, why in left_out.items()]
    notes += [
        f"{it.benchmark.name} has no questions {lacks}"
        for it in surveys
        if it.benchmark.name in chosen and (lacks := it.lacks(selection))
    ]
    if selection.languages and not any(_several(it.benchmark) for it in surveys):
        notes.append("languages changes nothing: no chosen benchmark is in several languages")
    return Settled(chosen, left_out, tuple(notes))


def check_languages(asked: Sequence[Benchmark], selection: Selection) -> None:
    """Raise ConfigurationError where a chosen language is published for none of the benchmarks."""
    if unknown := list(_unknown_languages([(it, it.languages) for it in asked], selection)):
        raise ConfigurationError(unknown, ending=_CHOOSE)


def _unknown_languages(
    there: Sequence[tuple[Benchmark, Collection[str]]], selection: Selection
) -> Iterator[Problem]:
    known = {benchmark.name: names for benchmark, names in there if _several(benchmark)}
    spoken = sorted({name for names in known.values() for name in names})
    if known and (unknown := _unspoken(selection, spoken)):
        # Two letters are close to any others: only longer names, or capitals, tell what is meant.
        meant = [next((it for it in spoken if name.lower().startswith(it)), "") for name in unknown]
        yield _unknown("in", "languages", unknown, meant, known)


def _unknown_subjects(surveys: Sequence[Survey], selection: Selection) -> Iterator[Problem]:
    known = {survey.benchmark.name: survey.subjects for survey in surveys}
    names = {plain(name): name for subjects in known.values() for name in subjects}
    if unknown := _unnamed(selection, names.values()):
        meant = [names.get(closest(plain(name), names), "") for name in unknown]
        yield _unknown("about", "subset", unknown, meant, known)


def _unknown(
    how: str,
    setting: str,
    unknown: Sequence[str],
    meant: Iterable[str],
    known: Mapping[str, Collection[str]],
) -> Problem:
    """Say what no benchmark has, what may have been meant, and what each has."""
    hints = ", ".join(f"'{name}'" for name in dict.fromkeys(meant) if name)
    asked = ", ".join(f"'{name}'" for name in unknown)
    there = "".join(
        f"\n  - {name}: {', '.join(sorted(names)) or 'none is named'}"
        for name, names in known.items()
    )
    hint = f" Did you mean {hints}?" if hints else ""
    message = f"{setting}: no chosen benchmark has questions {how} {asked}.{hint} There is:{there}"
    return Problem("setting.choice", message, setting=setting, given=", ".join(unknown))


def _several(benchmark: Benchmark) -> bool:
    return len(benchmark.languages) > 1


def _unspoken(selection: Selection, there: Collection[str]) -> list[str]:
    """Return the chosen languages that are not there."""
    return [name for name in dict.fromkeys(selection.languages or ()) if name not in there]


def _unnamed(selection: Selection, there: Iterable[str]) -> list[str]:
    """Return the chosen subjects that are not there."""
    known = set(map(plain, there))
    return [name for name in dict.fromkeys(selection.subjects) if plain(name) not in known]

"""What every benchmark offers. Pure: rows and responses in, prompts and grades out."""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

from raybench.errors import Problem
from raybench.sandbox import Profile
from raybench.types import Letters, Message

Row = Mapping[str, Any]
"""One question in the columns of the hub's dataset (plus `language`, where files are a language
each)."""

INDEX_LANGUAGES = ("es", "bn", "de", "ja", "en", "zh", "sw", "fr")
"""The languages that the Multilingual Index averages over."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where the questions are published: a dataset of the Hugging Face hub at a pinned commit."""

    repo: str
    revision: str
    files: Mapping[str, str | tuple[str, ...]]
    """The file of each language, or its files; what is in one language only has one, 'en'."""
    licence: str
    gated: bool = False
    """The hub hands it out to those who accepted its terms (HF_TOKEN)."""
    elsewhere: Mapping[str, "Source"] = field(default_factory=dict)
    """The dataset of each language that this one lacks."""

    def of(self, language: str) -> "Source":
        """Return the dataset that has the language's file."""
        return self.elsewhere.get(language, self)

    def listed(self, language: str) -> tuple[str, ...]:
        """Return the files of a language that this dataset has."""
        files = self.files[language]
        return (files,) if isinstance(files, str) else files


@dataclass(frozen=True, slots=True)
class Draw:
    """Which asking of a question this is; what a benchmark draws, it draws from these."""

    repeat: int = 0
    seed: int = 0
    wording: str = ""
    """Which of a benchmark's prompts, where it has several; '' is its first."""
    letters: Letters = "all"
    """Which letters a multiple-choice prompt names, where a question has fewer options than its
    benchmark allows: the benchmark's, as in the methodology, or those of its own options."""


@dataclass(frozen=True, slots=True)
class Grade:
    """What a response is worth, and why."""

    correct: bool
    reason: str
    """'right', 'wrong', or why no answer could be read."""
    answer: str | None = None
    """What was read from the response; None where it holds no answer in the asked form."""
    flags: tuple[str, ...] = ()
    """What of a program looks like a way to pass without solving the problem."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """What else the journal keeps of it: plain values."""

    @property
    def parsed(self) -> bool:
        """Tell whether an answer could be read."""
        return self.answer is not None


class UngradableError(Exception):
    """A response has no grade, for a reason that is not its model's: it counts as no one's miss."""


class Benchmark(ABC):
    """One set of questions: how each is asked and its response graded."""

    name: ClassVar[str]
    """Lower case with underscores: the first part of its metrics' keys, and its file's name."""
    title: ClassVar[str]
    source: ClassVar[Source]
    columns: ClassVar[tuple[str, ...]]
    """What a row must hold, in the hub's names."""
    stems: ClassVar[tuple[str, ...]] = ()
    """Names, without their ending, that its files may have in a local folder, beside its own."""
    size: ClassVar[int | None] = None
    """How many questions there are, where those of one language are counted."""
    counted_by: ClassVar[str] = "the methodology counts"
    """Who counts this number of questions, with a verb."""
    repeats: ClassVar[int] = 1
    """How often the methodology asks each question."""
    weights: ClassVar[Mapping[str, Fraction]]
    """Its weight in each index that counts it."""
    beside: ClassVar[Mapping[str, Source | None]] = {}
    """Files that may lie beside the questions and tell more of them, by their names: where the hub
    has each, if it does."""
    chained: ClassVar[bool] = False
    """Some questions follow others of their cluster, and stand behind them in a row's order."""
    whole: ClassVar[str] = ""
    """What questions of one cluster are together: the name of the score that counts a cluster as
    right where all of its questions are. None has no name."""
    sandboxed: ClassVar[bool] = False
    """Replies are programs: grading runs them in the sandbox."""
    profiles: ClassVar[tuple[Profile, ...]] = ("plain",)
    """What of it they may need."""
    verdicts: ClassVar[tuple[str, ...]] = ()
    """Other verdicts on replies, true or false, that the details of its grades hold by these names:
    each makes a second accuracy."""
    judged: ClassVar[bool] = False
    """A model says what replies are worth, and nobody else does (`judged.py`)."""
    checked: ClassVar[bool] = False
    """An equality checker looks at answers that the script does not call right."""
    grading: ClassVar[int] = 1
    """The version of its grading. A change that may grade a reply differently raises it: a run does
    not continue one that was graded by another version."""

    @property
    def languages(self) -> tuple[str, ...]:
        """Return the languages there are questions in."""
        return (*self.source.files, *self.source.elsewhere)

    def belongs(self, row: Row) -> bool:
        """Tell whether the row is one of the benchmark's: some files hold more."""
        return True

    @abstractmethod
    def key(self, row: Row) -> str:
        """Return what identifies the question within its language; translations may share it."""

    @abstractmethod
    def problems(self, row: Row) -> Iterator[Problem]:
        """Yield what is wrong with a row that has all columns."""

    @abstractmethod
    def prompt(
        self, row: Row, *, reasoning: bool = False, draw: Draw = Draw()
    ) -> tuple[Message, ...]:
        """Return what a model is asked."""

    @abstractmethod
    def grade(self, row: Row, response: str, *, draw: Draw = Draw()) -> Grade:
        """Return what the response is worth, as far as a script can tell."""

    def improved(self, row: Row, response: str, *, draw: Draw = Draw()) -> Grade:
        """Return what the response is worth to the improved grader, where there is one.

        It is stricter than the methodology's and reads more; scores by it compare with no others.
        """
        return self.grade(row, response, draw=draw)

    def rereads(self, row: Row, response: str) -> bool:
        """Tell whether the improved grader may see another answer in the response than `grade`.

        Of a program, which takes a run: whether it takes another one out of the response.
        """
        return not self.sandboxed

    def content(self, row: Row) -> str:
        """Return what the question says, whatever its id: rows that say the same are one question.

        Images are part of it.
        """
        return json.dumps([[it.content, list(it.images)] for it in self.prompt(row)])

    def has_gold(self, row: Row) -> bool:
        """Tell whether a right answer is known: `gold` raises ValueError where none is."""
        return True

    @abstractmethod
    def truth(self, row: Row, *, draw: Draw = Draw()) -> str:
        """Return the right answer as a response would state it."""

    @abstractmethod
    def gold(self, row: Row, *, draw: Draw = Draw()) -> str:
        """Return a response that states the right answer: what the self-check grades."""

    @abstractmethod
    def from_common(self, row: Row) -> dict[str, Any]:
        """Return a row of plain columns (id, question, options, answer, subject, language) as ours.

        Raises KeyError where it lacks one, ValueError where it cannot be one of ours.
        """

    def from_hub(self, row: Row) -> dict[str, Any]:
        """Return a row of the hub's file in the columns named above; most have them already.

        Whoever reads the file adds `language`, where a file is in one, and `number`: the row's
        place in its file, counted from 1. It names what has no name of its own.
        """
        return dict(row)

    def questions(self, row: Row, beside: Mapping[str, Path]) -> Iterator[Row]:
        """Yield the questions that a row of a file holds, in the file's columns: most hold one.

        `beside` has the files beside the questions that the benchmark names, of those there are.
        Raises ValueError where one of these is not what it should be.
        """
        yield row

    def follows(self, row: Row) -> tuple[str, ...]:
        """Return the keys of the questions that must have been answered before this one is put."""
        return ()

    def after(self, row: Row, responses: Mapping[str, str]) -> Row:
        """Return the question as it is put after responses to those it follows, by their keys."""
        return row

    def standing_in(self, key: str) -> str:
        """Return a response that says that it stands for a model's own, where that is not known."""
        return f"(the model's own reply to {key})"

    def caveat(self, row: Row) -> str | None:
        """Return what keeps a grade of the question from saying what it should, if anything does.

        In the same words for all questions that it holds for: they are counted by them.
        """
        return None

    def cluster(self, row: Row) -> str | None:
        """Return what the question shares with others that rise and fall with it, if anything."""
        return None

    def images(self, row: Row) -> tuple[str, ...]:
        """Return the images that go with the question, as data URIs."""
        return ()

    def chance(self, row: Row) -> float | None:
        """Return how likely a guess is right, where the prompt lists what there is to choose."""
        return None

    def subject(self, row: Row) -> str | None:
        """Return what the question is about, where the dataset says so."""
        return None

    def language(self, row: Row) -> str:
        """Return the question's language."""
        return str(row.get("language", "en"))

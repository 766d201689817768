"""What is asked in an iteration, step by step. Nothing of it depends on the judges' weights.

A generator poses a task; judges rate it; the contestants answer it; judges rate the answers. Steps
may be asked whenever there is somebody to ask: only which of them count depends on what came
before.
"""

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from raybench.autobench import prompts
from raybench.autobench.settings import Difficulty, Settings
from raybench.types import Finish, Retries

Kind = Literal["task", "task_rating", "answer", "answer_rating"]
Address = tuple[int, int, Kind]
"""What a step is known by: iteration, attempt and kind."""


@dataclass(frozen=True, slots=True)
class Ask:
    """One prompt for one model. Seeds come from the key, which tells an iteration's asks apart."""

    kind: Kind
    model: str
    prompt: str
    key: str


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model said; text is None where no reply could be had (never the model's fault).

    A model that had no answer, whatever kept it from one, said nothing: its text is empty.
    """

    text: str | None
    finish: Finish = "stop"
    why: str = ""
    """What kept the answer away, where none came."""
    prompt_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int | None = None
    """Prompt tokens that came from the engine's prefix cache; None where it does not tell."""
    token_limit: int | None = None
    """As `Completion.token_limit`."""
    retries: Retries = field(default_factory=Retries)
    seconds: float = field(default=0.0, compare=False)
    """What the model took, without waits."""

    @property
    def truncated(self) -> bool:
        """Tell whether a limit cut it."""
        return self.finish in ("length", "thinking")

    @property
    def rank(self) -> int | None:
        """The rating that it holds."""
        return None if self.text is None else prompts.parse_rank(self.text)


@dataclass(frozen=True, slots=True)
class Draw:
    """What is drawn for an iteration before anybody is asked."""

    iteration: int
    topic: str
    difficulty: Difficulty
    generators: tuple[str, ...]
    """In the order of trying."""
    given: str | None = None
    """The task, where tasks are given: nobody poses or rates one then."""


@dataclass(frozen=True, slots=True)
class Step:
    """What an iteration asks at once."""

    draw: Draw
    attempt: int
    """Which proposed task it is about, from 1; 0 is the given one."""
    kind: Kind
    author: str = ""
    """Who poses the task."""
    task: str = ""
    answers: Mapping[str, str] = field(default_factory=dict)
    """What is to be rated, by contestant."""

    @property
    def iteration(self) -> int:
        """The iteration that it belongs to."""
        return self.draw.iteration

    @property
    def address(self) -> Address:
        """What it is known by."""
        return self.draw.iteration, self.attempt, self.kind

    def asked(self, settings: Settings) -> list[tuple[str, str]]:
        """Return who is asked, and about whose answer where it is about one."""
        match self.kind:
            case "task":
                return [(self.author, "")]
            case "task_rating":
                return [(judge, "") for judge in settings.judges_of(self.author)]
            case "answer":
                return [(model, "") for model in settings.models]
            case "answer_rating":
                # Contestants on the outside: the judges of one answer follow each other and share
                # its prefix.
                return [
                    (judge, contestant)
                    for contestant in self.answers
                    for judge in settings.judges_of(contestant)
                ]

    def asks(self, settings: Settings) -> list[Ask]:
        """Return what is asked of whom, in the same order."""
        prompts_of = {
            about: self._prompt(about, settings.fenced) for about in self.answers or ("",)
        }
        return [
            Ask(self.kind, model, prompts_of[about], self._key(about))
            for model, about in self.asked(settings)
        ]

    def _prompt(self, about: str, fenced: bool) -> str:
        draw = self.draw
        match self.kind:
            case "task":
                return prompts.task(draw.difficulty.label, draw.difficulty.phrase, draw.topic)
            case "task_rating":
                label, topic = draw.difficulty.label, draw.topic
                return prompts.rate_task(self.task, label, topic, fenced=fenced)
            case "answer":
                return prompts.answer(self.task)
            case "answer_rating":
                return prompts.rate_answer(self.task, self.answers[about], fenced=fenced)

    def _key(self, about: str) -> str:
        # The numbers of attempts stay out of those of answers, as they always have.
        index = self.draw.iteration
        if self.kind in ("task", "task_rating"):
            return f"{index}/{self.attempt}/{self.kind}"
        return f"{index}/{self.kind}/{about}" if about else f"{index}/{self.kind}"


def drawn(iteration: int, settings: Settings) -> Draw:
    """Draw an iteration's topic, difficulty and generators.

    Each generator's place is drawn for itself: a model more in the roster comes between the others
    and leaves their order as it is, so that most tasks stay the same.
    """
    if settings.tasks:
        task = settings.tasks[(iteration - 1) % len(settings.tasks)]
        return Draw(iteration, task.topic, Difficulty(task.difficulty, "", 1.0), (), task.text)
    rng = random.Random(f"{settings.seed}/{iteration}")
    topic = rng.choice(settings.topics)
    chances = [difficulty.probability for difficulty in settings.difficulties]
    (difficulty,) = rng.choices(settings.difficulties, chances)
    wanted, generators = settings.generators, list[str]()
    while len(generators) < wanted:  # none twice while others wait
        lap = f"{settings.seed}/{iteration}/{len(generators)}"
        places = {model: random.Random(f"{lap}/{model}").random() for model in settings.models}
        generators += sorted(places, key=places.__getitem__)
    return Draw(iteration, topic, difficulty, tuple(generators[:wanted]))

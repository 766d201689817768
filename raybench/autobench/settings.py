"""What the protocol is told. Where the paper's text lost its numbers, the defaults are ours."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

TOPICS = (
    "math",
    "current news",
    "creative writing",
    "logic",
    "grammar",
    "coding",
    "history",
    "general culture",
    "science",
    "technology",
)
"""The paper's ten."""


class Difficulty(NamedTuple):
    """A difficulty label, the noun phrase it has in the task prompt, and how often it is drawn."""

    label: str
    phrase: str
    probability: float


# The paper's phrases; it says that harder ones are favoured, its text lost the numbers: ours.
DIFFICULTIES = (
    Difficulty("very difficult", "a very difficult", 0.5),
    Difficulty("difficult", "a difficult", 0.3),
    Difficulty("standard", "a", 0.2),
)


class Task(NamedTuple):
    """A task that is given, not generated, with its labels."""

    text: str
    topic: str = ""
    difficulty: str = ""


Weights = Literal["consensus", "uniform"]
"""Whose word counts how much: by equation 3, or everybody's the same (an ablation)."""
Faulty = Literal["reject", "flag"]
"""What becomes of a task with a fault (`faults.py`): it is turned down, or only marked."""


ROUNDS = 10
"""Without a bound on restarts, an iteration ends when each model was the generator so often."""


def generators(restarts: int | None, models: int) -> int:
    """Return how many generators an iteration may have, one after the other."""
    return ROUNDS * models if restarts is None else restarts + 1


@dataclass(frozen=True)
class Settings:
    """The protocol's own settings."""

    models: tuple[str, ...]
    """The contestants; they also pose the tasks."""
    judges: tuple[str, ...] = ()
    """Who rates tasks and answers, contestants or others; () is all contestants, as in the paper.
    """
    self_judgement: bool = True
    """Whether a judge rates its own answers, and a generator its own tasks."""
    weights: Weights = "consensus"
    tasks: tuple[Task, ...] = ()
    """Given ones, in the order of iterations and from the first again; () has them generated.

    Tasks that come again are no new ones: intervals are over tasks, each with all its iterations.
    """
    topics: tuple[str, ...] = TOPICS
    difficulties: tuple[Difficulty, ...] = DIFFICULTIES
    mean_threshold: float = 2.5
    median_threshold: float = 2.0
    attempts: int = 3
    """Tries that one generator gets before the iteration restarts with another."""
    restarts: int | None = 2
    """New generators tried before the iteration ends without a task; None: until one is accepted.
    """
    faulty: Faulty = "reject"
    fenced: bool = False
    """Whether what is rated stands in the judges' prompts between marks, as data."""
    seed: int = 0

    @property
    def generators(self) -> int:
        """How many generators an iteration may have, one after the other."""
        return generators(self.restarts, len(self.models))

    @property
    def panel(self) -> tuple[str, ...]:
        """Who rates."""
        return self.judges or self.models

    @property
    def everybody(self) -> tuple[str, ...]:
        """Contestants and judges, each once."""
        return tuple(dict.fromkeys((*self.models, *self.panel)))

    def judges_of(self, author: str) -> tuple[str, ...]:
        """Who rates what this model wrote."""
        if self.self_judgement:
            return self.panel
        return tuple(judge for judge in self.panel if judge != author)

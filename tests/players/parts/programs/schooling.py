"""A school of tests: positions ask for a number, and its model knows it only when it is taught."""

import asyncio
import json
import re
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field

from raybench.players.parts.contract import Decision, NoMove
from raybench.players.parts.programs.learning import Learner, Lesson, Mark
from raybench.types import Completion, Message, Observation

TALK = "I do not know\nwhat to say."
HINT = "Add one to what stands there."
_OUTPUT = re.compile(r"output fields are:\n(.*?)\n(?:All inter|\n)", re.DOTALL)
_FIELD = re.compile(r"^\d+\. `(\w+)`", re.MULTILINE)


def seen(number: int) -> Observation:
    return Observation("player", "The rules.", f"There stands {number}.", "move", "Give a number.")


@dataclass
class Class:
    """Plays in a loop of its own thread, as an actor does."""

    lessons: dict[str, int]
    learns_by: str = "examples"
    """What makes the model know: examples in the prompt, or the hint in its instructions."""
    fails: Exception | None = None
    asked: list[Sequence[Message]] = field(default_factory=list)
    written: list[Sequence[Message]] = field(default_factory=list)
    drawn: list[dict[str, object]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, daemon=True).start()

    def lesson(self, key: str, *, answered: bool = True) -> Lesson:
        number = self.lessons[key]
        return Lesson(key, seen(number), str(number + 1) if answered else None)

    def play(self, key: str, learner: Learner) -> Future[None]:
        return asyncio.run_coroutine_threadsafe(self._played(key, learner), self.loop)

    def write(
        self, proposer: bool, messages: Sequence[Message], temperature: float | None
    ) -> Future[Completion]:
        self.written.append(messages)
        done: Future[Completion] = Future()
        text = "\n".join(it.content for it in messages)
        wanted = _OUTPUT.search(text)
        names = _FIELD.findall(wanted[1]) if wanted else []
        fields = "\n\n".join(f"[[ ## {name} ## ]]\n{HINT}" for name in names)
        if "JSON object" in messages[-1].content:
            fields = json.dumps(dict.fromkeys(names, HINT))
        done.set_result(Completion(fields or f"```\n{HINT}\n```", "stop"))
        return done

    def mark(self, key: str, move: str) -> Mark:
        right = move == str(self.lessons[key] + 1)
        return Mark(float(right), "It is right." if right else "It is one more.")

    async def _played(self, key: str, learner: Learner) -> None:
        self.drawn.append(dict(learner.drawn))

        async def ask(
            messages: Sequence[Message],
            *,
            thought: bool = False,
            among: Sequence[str] = (),
            varied: bool = False,
        ) -> Completion:
            if self.fails is not None:
                raise self.fails
            self.asked.append(messages)
            await asyncio.sleep(0)
            found = re.findall(r"There stands (\d+)", messages[-1].content)
            number = int(found[-1])
            if self.learns_by == "examples":
                knows = any(it.role == "assistant" for it in messages) or number % 4 == 0
            else:
                knows = any(HINT in it.content for it in messages) or number % 4 == 0
            if learner.drawn:  # drawn otherwise, it is lucky at times
                knows = knows or (number + int(str(learner.drawn["rollout_id"]))) % 2 == 0
            text = f"Move: {number + 1}" if knows else TALK
            if "[[ ## move ## ]]" in messages[0].content:
                text = f"[[ ## move ## ]]\n{number + 1 if knows else 'none'}"
            return Completion(text, "stop")

        def check(move: str) -> object:
            if not move.isdigit():
                raise NoMove("it is no number")
            return move

        try:
            await learner.move(Decision(seen(self.lessons[key]), ask, check))
        except NoMove:
            if learner.error is None:
                raise

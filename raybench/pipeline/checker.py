"""The checker's stage: a model looks at the answers that the script does not call right."""

from collections.abc import Sequence

from raybench import benchmarks
from raybench.fleet.link import Door, Link
from raybench.grading import equality, extract
from raybench.pipeline.process import Block, prepare
from raybench.pipeline.referee import Referee
from raybench.pipeline.reply_log import ReplyLog, ReplyWriter
from raybench.pipeline.responses import Responses
from raybench.pipeline.stage_reports import CHECKER, Lane, Reporter, lane_of
from raybench.pipeline.stages import Unit, packed, unpacked
from raybench.pipeline.units import unit_id
from raybench.statements import Statement
from raybench.types import Completion, Message, ModelSpec, Request

Pair = tuple[str, str]
"""The right answer and the one given."""
_VERDICT_TOKENS = 16
_SHOWN = 80


class Verdicts:
    """What a checker is asked about units."""

    def __init__(self, checker: ModelSpec, seed: int, responses: Responses | None) -> None:
        self.referee = Referee(checker, responses)
        self._seed = seed

    def requests(self, units: Sequence[Unit]) -> dict[Pair, Request]:
        """Return what it is asked about graded units, by what is to be compared."""
        pairs = dict.fromkeys(_pair(unit) for unit in units if _is_open(unit))
        return {pair: self.request(*pair) for pair in pairs}

    def request(self, truth: str, given: str) -> Request:
        """Return the question whether two answers are the same."""
        asked = (Message("user", equality.prompt(truth, given), foreign=True),)
        most = None if self.referee.model.reasoning else _VERDICT_TOKENS
        return Request(asked, seed=self._seed, max_tokens=most, temperature=0.0)


class Check:
    """Has a model look at the answers that the script does not call right."""

    def __init__(self, link: Link, verdicts: Verdicts, log: ReplyLog | None = None) -> None:
        prepare()
        self._door = Door(link)
        self._verdicts = verdicts
        self._replies = ReplyWriter(log)
        self._reporter = Reporter(link)

    async def __call__(self, block: Block) -> Block:
        """Add the checker's verdict where there is one to give."""
        units = unpacked(block)
        asked, referee = self._verdicts.requests(units), self._verdicts.referee
        with self._reporter.asking(referee.model.name, self._lanes(units), asked) as came:
            if asked:
                open_ones = [unit for unit in units if _is_open(unit)]
                ids = {_pair(unit): unit_id(unit) for unit in reversed(open_ones)}
                told, calls = await referee.tell(self._door, asked, ids, self._replies, came)
                for unit in open_ones:
                    unit |= checked(unit, told[_pair(unit)])
                # Each call is told once, whichever unit it is told with.
                open_ones[0]["checks"] = calls
        return packed(units)

    def _lanes(self, units: Sequence[Unit]) -> dict[Pair | int, Lane]:
        """Return the lanes of units, by what is asked about them; by place where that is nothing.

        Of units with the same answers one is asked about.
        """
        name, lanes = self._verdicts.referee.model.name, dict[Pair | int, Lane]()
        for place, unit in enumerate(units):
            if benchmarks.load(unit["benchmark"]).checked:
                key = _pair(unit) if _is_open(unit) else place
                lanes[place if key in lanes else key] = lane_of(name, unit["benchmark"], CHECKER)
        return lanes


def _is_open(unit: Unit) -> bool:
    checked = benchmarks.load(unit["benchmark"]).checked
    graded = "truth" in unit and unit["judge_error"] is None
    return checked and graded and not unit["correct"] and _given(unit) is not None


def _given(unit: Unit) -> str | None:
    """Return the answer to compare: what the script read, else the reply's last line.

    The methodology has all answers checked that the script did not mark right, boxed or not. A
    reply that was cut off before it had a box gives no answer.
    """
    if unit["answer"] is not None:
        return str(unit["answer"])
    return extract.last_line(unit["response"]) if unit["finish"] == "stop" else None


def _pair(unit: Unit) -> Pair:
    return unit["truth"], str(_given(unit))


def checked(unit: Unit, reply: Completion) -> Unit:
    """Return what a checker's reply adds. Only a clear yes is one, as simple-evals has it.

    A reply without a box stays unparsed unless the checker finds the right answer in it.
    """
    told: Unit = {"checker": reply.text}
    if reply.finish == "error":
        return told | {"judge_error": f"the checker gave no verdict: {reply.error}"}
    right, said = equality.verdict(reply.text), repr(reply.text[:_SHOWN])
    if right:
        why = Statement("checker.right", "right, says the checker")
    elif right is None:
        why = Statement(
            "checker.unclear",
            "wrong: the checker says neither yes nor no ({said}, {finish})",
            said=said,
            finish=reply.finish,
        )
    else:
        why = Statement("checker.wrong", "wrong, says the checker too")
    told |= {"correct": right is True, "by": "checker", "reason": why}
    return told | ({"answer": _given(unit)} if right else {})

"""What a screening does to its dataset: questions registered, and the next revision published."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from raybench import config as configuration
from raybench.config import Config
from raybench.experiments.hle_screen import audits, sets
from raybench.experiments.hle_screen.audits import Audit
from raybench.experiments.hle_screen.batch import Batch
from raybench.experiments.hle_screen.register import Register, Registered, rows_of
from raybench.experiments.hle_screen.sets import Screened
from raybench.experiments.hle_screen.standing import taken_out
from raybench.paths import expanded
from raybench.pipeline import revisions
from raybench.pipeline.revisions import Made


@dataclass(frozen=True, slots=True)
class Published:
    """A dataset after a screening."""

    register: Register
    audits: Sequence[Audit]
    left: Sequence[str]
    """The ids of questions that left it because nobody has approved them yet."""


def publish(config: Config, batch: Batch, those: Sequence[Screened], run: str) -> Published:
    """Register what was tried, publish what may be, and return what the dataset is then.

    Where an approval is required, a new revision has approved questions alone: those that an
    earlier one published without it leave, and wait for review.
    """
    folder = expanded(config.hle_screen.dataset)
    required = config.hle_screen.review == "required"
    accepted = {each.key for each in sets.of(those, "accepted")}
    with revisions.alone(folder):
        # Read again: since the plan somebody else may have published.
        register = Register.read(folder).with_reviews(batch.reviews)
        removed = taken_out(config, register)
        audited = [it.followed(register) for it in audits.read(folder)]
        simulated = _simulated(config)
        register = register.with_tried(_registered(each, run, simulated) for each in those)
        approved, newest = register.approved, register.newest
        there = frozenset(str(row["id"]) for row in newest.rows) if newest else frozenset()
        fresh = approved - (there - newest.unreviewed if newest else there)
        renewed = required and (fresh or removed & there)
        left = sorted(there - approved - removed) if renewed else []
        unreviewed: Collection[str] = () if required else accepted
        chosen = [it for it in register if it.approved or (it.active and it.key in unreviewed)]
        if audited:  # before what their verdicts follow from is replaced
            audits.write(folder, audited)
        register.write(folder)
        revision = revisions.publish(
            folder,
            rows_of(chosen, "public"),
            rows_of(chosen, "private"),
            rows_of(chosen, "late"),
            removed=removed.union(left),
            made=_made(config, run, register, chosen),
        )
        register = replace(register, newest=revision)
        register.write_states(folder)
        if config.hle_screen.audit and revision is not None:
            size = config.hle_screen.audit
            audited = audits.draw(audited, revision, size, run=run, seed=config.seed)
            audits.write(folder, audited)
    return Published(register, audited, left)


def _simulated(config: Config) -> bool:
    asked = (*config.roster.models, *configuration.judges(config))
    return any(model.engine == "simulated" for model in asked)


def _registered(each: Screened, run: str, simulated: bool) -> Registered:
    passed = each.outcome.decision == "accepted"
    return Registered(
        key=each.key,
        part=each.part,
        run=run,
        panel=each.outcome.decision,
        evidence=each.evidence,
        notes=each.notes if passed else (),
        row=each.entry.candidate.row if passed else {},
        searched=each.searched if passed else {},
        simulated=simulated,
    )


def _made(config: Config, run: str, register: Register, chosen: Sequence[Registered]) -> Made:
    return Made(
        run=run,
        seed=config.seed,
        simulated=any(it.simulated for it in chosen),
        approved=register.approved,
        searched=[it.key for it in register if it.searched and None not in it.searched.values()],
    )

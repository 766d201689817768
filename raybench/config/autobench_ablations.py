"""Ablations of the peer protocol: which are played beside the full one."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from raybench.config.autobench import AutobenchConf
from raybench.config.roster import RosterConf
from raybench.errors import Problem, did_you_mean, named_twice

FULL = "full"
SINGLE = "single_judge"
NO_SELF = "no_self_judgement"
UNIFORM = "uniform_weights"
OUTSIDE = "outside_judges"
FIXED = "fixed_tasks"
VARIANTS = (FULL, SINGLE, NO_SELF, UNIFORM, OUTSIDE, FIXED)
"""In the order in which they are played: the others need what came out of the full one."""

WORDS = {
    FULL: "full protocol",
    SINGLE: "single judge",
    NO_SELF: "no self-judgement",
    UNIFORM: "uniform weights",
    OUTSIDE: "judges from outside",
    FIXED: "fixed tasks",
}
"""The variants as people read them."""


@dataclass
class AutobenchAblationsConf:
    """Which ablations are played; the values are in conf/autobench_ablations/default.yaml."""

    variants: list[str] = field(default_factory=list)
    single_judge: str | None = None
    tasks: str | None = None


def problems(
    ablations: AutobenchAblationsConf, autobench: AutobenchConf, roster: RosterConf
) -> Iterator[Problem]:
    """Yield what is wrong with the choice."""
    for name, count in Counter(ablations.variants).items():
        if name not in VARIANTS:
            yield Problem(
                "setting.choice",
                f"autobench_ablations.variants: unknown variant '{name}'",
                setting="autobench_ablations.variants",
                given=name,
                fix=did_you_mean(name, VARIANTS),
            )
        elif count > 1:
            yield named_twice("autobench_ablations.variants", name, count)
    if FULL not in ablations.variants:
        yield Problem(
            "setting.missing",
            "autobench_ablations.variants lacks 'full', with which the others are compared",
            setting="autobench_ablations.variants",
            fix="add it",
        )
    known = [model.name for model in (*roster.models, *roster.judges)]
    if (single := ablations.single_judge) is not None and single not in known:
        yield Problem(
            "setting.choice",
            f"autobench_ablations.single_judge is '{single}', which the roster does not have",
            setting="autobench_ablations.single_judge",
            given=single,
            fix=did_you_mean(single, known),
        )


def left_out(
    ablations: AutobenchAblationsConf, autobench: AutobenchConf, roster: RosterConf
) -> dict[str, str]:
    """Return the variants that these settings do not allow, each with the reason."""
    contestants = [model.name for model in roster.models]
    outsiders = [model.name for model in roster.judges]
    panel = autobench.judges or contestants
    same = "which would be the full protocol"
    why = {}
    if panel == [ablations.single_judge]:
        why[SINGLE] = f"{panel[0]} is the panel already, {same}"
    if not autobench.self_judgement or not set(panel) & set(contestants):
        why[NO_SELF] = f"nobody judges itself anyway, {same}"
    elif len(panel) == 1:
        why[NO_SELF] = f"nobody else would judge what {panel[0]} writes"
    if autobench.weights == "uniform" or len(panel) == 1 or not set(panel) & set(contestants):
        why[UNIFORM] = f"all judges weigh the same anyway, {same}"
    if not outsiders:
        why[OUTSIDE] = "the roster has no judges from outside: add some under roster.judges"
    elif set(panel) == set(outsiders):
        why[OUTSIDE] = f"its judges are the panel already, {same}"
    if autobench.tasks is not None:
        why[FIXED] = f"autobench.tasks gives the tasks anyway, {same}"
    return why


def played(
    ablations: AutobenchAblationsConf, autobench: AutobenchConf, roster: RosterConf
) -> list[str]:
    """Return the variants that are played, in order."""
    without = left_out(ablations, autobench, roster)
    return [it for it in VARIANTS if it in ablations.variants and it not in without]


def judges(
    ablations: AutobenchAblationsConf, autobench: AutobenchConf, roster: RosterConf
) -> list[str]:
    """Return who judges in any of the variants, as far as they are named beforehand."""
    several = played(ablations, autobench, roster)
    found = list(autobench.judges)
    if SINGLE in several and ablations.single_judge is not None:
        found.append(ablations.single_judge)
    if OUTSIDE in several:
        found += [model.name for model in roster.judges]
    return found

"""All ways of ranking over one roster, and how far they agree."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from raybench.errors import Problem, did_you_mean, named_twice

TITLES: Mapping[str, str] = {
    "index": "Index",
    "hle": "Exam",
    "autobench": "Peers",
    "games": "Games",
}
"""What people call the ways."""
PARTS = tuple(TITLES)
"""The experiments that rank the roster, in the order in which they are run."""
_OURS = (*PARTS, "consensus")
"""What the results call rankings that are no tables."""


@dataclass
class SuiteConf:
    """Which ways, and what else to compare with; the values are in conf/suite/default.yaml."""

    parts: list[str] = field(default_factory=lambda: [*PARTS])
    external: dict[str, str] = field(default_factory=dict)


def chosen(suite: SuiteConf) -> list[str]:
    """Return the parts that are run, in our order."""
    return [name for name in PARTS if name in suite.parts]


def problems(suite: SuiteConf, validating: Sequence[str]) -> Iterator[Problem]:
    """Yield what is wrong with a suite; what is wrong with its parts, they say themselves.

    `validating` are parts that are to check their own questions, and ask nobody.
    """
    if not suite.parts:
        yield Problem(
            "setting.missing",
            "suite.parts is empty",
            setting="suite.parts",
            fix=f"name at least one of {', '.join(PARTS)}",
        )
    for name, count in Counter(suite.parts).items():
        if name not in PARTS:
            yield Problem(
                "setting.choice",
                f"suite.parts names '{name}'",
                setting="suite.parts",
                given=name,
                fix=did_you_mean(name, PARTS),
            )
        if count > 1:
            yield named_twice("suite.parts", name, count)
    for name, path in suite.external.items():
        if name in _OURS:
            yield Problem(
                "setting.conflict",
                f"suite.external.{name} has the name of one of our own rankings, whose agreement "
                "it would stand in for",
                setting=f"suite.external.{name}",
                given=name,
                fix="call the table otherwise",
            )
        if not path.strip():
            yield Problem(
                "setting.missing",
                f"suite.external.{name} is empty",
                setting=f"suite.external.{name}",
                fix="give the path of a CSV of model and score",
            )
    for name in validating:
        yield Problem(
            "setting.conflict",
            f"{name}.validate checks questions and asks nobody, which leaves nothing to rank",
            setting=f"{name}.validate",
            fix=f"do it by itself, +experiment={name} {name}.validate=true",
        )


def without(suite: SuiteConf, name: str) -> str:
    """Return what leaves a part out, where others stay: a remark for what is wrong with it."""
    rest = [it for it in chosen(suite) if it != name]
    return f". Or leave it out: suite.parts=[{','.join(rest)}]" if rest else ""

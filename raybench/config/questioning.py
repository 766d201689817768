"""Experiments that put questions: fixed benchmarks, the exam, new questions for the exam."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import get_args

from raybench.config.places import DataConf
from raybench.config.roster import RosterConf
from raybench.errors import Problem, did_you_mean, named_twice, not_a_choice, out_of_range
from raybench.types import (
    Grader,
    JudgeRole,
    Letters,
    ReviewRule,
    ScreeningRule,
    SystemFallback,
    Wording,
)

SHIPPED = "samples"
"""Candidates that come with us."""
GROWS = "hle_rolling"
"""The folder in which a screening publishes where none is named."""
MOST_REVIEWERS = 3
"""Of the first of HLE's two rounds of review."""


@dataclass
class QuestionsConf:
    """What all experiments that put questions are told of how to put them."""

    limit: int | None = None
    subset: list[str] = field(default_factory=list)
    repeats: int | None = None
    temperature: float | None = 0.0
    max_tokens: int = 4096
    judges: list[str] = field(default_factory=list)
    judge_chars: int | None = None
    judge_role: str = "user"
    own_system_prompts: bool = False
    accept_failures: bool = False
    cache: bool = True
    validate: bool = False


@dataclass
class IndexConf(QuestionsConf):
    """Fixed benchmarks; the values are in conf/index/default.yaml."""

    benchmarks: list[str] = field(default_factory=list)
    languages: list[str] | None = None
    checker: str | None = None
    grader: str = "parity"
    letters: str = "all"
    partial: bool = False


@dataclass
class ExamConf(QuestionsConf):
    """Questions as HLE puts them, with a model as judge."""

    judge_role: str = "system"
    prompt: str = "by_type"
    images: bool = True


@dataclass
class HleConf(ExamConf):
    """The exam; the values are in conf/hle/default.yaml."""

    without_system_role: str = "prepended"
    review: int = 50


@dataclass
class HleScreenConf(ExamConf):
    """New questions for the exam; the values are in conf/hle_screen/default.yaml."""

    candidates: str | None = None
    dataset: str = f"runs/{GROWS}"
    rule: str = "stumps"
    private: float = 0.2
    late: bool = False
    search: dict[str, str] = field(default_factory=dict)
    review: str = "required"
    reviewers: int = 2
    reviewed: list[str] = field(default_factory=list)
    audit: int = 0


def referees(conf: QuestionsConf) -> list[str]:
    """Return the names of the models that are asked about others' replies."""
    checker = conf.checker if isinstance(conf, IndexConf) else None
    return [*conf.judges, *([] if checker is None else [checker])]


def index_problems(index: IndexConf) -> Iterator[Problem]:
    """Yield what is wrong with the fixed benchmarks."""
    if not index.benchmarks:
        yield Problem(
            "setting.missing",
            "index.benchmarks is empty",
            setting="index.benchmarks",
            fix="name at least one",
        )
    if index.grader not in get_args(Grader):
        yield not_a_choice("index.grader", index.grader, get_args(Grader))
    if index.letters not in get_args(Letters):
        yield not_a_choice("index.letters", index.letters, get_args(Letters))


def hle_problems(hle: HleConf) -> Iterator[Problem]:
    """Yield what is wrong with the exam."""
    yield from _exam_problems("hle", hle)
    if hle.without_system_role not in (ways := get_args(SystemFallback)):
        yield not_a_choice("hle.without_system_role", hle.without_system_role, ways)
    if hle.review < 0:
        yield out_of_range(
            "hle.review", hle.review, "it is 0 or more responses for people to judge"
        )


def hle_screen_problems(screen: HleScreenConf, data: DataConf) -> Iterator[Problem]:
    """Yield what is wrong with a screening, and with data given beside its candidates."""
    shipped = screen.candidates == SHIPPED
    if screen.candidates is not None:
        yield from _exam_problems("hle_screen", screen)
    elif not screen.reviewed and not screen.audit:
        yield Problem(
            "setting.missing",
            "hle_screen.candidates is not given",
            setting="hle_screen.candidates",
            fix="name a file of candidate questions, or a folder of some (JSON lines, Parquet, "
            "CSV or TSV in HLE's columns), candidates=FILE; candidates=samples takes the "
            "shipped ones. reviewed=[SHEET] hands in review sheets, audit=N draws an audit",
        )
    if data != DataConf():
        yield Problem(
            "setting.conflict",
            "a screening reads candidates and no other data",
            setting="data",
            fix="leave data out, and name the dataset that grows with hle_screen.dataset=FOLDER",
        )
    if not screen.dataset.strip():
        yield Problem(
            "setting.missing",
            "hle_screen.dataset is empty",
            setting="hle_screen.dataset",
            fix="name the folder of the dataset that grows",
        )
    elif shipped and not screen.validate and PurePath(screen.dataset).name == GROWS:
        yield Problem(
            "setting.conflict",
            "the shipped candidates are for a look, and would be published among yours in "
            f"'{screen.dataset}'",
            setting="hle_screen.dataset",
            given=screen.dataset,
            fix="name a folder of their own, dataset=runs/hle_look",
        )
    if screen.rule not in (rules := get_args(ScreeningRule)):
        yield not_a_choice("hle_screen.rule", screen.rule, rules)
    if screen.audit < 0:
        yield out_of_range("hle_screen.audit", screen.audit, "it is 0 or more questions")
    if screen.review not in (reviews := get_args(ReviewRule)):
        yield not_a_choice("hle_screen.review", screen.review, reviews)
    if not 0 <= screen.private <= 1:
        yield out_of_range("hle_screen.private", screen.private, "it is a share, 0 to 1")
    if not 1 <= screen.reviewers <= MOST_REVIEWERS:
        yield out_of_range("hle_screen.reviewers", screen.reviewers, f"it is 1 to {MOST_REVIEWERS}")


def search_problems(screen: HleScreenConf, roster: RosterConf) -> Iterator[Problem]:
    """Yield what is wrong with the models that search, and with those without a search."""
    if screen.candidates is None or not screen.search:
        return
    names = [model.name for model in roster.models]
    for name in (*screen.search, *screen.search.values()):
        if name not in names:
            yield Problem(
                "setting.choice",
                f"hle_screen.search names '{name}', which is none of roster.models",
                setting="hle_screen.search",
                given=name,
                fix=did_you_mean(name, names)
                + " Each pair is SEARCHING: PLAIN, the same model with search tools and without",
            )
    if both := sorted({*screen.search} & {*screen.search.values()}):
        yield Problem(
            "setting.conflict",
            f"hle_screen.search has {', '.join(both)} as a model with search tools and without",
            setting="hle_screen.search",
            given=", ".join(both),
            fix="pair each model that searches with the same model without search tools",
        )


def panel(screen: HleScreenConf, roster: RosterConf) -> list[str]:
    """Return the models whose failure makes a question hard: those that do not search."""
    return [model.name for model in roster.models if model.name not in screen.search]


def _exam_problems(section: str, conf: ExamConf) -> Iterator[Problem]:
    if conf.prompt not in get_args(Wording):
        yield not_a_choice(f"{section}.prompt", conf.prompt, get_args(Wording))
    if not conf.judges and not conf.validate:
        yield Problem(
            "setting.missing",
            f"{section}.judges is empty, and nothing but a judge tells whether a response is right",
            setting=f"{section}.judges",
            fix=f"name one, or two to compare: {section}.judges=[NAME]. By default it is the first "
            "of roster.judges, which are not ranked",
        )
    if len(conf.judges) > 2:
        yield Problem(
            "setting.range",
            f"{section}.judges names {len(conf.judges)}",
            setting=f"{section}.judges",
            given=len(conf.judges),
            fix="it is one, or two to compare",
        )


def questions_problems(section: str, conf: QuestionsConf) -> Iterator[Problem]:
    """Yield what is wrong with how questions are put, whatever the experiment."""
    for name, null in (
        ("limit", ", or null for all questions"),
        ("repeats", ", or null for as many as the methodology asks for"),
        ("max_tokens", ""),
        ("judge_chars", ", or null for no bound"),
    ):
        value = getattr(conf, name)
        if value is not None and value < 1:
            yield out_of_range(f"{section}.{name}", value, f"it is 1 or more{null}")
    if conf.judge_role not in (roles := get_args(JudgeRole)):
        yield not_a_choice(f"{section}.judge_role", conf.judge_role, roles)
    if conf.temperature is not None and not 0 <= conf.temperature <= 2:
        yield out_of_range(
            f"{section}.temperature", conf.temperature, "it is 0 to 2, or null for each model's own"
        )


def referees_problems(section: str, conf: QuestionsConf, roster: RosterConf) -> Iterator[Problem]:
    """Yield what is wrong with who is asked about replies."""
    names = [model.name for model in (*roster.models, *roster.judges)]
    checker = conf.checker if isinstance(conf, IndexConf) else None
    given = [("judges", name) for name in conf.judges]
    for setting, name in [*given, *([] if checker is None else [("checker", checker)])]:
        if name not in names:
            yield Problem(
                "setting.choice",
                f"{section}.{setting} is '{name}', which is no model of the roster",
                setting=f"{section}.{setting}",
                given=name,
                fix=did_you_mean(name, names)
                + " One that is not to be ranked goes under roster.judges",
            )
    for name, count in Counter(conf.judges).items():
        if count > 1:
            yield named_twice(f"{section}.judges", name, count)

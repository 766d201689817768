"""The typed configuration: what `conf/` may say, with the defaults and the rules between fields.

Hydra checks names and types against these dataclasses and hands back instances of them; nothing
below the command line knows that Hydra exists. `problems` collects every broken rule at once.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from raybench.config import (
    autobench,
    autobench_ablations,
    autobench_biases,
    games,
    games_phrasings,
    optimise_players,
    places,
    questioning,
    roster,
    storage,
    suite,
)
from raybench.config.autobench import AutobenchConf, DifficultyConf
from raybench.config.autobench_ablations import AutobenchAblationsConf
from raybench.config.autobench_biases import AutobenchBiasesConf
from raybench.config.compiled_players import CompiledPlayersConf
from raybench.config.games import GamesConf
from raybench.config.games_phrasings import GamesPhrasingsConf
from raybench.config.missing import MISSING
from raybench.config.optimise_players import OptimisePlayersConf
from raybench.config.places import (
    CONSOLE_MODES,
    SANDBOXES,
    ConsoleConf,
    DataConf,
    FleetConf,
    SandboxConf,
    ServeConf,
    TrackingConf,
)
from raybench.config.questioning import (
    MOST_REVIEWERS,
    SHIPPED,
    ExamConf,
    HleConf,
    HleScreenConf,
    IndexConf,
    QuestionsConf,
    panel,
    referees,
)
from raybench.config.roster import ModelConf, RosterConf, SamplingConf
from raybench.config.suite import SuiteConf
from raybench.errors import Problem
from raybench.types import ModelSpec

__all__ = [
    "CONSOLE_MODES",
    "MISSING",
    "MOST_REVIEWERS",
    "PEERS",
    "SANDBOXES",
    "SHIPPED",
    "TOURNAMENTS",
    "AutobenchAblationsConf",
    "AutobenchBiasesConf",
    "AutobenchConf",
    "CompiledPlayersConf",
    "Config",
    "ConsoleConf",
    "DataConf",
    "DifficultyConf",
    "ExamConf",
    "FleetConf",
    "GamesConf",
    "GamesPhrasingsConf",
    "HleConf",
    "HleScreenConf",
    "IndexConf",
    "ModelConf",
    "OptimisePlayersConf",
    "QuestionsConf",
    "RosterConf",
    "SamplingConf",
    "SandboxConf",
    "ServeConf",
    "SuiteConf",
    "TrackingConf",
    "asks_models",
    "everybody",
    "judges",
    "learns",
    "panel",
    "parts",
    "problems",
    "questions",
    "referees",
]

PEERS = ("autobench", "autobench_ablations")
"""Experiments in which the roster's models assess one another, as the settings of autobench say."""


TOURNAMENTS = ("games", "games_phrasings")
"""Experiments in which models play against each other, as the settings of games say."""


@dataclass
class Config:
    """Everything one invocation is told."""

    experiment: str | None = None
    roster: RosterConf = field(default_factory=RosterConf)
    fleet: FleetConf = field(default_factory=FleetConf)
    serve: ServeConf = field(default_factory=ServeConf)
    tracking: TrackingConf = field(default_factory=TrackingConf)
    data: DataConf = field(default_factory=DataConf)
    sandbox: SandboxConf = field(default_factory=SandboxConf)
    console: ConsoleConf = field(default_factory=ConsoleConf)
    autobench: AutobenchConf = field(default_factory=AutobenchConf)
    autobench_ablations: AutobenchAblationsConf = field(default_factory=AutobenchAblationsConf)
    autobench_biases: AutobenchBiasesConf = field(default_factory=AutobenchBiasesConf)
    games: GamesConf = field(default_factory=GamesConf)
    games_phrasings: GamesPhrasingsConf = field(default_factory=GamesPhrasingsConf)
    compiled_players: CompiledPlayersConf = field(default_factory=CompiledPlayersConf)
    optimise_players: OptimisePlayersConf = field(default_factory=OptimisePlayersConf)
    index: IndexConf = field(default_factory=IndexConf)
    hle: HleConf = field(default_factory=HleConf)
    hle_screen: HleScreenConf = field(default_factory=HleScreenConf)
    suite: SuiteConf = field(default_factory=SuiteConf)
    seed: int = 0
    runs_dir: str = "runs"
    storage: str | None = None
    """Where runs are copied to as they go, so that they outlive this machine's disk."""
    storage_patience_s: float = 1800.0
    resume: bool = True
    dry_run: bool = False


def problems(config: Config) -> Iterator[Problem]:
    """Yield every rule that the configuration breaks, each with its mend."""
    if not config.runs_dir.strip():
        yield Problem(
            "setting.missing",
            "runs_dir is empty",
            setting="runs_dir",
            fix="name a folder, or leave it out for 'runs'",
        )
    yield from storage.problems(config.storage, config.storage_patience_s)
    yield from roster.problems(config.roster)
    yield from places.fleet_problems(config.fleet)
    yield from places.serve_problems(config.serve)
    yield from places.sandbox_problems(config.sandbox)
    yield from places.console_problems(config.console)
    yield from places.tracking_problems(config.tracking)
    if config.experiment == "suite":
        conf = config.suite
        by_name = {str(it.experiment): it for it in parts(config)}
        validating = [name for name, it in by_name.items() if (of := questions(it)) and of.validate]
        yield from suite.problems(conf, validating)
        for name, part in by_name.items():
            for problem in _own_problems(part):
                lacks = problem.code == "setting.missing" or problem.setting == "roster.models"
                yield problem.extended(suite.without(conf, name)) if lacks else problem
        return
    yield from _own_problems(config)


def parts(config: Config) -> list[Config]:
    """Return the configuration of each experiment that is run: of a suite's parts, or of this."""
    if config.experiment != "suite":
        return [config]
    return [replace(config, experiment=name) for name in suite.chosen(config.suite)]


def _own_problems(config: Config) -> Iterator[Problem]:
    if config.experiment in PEERS:
        yield from autobench.problems(config.autobench, config.roster)
    if config.experiment == "autobench_ablations":
        yield from autobench_ablations.problems(
            config.autobench_ablations, config.autobench, config.roster
        )
    if config.experiment == "autobench_biases":
        yield from autobench_biases.problems(config.autobench_biases)
    if config.experiment in TOURNAMENTS:
        yield from games.problems(config.games, config.roster, config.fleet)
    if config.experiment == "games_phrasings":
        yield from games_phrasings.problems(config.games_phrasings, config.games)
    if learns(config):
        yield from optimise_players.problems(config.optimise_players, config.games, config.roster)
    if config.experiment == "index":
        yield from questioning.index_problems(config.index)
    if config.experiment == "hle":
        yield from questioning.hle_problems(config.hle)
    if config.experiment == "hle_screen":
        yield from questioning.hle_screen_problems(config.hle_screen, config.data)
        yield from questioning.search_problems(config.hle_screen, config.roster)
    if (conf := questions(config)) is not None:
        yield from questioning.questions_problems(str(config.experiment), conf)
        if asks_models(config):
            yield from questioning.referees_problems(str(config.experiment), conf, config.roster)


def asks_models(config: Config) -> bool:
    """Tell whether models are asked: a hand-in of reviews asks none, nor does an audit."""
    screen = config.hle_screen
    hands_in = screen.candidates is None and (screen.reviewed or screen.audit)
    return config.experiment != "hle_screen" or not hands_in


def learns(config: Config) -> bool:
    """Tell whether programs are optimised."""
    if config.experiment == "games_phrasings":
        return games_phrasings.asks(config.games_phrasings)
    return config.experiment == "optimise_players"


def questions(config: Config) -> QuestionsConf | None:
    """Return how questions are put, where the experiment puts any."""
    found = {"index": config.index, "hle": config.hle, "hle_screen": config.hle_screen}
    return found.get(config.experiment or "")


def judges(config: Config) -> list[ModelConf]:
    """Return the models that are asked and not ranked."""
    if config.experiment == "suite":
        found = [model for part in parts(config) for model in judges(part)]
        return [model for model in config.roster.judges if model in found]
    conf = questions(config)
    wanted = [] if conf is None else referees(conf)
    if config.experiment == "autobench":
        wanted = config.autobench.judges
    if config.experiment in TOURNAMENTS:
        wanted = config.games.jury
    if learns(config):
        wanted = [*wanted, config.optimise_players.proposer or ""]
    if config.experiment == "autobench_ablations":
        wanted = autobench_ablations.judges(
            config.autobench_ablations, config.autobench, config.roster
        )
    return [model for model in config.roster.judges if model.name in wanted]


def everybody(config: Config) -> tuple[ModelSpec, ...]:
    """Return every model that is asked: those that are ranked, and the others."""
    ranked = {model.name: model.spec() for model in config.roster.models}
    others = {model.name: model.spec() for model in judges(config)}
    return tuple((ranked | others).values())

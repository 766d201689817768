"""The command line: compose the configuration, check it, plan, run. Light until a run begins.

Hydra composes; its messages are turned into one that names the mistake and the mend. Nothing heavy
(ray, vllm, torch, mlflow) is imported before the configuration has proved right.
"""

import asyncio
import os
import re
import signal
import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import fields, is_dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, cast, get_type_hints

from raybench import __version__, problems, roster_file, sigterm
from raybench.config import Config
from raybench.errors import ConfigurationError, Problem, RaybenchError
from raybench.pipeline import hanging
from raybench.tracking.console import modes, telling

if TYPE_CHECKING:
    from omegaconf import DictConfig

_INTERRUPTED = 130
_TABLES = re.compile(
    r"(autobench\.external|suite\.external|fleet\.nodes|fleet\.work_nodes|sandbox\.nodes"
    r"|hle_screen\.search|games\.(rules|phrasing|strategy|strategies|weights))[.=]"
)
"""Settings below which anybody may name further ones."""
_FLAGS = {"--multirun": 0, "-m": 0, "--help": 0, "-h": 0, "--config-dir": 1, "-cd": 1, "--cfg": 1}
"""Flags that stand anywhere, with the number of their values."""
_FIRST_JUDGE = "${first_judge:}"
"""What stands in conf/ for the first judge of the roster."""
_WRONG = "the configuration cannot be run:"
_UNHEARD = 141  # what a shell says of a program that SIGPIPE ended


def main() -> None:
    """Run the command line; the process's exit code says how it went."""
    try:
        with sigterm.received():
            _run()
    except SystemExit as ending:
        hanging.end(ending.code)
        raise


def _run() -> None:
    _end_by_sigterm_as_by_ctrl_c()
    try:
        try:
            _main()
        except KeyboardInterrupt:  # before a run has begun, or while one is looked up
            telling.end(_INTERRUPTED, kind="interrupted")
            sys.exit(_INTERRUPTED)
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read our output (`| head`) has gone: no reason for a traceback, here or at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(_UNHEARD)


def _end_by_sigterm_as_by_ctrl_c() -> None:
    """Have SIGTERM tell as much as Ctrl-C does, also before a run has begun.

    Where somebody has it ignored it stays so.
    """
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, signal.default_int_handler)


def _main() -> None:
    sys.argv[1:] = modes.with_flags(sys.argv[1:])
    modes.use(modes.of_arguments(sys.argv[1:]))
    if "--version" in sys.argv[1:]:
        print(f"raybench {__version__}")
        return
    from raybench import saved

    try:
        file, rest = saved.taken(sys.argv[1:])
        if file is not None:
            named = f"+experiment={saved.experiment_of(file)}"
            overrides = at_home([named, *rest])[1:]
            composed = saved.compose(file, overrides)
            modes.use(_mode(composed))
            telling.keep_stdout()
            sys.exit(_job(composed, overrides))
    except RaybenchError as error:
        _stop(error)
    from hydra._internal.utils import get_args_parser

    # Hydra's parser takes flags in front of overrides only; people write these anywhere.
    for flag, values in _FLAGS.items():
        if flag in sys.argv[1:]:
            at = sys.argv.index(flag)
            end = at + 1 + values
            sys.argv[1:] = [*sys.argv[at:end], *sys.argv[1:at], *sys.argv[end:]]
    wrong = list[Problem]()
    try:
        sys.argv[1:] = roster_file.taken(sys.argv[1:])
    except ConfigurationError as error:
        if not {"--help", "-h"} & {*sys.argv[1:]}:
            _stop(error)
        wrong += error.problems  # told after the help
        sys.argv[1:] = [it for it in sys.argv[1:] if not it.startswith(roster_file.SETTING)]
    sys.argv[1:] = with_tables(own_roster(at_home(sys.argv[1:])))
    parser = get_args_parser()
    parser.allow_abbrev = False  # --experiment is not short for --experimental-rerun
    parser.error = _flag_refused  # type: ignore[method-assign]
    args = parser.parse_args()
    passive = args.help or args.hydra_help or args.cfg or args.info or args.shell_completion
    if not passive:
        telling.keep_stdout()
    if all(it.startswith(modes.SETTING) for it in sys.argv[1:]):
        telling.out(_welcome(), experiments=experiments())
        telling.end(0)
        return
    try:
        _register_schema()
        if args.help and _shows_help(args, wrong):
            return
        if args.cfg or args.info:  # raybench reports mistakes itself
            _composed(args.overrides, args.config_dir)
        if _is_plain(args):
            sys.exit(_job(_told(args.overrides), args.overrides))
        if not passive:
            for overrides in _sweep(args.overrides) if args.multirun else [args.overrides]:
                check(compose(overrides, args.config_dir))
    except RaybenchError as error:
        _stop(error)
    _run_with_hydra()


def at_home(arguments: Sequence[str]) -> list[str]:
    """Return the arguments with an experiment's own settings put where they live.

    With +experiment=index, limit=5 is index.limit=5, as long as nothing else is called limit.
    """
    named = [it.partition("=")[2] for it in arguments if it.startswith("+experiment=")]
    whole = {field.name for field in fields(Config)}
    sections = [get_type_hints(Config)[name] for name in named if name in whole]
    if len(sections) != 1:
        return list(arguments)
    own = {field.name for field in fields(sections[0])} - whole
    return [f"{named[0]}.{it}" if _head(it) in own else it for it in arguments]


def _head(argument: str) -> str:
    """Return the first part of a setting's name: rules of rules.chess.plies=40."""
    return argument.partition("=")[0].partition(".")[0]


def with_tables(arguments: Sequence[str]) -> list[str]:
    """Return the arguments with what they add to a table as new: a plus is not asked for."""
    return [f"++{it}" if _TABLES.match(it) else it for it in arguments]


def own_roster(arguments: Sequence[str]) -> list[str]:
    """Return the arguments with models that they name made a roster of their own.

    Else they would bear the name of the default roster, and be asked in the way that suits it.
    """
    named = {it.partition("=")[0] for it in arguments}
    if "roster.models" in named and "roster" not in named:
        return [*arguments, "roster=custom"]
    return list(arguments)


def composed(
    arguments: Sequence[str], file: str | None = None, config_dir: str | None = None
) -> "DictConfig":
    """Compose the settings of a command line as a run does; `file` is the one that --from names."""
    if file is not None:
        from raybench import saved

        named = f"+experiment={saved.experiment_of(file)}"
        return saved.compose(file, at_home([named, *arguments])[1:])
    taken = roster_file.taken(arguments)
    return compose(with_tables(own_roster(at_home(taken))), config_dir)


def conf_dir() -> Path:
    """Return the Hydra tree: in the wheel beside this file, in a checkout at its root."""
    packaged = Path(__file__).parent / "conf"
    return packaged if packaged.is_dir() else Path(__file__).parents[1] / "conf"


def experiments() -> dict[str, str]:
    """Return every experiment with the line that describes it."""
    found = {}
    for file in sorted((conf_dir() / "experiment").glob("*.yaml")):
        lines = file.read_text(encoding="utf-8").splitlines()
        remarks = (line for line in lines if line.startswith("# ") and "@package" not in line)
        found[file.stem] = next(remarks, "").removeprefix("# ")
    return found


def compose(overrides: Sequence[str], config_dir: str | None = None) -> "DictConfig":
    """Compose `conf/` and the overrides; mistakes are ConfigurationErrors."""
    return _without_hydra(_composed(overrides, config_dir))


def _composed(overrides: Sequence[str], config_dir: str | None = None) -> "DictConfig":
    """Return what is composed with what Hydra knows of it."""
    from hydra import compose as hydra_compose
    from hydra import initialize_config_dir
    from hydra.core.global_hydra import GlobalHydra

    from raybench.mistakes import explain

    _register_schema()
    if config_dir and not Path(config_dir).is_dir():
        raise ConfigurationError(
            Problem(
                "file.missing",
                f"--config-dir '{config_dir}' is not a folder",
                setting="--config-dir",
                given=config_dir,
                fix="give one that holds roster/NAME.yaml or other groups of your own",
            )
        )
    # Hydra itself knows the flag.
    own = [it for it in overrides if it.startswith(roster_file.SEARCHED)]
    extra = [roster_file.searched([Path(config_dir)], *own)] if config_dir else []
    try:
        with initialize_config_dir(str(conf_dir()), version_base="1.3"):
            return hydra_compose("config", overrides=[*overrides, *extra], return_hydra_config=True)
    except Exception as error:
        GlobalHydra.instance().clear()
        raise ConfigurationError(explain(error, overrides, _known_keys())) from error


def _without_hydra(composed: "DictConfig") -> "DictConfig":
    from omegaconf import open_dict

    with open_dict(composed):
        del composed["hydra"]
    return composed


def _is_plain(args: Namespace) -> bool:
    """Tell whether one job is to be run and Hydra asked for nothing but to compose it.

    Hydra would compose it twice more, which takes longer than many a plan.
    """
    asked = {
        name for name, value in vars(args).items() if value and name not in ("overrides", "run")
    }
    others = [it for it in args.overrides if not it.startswith(roster_file.SEARCHED)]
    return not asked and not any(it.lstrip("+~").startswith("hydra") for it in others)


def _told(overrides: Sequence[str]) -> "DictConfig":
    """Compose a job that runs without Hydra, and note how it was asked for, as Hydra would."""
    from hydra.core.hydra_config import HydraConfig

    composed = _composed(overrides)
    HydraConfig.instance().set_config(composed)
    return _without_hydra(composed)


def check(composed: "DictConfig", *, dry_run: bool = False) -> Config:
    """Return the typed configuration, or raise one error that lists everything wrong with it.

    For a dry run nothing is looked for that only a run needs.
    """
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    from raybench.mistakes import explain

    try:
        config = OmegaConf.to_object(composed)
        if not isinstance(config, Config) or _has_more(config):
            # A '+' adds any key past the schema; laying the values over it again refuses those.
            # Neither input is used afterwards: nothing needs to be copied while they are merged.
            values = OmegaConf.to_container(composed, resolve=True)
            typed = OmegaConf.unsafe_merge(deepcopy(_schema()), values)
            config = cast(Config, OmegaConf.to_object(typed))
    except OmegaConfBaseException as error:
        named = f"+experiment={composed.experiment}"
        raise ConfigurationError(explain(error, [named], _known_keys())) from error
    config.dry_run |= dry_run
    found = list(problems.of(config)) if config.experiment else [_unnamed()]
    if found:
        raise ConfigurationError(found, heading=_WRONG)
    return config


def _has_more(value: object) -> bool:
    """Tell whether an object has attributes, here or deeper, that its class does not declare."""
    if is_dataclass(value):
        return vars(value).keys() != {it.name for it in fields(value)} or any(
            map(_has_more, vars(value).values())
        )
    if isinstance(value, dict):
        return any(map(_has_more, value.values()))
    return isinstance(value, list) and any(map(_has_more, value))


def _run_with_hydra() -> None:
    """Hand over to Hydra, which shows what is asked for, or calls `_job` for each job."""
    import hydra

    worst = 0

    def job(composed: "DictConfig") -> None:
        nonlocal worst
        from hydra.core.hydra_config import HydraConfig
        from hydra.types import RunMode

        code = _job(composed, HydraConfig.get().overrides.task)
        worst = max(worst, code)
        if code and (code == _INTERRUPTED or HydraConfig.get().mode == RunMode.RUN):
            sys.exit(code)  # the other jobs of a multirun go on after a failure, not after Ctrl-C

    hydra.main(config_path=str(conf_dir()), config_name="config", version_base="1.3")(job)()
    sys.exit(worst)


def _job(composed: "DictConfig", overrides: Sequence[str] = ()) -> int:
    """Run one job, which the command line asked for by `overrides`; return its exit code."""
    try:
        return _done(composed, overrides)
    except BrokenPipeError:  # Hydra would print it with a traceback
        return _UNHEARD


def _done(composed: "DictConfig", overrides: Sequence[str]) -> int:
    from omegaconf import OmegaConf

    from raybench import experiments as rooms
    from raybench.experiment_help import without_effect
    from raybench.experiments.parts.placing import placed
    from raybench.tracking.plan import describe, to_json

    telling.begin()
    _end_by_sigterm_as_by_ctrl_c()  # an event loop, of a job before, has undone it
    try:
        modes.use(_mode(composed))
        config = check(composed)
        experiment = rooms.load(config.experiment or "")
        notes = without_effect(config, map(_key, overrides), experiments())
        if config.dry_run:
            plan = placed(config, experiment.plan(config))
            plan = replace(plan, notes=(*plan.notes, *notes))
            telling.out(describe(plan), plan=to_json(plan))
        else:
            for note in notes:
                telling.say(f"Note: {note}")
            resolved = cast(dict[str, Any], OmegaConf.to_container(composed, resolve=True))
            asyncio.run(_until_terminated(experiment.run(config, resolved)))
        telling.end(0)
    except RaybenchError as error:
        telling.end(error.exit_code, error)
        return error.exit_code
    except (KeyboardInterrupt, asyncio.CancelledError):
        telling.end(_INTERRUPTED, kind="interrupted")
        return _INTERRUPTED
    except BrokenPipeError:
        raise
    except Exception as error:  # a mistake of ours, which is shown with a traceback
        telling.failed(error)
        raise
    return 0


def _mode(composed: "DictConfig") -> str:
    """Return how a command speaks; what is saved may lack it."""
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    try:
        return str(OmegaConf.select(composed, "console.mode") or "auto")
    except OmegaConfBaseException:  # `check` says what is wrong with it
        return "auto"


async def _until_terminated(run: Any) -> None:
    """Await the run; SIGTERM ends it as Ctrl-C does, with everything taken down."""
    task, loop = asyncio.ensure_future(run), asyncio.get_running_loop()

    def terminated(*_: object) -> None:
        if task.cancelling():  # `timeout` sends it twice; the run is being taken down already
            return
        task.cancel()
        loop.call_soon_threadsafe(lambda: None)  # where it waits for something to happen

    # As asyncio does for Ctrl-C: a handler of the loop would not be called while the loop stands
    # still, as it does while a storage that is away is waited for.
    before = signal.signal(signal.SIGTERM, terminated)
    try:
        await task
    finally:
        signal.signal(signal.SIGTERM, before)


def _sweep(overrides: Sequence[str]) -> list[list[str]]:
    """Return the jobs of a multirun of plain choices, so that all are checked before one starts."""
    from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
    from hydra.core.override_parser.overrides_parser import OverridesParser

    from raybench.mistakes import explain

    try:
        parsed = OverridesParser.create().parse_overrides(list(overrides))
        searched = roster_file.SEARCHED.removesuffix("=")
        keys = {override.key_or_group for override in parsed} - {searched}
        if any(key.startswith("hydra") for key in keys):
            return []  # another sweeper may be chosen: each job is checked when it starts
        batches = BasicSweeper.split_arguments(parsed, None)
    except Exception as error:
        raise ConfigurationError(explain(error, overrides, _known_keys())) from error
    return [list(job) for batch in batches for job in batch]


@cache
def _register_schema() -> None:
    from hydra.core.config_store import ConfigStore
    from omegaconf import OmegaConf

    OmegaConf.register_new_resolver("first_judge", _first_judge, replace=True)
    OmegaConf.register_new_resolver("listed", _listed, replace=True)
    store = ConfigStore.instance()
    store.store("schema", _schema())
    # Hydra copies what it reads from, this store included, at each composition and for each group
    # that it lists: `--help` took three times as long. What is in the store, it copies when it
    # reads it, so the store itself need not be copied.
    vars(store)["__deepcopy__"] = lambda _: store


def _first_judge(*, _root_: "DictConfig") -> str | None:
    """Return the name of the roster's first judge, _FIRST_JUDGE in conf/; None without one."""
    from omegaconf import OmegaConf

    judges = OmegaConf.select(_root_, "roster.judges", default=None) or ()
    named = next(iter(judges), None)
    return None if named is None else OmegaConf.select(named, "name", default=None)


def _listed(value: str | None) -> list[str]:
    """Return a value as a list of one, `${listed:VALUE}` in conf/; an empty list without one."""
    return [] if value is None else [value]


@cache
def _schema() -> "DictConfig":
    """Return the typed configuration with its defaults; copy it before you change it."""
    from omegaconf import OmegaConf

    return cast("DictConfig", OmegaConf.structured(Config))


@cache
def _known_keys() -> frozenset[str]:
    """Return every key of the configuration, dotted."""
    from omegaconf import DictConfig, OmegaConf

    def walk(node: DictConfig, prefix: str) -> Iterator[str]:
        for key in node:
            dotted = f"{prefix}{key!s}"
            yield dotted
            if not OmegaConf.is_missing(node, key) and isinstance(node[key], DictConfig):
                yield from walk(node[key], f"{dotted}.")

    return frozenset(walk(_schema(), ""))


def _shows_help(args: Namespace, wrong: Sequence[Problem]) -> bool:
    """Show the help of the experiment that is named; return False if none is.

    Raise ConfigurationError after it, for `wrong` and all that the command line sets wrongly. What
    else a run needs is not asked for yet.
    """
    wrong = list(wrong)
    while True:
        try:
            composed = _composed(args.overrides, args.config_dir)
            break
        except ConfigurationError as error:
            wrong += error.problems
            kept = [it for it in args.overrides if not _is_among(_key(it), error.problems)]
            if kept == args.overrides:  # which of them is wrong is not known
                kept = [it for it in kept if it.startswith("+experiment=")]
                if kept == args.overrides and args.config_dir is None:
                    raise
                args.config_dir = None
            args.overrides = kept
    if composed.experiment is not None:
        wrong += _show_help(composed, args)
    if wrong:
        raise ConfigurationError(wrong, heading=_WRONG)
    return composed.experiment is not None


def _show_help(composed: "DictConfig", args: Namespace) -> list[Problem]:
    """Print the help of an experiment; return what is wrong with the values that are set."""
    from raybench.experiment_help import Shown, described

    name = str(composed.experiment)
    if name not in experiments():
        check(_without_hydra(composed))  # which says what is wrong with it
    overrides = [it for it in args.overrides if not it.lstrip("+~").startswith("roster")]
    without_roster = _composed([*overrides, "roster=custom"], args.config_dir)
    chosen = roster_file.as_given(f"roster={composed.hydra.runtime.choices.roster}")
    defaults = _section(without_roster, name, resolve=False)
    print(
        described(
            Shown(
                name,
                experiments()[name],
                conf_dir() / name / "default.yaml",
                own=_section(without_roster, name),
                by_judges=[it for it, value in defaults.items() if _FIRST_JUDGE in str(value)],
                roster=chosen,
                composed=_section(composed, name),
            )
        )
    )
    keys = [_key(it) for it in args.overrides]
    try:
        check(_without_hydra(composed), dry_run=True)
    except ConfigurationError as error:
        return [it for it in error.problems if any(_concerns(it, key) for key in keys)]
    return []


def _section(composed: "DictConfig", name: str, *, resolve: bool = True) -> dict[str, Any]:
    from omegaconf import OmegaConf

    return cast(dict[str, Any], OmegaConf.to_container(composed[name], resolve=resolve))


def _key(override: str) -> str:
    return override.lstrip("+~").partition("=")[0]


def _is_among(key: str, wrong: Sequence[Problem]) -> bool:
    return any(_concerns(it, key) for it in wrong if it.setting)


def _concerns(problem: Problem, key: str) -> bool:
    """Tell whether a problem is with a setting, or with a part or the owner of it."""
    own, given = f"{problem.setting}.", f"{key}."
    return own.startswith(given) or given.startswith(own)


def _welcome() -> str:
    return (
        "raybench ranks language models on one Ray cluster. Choose an experiment:\n\n"
        f"{_experiment_lines()}\n\n"
        "For example: python -m raybench +experiment=autobench roster=simulated dry_run=true\n"
        "Its settings: python -m raybench +experiment=autobench --help\n"
        "Every setting: python -m raybench --help"
    )


def _unnamed() -> Problem:
    return Problem(
        "setting.missing",
        "no experiment is named",
        setting="experiment",
        fix=f"add +experiment=NAME.\n{_experiment_lines()}",
    )


def _experiment_lines() -> str:
    found = experiments()
    wide = max(map(len, found))
    return "\n".join(f"  +experiment={name:<{wide}} {line}" for name, line in found.items())


def _flag_refused(message: str) -> NoReturn:
    """Say of a wrong flag what Hydra's parser says in eight lines."""
    fix = (
        "Settings are KEY=VALUE without dashes, for example dry_run=true; flags are --help, "
        "--version, --multirun, --config-dir FOLDER, --from RUN/config.yaml, --quiet, --json, "
        "--plain and --live"
    )
    if named := re.search(r"--experiment\b(?:=(\S+))?", message):
        fix = f"write +experiment={named[1] or 'NAME'}"
    _stop(ConfigurationError(Problem("setting.syntax", message, fix=fix)))


def _stop(error: RaybenchError) -> NoReturn:
    telling.end(error.exit_code, error)
    sys.exit(error.exit_code)

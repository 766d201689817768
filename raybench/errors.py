"""Errors for the person at the terminal: what is wrong, in which setting, and how to fix it.

A program reads the code and the fields, which are stable; a person reads the text made of them.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Any, Literal

Code = Literal[
    # What was asked for.
    "setting.unknown",  # there is no setting, option, key or flag of this name
    "setting.choice",  # the name is not one of those known (a model, game, benchmark, language, …)
    "setting.missing",  # a value is needed, and is not given or empty
    "setting.type",  # a value of another type is needed (a number, a list, a mapping, …)
    "setting.format",  # the text is not of the form that the setting takes (an address, a label, …)
    "setting.range",  # a number, or the number of entries, is outside its limits
    "setting.duplicate",  # the same thing is named more than once
    "setting.conflict",  # another setting, or what is run, excludes it
    "setting.secret",  # it holds a secret, which would be written to files and logs
    "setting.syntax",  # an argument is neither KEY=VALUE nor GROUP=NAME nor a flag
    # What the request needs on this machine.
    "environment.variable",  # an environment variable is not set or cannot be used
    "package.missing",  # a package is not installed, or not as the device needs it
    "extension.import",  # the user's own MODULE:NAME cannot be imported or constructed
    "extension.invalid",  # the user's own class, function or file does not do what it must
    "extension.failed",  # the user's own code raised an exception, or returned something wrong
    "file.missing",  # there is no such file or folder
    "file.unreadable",  # a file or folder cannot be read, or only in part
    "file.unwritable",  # a file or folder cannot be written
    "file.format",  # a file is not of the kind that is needed
    "file.changed",  # a file was changed after raybench wrote it
    # Models, engines and the cluster.
    "model.weights",  # weights were not found, fetched or prepared
    "model.unreachable",  # models failed to load or do not answer
    "resources.memory",  # an engine needs more memory than there is
    "resources.gpus",  # there are too few GPUs, or none that can be used is free
    "resources.driver",  # the NVIDIA driver does not answer, or is too old for the installed CUDA
    "resources.disk",  # a disk has no room for what is to be fetched
    "resources.nodes",  # the cluster has no node of the kind that is needed
    "ray.start",  # Ray could not be started or reached
    "ray.lost",  # processes of a run died too often
    "engine.start",  # an engine or the endpoint did not start in time or at all
    "engine.lost",  # an engine, its controller or the endpoint has stopped
    "endpoint.address",  # the endpoint cannot listen on its address
    "endpoint.key",  # a model's endpoint refuses the key, or asks for one
    "endpoint.access",  # a model's endpoint denies the key this model, or its account is empty
    "endpoint.model",  # a model's endpoint does not know the model
    "endpoint.path",  # a model's endpoint has no chat completions below options.base_url
    "endpoint.connection",  # a model's endpoint cannot be connected to
    # Runs and their journals.
    "run.missing",  # there is no such run
    "run.kind",  # the run is of an experiment that does not serve here
    "run.unfinished",  # the run has not finished; the same command resumes it
    "run.conflict",  # what is asked for does not fit what the run has done already
    "run.taken",  # another process works on the same run or dataset
    "run.budget",  # the budget was spent before anything was done
    "journal.invalid",  # a journal holds something that no run writes
    "journal.version",  # a file was written by another version of raybench
    "player.missing",  # a player was not compiled with these settings
    "compare.nothing",  # runs have nothing in common that can be compared
    "compare.ambiguous",  # it is not clear which models are to be compared
    # Data and storage.
    "data.missing",  # there are no questions, positions or revisions where they are looked for
    "data.unreviewed",  # reviewers have approved no question yet, or filled in no row
    "data.invalid",  # rows or candidates are not as they must be
    "data.changed",  # data is not what it was when it was first read
    "data.empty",  # nothing is left after selection
    "data.ungradable",  # answers cannot be graded, or known answers are graded wrong
    "hub.access",  # the hub asks for a token, or for its terms to be accepted
    "hub.missing",  # the hub does not have a file, or hides it
    "hub.unreachable",  # the hub did not deliver a file
    "storage.unwritable",  # the storage cannot be written to
    "storage.unreachable",  # the storage did not answer for longer than it is waited for
    "storage.changed",  # the storage and the local files have diverged
    "tracking.store",  # the tracking URI does not name a store that MLflow can use
    "tracking.unsent",  # runs could not be sent to MLflow
    "tracking.refused",  # MLflow refused part of a run
    # Programs, games and ratings.
    "sandbox.unavailable",  # programs cannot be confined here, or not on any node
    "sandbox.failed",  # the sandbox failed repeatedly through no fault of the program
    "sandbox.python",  # the Python of programs, or its environment, cannot be used
    "game.fault",  # a game broke its own rules
    "ratings.invalid",  # these results cannot be rated
    "ratings.unsettled",  # the ratings did not converge
]
"""Every code, which is the part of an error that programs and tests rely on."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong."""

    code: Code
    message: str
    """What is wrong, and where; without the final stop if a fix follows."""
    setting: str | None = None
    """The setting, flag, option or column, as it is written; relative to its owner if the code
    that found the problem does not know more (`within` completes it)."""
    given: Any = field(default=None, hash=False)
    """The value that was given; never a secret."""
    fix: str | None = None
    """What to do; a sentence of its own if it begins with a capital letter."""

    @property
    def text(self) -> str:
        """Return the message and the fix, as people read them."""
        if not self.fix:
            return self.message
        if "\n  - " in self.message:  # it ends in a list
            return f"{self.message}\n{self.fix}"
        return f"{self.message}{'.' if self.fix[0].isupper() else ':'} {self.fix}"

    def __str__(self) -> str:
        return self.text

    def within(self, setting: str) -> "Problem":
        """Return the problem as one of the setting that holds the value."""
        own = self.setting or setting
        full = own if f"{own}.".startswith(f"{setting}.") else f"{setting}.{own}"
        return replace(self, setting=full, message=f"{setting}: {self.message}")

    def prefixed(self, prefix: str) -> "Problem":
        """Return the problem with a text before its message."""
        return replace(self, message=f"{prefix}{self.message}")

    def extended(self, suffix: str) -> "Problem":
        """Return the problem with a text after all of it."""
        if self.fix:
            return replace(self, fix=f"{self.fix}{suffix}")
        return replace(self, message=f"{self.message}{suffix}")

    def to_json(self) -> dict[str, Any]:
        """Return the fields as JSON values, and the whole text as the message."""
        return {
            "code": self.code,
            "message": self.text,
            "setting": self.setting,
            "given": _json_value(self.given),
            "fix": self.fix,
        }


class RaybenchError(Exception):
    """A failure whose text is meant for the person at the terminal; shown without a traceback."""

    exit_code = 1

    def __init__(
        self, problem: Problem | Iterable[Problem], heading: str = "", ending: str = ""
    ) -> None:
        """Take one problem or several.

        The heading is shown above several problems; the ending is always shown.
        """
        problems = (problem,) if isinstance(problem, Problem) else tuple(problem)
        super().__init__(problems, heading, ending)
        self.problems = problems
        self._heading, self._ending = heading, ending

    def __reduce__(self) -> tuple[Any, ...]:
        # Not from `args`, to which Ray Data appends advice that the constructor does not take.
        return _restore_error, (type(self), self.__dict__)

    @property
    def code(self) -> Code:
        """Return the code of the first problem."""
        return self.problems[0].code

    @property
    def setting(self) -> str | None:
        """Return the setting of the first problem."""
        return self.problems[0].setting

    @property
    def given(self) -> Any:
        """Return the value given of the first problem."""
        return self.problems[0].given

    @property
    def fix(self) -> str | None:
        """Return how to fix the first problem."""
        return self.problems[0].fix

    def within(self, setting: str) -> tuple[Problem, ...]:
        """Return the problems as those of the setting that holds the value."""
        return tuple(problem.within(setting) for problem in self.problems)

    def __str__(self) -> str:
        lines = [problem.text for problem in self.problems]
        if self._heading and len(lines) > 1:
            items = ("  - " + text.replace("\n", "\n    ") for text in lines)
            lines = [self._heading, *items]
        return "\n".join([*lines, self._ending] if self._ending else lines)


def _restore_error(kind: type[RaybenchError], state: dict[str, Any]) -> RaybenchError:
    """Return an error as it was when it was pickled."""
    error = kind.__new__(kind)
    error.__dict__.update(state)
    return error


class ConfigurationError(RaybenchError):
    """The request cannot be carried out as written; known before Ray starts."""

    exit_code = 2


class RunFailed(RaybenchError):
    """The run could not go on; what it finished is in its journal and the same command resumes."""


def _json_value(value: Any) -> Any:
    """Return a value as JSON holds it; everything but plain values as text."""
    if value is None or isinstance(value, bool | int | str):
        return value
    return value if isinstance(value, float) and math.isfinite(value) else str(value)


def out_of_range(setting: str, value: Any, limits: str) -> Problem:
    """Return the problem of a number outside its limits, which the last text states."""
    return Problem("setting.range", f"{setting} is {value}", setting, value, limits)


def not_a_choice(setting: str, name: str, known: Iterable[str]) -> Problem:
    """Return the problem of a setting that is none of the known names."""
    fix = did_you_mean(name, known)
    return Problem("setting.choice", f"{setting} is '{name}'", setting, name, fix)


def named_twice(setting: str, name: str, count: int) -> Problem:
    """Return the problem of a list that names something more than once."""
    message = f"{setting} names '{name}' {count} times"
    return Problem("setting.duplicate", message, setting, name, "once is enough")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return 'Did you mean X?' where a known name is close, then the list of what there is."""
    names = sorted(known)
    close = closest(name, names)
    hint = f"Did you mean '{close}'? " if close else ""
    return f"{hint}There is: {', '.join(names)}."


def plain(name: str) -> str:
    """Return what all spellings of a name share: 'MATH-500' and math_500 are one."""
    return "".join(character for character in name.lower() if character.isalnum())


def closest(name: str, known: Iterable[str]) -> str:
    """Return the known name that is most like another, or '' where none is close."""
    names = sorted(known)
    # One that begins with the other may be much longer: 'gpqa' means 'gpqa_diamond'.
    begun = [it for it in names if it.startswith(name) or name.startswith(it)]
    close = get_close_matches(name, names, n=1) or get_close_matches(name, begun, n=1, cutoff=0.5)
    return next(iter(close), "")

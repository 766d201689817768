"""Optimisers of DSPy's, by name, with what somebody chose and what they have to be handed.

DSPy is imported when one is looked at: every tournament knows how players would be made.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from io import StringIO
from typing import Any

from raybench.errors import ConfigurationError, Problem, did_you_mean
from raybench.imported import named

_REST = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
_WEIGHTS = {"BootstrapFinetune", "BetterTogether", "AvatarOptimizer"}
"""They change weights, or want programs of other kinds."""
_ERRORS = 1_000_000
"""Replies that cannot be read are a program's failures, and no reason to give up."""


@dataclass(frozen=True)
class Handed:
    """What an optimiser needs that nobody chooses."""

    metric: Callable[..., Any]
    lm: Any
    """The model that plays."""
    proposer: Any
    """The model that writes instructions."""
    threads: int = 1
    seed: int = 0
    train: list[Any] = field(default_factory=list)
    validation: list[Any] = field(default_factory=list)

    def every(self) -> Mapping[str, Any]:
        """Return it by the names that DSPy has for it."""
        evaluation = {"num_threads": self.threads, "display_progress": False, "display_table": 0}
        return {
            "metric": self.metric,
            "metric_threshold": 1.0,  # an example to follow is as good as any
            "prompt_model": self.proposer,
            "task_model": self.lm,
            "reflection_lm": self.proposer,
            "num_threads": self.threads,
            "max_errors": _ERRORS,
            "seed": self.seed,
            "eval_kwargs": evaluation,
            "trainset": self.train,
            "valset": self.validation,
        }


@dataclass(frozen=True)
class Optimiser:
    """One, with its options: those that it is made with, and those that its `compile` takes."""

    name: str
    """The name of a class of DSPy's, or MODULE:NAME."""
    options: Mapping[str, Any] = field(default_factory=dict)

    def problems(self) -> Iterator[Problem]:
        """Yield what is wrong with the choice."""
        import dspy

        from raybench.players.parts.programs.lm import Unlinked

        try:
            kind = self.kind
        except ConfigurationError as error:
            yield from error.problems
            return
        known = {**_parameters(kind.__init__), **_parameters(kind.compile)}
        known = {name: it for name, it in known.items() if name not in _OURS}
        wrong = [*self._wrong_options(known)]
        yield from wrong
        if wrong:
            return
        nobody = dspy.LM("raybench", engine=Unlinked(), cache=False)
        handed = Handed(_nothing, nobody, nobody)
        filled = {*self.options, *handed.every(), *_OURS}
        for name, it in {**_parameters(kind.__init__), **_parameters(kind.compile)}.items():
            if it.default is it.empty and name not in filled:
                yield Problem(
                    "setting.missing",
                    f"{self.name} needs '{name}'",
                    setting=name,
                    fix="give it as an option",
                )
                return
        try:
            with redirect_stdout(StringIO()):  # some tell what they will do
                self._made(handed)
        except Exception as error:  # whatever it looks at
            why = " ".join(str(error).split())
            yield Problem("extension.failed", f"{self.name}: {why}", given=self.name)

    def _wrong_options(self, known: Mapping[str, Any]) -> Iterator[Problem]:
        for name in self.options:
            if name in _OURS:
                yield Problem(
                    "setting.conflict",
                    f"{self.name}: the option '{name}' is not chosen here: raybench fills it in",
                    setting=name,
                )
            elif name not in known and not _takes_all(self.kind.__init__):
                yield Problem(
                    "setting.unknown",
                    f"{self.name} has no option '{name}'",
                    setting=name,
                    fix=did_you_mean(name, known),
                )

    @property
    def kind(self) -> type[Any]:
        """The class. Raises ConfigurationError where there is none that can be used."""
        if ":" in self.name:
            found = _own(self.name)
        else:
            from dspy import teleprompt

            known = {
                name: it
                for name in dir(teleprompt)
                if isinstance(it := getattr(teleprompt, name), type) and _is_optimiser(it)
            }
            if self.name not in known:
                raise ConfigurationError(
                    Problem(
                        "setting.choice",
                        f"unknown optimiser '{self.name}'",
                        given=self.name,
                        fix=f"{did_you_mean(self.name, known)} Your own: MODULE:NAME.",
                    )
                )
            found = known[self.name]
        return found

    def compiled(self, student: Any, handed: Handed) -> Any:
        """Return the student as the optimiser makes it. Takes as long as that takes."""
        compiling = _parameters(self.kind.compile)
        given = {name: it for name, it in handed.every().items() if name in compiling}
        given |= {name: it for name, it in self.options.items() if not self._is_made_with(name)}
        return self._made(handed).compile(student, **given)

    def _made(self, handed: Handed) -> Any:
        every, wanted = handed.every(), _parameters(self.kind.__init__)
        given = {name: it for name, it in every.items() if name in wanted}
        if _takes_all(self.kind.__init__):
            given |= {name: every[name] for name in _PASSED_ON}
        given |= {name: it for name, it in self.options.items() if self._is_made_with(name)}
        return self.kind(**given)

    def _is_made_with(self, name: str) -> bool:
        kind = self.kind
        return name in _parameters(kind.__init__) or name not in _parameters(kind.compile)


_PASSED_ON = ("metric", "metric_threshold", "max_errors")
"""What optimisers that take anything hand on to the one that they are made of."""
_OURS = {"self", "student", "teacher", "metric", "trainset", "valset", "teacher_settings"} | {
    "prompt_model", "task_model", "reflection_lm", "num_threads", "max_errors", "eval_kwargs",
    "log_dir", "use_wandb", "wandb_api_key", "wandb_init_kwargs", "use_mlflow",
}  # fmt: skip


def _nothing(*_: Any) -> float:
    return 0.0


def _own(path: str) -> type[Any]:
    found = named(path, "optimiser")
    if not isinstance(found, type) or not _is_optimiser(found):
        raise ConfigurationError(
            Problem(
                "extension.invalid",
                f"'{path}' is no optimiser",
                given=path,
                fix="give a class with compile(student, *, trainset, …)",
            )
        )
    return found


def _is_optimiser(found: type[Any]) -> bool:
    from dspy.teleprompt import Teleprompter

    compile_ = getattr(found, "compile", None)
    if compile_ is None or found.__name__ in _WEIGHTS or found is Teleprompter:
        return False
    return {"student", "trainset"} <= {*_parameters(compile_)}


def _parameters(function: Any) -> dict[str, inspect.Parameter]:
    found = inspect.signature(function).parameters
    return {name: it for name, it in found.items() if it.kind not in _REST and name != "self"}


def _takes_all(function: Any) -> bool:
    return any(
        it.kind is it.VAR_KEYWORD and not name.startswith("_")
        for name, it in inspect.signature(function).parameters.items()
    )

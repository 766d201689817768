"""Options that somebody may choose: what is wrong with those that were given, in their words."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, TypeVar

from raybench.errors import ConfigurationError, Problem, did_you_mean, out_of_range

FILE = "file"
"""Metadata of an option that names some: the option that holds what is in them, for who lacks them.
"""
_KINDS = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    type(None): "a whole number or null",
    tuple: "a text or a list of texts",
}


class OptionError(ValueError):
    """An option has a value that it cannot have."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.problem = problem


@dataclass(frozen=True, slots=True)
class Options:
    """How something is done, where that can be chosen: every field has a default.

    Raises ValueError, with the mend, where one is not what it can be.
    """

    def within(self, **bounds: tuple[float, float]) -> None:
        """Raise ValueError where one of these is not from its least to its most."""
        for name, (least, most) in bounds.items():
            if not least <= getattr(self, name) <= most:
                limits = f"it is {least} to {most}"
                raise OptionError(out_of_range(name, getattr(self, name), limits))

    def one_of(self, **possible: tuple[str, ...]) -> None:
        """Raise ValueError where one of these is not a word that it can be."""
        for name, words in possible.items():
            if (given := getattr(self, name)) not in words:
                message, fix = f"{name} is '{given}'", f"it is {' or '.join(words)}"
                raise OptionError(Problem("setting.choice", message, name, given, fix))


O = TypeVar("O", bound=Options)  # noqa: E741


def contents(kind: type[Options]) -> dict[str, str]:
    """Return the options that name files, each with the option that holds what is in it."""
    return {it.name: it.metadata[FILE] for it in fields(kind) if FILE in it.metadata}


def made(owner: str, noun: str, kind: type[O], given: Mapping[str, Any]) -> O:
    """Return options with these values; the owner calls one of them a `noun`.

    Raises ConfigurationError, which names the wrong one.
    """
    known = {each.name: each for each in fields(kind)}
    for name, value in given.items():
        if name not in known:
            raise ConfigurationError(
                Problem(
                    "setting.unknown",
                    f"{owner} has no {noun} '{name}'",
                    setting=name,
                    fix=did_you_mean(name, known),
                )
            )
        if not _fits(value, known[name].default):
            raise ConfigurationError(
                Problem(
                    "setting.type",
                    f"{owner}: the {noun} '{name}' is {value!r}",
                    setting=name,
                    given=value,
                    fix=f"it is {_kind(known[name].default)}",
                )
            )
    try:
        return kind(**given)
    except OptionError as error:
        raise ConfigurationError(error.problem.prefixed(f"{owner}: ")) from error
    except ValueError as error:
        name = str(error).partition(" ")[0]  # as a check of the options' own begins
        setting = name if name in known else None
        raise ConfigurationError(
            Problem("setting.range", f"{owner}: {error}", setting, given.get(name))
        ) from error


def _fits(value: object, default: object) -> bool:
    if isinstance(default, bool) or isinstance(value, bool):
        return isinstance(value, bool) and isinstance(default, bool)
    if isinstance(default, float):
        return isinstance(value, int | float)
    if isinstance(default, tuple):
        several = value if isinstance(value, list | tuple) else [value]
        return all(isinstance(each, str) for each in several)
    if default is None:
        return value is None or isinstance(value, int)
    return isinstance(value, type(default))


def _kind(default: object) -> str:
    return _KINDS.get(type(default), "a text")

"""Options that somebody may choose: what is wrong with those that were given, in their words."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, TypeVar

from raybench.errors import ConfigurationError, did_you_mean

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


@dataclass(frozen=True, slots=True)
class Options:
    """How something is done, where that can be chosen: every field has a default.

    Raises ValueError, with the mend, where one is not what it can be.
    """

    def within(self, **bounds: tuple[float, float]) -> None:
        """Raise ValueError where one of these is not from its least to its most."""
        for name, (least, most) in bounds.items():
            if not least <= getattr(self, name) <= most:
                raise ValueError(f"{name} is {getattr(self, name)}: it is {least} to {most}")

    def one_of(self, **possible: tuple[str, ...]) -> None:
        """Raise ValueError where one of these is not a word that it can be."""
        for name, words in possible.items():
            if getattr(self, name) not in words:
                raise ValueError(f"{name} is '{getattr(self, name)}': it is {' or '.join(words)}")


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
            raise ConfigurationError(f"{owner} has no {noun} '{name}'." + did_you_mean(name, known))
        if not _fits(value, known[name].default):
            raise ConfigurationError(
                f"{owner}: the {noun} '{name}' is {value!r}; it is {_kind(known[name].default)}"
            )
    try:
        return kind(**given)
    except ValueError as error:
        raise ConfigurationError(f"{owner}: {error}") from error


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

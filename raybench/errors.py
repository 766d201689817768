"""Errors that speak to the person: what is wrong, where, and the mend, in one message."""

from collections.abc import Iterable
from difflib import get_close_matches


class RaybenchError(Exception):
    """A failure whose text is meant for the person at the terminal; shown without a traceback."""

    exit_code = 1


class ConfigurationError(RaybenchError):
    """The request cannot be carried out as written; known before Ray starts."""

    exit_code = 2


class RunFailed(RaybenchError):
    """The run could not go on; what it finished is in its journal and the same command resumes."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return ' Did you mean X?' where a known name is close, then the list of what there is."""
    names = sorted(known)
    close = closest(name, names)
    hint = f" Did you mean '{close}'?" if close else ""
    return f"{hint} There is: {', '.join(names)}."


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

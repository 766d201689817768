"""`python -m raybench.tracking sync RUN …`: tell MLflow what runs could not tell it."""

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from raybench.errors import ConfigurationError, Problem, RaybenchError, RunFailed
from raybench.pipeline import hanging, named
from raybench.tracking.mlflow import check_uri, spool, store, sync
from raybench.tracking.text import one_line
from raybench.tracking.uri import MASK, absolute, masked, redacted

_DID = {
    "sent": "sent to {uri}, run {run_id}",
    "nothing": "nothing to send: {uri} has it all, run {run_id}",
    "busy": "is being sent by another process",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return the exit code: 0, or 1 where something was not sent, or 2."""
    parser = argparse.ArgumentParser(prog="python -m raybench.tracking", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser(
        "sync",
        help="send what is unsent; sending again changes nothing",
        description="Sends what runs hold for MLflow and could not send. Again is no harm.",
    )
    command.add_argument(
        "runs",
        nargs="+",
        metavar="RUN",
        help="folder of a run or of runs, or a run's address in its storage",
    )
    command.add_argument(
        "--uri",
        help="the server to send to; default: each run's own. A password is in no file: give it "
        "here, or in MLFLOW_TRACKING_URI",
    )
    command.add_argument(
        "--instead",
        action="store_true",
        help="with --uri: the runs' own addresses are given up for this one, nothing goes there "
        "any more",
    )
    given = parser.parse_args(arguments)
    if given.instead and given.uri is None:
        parser.error("--instead needs --uri: the address that takes the place of the runs' own")
    try:
        if given.uri is not None:
            check_uri(given.uri)
        _send(list(_found(given.runs)), given.uri, instead=given.instead)
    except RaybenchError as error:
        print(f"raybench: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return 130
    return 0


def _found(given: Sequence[str]) -> Iterator[Path]:
    for folder in map(named.folder, given):
        if not folder.is_dir():
            raise ConfigurationError(
                Problem(
                    "file.missing",
                    f"'{folder}' is no folder",
                    given=str(folder),
                    fix="give that of a run, or of runs",
                )
            )
        if not (runs := sync.runs(folder)):
            raise ConfigurationError(
                Problem(
                    "data.missing",
                    f"'{folder}' has nothing for MLflow: neither it nor a folder in it holds a "
                    f"run's {spool.SPOOL}",
                    given=str(folder),
                    fix="Give the folder of a run, or runs_dir",
                )
            )
        yield from runs


def _address(folder: Path, given: str | None) -> str:
    """Return where a run is to be sent, with the password that its own files do not have."""
    if given is not None:
        return absolute(given)
    uri = spool.address(folder)
    if uri is None:
        raise ConfigurationError(
            Problem(
                "file.changed",
                f"{spool.SPOOL} does not say where it is to go, as a run's would: it was changed "
                "from outside",
            )
        )
    around = os.environ.get("MLFLOW_TRACKING_URI", "")
    if redacted(around) == uri:
        return around
    if MASK not in uri:
        check_uri(uri)
        return uri
    raise ConfigurationError(
        Problem(
            "setting.missing",
            f"it is to be sent to {uri}, whose password is in no file",
            setting="--uri",
            fix="give the address with it in --uri, or in MLFLOW_TRACKING_URI",
        )
    )


@dataclass
class _Failure:
    """A run that could not be sent."""

    folder: Path
    error: Exception | None
    """None where it was not tried, as the server was down."""
    uri: str = ""
    """Where to; '' where that is not known."""

    def __str__(self) -> str:
        if not self.uri:
            return f"{self.folder}: {self.error}"
        head = f"{self.folder}: {redacted(self.uri)}"
        if self.error is None:
            return f"{head}: not tried, as it was down"
        why = one_line(masked(str(self.error), self.uri), 300)
        return f"{head}: {type(self.error).__name__}: {why}"


def _send(folders: Sequence[Path], given: str | None, *, instead: bool) -> None:
    """Send them one after another and say of each what was done. Raises where one failed.

    A server that is down once is not asked again: each try may take seconds.
    """
    failed: list[_Failure] = []
    down: set[str] = set()
    refused = 0
    for folder in folders:
        uri = ""
        try:
            uri = _address(folder, given)
            if uri in down:
                failed.append(_Failure(folder, None, uri))
                continue
            done = sync.send(folder, uri)
            if instead and done.did != "busy":
                sync.give_up(folder, uri)
        except Exception as error:  # MLflow, SQLAlchemy, HTTP and file errors alike
            failed.append(_Failure(folder, error, uri))
            if uri and store.is_down(error) and not _of(folder, error):
                down.add(uri)
            continue
        told = _DID[done.did].format(uri=redacted(uri), run_id=done.run_id)
        print(f"{folder}: {told}")
        for what in done.refused:
            print(f"{folder}: MLflow refuses some of it: {one_line(what, 300)}")
        refused += bool(done.refused)
    if failed:
        count = len(failed)
        why = "\n".join(f"  - {each}" for each in failed)
        mistaken = all(isinstance(each.error, ConfigurationError) for each in failed)
        # As long as anything else was sent the command was no mistake.
        kind = ConfigurationError if mistaken and count == len(folders) else RunFailed
        raise kind(
            Problem(
                "tracking.unsent",
                f"{count} of {len(folders)} runs could not be sent:\n{why}",
                setting="--uri",
                fix="What they hold stays where it is: send it again when that is mended, or "
                "elsewhere with --uri (and with --instead where an address is gone for good)",
            )
        )
    if refused:
        raise RunFailed(
            Problem(
                "tracking.refused",
                f"of {refused} of {len(folders)} runs MLflow refuses some, as said above",
            )
        )


def _of(folder: Path, error: Exception) -> bool:
    """Tell whether it is a run's folder that fails, and not the server."""
    named = getattr(error, "filename", None) if isinstance(error, OSError) else None
    return isinstance(named, str | Path) and Path(named).absolute().is_relative_to(
        folder.absolute()
    )


if __name__ == "__main__":
    ended = main()
    hanging.end(ended)
    sys.exit(ended)

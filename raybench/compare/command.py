"""`python -m raybench.compare RUN RUN …`: is one model better than another, and is it sure?"""

import argparse
import json
import os
import sys
import traceback
from collections.abc import Sequence
from io import TextIOWrapper
from pathlib import Path

from raybench import benchmarks
from raybench.compare import finding, judging, ways
from raybench.compare.flips import MOST
from raybench.compare.found import Concluded
from raybench.compare.shown import page, summary, terminal
from raybench.compare.shown.told import told
from raybench.errors import ConfigurationError, Problem, RaybenchError, RunFailed
from raybench.pipeline import hanging, whole
from raybench.tracking import console
from raybench.tracking.text import one_line

WORSE = 1
"""The exit code of --fail-if-worse."""
_UNLIKE = (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, RecursionError)
"""What comes of values that are not of their kind, wherever in a run of somebody else they are."""
_INTERRUPTED = 130
_UNHEARD = 141  # what a shell says of a program that SIGPIPE ended

_ABOUT = """\
Say which of two models is better, and how sure that is: over the same questions, with intervals,
corrected for the number of tests, and with what flipped: questions, matches, tasks.

  python -m raybench.compare runs/index/A runs/index/B      two checkpoints, a run each
  python -m raybench.compare runs/index/A                   one run's models, against its first
  python -m raybench.compare A:small B:large                a model of each
"""
_EPILOG = """\
All scores shown are tested together: the more are, the more it takes for any of them to be a
verdict. RUN:MODEL or --only BENCHMARK asks fewer questions than whole runs. A model of which no
reply changed costs the others nothing.

exit codes: 0 compared; 1 worse (with --fail-if-worse), or a journal that cannot be read; 2 what was
asked cannot be done
"""


def main() -> None:
    """Run the command line; the exit code says how it went."""
    try:
        try:
            code = run(sys.argv[1:])
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = _UNHEARD
    except RaybenchError as error:
        print(f"raybench: {error}", file=sys.stderr)
        code = error.exit_code
    except KeyboardInterrupt:  # while a run is fetched from its store
        code = _INTERRUPTED
    hanging.end(code)
    sys.exit(code)


def run(arguments: Sequence[str]) -> int:
    """Compare, show, and return the exit code."""
    args = _parser().parse_args(arguments)
    only = _benchmarks(args.only)
    places = finding.Places(Path(args.runs), args.tracking)
    named = finding.all_found(args.run, places)
    try:
        return _compared(args, only, named)
    except _UNLIKE as error:
        raise RunFailed(_strange(named, error)) from error


def _compared(args: argparse.Namespace, only: Sequence[str], named: Sequence[finding.Named]) -> int:
    most = MOST if args.flips is None else args.flips
    compared, notes = ways.compared(named, ways.Wanted(args.baseline, only, most))
    found = summary.ordered(judging.concluded(compared))
    text = json.dumps(told(found, notes), indent=2, ensure_ascii=False, allow_nan=False)
    if args.json:
        _print(text)
    else:
        terminal.show(found, notes, wanted=terminal.Wanted(args.details, args.flips))
    _write(found, notes, text, args.out, args.html)
    flips = (flips for it in found for flips in it.compared.flips)
    if not (args.json or args.html or args.out) and any(it.gained or it.lost for it in flips):
        console.say("All that flipped, with both replies: --html FILE, --out DIR or --json")
    return _gate(found) if args.fail_if_worse else 0


def _strange(named: Sequence[finding.Named], error: Exception) -> Problem:
    """Say that runs hold something that none leaves, and where that came to light."""
    *_, last = traceback.extract_tb(error.__traceback__)
    folders = " and ".join(dict.fromkeys(str(it.run.folder) for it in named))
    return Problem(
        "file.changed",
        f"{folders} cannot be compared: a value in them is not what a run leaves "
        f"({type(error).__name__} in {Path(last.filename).name}, line {last.lineno}: "
        f"{one_line(str(error), 200)}). One was changed from outside, or cut short",
        fix="take the run's own. If they are as they were left, report this line",
    )


def _print(text: str) -> None:
    """Print JSON, which is UTF-8 whatever the terminal's letters are."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="replace")
    print(text.encode("utf-8", "replace").decode())


def _benchmarks(names: Sequence[str]) -> list[str]:
    """Return the names of benchmarks as we have them; an unknown one is a mistake."""
    return [benchmarks.load(name).name for name in names]


def _gate(found: Sequence[Concluded]) -> int:
    worse = judging.worse(found)
    for pair, it in worse:
        console.warn(f"{pair.compared.pair.titles[1]}: {it.score.title}: {it.words}")
    return WORSE if worse else 0


def _write(
    found: Sequence[Concluded], notes: Sequence[str], text: str, out: str | None, html: str | None
) -> None:
    pages = [Path(html)] if html else []
    files: dict[Path, str] = {}
    if out:
        pages.append(Path(out) / "compare.html")
        files[Path(out) / "compare.json"] = f"{text}\n"
    files |= {path: page.render(found, notes, path) for path in pages}
    for path, content in files.items():
        try:
            whole.write(path, [content])
        except OSError as error:
            raise ConfigurationError(
                Problem("file.unwritable", f"{path} cannot be written: {error}", given=str(path))
            ) from error
        console.say(f"Written: {path}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m raybench.compare",
        description=_ABOUT,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "run",
        nargs="+",
        metavar="RUN",
        help="a run's folder, its ID, or an MLflow run id (of a run or of a model in it); "
        "RUN:MODEL picks a model. The first one is the baseline",
    )
    parser.add_argument("--baseline", help="another RUN, or a model, to hold the others against")
    parser.add_argument(
        "--only", nargs="+", default=[], metavar="BENCHMARK", help="compare these benchmarks alone"
    )
    parser.add_argument("--json", action="store_true", help="print JSON in place of the table")
    parser.add_argument(
        "--html", metavar="FILE", help="write a page, with what flipped and both replies"
    )
    parser.add_argument("--out", metavar="DIR", help="write compare.html and compare.json there")
    parser.add_argument(
        "--flips",
        type=_count,
        metavar="N",
        help="most flipped items to show of each benchmark and direction: questions, matches, "
        f"tasks and so on (default: {MOST}; in the terminal the most telling few of each pair)",
    )
    parser.add_argument(
        "--details",
        type=_count,
        metavar="N",
        help="print the scores of so many pairs, those that moved first (default: of four or fewer "
        "those that differ at all, of more at most four that moved)",
    )
    parser.add_argument(
        "--fail-if-worse",
        action="store_true",
        help="exit with 1 where a candidate is worse in any score, for gates in CI",
    )
    parser.add_argument(
        "--runs", default="runs", metavar="DIR", help="where runs are (default: runs)"
    )
    parser.add_argument(
        "--tracking",
        metavar="URI",
        help="the MLflow store in which to look up ids (default: MLFLOW_TRACKING_URI, or "
        "sqlite:///runs/mlflow.db)",
    )
    return parser


def _count(text: str) -> int:
    if not text.isdigit():
        raise argparse.ArgumentTypeError(f"'{text}' is no number: 0 or more")
    return int(text)
